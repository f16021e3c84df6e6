"""What the evidence says across the matrix: causes, drift, boundaries and operators that changed. Formats lay it out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from recompat.boundary import BoundaryKind
from recompat.model import Outcome
from recompat.report.style import OUTCOMES, label, largest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from recompat.boundary import Boundary, Ending
    from recompat.cells import Cell
    from recompat.operators import OperatorChange
    from recompat.summary import Summary

__all__ = ["Entry", "Place", "Section", "sections"]

MOST_PLACES = 8  # lines below an entry
MOST_NAMES = 12  # names in a list
MOST_DIFF = 6  # lines of a diff


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


def sections(summary: Summary) -> Iterator[Section]:
    """Tell all of it, the same thing once for all cells where it holds."""
    wholly = [cell for cell in summary.cells if not cell.drift]
    drifting = [cell for cell in summary.cells if cell.drift]
    found = (
        Section("Causes", _causes(summary, wholly)),
        Section("Drift", _causes(summary, drifting)),
        Section(f"Boundaries ({_listed(summary)})", _boundaries(summary)),
        Section("Operators changed, the outcome did not", _operator_changes(summary)),
    )
    return (section for section in found if section.entries)


def _causes(summary: Summary, cells: Iterable[Cell]) -> tuple[Entry, ...]:
    told: dict[str, dict[str, list[Cell]]] = {}
    for cell in cells:
        text = " ".join(filter(None, (cell.cause, cell.watched)))
        if text:
            told.setdefault(text, {}).setdefault(cell.case, []).append(cell)
    names = _names(summary)
    return tuple(
        _entry(text, [Place(case, _releases(names, held)) for case, held in cases.items()])
        for text, cases in told.items()
    )


def _names(summary: Summary) -> dict[str, str]:
    """What environments are called, in order: by the release alone, where it names one of them."""
    count = Counter(column.torch for column in summary.environments)
    return {column.id: column.torch if count[column.torch] == 1 else column.id for column in summary.environments}


def _releases(names: Mapping[str, str], cells: Sequence[Cell]) -> str:
    """List the releases, neighbours as a range; those that drift with the largest difference."""
    if any(cell.drift for cell in cells):
        return _listing([f"{names[cell.environment]} ({largest(cell)})" for cell in cells])
    held = {cell.environment for cell in cells}
    runs: list[list[str]] = [[]]
    for environment, name in names.items():
        if environment in held:
            runs[-1].append(name)
        elif runs[-1]:
            runs.append([])
    return _listing([run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs if run])


def _listed(summary: Summary) -> str:
    return f"the index as of {summary.listed}" if summary.listed else "the index has never been listed here"


def _boundaries(summary: Summary) -> tuple[Entry, ...]:
    platforms = {column.platform for column in summary.environments}
    return _grouped(
        (boundary_text(boundary) + (f" on {boundary.platform}" if len(platforms) > 1 else ""), boundary.case)
        for boundary in sorted(summary.boundaries, key=_by_release(summary))
    )


def _by_release(summary: Summary) -> Callable[[Boundary | OperatorChange], tuple[int, int]]:
    """Sort what changed by the releases between which it did; cases stay in order."""
    place = {column.torch: number for number, column in enumerate(summary.environments)}
    return lambda changed: (place[changed.first], place[changed.last])


def boundary_text(boundary: Boundary) -> str:
    """Say what changed between which releases, and what is known of those between."""
    last, first = boundary.last, boundary.first
    match boundary.kind:
        case BoundaryKind.OUTCOME:
            what = f"{_ending(boundary.old)} until {last}, {_ending(boundary.new)} from {first}"
        case BoundaryKind.API_APPEARS:
            what = f"an API that is needed is absent until {last} and there from {first} ({_ending(boundary.new)})"
        case BoundaryKind.API_DISAPPEARS:
            what = f"an API that is needed is there until {last} ({_ending(boundary.old)}) and absent from {first}"
    return f"{what}; {_between(boundary)}"


def _between(boundary: Boundary) -> str:
    if boundary.exact:
        return "exact, no release lies between"
    between = {
        "not run between": boundary.not_run,
        f"{OUTCOMES[Outcome.UNSUPPORTED].label} between": boundary.unsupported,
        "unsteady between": boundary.unsteady,
    }
    named = (f"{what}: {_listing(releases)}" for what, releases in between.items() if releases)
    return "; ".join(named) or "whether a release lies between is not known"


def _ending(ending: Ending) -> str:
    return label(ending.outcome, ending.exception)


def _operator_changes(summary: Summary) -> tuple[Entry, ...]:
    return _grouped(
        (operator_change_text(change), change.case)
        for change in sorted(summary.operator_changes, key=_by_release(summary))
    )


def operator_change_text(change: OperatorChange) -> str:
    """Say by which other operators a case came to the same end."""
    start = f"{change.last} to {change.first}, {change.during}: "
    if change.before != change.after:
        return f"{start}attention by {change.before or 'no operator of its own'}, then by {change.after or 'none'}"
    more = [f"and {len(change.diff) - MOST_DIFF} lines more"] if len(change.diff) > MOST_DIFF else []
    return start + "; ".join([*change.diff[:MOST_DIFF], *more])


def _grouped(pairs: Iterable[tuple[str, str]]) -> tuple[Entry, ...]:
    """Tell each text once, with the cases that it holds for."""
    told: dict[str, list[str]] = {}
    for text, case in pairs:
        told.setdefault(text, []).append(case)
    return tuple(_entry(text, [Place(case) for case in cases]) for text, cases in told.items())


def _entry(text: str, places: Sequence[Place]) -> Entry:
    return Entry(text, tuple(places[:MOST_PLACES]), max(0, len(places) - MOST_PLACES))


def _listing(names: Sequence[str]) -> str:
    more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*names[:MOST_NAMES], *more])
