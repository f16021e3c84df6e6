from __future__ import annotations

import json

import msgspec
import pytest

from builders import case_file, differs, record, result, summary
from recompat.model import Outcome, Verdict
from recompat.report.json import render_json
from recompat.summary import Summary
from scenes import as_expected, everything, hostile


def test_it_is_the_summary() -> None:
    text = render_json(everything())
    assert msgspec.json.decode(text, type=Summary) == everything()
    assert text.endswith("}\n")
    assert text == render_json(everything())


def test_its_parts_have_the_names_that_readers_know() -> None:
    written = json.loads(render_json(as_expected()))
    assert list(written) == [
        *("schema", "recompat", "generated", "environments", "cases", "cells", "totals"),
        *("families", "listed", "boundaries", "operator_changes", "notices"),
    ]
    assert written["schema"] == "recompat/matrix/1"
    cell = written["cells"][-1]
    assert (cell["case"], cell["environment"]) == ("patterns::raises", "torch2.11.0-cp311-linux_x86_64")
    assert (cell["outcome"], cell["verdict"]) == ("raises", "expected")
    assert cell["exception"] == "torch.utils.checkpoint.CheckpointError"
    assert cell["max_abs_diff"] is None
    assert cell["replays"] == {"cold": "CheckpointError", "warm": "CheckpointError", "warm-copied": "CheckpointError"}
    assert set(written["totals"]["outcomes"]) == set(Outcome)
    assert set(written["totals"]["verdicts"]) == set(Verdict)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_cannot_hold_is_null(number: float) -> None:
    made = summary(record("2.11.0", result("patterns::one", differs(number))), file=case_file("patterns", "one"))
    assert json.loads(render_json(made))["cells"][0]["differences"][1]["max_abs_diff"] is None


def test_hostile_text_survives_whole() -> None:
    assert msgspec.json.decode(render_json(hostile()), type=Summary) == hostile()
