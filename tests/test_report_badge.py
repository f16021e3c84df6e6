from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

from builders import case_file, record, summary
from recompat.report.badge import render_badge_json, render_badge_svg
from scenes import as_expected, everything, hostile, unreachable

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("scene", "label", "message", "failing"),
    [
        (as_expected, "torch 2.9.1\N{EN DASH}2.11.0", "as expected", False),
        (everything, "torch 2.9.1\N{EN DASH}2.15.0", "13 unexpected", True),
        (unreachable, "torch 2.9.1\N{EN DASH}2.11.0", "incomplete", False),
    ],
)
def test_it_says_what_the_exit_code_says(scene: Any, label: str, message: str, failing: bool) -> None:
    badge = json.loads(render_badge_json(scene()))
    assert (badge["label"], badge["message"], badge["isError"]) == (label, message, failing)
    assert badge["schemaVersion"] == 1


@pytest.mark.parametrize("scene", [as_expected, everything, unreachable, hostile])
def test_the_picture_says_the_same_in_the_same_colours(scene: Any) -> None:
    badge, root = json.loads(render_badge_json(scene())), ET.fromstring(render_badge_svg(scene()))
    texts = root.findall(f"{SVG}g/{SVG}text")
    assert [text.text for text in texts] == [badge["label"], badge["message"]]
    grounds = [rect.attrib["fill"] for rect in root.findall(f"{SVG}g/{SVG}rect")]
    assert grounds == [f"#{badge['labelColor']}", f"#{badge['color']}"]
    assert root.findtext(f"{SVG}title") == root.attrib["aria-label"] == f"{badge['label']}: {badge['message']}"


@pytest.mark.parametrize("scene", [as_expected, everything, unreachable])
def test_each_text_is_fitted_into_its_ground(scene: Any) -> None:
    root = ET.fromstring(render_badge_svg(scene()))
    texts, grounds = root.findall(f"{SVG}g/{SVG}text"), root.findall(f"{SVG}g/{SVG}rect")
    for text, ground in zip(texts, grounds, strict=True):
        left = int(ground.get("x", "0"))
        assert left < int(text.attrib["x"])
        assert int(text.attrib["x"]) + int(text.attrib["textLength"]) < left + int(ground.attrib["width"])
    assert sum(int(ground.attrib["width"]) for ground in grounds) == int(root.attrib["width"])


def test_one_release_is_named_once() -> None:
    badge = json.loads(render_badge_json(summary(record("2.11.0"), file=case_file("patterns", "a"))))
    assert badge["label"] == "torch 2.11.0"


def test_hostile_names_stay_on_the_badge() -> None:
    made = as_expected()
    evil = msgspec.structs.replace(made.environments[0], torch="<script>\x00\u202e" + "A" * 1_000_000)
    made = msgspec.structs.replace(made, environments=(evil, *made.environments[1:]))
    text = render_badge_svg(made)
    assert len(text) < 2_000
    assert "&lt;script&gt;" in text
    assert len(json.loads(render_badge_json(made))["label"]) <= 40
