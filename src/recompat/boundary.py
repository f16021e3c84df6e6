"""Where along the releases a case's outcome changes: last release with the old, first with the new. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Boundary", "BoundaryKind", "Ending", "Point", "boundaries"]


class BoundaryKind(StrEnum):
    """What changes: how the case ends, or whether the APIs that it needs are there."""

    OUTCOME = "outcome"
    API_APPEARS = "api-appears"
    API_DISAPPEARS = "api-disappears"


class Ending(msgspec.Struct, frozen=True):
    """How a case ended, as boundaries compare it; ``exception`` is a qualified type."""

    outcome: Outcome
    exception: str | None = None


class Boundary(msgspec.Struct, frozen=True, kw_only=True):
    """A change between two releases that were run: ``last`` with the old ending, ``first`` with the new.

    ``exact`` is true where no release lies between, and null where that is not known: no listing of the index was at hand,
    or it does not reach that far. What does lie between is named: ``not_run`` has no result, in ``unsupported`` an API
    is absent, in ``unsteady`` the replays ended differently.
    """

    case: str
    platform: str
    kind: BoundaryKind
    old: Ending
    new: Ending
    last: str
    first: str
    exact: bool | None
    not_run: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()


class Point(msgspec.Struct, frozen=True):
    """How a case ended on a release; ``steady`` unless its warm replays ended differently."""

    release: Version
    ending: Ending
    steady: bool = True


def boundaries(
    case: str, platform: str, points: Iterable[Point], listed: Sequence[Version] | None
) -> tuple[Boundary, ...]:
    """Find every change along the releases of one platform.

    Args:
        points: in any order, one or more per release that was selected.
        listed: what the index offers; None if that is not known.
    """
    ordered = sorted(_merged(points).values(), key=lambda point: point.release)
    found: list[Boundary] = []
    for number, point in enumerate(ordered):
        if _ends(point) or _lacks(point):
            found += _at(point, ordered[:number])
    return tuple(msgspec.structs.replace(_bounded(one, ordered, listed), case=case, platform=platform) for one in found)


def _merged(points: Iterable[Point]) -> dict[Version, Point]:
    """One point a release: where interpreters differ about it, it is not steady."""
    merged: dict[Version, Point] = {}
    for point in points:
        known = merged.get(point.release)
        if known is None or known.ending.outcome is Outcome.NOT_RUN:
            merged[point.release] = point
        elif point.ending.outcome is not Outcome.NOT_RUN:
            steady = known.steady and point.steady and known.ending == point.ending
            merged[point.release] = msgspec.structs.replace(known, steady=steady)
    return merged


def _at(point: Point, before: Sequence[Point]) -> Iterator[Boundary]:
    """Compare a release with those before it: whether the APIs are there, then how the case ends."""
    seen = next((one for one in reversed(before) if _ends(one) or _lacks(one)), None)
    if seen is not None and _lacks(seen) != _lacks(point):
        kind = BoundaryKind.API_DISAPPEARS if _lacks(point) else BoundaryKind.API_APPEARS
        yield _between(kind, seen, point)
    ended = next((one for one in reversed(before) if _ends(one)), None)
    if _ends(point) and ended is not None and ended.ending != point.ending:
        yield _between(BoundaryKind.OUTCOME, ended, point)


def _between(kind: BoundaryKind, old: Point, new: Point) -> Boundary:
    return Boundary(
        case="",
        platform="",
        kind=kind,
        old=old.ending,
        new=new.ending,
        last=str(old.release),
        first=str(new.release),
        exact=None,
    )


def _bounded(boundary: Boundary, points: Sequence[Point], listed: Sequence[Version] | None) -> Boundary:
    """Name what lies between, and say whether nothing does."""
    last, first = Version(boundary.last), Version(boundary.first)
    inside = [point for point in points if last < point.release < first]
    silent = {point.release for point in inside if not (_ends(point) or _lacks(point)) and point.steady}
    offered = {release for release in listed or () if last < release < first}
    unseen = offered - {point.release for point in points}
    return msgspec.structs.replace(
        boundary,
        exact=False if inside or unseen else True if _reaches(listed, last, first) else None,
        not_run=_names(silent | unseen),
        unsupported=_names(point.release for point in inside if _lacks(point)),
        unsteady=_names(point.release for point in inside if not point.steady),
    )


def _reaches(listed: Sequence[Version] | None, last: Version, first: Version) -> bool:
    """Whether a listing can tell what lies between: one from before ``first`` was there cannot."""
    return bool(listed) and listed is not None and min(listed) <= last and first <= max(listed)


def _names(releases: Iterable[Version]) -> tuple[str, ...]:
    return tuple(str(release) for release in sorted(releases))


def _ends(point: Point) -> bool:
    return point.steady and point.ending.outcome not in {Outcome.UNSUPPORTED, Outcome.NOT_RUN}


def _lacks(point: Point) -> bool:
    return point.steady and point.ending.outcome is Outcome.UNSUPPORTED
