"""What is told below the table: causes, drift, repairs, boundaries, operators, warnings. Formats lay it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from recompat.boundary import Boundary, BoundaryKind
from recompat.model import Outcome
from recompat.once import FEW, once_per_object
from recompat.platforms import NOTHING, axes, platforms, splits, tracks
from recompat.replays import bare_name
from recompat.report.entries import Entry, Place, Section, entry, grouped, listing, told_once
from recompat.report.repairs import repairs
from recompat.report.style import OUTCOMES, label, warned_text
from recompat.tracks import beside_text, packed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recompat.boundary import Ending
    from recompat.cells import Cell
    from recompat.news import Item
    from recompat.operators import OperatorChange
    from recompat.summary import Summary

__all__ = [
    "boundary_text",
    "change_text",
    "disagreements",
    "disagreements_title",
    "item_text",
    "operator_change_text",
    "sections",
]

MOST_DIFF = 6  # lines of a diff


@once_per_object(FEW)
def sections(summary: Summary) -> tuple[Section, ...]:
    """Tell all of it, the same thing once for all cells where it holds."""
    wholly = [cell for cell in summary.cells if not cell.drift]
    drifting = [cell for cell in summary.cells if cell.drift]
    found = (
        Section("Causes", _causes(summary, wholly)),
        Section("Drift", _causes(summary, drifting)),
        Section("Repairs, and where they pass", tuple(repairs(summary))),
        Section(f"Boundaries ({_listed(summary)})", _boundaries(summary)),
        Section(disagreements_title(summary), disagreements(summary)),
        Section("Operators changed, the outcome did not", _operator_changes(summary)),
        Section("Warnings that the reference did not give", _warnings(summary)),
    )
    return tuple(section for section in found if section.entries)


def _causes(summary: Summary, cells: Iterable[Cell]) -> tuple[Entry, ...]:
    texts = ((" ".join(filter(None, (cell.cause, cell.watched))), cell) for cell in cells)
    return told_once(summary, ((text, cell) for text, cell in texts if text))


def _warnings(summary: Summary) -> tuple[Entry, ...]:
    texts = ((warned, cell) for cell in summary.cells for warned in cell.warnings)
    return told_once(summary, ((f"{bare_name(warned.category)}: {warned.text}", cell) for warned, cell in texts))


def _listed(summary: Summary) -> str:
    return f"the index as of {summary.listed}" if summary.listed else "the index has never been listed here"


def _boundaries(summary: Summary) -> tuple[Entry, ...]:
    return grouped(
        (change_text(boundary, summary), boundary.case) for boundary in sorted(summary.boundaries, key=_by_release)
    )


def _by_release(changed: Boundary | OperatorChange) -> tuple[Version, Version]:
    """Sort what changed by the releases between which it did; cases stay in order."""
    return Version(changed.first), Version(changed.last)


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
    named = (f"{what}: {listing(releases)}" for what, releases in between.items() if releases)
    return "; ".join(named) or "whether a release lies between is not known"


def _ending(ending: Ending) -> str:
    return " ".join((label(ending.outcome, ending.exception), *map(warned_text, ending.warned)))


def _operator_changes(summary: Summary) -> tuple[Entry, ...]:
    return grouped(
        (change_text(change, summary), change.case) for change in sorted(summary.operator_changes, key=_by_release)
    )


def operator_change_text(change: OperatorChange) -> str:
    """Say by which other operators a case came to the same end."""
    start = f"{change.last} to {change.first}, {change.during}: "
    if change.before != change.after:
        return f"{start}attention by {change.before or 'no operator of its own'}, then by {change.after or 'none'}"
    rest = len(change.diff) - MOST_DIFF
    more = [f"and {rest} line{'s' * (rest != 1)} more"] if rest > 0 else []
    return start + "; ".join([*change.diff[:MOST_DIFF], *more])


def change_text(change: Boundary | OperatorChange, summary: Summary) -> str:
    """Say what changed, and on which track where there are several."""
    text = boundary_text(change) if isinstance(change, Boundary) else operator_change_text(change)
    track = tracks(summary.environments).name(change)
    return f"{track}: {text}" if track else text


def item_text(item: Item, summary: Summary) -> str:
    """Say what a release changed in a case."""
    return change_text(item.what, summary)


def disagreements_title(summary: Summary) -> str:
    """Head them by what may make the difference."""
    versions = [f"versions of {' and '.join(axes(summary))}"] if axes(summary) else []
    several = len(platforms(summary)) > 1 or not versions
    return f"Where {' or '.join([*(['platforms'] if several else []), *versions])} disagree"


@once_per_object(FEW)
def disagreements(summary: Summary) -> tuple[Entry, ...]:
    """Say how cases end otherwise in one environment of a release than in another; each way once."""
    told: dict[str, dict[str, list[str]]] = {}
    names = _place_names(summary)
    for split in splits(summary):
        sides = (f"{_ending(end)} on {listing([names[c.environment] for c in cells])}" for end, cells in split.sides)
        told.setdefault("; ".join(sides), {}).setdefault(split.case, []).append(split.torch)
    return tuple(
        entry(text, [Place(case, listing(releases)) for case, releases in cases.items()])
        for text, cases in told.items()
    )


def _place_names(summary: Summary) -> dict[str, str]:
    """Name each environment without its release: by platform, interpreter and packages, so far as there are several."""
    kinds = [kind for kind in ("platform", "python") if len({getattr(one, kind) for one in summary.environments}) > 1]
    beside = (
        {one.id: beside_text(packed(one.beside)) or NOTHING for one in summary.environments} if axes(summary) else {}
    )
    return {
        one.id: " ".join((*(getattr(one, kind) for kind in kinds), *([beside[one.id]] if beside else [])))
        for one in summary.environments
    }
