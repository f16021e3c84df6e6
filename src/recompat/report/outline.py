"""What stands below the matrix, as titles, items and what is under them, for formats that are lists and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.report.findings import sections
from recompat.report.notes import gaps, notes, notes_title, totals
from recompat.report.style import legend
from recompat.report.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.report.entries import Entry
    from recompat.report.notes import Gap, Note
    from recompat.summary import Summary

__all__ = ["Chapter", "Item", "chapters"]

MOST = 200  # items of a chapter
LONGEST_LIST = 200  # characters of names


class Item(msgspec.Struct, frozen=True):
    """A sentence, and what is told below it. All of it is text from records: formats escape it."""

    text: str
    below: tuple[str, ...] = ()


class Chapter(msgspec.Struct, frozen=True):
    """What is told under one heading."""

    title: str
    items: tuple[Item, ...]


def chapters(summary: Summary) -> Iterator[Chapter]:
    """Tell all that stands below the matrix, in the order of the other reports; none is without an item."""
    told = (
        Chapter("Legend", tuple(Item(f"{name}: {text}") for name, text in legend(summary))),
        Chapter("Totals", tuple(Item(f"{name}: {text}") for name, text in totals(summary))),
        Chapter(notes_title(summary), tuple(map(_note, notes(summary)))),
        *(Chapter(section.title, tuple(map(_entry, section.entries))) for section in sections(summary)),
        Chapter("Not run", tuple(map(_gap, gaps(summary)))),
    )
    return (_cut(chapter) for chapter in told if chapter.items)


def _cut(chapter: Chapter) -> Chapter:
    more = len(chapter.items) - MOST
    if more <= 0:
        return chapter
    return Chapter(chapter.title, (*chapter.items[:MOST], Item(f"and {more} more; matrix.json has them all")))


def _note(note: Note) -> Item:
    lines = (f"{line.caption}: {' '.join(filter(None, (line.text, line.link)))}" for line in note.lines)
    return Item(f"{note.mark} {note.case} on {shorten(', '.join(note.environments), LONGEST_LIST)}", tuple(lines))


def _entry(entry: Entry) -> Item:
    places = (" on ".join(filter(None, (place.case, place.where))) for place in entry.places)
    return Item(entry.text, (*places, f"and {entry.more} more") if entry.more else tuple(places))


def _gap(gap: Gap) -> Item:
    cases = "" if len(gap.cases) == gap.of else f" ({shorten(', '.join(gap.cases), LONGEST_LIST)})"
    where = shorten(", ".join(gap.environments), LONGEST_LIST)
    return Item(f"{where}: {len(gap.cases)} of {gap.of} cases{cases}", (gap.reason,))
