"""What is told apart in a summary besides the release: platforms, interpreters and packages beside torch. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from recompat.boundary import Ending
from recompat.cells import Cell
from recompat.model import Outcome
from recompat.once import FEW, once_per_object
from recompat.tracks import Track, beside_text, track_of
from recompat.trends import ending_of, is_steady

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.boundary import Boundary
    from recompat.operators import OperatorChange
    from recompat.summary import Column, Summary

__all__ = ["NOTHING", "Split", "Tracks", "axes", "by_track", "platforms", "splits", "tracks"]


NOTHING: Final = "nothing beside torch"
"""What a track is called that has none of the packages that others have."""


class Split(msgspec.Struct, frozen=True):
    """A case that ended in several ways on one release: each ending with the cells that have it, in order."""

    case: str
    torch: str
    sides: tuple[tuple[Ending, tuple[Cell, ...]], ...]


class Tracks(msgspec.Struct, frozen=True):
    """The tracks of a summary, in order, each with its name; where there is one alone, that is empty.

    ``ends`` are what a release is followed by in a sentence: ``with transformers 4.57.6``.
    """

    names: dict[Track, str]
    ends: dict[Track, str]

    def name(self, one: Column | Boundary | OperatorChange) -> str:
        """What the track of a column, or of a change, is called; one that the summary does not have is named in full."""
        track = track_of(one)
        full = ", ".join(_parts(track, platform=True, beside=bool(track.beside)))
        return self.names.get(track, full)

    def named(self, column: Column) -> str:
        """A release, with what tells its track from the others."""
        return f"{column.torch} {self.ends[track_of(column)]}".rstrip()


@once_per_object(FEW)
def tracks(columns: tuple[Column, ...]) -> Tracks:
    """Name the tracks: by the platform where there are several, and by what stands beside torch where anything does."""
    there = sorted({track_of(column) for column in columns}, key=lambda track: track.place)
    platform, beside = len({track.platform for track in there}) > 1, any(track.beside for track in there)
    names = {track: ", ".join(_parts(track, platform=platform, beside=beside)) for track in there}
    ends = {track: " with ".join(_parts(track, platform=platform, beside=beside)) for track in there}
    return Tracks(names, ends if platform or not beside else {track: f"with {end}" for track, end in ends.items()})


def _parts(track: Track, *, platform: bool, beside: bool) -> Iterator[str]:
    if platform:
        yield track.platform
    if beside:
        yield beside_text(track.beside) or NOTHING


def platforms(summary: Summary) -> tuple[str, ...]:
    """The platforms of the summary, each once."""
    return tuple(sorted({column.platform for column in summary.environments}))


def axes(summary: Summary) -> tuple[str, ...]:
    """The packages beside torch of which there is more than one version, or that do not stand everywhere."""
    besides = {track_of(column).beside for column in summary.environments}
    names = sorted({name for beside in besides for name, _ in beside})
    return tuple(name for name in names if len({dict(beside).get(name) for beside in besides}) > 1)


def by_track(summary: Summary) -> dict[str, list[int]]:
    """The numbers of the columns of each track, by its name; where there is one alone, all of them."""
    names = tracks(summary.environments)
    numbers: dict[str, list[int]] = {name: [] for name in names.names.values()}
    for number, column in enumerate(summary.environments):
        numbers[names.name(column)].append(number)
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
