"""What changes along the releases, drawn from the cells of a matrix: boundaries, and operators. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from packaging.version import Version

from recompat.boundary import Boundary, Ending, Point, boundaries
from recompat.cells import Cell
from recompat.model import Environment, Evidence, Outcome, Replay
from recompat.operators import OperatorChange, Watched, operator_changes
from recompat.tracks import Track, track_of

__all__ = ["all_boundaries", "all_operator_changes", "ending_of", "is_steady"]

Line = list[tuple[Version, Cell]]


def all_boundaries(
    cells: Sequence[Cell], environments: Mapping[str, Environment], listed: Sequence[Version] | None
) -> Iterator[Boundary]:
    """Find where outcomes change, case by case and track by track; ``listed`` is what the index offers."""
    for (case, track), line in _lines(cells, environments).items():
        points = [Point(release, ending_of(cell), is_steady(cell)) for release, cell in line]
        for found in boundaries(case, track.platform, points, listed):
            yield msgspec.structs.replace(found, beside=track.written)


def all_operator_changes(
    cells: Sequence[Cell], environments: Mapping[str, Environment], evidence: Mapping[tuple[str, str], Evidence]
) -> Iterator[OperatorChange]:
    """Find where operators change; ``evidence`` is by case and environment, for those cells that have any."""
    for (case, track), line in _lines(cells, environments).items():
        watched = [
            Watched(release, ending_of(cell), evidence[case, cell.environment])
            for release, cell in line
            if (case, cell.environment) in evidence and cell.outcome is not Outcome.NOT_RUN
        ]
        for found in operator_changes(case, track.platform, watched):
            yield msgspec.structs.replace(found, beside=track.written)


def _lines(cells: Sequence[Cell], environments: Mapping[str, Environment]) -> dict[tuple[str, Track], Line]:
    tracks = {name: track_of(environment) for name, environment in environments.items()}
    releases = {name: Version(environment.torch) for name, environment in environments.items()}
    lines: dict[tuple[str, Track], Line] = {}
    for cell in cells:
        line = lines.setdefault((cell.case, tracks[cell.environment]), [])
        line.append((releases[cell.environment], cell))
    return lines


def ending_of(cell: Cell) -> Ending:
    """How it ended, as boundaries compare it."""
    return Ending(cell.outcome, cell.exception, cell.warned)


def is_steady(cell: Cell) -> bool:
    """Whether the warm replays and a verification ended alike; where only a number or a text differs, they did."""
    return cell.verified is not False and cell.replays.get(Replay.WARM) == cell.replays.get(Replay.WARM_COPIED)
