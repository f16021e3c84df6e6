"""Rows of cells as few strokes: neighbours that look the same are one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

import msgspec

from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recompat.cells import Cell
    from recompat.report.faces import FaceKind
    from recompat.summary import Row, Summary

    Line = tuple[Row, tuple[Cell, ...]]

_T = TypeVar("_T")

__all__ = ["Band", "Line", "bands", "corners", "grounds", "outlines"]


class Band(msgspec.Struct, frozen=True):
    """The cases of a family; ``name`` is what is shown of it, and empty where there is nothing to tell apart."""

    family: str
    name: str
    lines: tuple[Line, ...]


def bands(summary: Summary) -> Iterator[Band]:
    """Go through the families, in the order of the cases."""
    held: dict[str, list[Line]] = {}
    for row, cells in summary.lines():
        held.setdefault(row.family, []).append((row, cells))
    for family, lines in held.items():
        yield Band(family, clean(family) if len(held) > 1 else "", tuple(lines))


def grounds(faces: Sequence[Sequence[FaceKind]], width: int, pitch: int) -> dict[FaceKind, str]:
    """Write a path for each face: strokes along the middle of the rows, which are ``pitch`` apart."""
    strokes: dict[FaceKind, list[str]] = {}
    for number, row in enumerate(faces):
        for start, count, kind in _runs(row):
            strokes.setdefault(kind, []).append(
                f"M{start * width} {number * pitch + (pitch - 1) / 2:g}h{count * width}"
            )
    return {kind: "".join(found) for kind, found in strokes.items()}


def outlines(marked: Sequence[Sequence[bool]], width: int, pitch: int, height: int) -> str:
    """Write a path around the cells that are marked, neighbours as one."""
    return "".join(
        f"M{x + 0.5:g} {y + 0.5:g}h{long - 2}v{height - 1}h{2 - long}z" for x, y, long in _marked(marked, width, pitch)
    )


def corners(marked: Sequence[Sequence[bool]], width: int, pitch: int, size: int) -> str:
    """Write a path that fills the first corner of what ``outlines`` draws around."""
    return "".join(f"M{x} {y}h{size}l{-size} {size}z" for x, y, _ in _marked(marked, width, pitch))


def _marked(marked: Sequence[Sequence[bool]], width: int, pitch: int) -> Iterator[tuple[int, int, int]]:
    for number, row in enumerate(marked):
        for start, count, wanted in _runs(row):
            if wanted:
                yield start * width, number * pitch, count * width


def _runs(values: Iterable[_T]) -> Iterator[tuple[int, int, _T]]:
    """Find neighbours that are the same: where they start, how many they are, and what."""
    start = 0
    for value, group in groupby(values):
        count = len(list(group))
        yield start, count, value
        start += count
