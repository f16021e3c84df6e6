"""The matrix as text: a table, its legend and totals, and what a reader has to look at."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
from tabulate import tabulate

from recompat.cells import Cell
from recompat.platforms import by_track
from recompat.report.findings import sections
from recompat.report.notes import conclusion, families, gaps, notes, notes_title, totals
from recompat.report.style import cell_text, legend, paint
from recompat.report.text import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recompat.report.entries import Section
    from recompat.report.notes import Gap, Note
    from recompat.summary import Column, Row, Summary

__all__ = ["GAP", "blocks", "render_terminal", "render_text"]

GAP = 2  # blanks that tabulate puts between columns
HEAD_ROOM = 2  # blanks that tabulate adds to a heading
NARROWEST = 40  # columns of a terminal
SHORTEST = 12  # characters that are left of a case's name
MOST_NOTES = 40
MOST_ENTRIES = 20
TEXT_WIDTH = 160


class _Row(msgspec.Struct, frozen=True):
    """A case and its cells; a row without cells heads the cases of a file."""

    label: str
    cells: tuple[Cell, ...] = ()
    texts: tuple[str, ...] = ()

    def shown(self, number: int, *, colour: bool) -> str:
        if not self.cells:
            return ""
        return paint(self.cells[number], self.texts[number]) if colour else self.texts[number]


def render_terminal(summary: Summary, *, width: int = 100, colour: bool = False) -> str:
    """Draw the matrix for a terminal of ``width`` columns; columns that do not fit go below, in blocks of releases."""
    width = max(width, NARROWEST)
    parts = [*_tables(summary, width, colour=colour), _captioned(legend(summary), width)]
    parts += [_captioned(totals(summary), width), _families(summary)]
    found, missing = notes(summary), gaps(summary)
    if found:
        parts.append(f"{notes_title(summary)}:\n" + "\n".join(_notes(found, width)))
    parts += [f"{clean(section.title)}:\n" + "\n".join(_entries(section, width)) for section in sections(summary)]
    if missing:
        parts.append("Not run:\n" + "\n".join(_gap(gap, width) for gap in missing))
    return "\n\n".join((*filter(None, parts), conclusion(summary))) + "\n"


def render_text(summary: Summary) -> str:
    """Write what a terminal shows, without colours, in lines of 160 characters."""
    return render_terminal(summary, width=TEXT_WIDTH)


def _tables(summary: Summary, width: int, *, colour: bool) -> Iterator[str]:
    """Draw the blocks; where there are several tracks, each block is headed by its own."""
    heads = [_head(column) for column in summary.environments]
    table = _rows(summary, width - GAP - SHORTEST)
    widths = [_widest(head, table, number) for number, head in enumerate(heads)]
    first = min(width - GAP - max(widths, default=0), max((len(row.label) for row in table), default=0))
    first = max(first, len("case") + HEAD_ROOM)
    for track, block in blocks(summary, widths, width - first):
        lines = [[shorten(row.label, first), *(row.shown(number, colour=colour) for number in block)] for row in table]
        heading = ["case", *(heads[number] for number in block)]
        drawn = tabulate(lines, heading, tablefmt="simple", disable_numparse=True)
        yield f"{clean(track)}:\n{drawn}" if track else drawn


def _rows(summary: Summary, limit: int) -> list[_Row]:
    table: list[_Row] = []
    for (family, file), group in groupby(summary.lines(), key=_place):
        table.append(_Row(clean(f"{file}::" if family in {"", file} else f"{family}: {file}::")))
        for row, cells in group:
            texts = tuple(shorten(cell_text(cell), limit) for cell in cells)
            table.append(_Row(clean(row.id.partition("::")[2]), cells, texts))
    return table


def _place(line: tuple[Row, tuple[Cell, ...]]) -> tuple[str, str]:
    return line[0].family, line[0].id.partition("::")[0]


def _head(column: Column) -> str:
    """The release, and beneath it which build of it ran, and on which Python."""
    return "\n".join(shorten(clean(part), 16) for part in (column.torch, column.flavour or "-", column.python))


def _widest(head: str, table: Sequence[_Row], number: int) -> int:
    texts = [row.texts[number] for row in table if row.cells]
    return max(*(len(part) + HEAD_ROOM for part in head.split("\n")), *map(len, texts))


def blocks(summary: Summary, widths: Sequence[int], room: int) -> Iterator[tuple[str, list[int]]]:
    """Deal the columns of each track into as few blocks as fit; a block has at least one.

    Returns:
        Blocks, each with the name of its track, which is empty where there is one alone.
    """
    for track, numbers in by_track(summary).items():
        block: list[int] = []
        used = 0
        for number in numbers:
            if block and used + GAP + widths[number] > room:
                yield track, block
                block, used = [], 0
            block.append(number)
            used += GAP + widths[number]
        if block:
            yield track, block


def _families(summary: Summary) -> str:
    heading, rows = families(summary)
    return tabulate(rows, heading, tablefmt="simple") if rows else ""


def _captioned(pairs: Iterable[tuple[str, str]], width: int) -> str:
    known = list(pairs)
    widest = min(30, max((len(caption) for caption, _ in known), default=0))
    return "\n".join(_wrapped(f"{caption:<{widest}}  ", text, width, " " * (widest + 2)) for caption, text in known)


def _notes(found: Sequence[Note], width: int) -> Iterator[str]:
    for note in found[:MOST_NOTES]:
        yield _wrapped("  ", clean(f"{note.mark} {note.case} on {', '.join(note.environments)}"), width, "    ")
        for line in note.lines:
            text = f"{line.text} {line.link}" if line.link else line.text
            yield _wrapped(f"      {line.caption}: ", clean(text), width, " " * 8)
    if len(found) > MOST_NOTES:
        yield f"  and {len(found) - MOST_NOTES} more; matrix.json has them all."


def _entries(section: Section, width: int) -> Iterator[str]:
    for entry in section.entries[:MOST_ENTRIES]:
        yield _wrapped("  ", clean(entry.text), width, "    ")
        for place in entry.places:
            text = " on ".join(filter(None, (place.case, place.where)))
            yield _wrapped("      ", clean(text), width, " " * 8)
        if entry.more:
            yield f"      and {entry.more} more"
    if len(section.entries) > MOST_ENTRIES:
        yield f"  and {len(section.entries) - MOST_ENTRIES} more; matrix.json has them all."


def _gap(gap: Gap, width: int) -> str:
    cases = "" if len(gap.cases) == gap.of else f" ({shorten(clean(', '.join(gap.cases)), 200)})"
    where = clean(", ".join(gap.environments))
    return _wrapped("  ", f"{where}: {len(gap.cases)} of {gap.of} cases{cases}: {clean(gap.reason)}", width, "    ")


def _wrapped(start: str, text: str, width: int, indent: str) -> str:
    lines = textwrap.wrap(
        text, width, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
    return "\n".join(lines) or start.rstrip()
