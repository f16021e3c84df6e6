"""A diff as text, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recompat.report.diff_told import chapters, conclusion, fact_rows, headline, remarks, same_facts
from recompat.report.page import heading, section, table, wrapped
from recompat.report.text import LIMIT, clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.diff import Diff
    from recompat.report.diff_told import Held, Told
    from recompat.report.page import Paper

__all__ = ["render_diff_text"]

MOST_TOLD: Final = 25
MOST_LINES: Final = 8
MOST_PLACES: Final = 12
UNCUT: Final = 100_000


def render_diff_text(diff: Diff, paper: Paper) -> str:
    """Draw a diff; ``paper.detail`` below 0 leaves out what was installed and what does not count, above 0 cuts nothing."""
    parts = [f"{heading(paper, headline(diff))}\n{clean(conclusion(diff))}"]
    if paper.detail >= 0:
        parts.append(section(paper, "What was installed", _facts(diff, paper)))
    shown = (chapter for chapter in chapters(diff) if paper.detail >= 0 or chapter.counted)
    parts += [section(paper, chapter.title, _told(chapter.told, paper)) for chapter in shown]
    if paper.detail >= 0:
        parts.append(section(paper, "Reservations", _told(list(remarks(diff)), paper)))
    return "\n\n".join(filter(None, parts)) + "\n"


def _facts(diff: Diff, paper: Paper) -> Iterator[str]:
    yield from table(fact_rows(diff, everything=paper.detail > 0), ("", "A", "B"))
    same = same_facts(diff)
    if same:
        yield from wrapped(paper, same, "The same: ")


def _told(told: Sequence[Told], paper: Paper) -> Iterator[str]:
    most = MOST_TOLD if paper.detail <= 0 else UNCUT
    for one in told[:most]:
        yield from wrapped(paper, one.text, limit=LIMIT if paper.detail <= 0 else UNCUT)
        yield from _cut(one.lines, paper)
        yield from wrapped(paper, _places(one.places, paper), "    ", limit=UNCUT)
    if len(told) > most:
        yield f"and {len(told) - most} more; -v tells them all"


def _cut(lines: Sequence[str], paper: Paper) -> Iterator[str]:
    most = MOST_LINES if paper.detail <= 0 else UNCUT
    for text in lines[:most]:
        yield from wrapped(paper, text[2:], f"  {text[:2]}", limit=LIMIT if paper.detail <= 0 else UNCUT)
    if len(lines) > most:
        yield f"  and {len(lines) - most} lines more; -v tells them all"


def _places(places: Sequence[Held], paper: Paper) -> str:
    most = MOST_PLACES if paper.detail <= 0 else UNCUT
    named = [clean(f"{place.name} {place.note}") for place in places[:most]]
    more = [f"and {len(places) - most} more"] if len(places) > most else []
    return ("; " if any(place.note for place in places) else ", ").join([*named, *more])
