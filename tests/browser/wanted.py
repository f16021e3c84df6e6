"""The page's filters once more, from the summary alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.report.faces import FaceKind, face
from recompat.report.style import cell_text
from recompat.summary import UNEXPECTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.cells import Cell
    from recompat.summary import Row, Summary

__all__ = ["Wanted", "columns", "rows"]

SILENT = {FaceKind.NOT_RUN, FaceKind.UNSUPPORTED, FaceKind.MOOT}


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for; an empty field lets everything through. ``start`` and ``end`` are releases."""

    text: str = ""
    family: str = ""
    outcomes: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    start: str = ""
    end: str = ""
    differ: bool = False
    unexpected: bool = False


def columns(summary: Summary, wanted: Wanted) -> list[str]:
    """The ids of the environments between ``start`` and ``end``."""
    releases = list(dict.fromkeys(column.torch for column in summary.environments))
    first, last = releases.index(wanted.start or releases[0]), releases.index(wanted.end or releases[-1])
    return [column.id for column in summary.environments if column.torch in releases[first : last + 1]]


def rows(summary: Summary, wanted: Wanted) -> list[str]:
    """The ids of the cases for which all of it holds, in the columns that are left."""
    inside = set(columns(summary, wanted))
    return [
        row.id
        for row, cells in summary.lines()
        if _holds(row, cells, [cell for cell in cells if cell.environment in inside], wanted)
    ]


def _holds(row: Row, all_cells: Sequence[Cell], cells: Sequence[Cell], wanted: Wanted) -> bool:
    text = _text(row, all_cells)
    return (
        wanted.family in {"", row.family}
        and all(word in text for word in wanted.text.lower().split())
        and (not wanted.outcomes or any(face(cell) in wanted.outcomes for cell in cells))
        and (not wanted.verdicts or any(cell.verdict in wanted.verdicts for cell in cells))
        and (not wanted.unexpected or any(cell.verdict in UNEXPECTED for cell in cells))
        and (not wanted.differ or len({_ending(cell) for cell in cells if face(cell) not in SILENT}) > 1)
    )


def _ending(cell: Cell) -> tuple[FaceKind, str]:
    return face(cell), "" if cell.drift else cell_text(cell)


def _text(row: Row, cells: Sequence[Cell]) -> str:
    """What is told of a case: of itself, and of its cells."""
    told = [row.id, row.family, row.title, row.about]
    for cell in cells:
        told += [cell_text(cell), cell.cause or "", cell.detail or "", cell.message or "", cell.exception or ""]
        told += [change.setting for change in cell.changes]
    return "\n".join(told).lower()
