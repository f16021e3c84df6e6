"""A page of text for a terminal: sections with a heading, wrapped and indented."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import msgspec

from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Paper", "code_lines", "columns", "heading", "section", "table", "wrapped"]

INDENT = "  "
NARROWEST = 40
LONGEST_CAPTION = 20
LONGEST_LINE = 200  # of source code or of a message


class Paper(msgspec.Struct, frozen=True):
    """What is written on: ``detail`` is -1 for the essence, 1 for everything."""

    width: int = 100
    colour: bool = False
    detail: int = 0

    def bold(self, text: str) -> str:
        """Make a heading stand out where there are colours."""
        return f"\x1b[1m{text}\x1b[0m" if self.colour else text


def heading(paper: Paper, text: str) -> str:
    """Write a heading."""
    return paper.bold(clean(text))


def section(paper: Paper, title: str, lines: Iterable[str]) -> str:
    """Write a section; one without lines is not written at all."""
    body = list(lines)
    if not body:
        return ""
    return "\n".join((heading(paper, title), *(f"{INDENT}{line}".rstrip() for line in body)))


def wrapped(paper: Paper, text: str, start: str = "", limit: int = 4_000) -> list[str]:
    """Clean a text and break it into lines that fit; those after the first stand below the end of a short ``start``."""
    room = max(paper.width, NARROWEST) - len(INDENT)
    indent = " " * (len(start) if len(start) <= LONGEST_CAPTION else 2)
    return textwrap.wrap(
        start + clean(text, limit), room, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    ) or [start.rstrip()]


def columns(paper: Paper, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Write captions and texts beside each other; a text that does not fit goes on below itself."""
    known = list(pairs)
    widest = max((len(caption) for caption, _ in known), default=0)
    return [line for caption, text in known for line in wrapped(paper, text, f"{caption:<{widest}}  ")]


def table(rows: Iterable[Sequence[str]], heads: Sequence[str]) -> list[str]:
    """Write a table, every text of it cleaned."""
    from tabulate import tabulate  # a fifth of the start-up, and not every page has a table

    cells = [[clean(text) for text in row] for row in rows]
    return tabulate(cells, heads, tablefmt="simple", disable_numparse=True).splitlines() if cells else []


def code_lines(text: str, most: int = 200) -> list[str]:
    """Clean lines one by one and keep their blanks."""
    lines = text[: most * LONGEST_LINE * 4].expandtabs(4).split("\n")
    shown = [" ".join(clean(word, LONGEST_LINE) for word in line.rstrip().split(" ")) for line in lines[:most]]
    return shown if len(lines) <= most else [*shown, f"… and {len(lines) - most} lines more"]
