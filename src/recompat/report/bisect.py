"""A bisection as text for a terminal, and as Markdown for an issue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recompat.report.bisect_told import Block, conclusion, headline, shared, turn_blocks, turn_title
from recompat.report.markdown import code, escape
from recompat.report.markdown import table as markdown_table
from recompat.report.page import heading, section, table, wrapped
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recompat.bisection import Bisection
    from recompat.report.page import Paper

__all__ = ["render_bisection_markdown", "render_bisection_text"]

LONGEST_COMMAND = 4_000


def render_bisection_text(found: Bisection, paper: Paper) -> str:
    """Draw a bisection; ``paper.detail`` below 0 leaves all but its conclusion out."""
    told = "\n".join(line for sentence in (found.title, *conclusion(found)) for line in wrapped(paper, sentence))
    parts = [f"{heading(paper, headline(found))}\n{told}"]
    if paper.detail >= 0:
        for turn in found.turns:
            parts.append(heading(paper, turn_title(turn)))
            parts += [_section(block, paper) for block in turn_blocks(turn)]
        parts += [_section(block, paper) for block in shared(found)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _section(block: Block, paper: Paper) -> str:
    lines = [line for text in block.lines for line in wrapped(paper, text)]
    lines += table(block.rows, block.heads)
    lines += [clean(line, LONGEST_COMMAND) for line in block.code]
    return section(paper, block.title, lines)


def render_bisection_markdown(found: Bisection) -> str:
    """Draw a bisection as GitHub-flavoured Markdown; nothing that comes from a record can act as markup."""
    parts = [f"# {escape(headline(found))}", *map(escape, (found.title, *conclusion(found)))]
    for turn in found.turns:
        parts += [f"## {escape(turn_title(turn))}", *_blocks(turn_blocks(turn), "###")]
    parts += ["## Reproduce", *_blocks(shared(found), "###")]
    if found.source is not None:
        parts.append(
            f"<details><summary>{escape(found.file)}</summary>\n\n{_fenced(found.source, 'python')}\n\n</details>"
        )
    parts.append(f"Written by recompat {escape(found.recompat)} on {escape(found.generated)}.")
    return "\n\n".join(parts) + "\n"


def _blocks(blocks: Iterable[Block], level: str) -> Iterator[str]:
    for block in blocks:
        body = list(_body(block))
        if body:
            yield "\n\n".join((f"{level} {escape(block.title)}", *body))


def _body(block: Block) -> Iterator[str]:
    if block.lines:
        yield "\n".join(f"- {escape(line)}" for line in block.lines)
    if block.rows:
        rows = [[escape(row[0]), *(code(text) if text else "" for text in row[1:])] for row in block.rows]
        yield markdown_table([*map(escape, block.heads)], rows)
    if block.code:
        yield _fenced("\n".join(clean(line, LONGEST_COMMAND) for line in block.code), "text")


def _fenced(text: str, language: str) -> str:
    """Put lines into a fence that nothing in them can close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
