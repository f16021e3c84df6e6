"""Where along the releases a case's outcome changes: last release with the old, first with the new. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    raise NotImplementedError
