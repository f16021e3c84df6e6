"""Where platforms, or interpreters, disagree about the same release, drawn from a summary. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.boundary import Ending
from recompat.cells import Cell
from recompat.model import Outcome
from recompat.trends import ending_of, is_steady

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.summary import Summary

__all__ = ["Split", "by_platform", "platforms", "splits"]


class Split(msgspec.Struct, frozen=True):
    """A case that ended in several ways on one release: each ending with the cells that have it, in order."""

    case: str
    torch: str
    sides: tuple[tuple[Ending, tuple[Cell, ...]], ...]


def platforms(summary: Summary) -> tuple[str, ...]:
    """The platforms of the summary, each once."""
    return tuple(sorted({column.platform for column in summary.environments}))


def by_platform(summary: Summary) -> dict[str, list[int]]:
    """The numbers of the columns of each platform; where there is one platform alone, all of them, without its name."""
    several = len(platforms(summary)) > 1
    numbers: dict[str, list[int]] = {name: [] for name in platforms(summary)} if several else {"": []}
    for number, column in enumerate(summary.environments):
        numbers[column.platform if several else ""].append(number)
    return numbers


def splits(summary: Summary) -> Iterator[Split]:
    """Go through the cases and releases on which outcome, exception or warnings are not the same everywhere.

    What was not run tells nothing, and neither does a cell whose own replays differ.
    """
    torch_of = {column.id: column.torch for column in summary.environments}
    for row, cells in summary.lines():
        releases: dict[str, dict[Ending, list[Cell]]] = {}
        for cell in cells:
            if cell.outcome is not Outcome.NOT_RUN and is_steady(cell):
                releases.setdefault(torch_of[cell.environment], {}).setdefault(ending_of(cell), []).append(cell)
        for torch, sides in releases.items():
            if len(sides) > 1:
                yield Split(row.id, torch, tuple((ending, tuple(held)) for ending, held in sides.items()))
