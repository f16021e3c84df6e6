from __future__ import annotations

from itertools import pairwise

import pytest

from recompat.model import Outcome
from recompat.report.faces import FACES, FaceKind, face
from scenes import everything


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("kind", list(FaceKind))
def test_every_face_can_be_read_on_a_light_and_on_a_dark_page(kind: FaceKind) -> None:
    for colours in (FACES[kind].light, FACES[kind].dark):
        assert contrast(colours.ground, colours.text) >= 4.5, colours


def test_no_two_faces_have_the_same_glyph() -> None:
    assert len({one.glyph for one in FACES.values()}) == len(FACES) == len(FaceKind)


def test_every_outcome_has_a_face() -> None:
    assert {outcome.value for outcome in Outcome} <= {kind.value for kind in FACES}


def test_the_silent_ones_differ_from_a_pass_in_lightness_too() -> None:
    def grounds(pick: str) -> list[float]:
        kinds = (FaceKind.PASS, FaceKind.RAISES, FaceKind.DIFFERS)
        return [luminance(getattr(FACES[kind], pick).ground) for kind in kinds]

    def apart(colours: list[float]) -> bool:
        return all(max(a, b) / min(a, b) > 1.5 for a, b in pairwise(colours))

    assert apart(grounds("light"))
    assert apart(grounds("dark"))


def test_drift_and_exceptions_about_something_else_look_different_from_the_plain_ones() -> None:
    seen = {cell.case.partition("::")[2]: face(cell) for cell in everything().cells if "2.11.0" in cell.environment}
    assert seen["passes"] is FaceKind.DRIFT
    assert seen["is_new"] is FaceKind.PASS
    assert seen["changes"] is FaceKind.UNRELATED
    assert seen["raises"] is FaceKind.RAISES
