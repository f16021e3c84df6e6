"""``matrix.svg``: the matrix as a picture for a README or an issue, on light and on dark pages.

A matrix of a few cases has a line for each, with its name; a larger one is drawn as a map of thin rows under the names of
its families.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

import msgspec

from recompat.detection import Detection
from recompat.platforms import axes
from recompat.report.faces import FACES, FaceKind, face
from recompat.report.moments import moment
from recompat.report.notes import conclusion, counted
from recompat.report.runs import Band, bands, corners, grounds, outlines
from recompat.report.shapes import SHAPES, style
from recompat.report.text import clean, shorten
from recompat.report.xml import child, document
from recompat.summary import UNEXPECTED
from recompat.tracks import beside_text, packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.report.runs import Line
    from recompat.summary import Summary

__all__ = ["MOST_LABELLED", "render_picture"]

MOST_LABELLED: Final = 60
"""How many cases have a line with a name; a picture of more is a map."""

MARGIN: Final = 20
NARROWEST: Final = 720
WIDEST: Final = 44  # of a column with shapes in it
SLANT: Final = 26  # what the last of the slanted names needs beyond its column
LONGEST_NAME: Final = 60
LONGEST_HEAD: Final = 30
CHARACTER: Final = 0.58  # the width of a character on average, of the font's size; fonts are seldom wider


class _Layout(msgspec.Struct, frozen=True):
    """Where things are, in pixels. ``left`` is where the first column begins; rows are ``pitch`` apart, and ``row`` high."""

    heads: tuple[str, ...]
    labelled: bool
    slanted: bool
    left: int
    column: int
    pitch: int
    row: int
    width: int

    @property
    def head(self) -> int:
        """How high the names of the releases are."""
        return int(0.75 * max(_wide(head, 11) for head in self.heads)) + 14 if self.slanted else 24


def render_picture(summary: Summary) -> str:
    """Draw the matrix, with a legend of what occurs in it."""
    occurring = {face(cell) for cell in summary.cells}
    kinds = [kind for kind in FaceKind if kind in occurring]
    layout = _layout(summary, kinds)
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-labelledby": "title desc"})
    child(root, "title", _title(summary), id="title")
    child(root, "desc", conclusion(summary), id="desc")
    child(root, "style", style(dict.fromkeys((*kinds, FaceKind.NOT_RUN))))
    page = child(root, "rect", class_="page", width="100%", height="100%", rx=6)
    child(root, "text", _title(summary), class_="title", x=MARGIN, y=36, font_size=17, font_weight=600)
    child(root, "text", conclusion(summary), class_="quiet", x=MARGIN, y=57, font_size=13)
    bottom = _body(root, summary, layout, 70)
    child(root, "path", class_="rule", d=f"M{MARGIN} {bottom + 8.5}H{layout.width - MARGIN}")
    bottom = _legend(root, summary, kinds, bottom + 20)
    child(root, "text", _made(summary), class_="quiet", x=MARGIN, y=bottom + 14, font_size=11)
    height = bottom + 14 + MARGIN
    root.attrib |= {"width": f"{layout.width}", "height": f"{height}", "viewBox": f"0 0 {layout.width} {height}"}
    page.attrib |= {"width": f"{layout.width}", "height": f"{height}"}
    return document(root)


def _layout(summary: Summary, kinds: Sequence[FaceKind]) -> _Layout:
    heads = tuple(_heads(summary))
    labelled = len(summary.cases) <= MOST_LABELLED
    names = max((_wide(_name(row.id), 12) for row in summary.cases), default=0) + 12 if labelled else 0
    meanings = (_wide(f"{FACES[kind].label} {FACES[kind].meaning}", 12) + 36 for kind in kinds)
    room = max(NARROWEST, _wide(_title(summary), 19), _wide(conclusion(summary), 13), *meanings)
    free, several = room - names - SLANT, max(1, len(heads))
    column = max(14, min(free // several, WIDEST if labelled else free))
    slanted = any(_wide(head, 11) > column - 4 for head in heads)
    pitch, row = (20, 18) if labelled else (4, 3)
    width = max(room, names + column * several + (SLANT if slanted else 0)) + 2 * MARGIN
    return _Layout(heads, labelled, slanted, MARGIN + names, column, pitch, row, width)


def _heads(summary: Summary) -> list[str]:
    """Name each column by its release, and by what else tells it from the others."""
    columns = summary.environments
    telling = [field for field in ("python", "platform") if len({getattr(column, field) for column in columns}) > 1]
    beside = [beside_text(packed(column.beside)) if axes(summary) else "" for column in columns]
    names = (" ".join(getattr(column, field) for field in ("torch", *telling)) for column in columns)
    return [shorten(clean(f"{name} {more}".rstrip()), LONGEST_HEAD) for name, more in zip(names, beside, strict=True)]


def _title(summary: Summary) -> str:
    releases = list(dict.fromkeys(column.torch for column in summary.environments))
    ends = dict.fromkeys((*releases[:1], *releases[-1:]))
    counts = summary.totals
    size = f"{counted(counts.cases, 'case')} on {counted(counts.environments, 'environment')}"
    return f"Activation checkpointing on torch {clean(' to '.join(ends))}: {size}"


def _made(summary: Summary) -> str:
    return f"Made {moment(summary.generated):%Y-%m-%d %H:%M} UTC by recompat {clean(summary.recompat)}."


def _body(root: ET.Element, summary: Summary, layout: _Layout, top: int) -> int:
    """Draw the grid below ``top``, and return where it ends."""
    _releases(root, layout, top + layout.head)
    top += layout.head + 4
    for band in bands(summary):
        if band.name:
            child(root, "path", class_="rule", d=f"M{MARGIN} {top + 4.5}H{layout.width - MARGIN}")
            _explained(root, shorten(band.name, LONGEST_NAME), _counts(summary, band), MARGIN, top + 19)
            top += 26
        top = _rows(root, layout, band.lines, top) + 4
    return top


def _releases(root: ET.Element, layout: _Layout, base: int) -> None:
    group = child(root, "g", class_="quiet", font_size=11)
    for number, head in enumerate(layout.heads):
        x = layout.left + number * layout.column + layout.column // 2
        if layout.slanted:
            child(group, "text", head, transform=f"translate({x} {base})rotate(-48)")
        else:
            child(group, "text", head, x=x, y=base, text_anchor="middle")


def _counts(summary: Summary, band: Band) -> str:
    totals = summary.families.get(band.family)
    if totals is None:
        return ""
    told = {one: totals.detections.get(one, 0) for one in Detection}
    numbers = {**{f"{one}": count for one, count in told.items()}, "no answer": totals.cells - sum(told.values())}
    return ", ".join((counted(totals.cases, "case"), *(f"{word} {count}" for word, count in numbers.items() if count)))


def _rows(root: ET.Element, layout: _Layout, lines: Sequence[Line], top: int) -> int:
    """Draw neighbouring rows: grounds first, then what is on them."""
    group = child(root, "g", transform=f"translate({layout.left} {top})")
    faces = [[face(cell) for cell in cells] for _, cells in lines]
    unexpected = [[cell.verdict in UNEXPECTED for cell in cells] for _, cells in lines]
    width, pitch, row = layout.column, layout.pitch, layout.row
    for kind, path in grounds(faces, width, pitch).items():
        child(group, "path", class_=f"ground {kind}", stroke_width=row, d=path)
    height = pitch * len(lines)
    edges = "".join(f"M{number * width} 0v{height}" for number in range(1, len(layout.heads)))
    child(group, "path", class_="grid", stroke_width=2 if layout.labelled else 1, d=edges)
    if layout.labelled:
        _shapes(group, layout, faces)
        for number, (line, _) in enumerate(lines):
            y = number * pitch + 13
            child(group, "text", _name(line.id), class_="title", x=-10, y=y, font_size=12, text_anchor="end")
    if any(map(any, unexpected)):
        child(group, "path", class_="mark", d=outlines(unexpected, width, pitch, row))
        child(group, "path", class_="corner", d=corners(unexpected, width, pitch, min(6, row + 1)))
    return top + height


def _shapes(group: ET.Element, layout: _Layout, faces: Sequence[Sequence[FaceKind]]) -> None:
    middle, half = layout.column // 2, layout.row // 2
    for number, row in enumerate(faces):
        for place, kind in enumerate(row):
            x, y = place * layout.column + middle, number * layout.pitch + half
            child(group, "path", class_=f"on on-{kind}", d=SHAPES[kind], transform=f"translate({x} {y})")


def _legend(root: ET.Element, summary: Summary, kinds: Sequence[FaceKind], top: int) -> int:
    """Explain the faces that occur, and the mark of unexpected cells."""
    for kind in kinds:
        group = child(root, "g", transform=f"translate({MARGIN} {top})")
        child(group, "rect", class_=kind, width=26, height=16, rx=2)
        child(group, "path", class_=f"on on-{kind}", d=SHAPES[kind], transform="translate(13 8)")
        _explained(group, FACES[kind].label, FACES[kind].meaning)
        top += 21
    if any(cell.verdict in UNEXPECTED for cell in summary.cells):
        group = child(root, "g", transform=f"translate({MARGIN} {top})")
        child(group, "path", class_="mark", d=outlines([[True]], 26, 16, 16))
        child(group, "path", class_="corner", d=corners([[True]], 26, 16, 6))
        _explained(group, "unexpected", "not as expectations.toml says")
        top += 21
    return top


def _explained(group: ET.Element, label: str, meaning: str, x: int = 36, y: int = 12) -> None:
    text = child(group, "text", label, class_="title", x=x, y=y, font_size=12, font_weight=600)
    child(text, "tspan", f" {meaning}", class_="quiet", font_weight=400, dx=4)


def _name(case: str) -> str:
    return shorten(clean(case.partition("::")[2] or case), LONGEST_NAME)


def _wide(text: str, size: int) -> int:
    return int(CHARACTER * size * len(text)) + 1
