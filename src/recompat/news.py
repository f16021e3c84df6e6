"""What a release changed against the one before it, drawn from a summary. Pure; pages and feed lay it out."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, assert_never

import msgspec
from packaging.version import Version

from recompat.boundary import Boundary, BoundaryKind
from recompat.model import Outcome
from recompat.operators import OperatorChange
from recompat.tracks import packed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.summary import Summary

__all__ = ["Item", "News", "NewsKind", "news"]


class NewsKind(StrEnum):
    """What became of a case, gravest first: it passed before or its process dies now, it passes now, or none of that."""

    REGRESSED = "regressed"
    CHANGED = "changed"
    FIXED = "fixed"
    API_DISAPPEARS = "api-disappears"
    API_APPEARS = "api-appears"
    OPERATORS = "operators"


class Item(msgspec.Struct, frozen=True):
    """One change of one case; ``what`` tells between which releases it lies."""

    kind: NewsKind
    what: Boundary | OperatorChange

    @property
    def case(self) -> str:
        """The case that it is about."""
        return self.what.case

    @property
    def id(self) -> str:
        """The same for the same change in every report: what it is about, where, and from which release on."""
        during = f":{self.what.during}" if isinstance(self.what, OperatorChange) else ""
        place = ":".join((self.what.platform, *(f"{name}=={one}" for name, one in packed(self.what.beside))))
        return f"{self.what.first}:{place}:{self.case}:{self.kind}{during}"


class News(msgspec.Struct, frozen=True):
    """A release and ``before``, the one before it in the matrix; ``items`` are gravest first, cases in order."""

    torch: str
    before: str
    items: tuple[Item, ...]

    def of(self, kind: NewsKind) -> tuple[Item, ...]:
        """The items of a kind."""
        return tuple(item for item in self.items if item.kind is kind)


def news(summary: Summary) -> tuple[News, ...]:
    """Tell of every release but the first, newest first, what changed in it; also where nothing did."""
    releases = list(dict.fromkeys(column.torch for column in summary.environments))
    found: dict[str, list[Item]] = {release: [] for release in releases}
    for item in _items(summary):  # a boundary may lie at a release that has no column
        found[next(one for one in releases if Version(one) >= Version(item.what.first))].append(item)
    order = list(NewsKind)
    return tuple(
        News(release, before, tuple(sorted(found[release], key=lambda item: order.index(item.kind))))
        for before, release in reversed(list(pairwise(releases)))
    )


def _items(summary: Summary) -> Iterator[Item]:
    places = {row.id: number for number, row in enumerate(summary.cases)}
    for boundary in sorted(summary.boundaries, key=lambda one: places[one.case]):
        yield Item(_kind(boundary), boundary)
    for change in sorted(summary.operator_changes, key=lambda one: places[one.case]):
        yield Item(NewsKind.OPERATORS, change)


def _kind(boundary: Boundary) -> NewsKind:
    match boundary.kind:
        case BoundaryKind.API_APPEARS:
            return NewsKind.API_APPEARS
        case BoundaryKind.API_DISAPPEARS:
            return NewsKind.API_DISAPPEARS
        case BoundaryKind.OUTCOME:
            if boundary.new.outcome is Outcome.PASS:
                return NewsKind.CHANGED if boundary.old.outcome is Outcome.PASS else NewsKind.FIXED
            worse = Outcome.PASS is boundary.old.outcome or Outcome.CRASH is boundary.new.outcome
            return NewsKind.REGRESSED if worse else NewsKind.CHANGED
        case _:
            assert_never(boundary.kind)
