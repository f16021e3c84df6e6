from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from builders import SHA, record, result, summary
from golden import check_golden
from recompat.cases import Case, CaseFile
from recompat.report.faces import FACES, FaceKind, face
from recompat.report.notes import conclusion
from recompat.report.picture import MOST_LABELLED, render_picture
from recompat.report.shapes import SHAPES
from recompat.summary import UNEXPECTED
from scenes import CHECKPOINT, as_expected, everything, hostile, many, unreachable

SVG = "{http://www.w3.org/2000/svg}"
SCENES = [everything, as_expected, hostile, unreachable]


def texts(text: str) -> list[str]:
    return [" ".join("".join(one.itertext()).split()) for one in ET.fromstring(text).iter(f"{SVG}text")]


def shapes(text: str, kind: FaceKind) -> int:
    drawn = (one for one in ET.fromstring(text).iter(f"{SVG}path") if one.get("class") == f"on on-{kind}")
    return sum(one.attrib["d"] == SHAPES[kind] for one in drawn)


def stroked(text: str, kind: FaceKind, column: int) -> int:
    """How many columns the grounds of a face cover."""
    paths = (one for one in ET.fromstring(text).iter(f"{SVG}path") if one.get("class") == f"ground {kind}")
    return sum(int(long) for one in paths for long in re.findall(r"h(\d+)", one.attrib["d"])) // column


def test_all_as_expected() -> None:
    check_golden("as_expected.svg", render_picture(as_expected()))


@pytest.mark.parametrize("scene", SCENES)
def test_every_cell_is_drawn_with_its_shape_and_explained_once(scene: Any) -> None:
    made = scene()
    text = render_picture(made)
    for kind in FaceKind:
        cells = sum(face(cell) is kind for cell in made.cells)
        assert shapes(text, kind) == (cells + 1 if cells else 0)
        assert (f"{FACES[kind].label} {FACES[kind].meaning}" in texts(text)) is (cells > 0)


@pytest.mark.parametrize("scene", SCENES)
def test_grounds_cover_as_many_columns_as_there_are_cells(scene: Any) -> None:
    made = scene()
    for kind in FaceKind:
        assert stroked(render_picture(made), kind, 44) == sum(face(cell) is kind for cell in made.cells)


def test_every_face_has_a_shape_of_its_own() -> None:
    assert set(SHAPES) == set(FaceKind)
    assert len(set(SHAPES.values())) == len(FaceKind)


@pytest.mark.parametrize("scene", SCENES)
def test_who_cannot_see_it_is_told_what_it_says(scene: Any) -> None:
    root = ET.fromstring(render_picture(scene()))
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-labelledby"].split() == [root[0].attrib["id"], root[1].attrib["id"]]
    assert (root[0].tag, root[1].tag) == (f"{SVG}title", f"{SVG}desc")
    assert root[1].text == conclusion(scene())


def test_it_says_when_and_by_what_it_was_made() -> None:
    assert "Made 2026-11-29 15:00 UTC by recompat 0.0.0." in texts(render_picture(as_expected()))


def test_unexpected_cells_are_marked_and_others_are_not() -> None:
    made = everything()
    assert any(cell.verdict in UNEXPECTED for cell in made.cells)
    assert 'class="mark"' in render_picture(made)
    assert "unexpected not as expectations.toml says" in texts(render_picture(made))
    assert 'class="mark"' not in render_picture(as_expected())


def test_a_small_matrix_names_its_cases_and_a_large_one_does_not() -> None:
    assert f"case_{MOST_LABELLED - 1}" in texts(render_picture(many(MOST_LABELLED, 2)))
    large = texts(render_picture(many(MOST_LABELLED + 1, 2)))
    assert not any("case_" in text for text in large)
    assert {"2.0.0", "2.1.0"} <= set(large)


def test_families_are_told_apart_with_their_counts() -> None:
    names = {"attention": ("one", "two"), "nesting": ("three",)}
    cases = tuple(Case(f"{family}::{name}", "A case.", family) for family in names for name in names[family])
    file = CaseFile(Path("matrix/cases/all.py"), SHA, cases)
    records = [record(torch, *(result(case.id, CHECKPOINT) for case in cases)) for torch in ("2.9.1", "2.11.0")]
    told = texts(render_picture(summary(*records, file=file)))
    assert "attention 2 cases, noticed 4" in told
    assert "nesting 1 case, noticed 2" in told


def test_it_is_drawn_for_dark_pages_too_and_asks_nobody_for_anything() -> None:
    text = render_picture(everything())
    assert "@media (prefers-color-scheme:dark)" in text
    assert not re.search(r"href|url\(|@import|<script|<image|<foreignObject", text)


def test_colours_are_those_of_the_faces() -> None:
    known = {colour for one in FACES.values() for both in (one.light, one.dark) for colour in (both.ground, both.text)}
    assert set(re.findall(r"#[0-9a-f]{3,6}\b", render_picture(everything()))) <= known


def test_hostile_names_become_text() -> None:
    text = render_picture(hostile())
    assert "Evil<b>|`" in texts(text)
    assert not set(text) & set("\x00\x1b\x07\x9b\u202e\u2069\u200b\r")
    assert len(text) < 20_000


def test_large_matrices_make_small_pictures_quickly() -> None:
    assert len(render_picture(many(263, 16))) < 150_000
    made = many(1_000, 40)
    began = time.process_time()
    assert len(render_picture(made)) < 1_000_000
    assert time.process_time() - began < 10
