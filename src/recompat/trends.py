"""What changes along the releases, drawn from the cells of a matrix: boundaries, and operators. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from packaging.version import Version

from recompat.boundary import Boundary, Ending, Point, boundaries
from recompat.cells import Cell
from recompat.model import Environment, Evidence, Outcome, Replay
from recompat.operators import OperatorChange, Watched, operator_changes

__all__ = ["all_boundaries", "all_operator_changes", "ending_of", "is_steady"]

Line = list[tuple[Environment, Cell]]


def all_boundaries(
    cells: Sequence[Cell], environments: Mapping[str, Environment], listed: Sequence[Version] | None
) -> Iterator[Boundary]:
    """Find where outcomes change, case by case and platform by platform; ``listed`` is what the index offers."""
    for (case, platform), line in _lines(cells, environments).items():
        points = [Point(Version(environment.torch), ending_of(cell), is_steady(cell)) for environment, cell in line]
        yield from boundaries(case, platform, points, listed)


def all_operator_changes(
    cells: Sequence[Cell], environments: Mapping[str, Environment], evidence: Mapping[tuple[str, str], Evidence]
) -> Iterator[OperatorChange]:
    """Find where operators change; ``evidence`` is by case and environment, for those cells that have any."""
    for (case, platform), line in _lines(cells, environments).items():
        watched = [
            Watched(Version(environment.torch), ending_of(cell), evidence[case, environment.id])
            for environment, cell in line
            if (case, environment.id) in evidence and cell.outcome is not Outcome.NOT_RUN
        ]
        yield from operator_changes(case, platform, watched)


def _lines(cells: Sequence[Cell], environments: Mapping[str, Environment]) -> dict[tuple[str, str], Line]:
    lines: dict[tuple[str, str], Line] = {}
    for cell in cells:
        environment = environments[cell.environment]
        lines.setdefault((cell.case, environment.platform), []).append((environment, cell))
    return lines


def ending_of(cell: Cell) -> Ending:
    """How it ended, as boundaries compare it."""
    return Ending(cell.outcome, cell.exception, cell.warned)


def is_steady(cell: Cell) -> bool:
    """Whether the warm replays and a verification ended alike; where only a number or a text differs, they did."""
    return cell.verified is not False and cell.replays.get(Replay.WARM) == cell.replays.get(Replay.WARM_COPIED)
