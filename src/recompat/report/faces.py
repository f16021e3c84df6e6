"""What a cell looks like on a page and in a picture: a glyph *and* colours, each told apart without the other, once."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from recompat.detection import Detection
from recompat.model import Outcome
from recompat.report.style import DRIFT, OUTCOMES, UNRELATED

if TYPE_CHECKING:
    from recompat.cells import Cell

__all__ = ["FACES", "Colours", "Face", "FaceKind", "face"]


class FaceKind(StrEnum):
    """An outcome; a pass with drift, and an exception that is about something else, look different from the plain ones."""

    PASS = "pass"
    DRIFT = "drift"
    DIFFERS = "differs"
    RAISES = "raises"
    UNRELATED = "unrelated"
    CRASH = "crash"
    TIMEOUT = "timeout"
    ERROR = "error"
    MOOT = "moot"
    UNSUPPORTED = "unsupported"
    NOT_RUN = "not-run"


class Colours(msgspec.Struct, frozen=True):
    """A ground and a text on it, as ``#rrggbb``; their contrast is at least 4.5:1."""

    ground: str
    text: str


class Face(msgspec.Struct, frozen=True):
    """A glyph, its colours on a light and on a dark page, and what it means."""

    glyph: str
    light: Colours
    dark: Colours
    label: str
    meaning: str


_TROUBLE = Colours("#d5c3ec", "#2d1650"), Colours("#5b3a86", "#f1e8fd")
_SILENT = Colours("#eceef1", "#4c5561"), Colours("#262b33", "#b3bcc8")


def _of(outcome: Outcome, glyph: str, light: Colours, dark: Colours) -> Face:
    return Face(glyph, light, dark, OUTCOMES[outcome].label, OUTCOMES[outcome].meaning)


# Pass is blue-green, what raises orange, and what is silently wrong the darkest on a light page and the brightest on a
# dark one: hues and lightness that differ for readers who do not see red and green apart.
FACES: dict[FaceKind, Face] = {
    FaceKind.PASS: _of(Outcome.PASS, "✓", Colours("#d3ebe6", "#0b4a40"), Colours("#12423b", "#c4ece2")),
    FaceKind.DRIFT: Face("≈", Colours("#ffe14d", "#3a2e00"), Colours("#e0bf00", "#1d1700"), DRIFT.label, DRIFT.meaning),
    FaceKind.DIFFERS: _of(Outcome.DIFFERS, "≠", Colours("#8e0152", "#ffffff"), Colours("#ff6db0", "#2a0016")),
    FaceKind.RAISES: _of(Outcome.RAISES, "✗", Colours("#eb9a3d", "#2e1700"), Colours("#96520a", "#ffedd6")),
    FaceKind.UNRELATED: Face(
        "✗°",
        Colours("#f7c98f", "#3a1f00"),
        Colours("#6b3a05", "#ffe3c2"),
        f"{OUTCOMES[Outcome.RAISES].label}{UNRELATED.label}",
        UNRELATED.meaning,
    ),
    FaceKind.CRASH: _of(Outcome.CRASH, "☇", *_TROUBLE),
    FaceKind.TIMEOUT: _of(Outcome.TIMEOUT, "∞", *_TROUBLE),
    FaceKind.ERROR: _of(Outcome.ERROR, "!", *_TROUBLE),
    FaceKind.MOOT: _of(Outcome.MOOT, "∅", *_SILENT),
    FaceKind.UNSUPPORTED: _of(Outcome.UNSUPPORTED, "·", *_SILENT),
    FaceKind.NOT_RUN: _of(Outcome.NOT_RUN, "?", Colours("#ffffff", "#30506e"), Colours("#14181d", "#a9c7e4")),
}


_PLAIN = {outcome: FaceKind(outcome.value) for outcome in Outcome}


def face(cell: Cell) -> FaceKind:
    """Say which face a cell has."""
    if cell.drift:
        return FaceKind.DRIFT
    if cell.detection is Detection.UNRELATED:
        return FaceKind.UNRELATED
    return _PLAIN[cell.outcome]
