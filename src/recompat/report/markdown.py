"""``matrix.md``: the same content as the terminal's, and what was installed, for GitHub."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from tabulate import tabulate

from recompat.platforms import by_track
from recompat.report.entries import heads
from recompat.report.findings import sections as findings
from recompat.report.notes import conclusion, families, gaps, notes, notes_title, totals
from recompat.report.style import cell_text, legend
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recompat.report.entries import Entry
    from recompat.report.notes import Gap, Line, Note
    from recompat.summary import Column, Summary

__all__ = ["COMMENT", "code", "escape", "families_table", "page", "plain", "render_markdown", "sections", "table"]

EMPHASIS = re.compile(r"[*_~^]")
MARKUP = re.compile(r"[&<>`|\\\[\]@#$]|:(?=//|[a-z+-])")  # also links, mentions, issue numbers, formulas, emoji
BLOCK = re.compile(r"\A(?:[-+]|\d{1,9}[.)])(?=[\s-]|$)")  # what begins a list or a rule
HARMLESS = re.compile(r"[A-Za-z0-9 _.,:=+()…-]+")
REFERENCE = re.compile(r"@(?=\w)|#(?=\d)|\bGH-(?=\d)|:(?=//|[+-]1:|\w*[a-z][\w+-]*:)", re.IGNORECASE)
WEB = re.compile(r"www\.", re.IGNORECASE)
SPLIT = "\0"  # ``clean`` leaves none
COMMENT = "<!-- -->"
DIGEST = 16  # hexadecimal digits that are shown; matrix.json has all
MOST_NOTES = 200


def render_markdown(summary: Summary) -> str:
    """Write the matrix as GitHub-flavoured Markdown; nothing that comes from a record can act as markup."""
    return page(summary, sections(summary))


def page(summary: Summary, told: Iterable[tuple[str, str]], remark: str = "") -> str:
    """Write sections below the conclusion and the notices, and a remark behind them."""
    parts = (
        f"# Compatibility matrix\n\n{conclusion(summary)}",
        *map(escape, summary.notices),
        *(f"## {title}\n\n{text}" for title, text in told),
        remark,
        f"Written by recompat {escape(summary.recompat)} on {escape(summary.generated)}.",
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def sections(summary: Summary) -> list[tuple[str, str]]:
    """All that the page tells, in its order: titles and texts, both Markdown. What has nothing to say is not among them."""
    told = (
        ("Matrix", _matrix(summary)),
        ("Legend", _pairs(legend(summary))),
        ("Totals", _pairs(totals(summary))),
        ("Families", families_table(summary)),
        (notes_title(summary), _notes(notes(summary))),
        *((escape(section.title), _entries(section.entries)) for section in findings(summary)),
        ("Not run", _gaps(gaps(summary))),
        ("Environments", _environments(summary)),
        ("Case files", _files(summary)),
    )
    return [(title, text) for title, text in told if text]


@functools.lru_cache(4_096)  # most cells of a matrix say the same
def escape(text: str) -> str:
    """Make text plain: no markup, link, mention or cell border is left in it, wherever on a line it stands.

    GitHub looks for mentions, issues, addresses and emoji in what was rendered, where an entity is a character again. An
    empty comment, which nobody sees, parts what would be one.
    """
    parted = plain(REFERENCE.sub(rf"\g<0>{SPLIT}", clean(text)))
    return BLOCK.sub(lambda found: f"{found[0][:-1]}{_entity(found[0][-1])}", parted).replace(SPLIT, COMMENT)


def code(text: str) -> str:
    """Quote text from a record; where backticks would not hold it, as HTML, in which GitHub links nothing."""
    line = clean(text)
    return f"`{line}`" if HARMLESS.fullmatch(line) else f"<code>{plain(line)}</code>"


def plain(line: str) -> str:
    """Make a clean line plain where GitHub links nothing by itself: in code, or in a link."""
    entities = MARKUP.sub(lambda found: _entity(found[0]), line)
    return EMPHASIS.sub(r"\\\g<0>", WEB.sub(lambda found: f"{found[0][:3]}&#46;", entities))


def _entity(character: str) -> str:
    return f"&#{ord(character)};"


def _matrix(summary: Summary) -> str:
    """Draw a table, or one of each track, below its name."""
    parts, releases = [], heads(summary)
    for track, numbers in by_track(summary).items():
        rows = [[code(row.id), *(escape(cell_text(cells[n])) for n in numbers)] for row, cells in summary.lines()]
        drawn = table(["case", *(escape(releases[number]) for number in numbers)], rows)
        parts += [f"### {escape(track)}", drawn] if track else [drawn]
    return "\n\n".join(parts)


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- **{escape(name)}**: {escape(text)}" for name, text in pairs)


def families_table(summary: Summary) -> str:
    """Count the cells of each family; empty where there is one alone."""
    heading, rows = families(summary)
    return table(heading, [[escape(text) for text in row] for row in rows]) if rows else ""


def _notes(found: Sequence[Note]) -> str:
    lines = []
    for note in found[:MOST_NOTES]:
        lines.append(f"- **{escape(note.mark)}** {code(note.case)} on {_listed(note.environments)}")
        lines += [f"  - {line.caption}: {_text(line)}" for line in note.lines]
    if len(found) > MOST_NOTES:
        lines.append(f"- and {len(found) - MOST_NOTES} more; matrix.json has them all")
    return "\n".join(lines)


def _entries(entries: Sequence[Entry]) -> str:
    lines = []
    for entry in entries[:MOST_NOTES]:
        lines.append(f"- {escape(entry.text)}")
        lines += [" on ".join(filter(None, (f"  - {code(p.case)}", escape(p.where)))) for p in entry.places]
        if entry.more:
            lines.append(f"  - and {entry.more} more")
    if len(entries) > MOST_NOTES:
        lines.append(f"- and {len(entries) - MOST_NOTES} more; matrix.json has them all")
    return "\n".join(lines)


def _text(line: Line) -> str:
    text = code(line.text) if line.verbatim else escape(line.text)
    return f"{text} <{line.link}>" if line.link else text


def _gaps(missing: Sequence[Gap]) -> str:
    lines = []
    for gap in missing:
        cases = "" if len(gap.cases) == gap.of else f" ({_listed(gap.cases)})"
        lines.append(f"- {_listed(gap.environments)}: {len(gap.cases)} of {gap.of} cases{cases}: {escape(gap.reason)}")
    return "\n".join(lines)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(code(name) for name in names)


def _environments(summary: Summary) -> str:
    heading = ["environment", "imported", "flavour", "source", "Python", "CPU", "threads", "digest of RECORD", "run"]
    rows = [[code(column.id), *map(_fact, _facts(column))] for column in summary.environments]
    return table(heading, rows)


def _facts(column: Column) -> tuple[str | None, ...]:
    threads = None if column.threads is None else str(column.threads)
    digest = column.distribution_sha256 and column.distribution_sha256[:DIGEST]
    place = column.imported, column.flavour, column.source, column.python_version
    return (*place, column.cpu_capability, threads, digest, column.finished)


def _fact(text: str | None) -> str:
    return escape(text) if text else "-"


def _files(summary: Summary) -> str:
    digests = {row.file: row.sha256 for row in summary.cases}
    rows = [[code(file), code(digest)] for file, digest in digests.items()]
    return table(["file", "SHA-256"], rows)


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Draw a table of texts that are Markdown."""
    return tabulate(rows, heading, tablefmt="github", disable_numparse=True)
