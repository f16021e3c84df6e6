"""A badge for a README: as JSON for Shields' endpoint, and as a small picture of our own that says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

import msgspec

from recompat.errors import ExitCode
from recompat.report.faces import FACES, Colours, FaceKind
from recompat.report.text import clean, shorten
from recompat.report.xml import child, document
from recompat.summary import UNEXPECTED

if TYPE_CHECKING:
    from recompat.summary import Summary

__all__ = ["render_badge_json", "render_badge_svg"]

LABEL: Final = FACES[FaceKind.UNSUPPORTED].dark
COLOURS: Final = {
    ExitCode.OK: FACES[FaceKind.PASS].dark,
    ExitCode.INCOMPLETE: FACES[FaceKind.ERROR].dark,
    ExitCode.UNEXPECTED: FACES[FaceKind.DIFFERS].light,
}
DASH: Final = "\N{EN DASH}"
LONGEST: Final = 40  # characters of a text
HEIGHT: Final = 20
PADDING: Final = 7
SIZE: Final = 11  # of the font, in pixels

# Advance widths, about those of DejaVu Sans and of Verdana, in thousandths of the font's size.
WIDTHS: Final = {
    **dict.fromkeys("ijl", 278),
    **dict.fromkeys(" .,", 318),
    **dict.fromkeys("ftr-:", 400),
    DASH: 500,
    **dict.fromkeys("mw", 900),
}
WIDTH: Final = 640  # of any other character


class _Badge(msgspec.Struct, frozen=True):
    label: str
    message: str
    colours: Colours
    failing: bool


def render_badge_json(summary: Summary) -> str:
    """Write what Shields' endpoint badge reads; a badge of something unexpected keeps its colour."""
    badge = _badge(summary)
    fields = {
        "schemaVersion": 1,
        "label": badge.label,
        "message": badge.message,
        "color": badge.colours.ground.lstrip("#"),
        "labelColor": LABEL.ground.lstrip("#"),
        "isError": badge.failing,
    }
    return msgspec.json.format(msgspec.json.encode(fields), indent=2).decode() + "\n"


def render_badge_svg(summary: Summary) -> str:
    """Draw the badge; each text is fitted to its ground, whatever font a reader has."""
    badge = _badge(summary)
    left, right = (_width(text) + 2 * PADDING for text in (badge.label, badge.message))
    text = f"{badge.label}: {badge.message}"
    root = ET.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", width=str(left + right), height=str(HEIGHT), role="img"
    )
    root.set("aria-label", text)
    child(root, "title", text)
    corners = f"corners-{left + right}"  # the same in every badge of this width, should a page hold several
    clip = child(root, "clipPath", id=corners)
    child(clip, "rect", width=left + right, height=HEIGHT, rx=3)
    grounds = child(root, "g", clip_path=f"url(#{corners})")
    child(grounds, "rect", width=left, height=HEIGHT, fill=LABEL.ground)
    child(grounds, "rect", x=left, width=right, height=HEIGHT, fill=badge.colours.ground)
    texts = child(root, "g", font_family="Verdana,DejaVu Sans,sans-serif", font_size=SIZE)
    _text(texts, badge.label, PADDING, LABEL)
    _text(texts, badge.message, left + PADDING, badge.colours)
    return document(root)


def _text(parent: ET.Element, text: str, x: int, colours: Colours) -> None:
    element = child(parent, "text", text, x=x, y=14, fill=colours.text)
    element.set("textLength", str(_width(text)))
    element.set("lengthAdjust", "spacingAndGlyphs")


def _width(text: str) -> int:
    return round(sum(WIDTHS.get(character, WIDTH) for character in text) * SIZE / 1000)


def _badge(summary: Summary) -> _Badge:
    releases = dict.fromkeys(column.torch for column in summary.environments)
    ends = dict.fromkeys((next(iter(releases), ""), next(reversed(releases), "")))
    label = shorten(clean(f"torch {DASH.join(ends)}"), LONGEST)
    code = summary.exit_code
    return _Badge(label, _message(summary), COLOURS[code], code is ExitCode.UNEXPECTED)


def _message(summary: Summary) -> str:
    """Say what the exit code says, in as few words as fit."""
    counts = summary.totals.verdicts
    match summary.exit_code:
        case ExitCode.OK:
            return "as expected"
        case ExitCode.INCOMPLETE:
            return "incomplete"
        case _:
            return f"{sum(counts[verdict] for verdict in UNEXPECTED)} unexpected"
