"""``matrix.md``: the same content as the terminal's, and what was installed, for GitHub."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tabulate import tabulate

from recompat.report.findings import sections
from recompat.report.notes import conclusion, families, gaps, notes, totals
from recompat.report.style import cell_text, legend
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.report.entries import Section
    from recompat.report.notes import Gap, Line, Note
    from recompat.summary import Column, Summary

__all__ = ["render_markdown"]

EMPHASIS = re.compile(r"[*_~^]")
MARKUP = re.compile(r"[&<>`|\\\[\]@#$]|:(?=//|[a-z+-])")  # also links, mentions, issue numbers, formulas, emoji
HARMLESS = re.compile(r"[A-Za-z0-9 _.,:=+()…-]+")
WEB = re.compile(r"www\.", re.IGNORECASE)
DIGEST = 16  # hexadecimal digits that are shown; matrix.json has all
MOST_NOTES = 200


def render_markdown(summary: Summary) -> str:
    """Write the matrix as GitHub-flavoured Markdown; nothing that comes from a record can act as markup."""
    parts = (
        "# Compatibility matrix",
        conclusion(summary),
        _matrix(summary),
        _pairs("Legend", legend(summary)),
        _pairs("Totals", totals(summary)),
        _families(summary),
        _notes(notes(summary)),
        *(_section(section) for section in sections(summary)),
        _gaps(gaps(summary)),
        _environments(summary),
        _files(summary),
        f"Written by recompat {escape(summary.recompat)} on {escape(summary.generated)}.",
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def escape(text: str) -> str:
    """Make text plain: no markup, link, mention or cell border is left in it."""
    entities = MARKUP.sub(lambda found: f"&#{ord(found[0])};", clean(text))
    return EMPHASIS.sub(r"\\\g<0>", WEB.sub(lambda found: f"{found[0][:3]}&#46;", entities))


def code(text: str) -> str:
    """Quote text from a record; where backticks would not hold it, as HTML, in which GitHub links nothing."""
    line = clean(text)
    return f"`{line}`" if HARMLESS.fullmatch(line) else f"<code>{escape(text)}</code>"


def _matrix(summary: Summary) -> str:
    rows = [[code(row.id), *(escape(cell_text(cell)) for cell in cells)] for row, cells in summary.lines()]
    return _table(["case", *(escape(column.torch) for column in summary.environments)], rows)


def _pairs(title: str, pairs: Iterator[tuple[str, str]]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- **{escape(name)}**: {escape(text)}" for name, text in pairs)


def _families(summary: Summary) -> str:
    heading, rows = families(summary)
    return f"## Families\n\n{_table(heading, [[escape(text) for text in row] for row in rows])}" if rows else ""


def _notes(found: Sequence[Note]) -> str:
    if not found:
        return ""
    lines = ["## Unexpected, flaky or process-dependent", ""]
    for note in found[:MOST_NOTES]:
        lines.append(f"- **{escape(note.mark)}** {code(note.case)} on {_listed(note.environments)}")
        lines += [f"  - {line.caption}: {_text(line)}" for line in note.lines]
    if len(found) > MOST_NOTES:
        lines.append(f"- and {len(found) - MOST_NOTES} more; matrix.json has them all")
    return "\n".join(lines)


def _section(section: Section) -> str:
    lines = [f"## {escape(section.title)}", ""]
    for entry in section.entries[:MOST_NOTES]:
        lines.append(f"- {escape(entry.text)}")
        lines += [" on ".join(filter(None, (f"  - {code(p.case)}", escape(p.where)))) for p in entry.places]
        if entry.more:
            lines.append(f"  - and {entry.more} more")
    if len(section.entries) > MOST_NOTES:
        lines.append(f"- and {len(section.entries) - MOST_NOTES} more; matrix.json has them all")
    return "\n".join(lines)


def _text(line: Line) -> str:
    text = code(line.text) if line.verbatim else escape(line.text)
    return f"{text} <{line.link}>" if line.link else text


def _gaps(missing: Sequence[Gap]) -> str:
    if not missing:
        return ""
    lines = ["## Not run", ""]
    for gap in missing:
        cases = "" if len(gap.cases) == gap.of else f" ({_listed(gap.cases)})"
        lines.append(f"- {_listed(gap.environments)}: {len(gap.cases)} of {gap.of} cases{cases}: {escape(gap.reason)}")
    return "\n".join(lines)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(code(name) for name in names)


def _environments(summary: Summary) -> str:
    heading = ["environment", "imported", "flavour", "source", "Python", "CPU", "threads", "digest of RECORD", "run"]
    rows = [[code(column.id), *map(_fact, _facts(column))] for column in summary.environments]
    return f"## Environments\n\n{_table(heading, rows)}"


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
    return f"## Case files\n\n{_table(['file', 'SHA-256'], rows)}"


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return tabulate(rows, heading, tablefmt="github", disable_numparse=True)
