"""What a section below the table is made of: sentences, and below each where it holds. Formats lay it out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from recompat.once import FEW, once_per_object
from recompat.platforms import tracks
from recompat.report.style import largest
from recompat.tracks import track_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recompat.cells import Cell
    from recompat.summary import Summary
    from recompat.tracks import Track

__all__ = [
    "Entry",
    "Place",
    "Section",
    "entry",
    "environment_names",
    "grouped",
    "heads",
    "listing",
    "releases",
    "span",
    "told_once",
]

MOST_PLACES = 8  # lines below an entry
MOST_NAMES = 12  # names in a list


class Place(msgspec.Struct, frozen=True):
    """A case for which a sentence holds, and on which releases where they are not in the sentence."""

    case: str
    where: str = ""


class Entry(msgspec.Struct, frozen=True):
    """A sentence, and below it where it holds; ``more`` counts places that are not listed.

    All of it is text from records: formats clean or escape it.
    """

    text: str
    places: tuple[Place, ...]
    more: int


class Section(msgspec.Struct, frozen=True):
    """What is told under one heading; there are no sections without an entry."""

    title: str
    entries: tuple[Entry, ...]


def entry(text: str, places: Sequence[Place]) -> Entry:
    """Make an entry, whose places are cut to what a reader looks at."""
    return Entry(text, tuple(places[:MOST_PLACES]), max(0, len(places) - MOST_PLACES))


def grouped(pairs: Iterable[tuple[str, str]]) -> tuple[Entry, ...]:
    """Tell each text once, with the cases that it holds for."""
    told: dict[str, list[str]] = {}
    for text, case in pairs:
        told.setdefault(text, []).append(case)
    return tuple(entry(text, [Place(case) for case in cases]) for text, cases in told.items())


def told_once(summary: Summary, told: Iterable[tuple[str, Cell]]) -> tuple[Entry, ...]:
    """Tell each text once, with the cases and the releases of the cells that it holds for."""
    by_text: dict[str, dict[str, list[Cell]]] = {}
    for text, cell in told:
        by_text.setdefault(text, {}).setdefault(cell.case, []).append(cell)
    names = environment_names(summary)
    return tuple(
        entry(text, [Place(case, _where(names, held)) for case, held in cases.items()])
        for text, cases in by_text.items()
    )


@once_per_object(FEW)
def environment_names(summary: Summary) -> Mapping[str, str]:
    """What environments are called: by the release alone, where it names one of them.

    Where there are several tracks, the name ends in its own, and those of a track stand together.
    """
    known = tracks(summary.environments)
    count = _alike(summary)
    return {
        column.id: known.named(column) if count[column.torch, track_of(column)] == 1 else column.id
        for column in sorted(summary.environments, key=lambda column: track_of(column).place)
    }


def heads(summary: Summary) -> list[str]:
    """What heads the columns of a table of one track: the release, and the interpreter where it does not say which."""
    count = _alike(summary)
    return [
        column.torch if count[column.torch, track_of(column)] == 1 else f"{column.torch} {column.python}"
        for column in summary.environments
    ]


def _alike(summary: Summary) -> Counter[tuple[str, Track]]:
    """How many columns a release has on each track: one for each interpreter."""
    return Counter((column.torch, track_of(column)) for column in summary.environments)


def releases(names: Mapping[str, str], cells: Sequence[Cell]) -> str:
    """List the releases of some cells, neighbours as a range; those of a track stand before its name."""
    held = {cell.environment for cell in cells}
    lines: dict[str, list[list[str]]] = {}
    for environment, name in names.items():
        release, blank, track = name.partition(" ")
        runs = lines.setdefault(blank + track, [[]])
        if environment in held:
            runs[-1].append(release)
        elif runs[-1]:
            runs.append([])
    told = {end: [span(run[0], run[-1]) for run in runs if run] for end, runs in lines.items()}
    return " and ".join(listing(runs) + end for end, runs in told.items() if runs)


def span(first: str, last: str) -> str:
    """Write the range between two names of environments; a track stands at its end alone."""
    start = first.removesuffix(_end(first)) if _end(first) == _end(last) else first
    return first if first == last else f"{start} to {last}"


def _end(name: str) -> str:
    """What a name has behind its release."""
    _, blank, track = name.partition(" ")
    return blank + track


def listing(names: Sequence[str]) -> str:
    """Name some, and count the rest."""
    more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*names[:MOST_NAMES], *more])


def _where(names: Mapping[str, str], cells: Sequence[Cell]) -> str:
    """List the releases of some cells; where one drifts, each with its largest difference."""
    if any(cell.drift for cell in cells):
        return listing([f"{names[cell.environment]} ({largest(cell)})" for cell in cells])
    return releases(names, cells)
