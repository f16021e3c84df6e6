"""Where along the releases a case's outcome changes: last release with the old, first with the new. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat.model import Outcome
from recompat.tracks import Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Boundary", "BoundaryKind", "Ending", "Point", "boundaries"]


class BoundaryKind(StrEnum):
    """What changes: how the case ends, or whether the APIs that it needs are there."""

    OUTCOME = "outcome"
    API_APPEARS = "api-appears"
    API_DISAPPEARS = "api-disappears"


class Ending(msgspec.Struct, frozen=True):
    """How a case ended, as boundaries compare it; ``exception`` is a qualified type.

    ``warned`` are the categories of its warnings, where they are part of its result.
    """

    outcome: Outcome
    exception: str | None = None
    warned: tuple[str, ...] = ()


class Boundary(msgspec.Struct, frozen=True, kw_only=True):
    """A change between two releases that were run: ``last`` with the old ending, ``first`` with the new.

    ``beside`` are the packages that stand beside both; JSON has it only where an axis of the matrix chose some.

    ``exact`` is true where no release lies between, and null where that is not known: no listing of the index was at hand,
    or it does not reach that far. What does lie between is named: ``not_run`` has no result, in ``unsupported`` an API
    is absent, in ``unsteady`` the replays, or interpreters, ended differently.
    """

    case: str
    platform: str
    beside: Written = msgspec.UNSET
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


_Step = tuple[BoundaryKind, Point, Point]


def boundaries(
    case: str, platform: str, points: Iterable[Point], listed: Sequence[Version] | None
) -> tuple[Boundary, ...]:
    """Find every change along the releases of one platform.

    Args:
        points: in any order, one or more per release that was selected.
        listed: what the index offers; None if that is not known.
    """
    ordered = sorted(_merged(points).values(), key=lambda point: point.release)
    return tuple(
        _boundary(case, platform, step, ordered, listed)
        for number, point in enumerate(ordered)
        for step in _steps(point, ordered[:number])
    )


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


def _steps(point: Point, before: Sequence[Point]) -> Iterator[_Step]:
    """Compare a release with those before it: whether the APIs are there, then how the case ends."""
    known = next((one for one in reversed(before) if _ends(one) or _lacks(one)), None)
    if known is not None and _lacks(known) and _ends(point):
        yield BoundaryKind.API_APPEARS, known, point
    if known is not None and _ends(known) and _lacks(point):
        yield BoundaryKind.API_DISAPPEARS, known, point
    ended = next((one for one in reversed(before) if _ends(one)), None)
    if ended is not None and _ends(point) and ended.ending != point.ending:
        yield BoundaryKind.OUTCOME, ended, point


def _boundary(
    case: str, platform: str, step: _Step, points: Sequence[Point], listed: Sequence[Version] | None
) -> Boundary:
    """Name what lies between, and say whether nothing does."""
    kind, old, new = step
    inside = [point for point in points if old.release < point.release < new.release]
    silent = {point.release for point in inside if point.ending.outcome is Outcome.NOT_RUN}
    listed = _comparable(listed or (), old.release, new.release)
    offered = {release for release in listed if old.release < release < new.release}
    unseen = offered - {point.release for point in points}
    alone = True if _reaches(listed, old.release, new.release) else None
    return Boundary(
        case=case,
        platform=platform,
        kind=kind,
        old=old.ending,
        new=new.ending,
        last=str(old.release),
        first=str(new.release),
        exact=False if inside or unseen else alone,
        not_run=_names(silent | unseen),
        unsupported=_names(point.release for point in inside if _lacks(point)),
        unsteady=_names(point.release for point in inside if not point.steady),
    )


def _comparable(listed: Sequence[Version], last: Version, first: Version) -> Sequence[Version]:
    """What of a listing may lie between: pre-releases only where one of them is an end."""
    previews = last.is_prerelease or first.is_prerelease
    return [release for release in listed if previews or not release.is_prerelease]


def _reaches(listed: Sequence[Version], last: Version, first: Version) -> bool:
    """Whether a listing can tell what lies between: one from before ``first`` was there cannot."""
    return bool(listed) and min(listed) <= last and first <= max(listed)


def _names(releases: Iterable[Version]) -> tuple[str, ...]:
    return tuple(str(release) for release in sorted(releases))


def _ends(point: Point) -> bool:
    return point.steady and point.ending.outcome not in {Outcome.UNSUPPORTED, Outcome.NOT_RUN}


def _lacks(point: Point) -> bool:
    return point.steady and point.ending.outcome is Outcome.UNSUPPORTED
