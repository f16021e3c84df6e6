from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from jsonschema import Draft7Validator, FormatChecker

from recompat.model import Verdict
from recompat.report.ctrf import render_ctrf
from recompat.summary import UNEXPECTED
from scenes import as_expected, everything, hostile, many, unreachable

if TYPE_CHECKING:
    from support.published import Schemas

SCENES = [everything, as_expected, hostile, unreachable]


def results(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)["results"]
    return found


def told(environment: str, name: str) -> dict[str, Any]:
    made = everything()
    rows = tuple(msgspec.structs.replace(row, family="attention") for row in made.cases)
    tests: list[dict[str, Any]] = results(render_ctrf(msgspec.structs.replace(made, cases=rows)))["tests"]
    return next(one for one in tests if environment in one["suite"][0] and one["name"] == f"patterns::{name}")


def test_every_cell_is_a_test_with_an_id_of_its_own() -> None:
    made = everything()
    tests = results(render_ctrf(made))["tests"]
    assert {one["testId"] for one in tests} == {f"{cell.environment}/{cell.case}" for cell in made.cells}
    assert len(tests) == len(made.cells)


@pytest.mark.parametrize("scene", SCENES)
def test_counts_add_up(scene: Any) -> None:
    made = scene()
    found = results(render_ctrf(made))
    counts = found["summary"]
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert counts[status] == sum(one["status"] == status for one in found["tests"])
    assert counts["tests"] == len(found["tests"]) == made.totals.cells
    assert counts["failed"] + counts["other"] == sum(made.totals.verdicts[verdict] for verdict in UNEXPECTED)
    assert counts["skipped"] == made.totals.verdicts[Verdict.MISSING]
    assert counts["start"] <= counts["stop"]


def test_an_expected_exception_passes_and_says_how_it_ended() -> None:
    test = told("2.11.0", "raises")
    assert (test["status"], test["rawStatus"]) == ("passed", "raises")
    assert test["labels"]["exception"] == "torch.utils.checkpoint.CheckpointError"
    assert test["suite"] == ["torch2.11.0-cp311-linux_x86_64", "attention", "patterns"]
    assert test["filePath"] == "matrix/cases/patterns.py"
    assert "message" not in test


def test_what_regressed_fails_with_a_message_and_a_cause() -> None:
    test = told("2.11.0", "regresses")
    assert test["status"] == "failed"
    assert test["message"].startswith("regressed: got CheckpointError, expected pass for torch >=2")
    assert test["labels"]["verdict"] == "regressed"
    assert test["labels"]["cause"]
    assert test["tags"] == ["attention", "raises", "noticed"]


def test_a_flaky_case_fails_and_so_has_not_the_flag_of_those_that_passed_in_the_end() -> None:
    test = told("2.11.0", "is_flaky")
    assert (test["status"], test["labels"]["verdict"], test["labels"]["flaky"]) == ("failed", "flaky", True)
    assert "flaky" not in test


def test_trouble_is_skipped_with_its_reason() -> None:
    test = told("2.15.0", "passes")
    assert (test["status"], test["rawStatus"], test["message"]) == (
        "skipped",
        "not-run",
        "There is no wheel for cp314.",
    )


def test_what_was_installed_is_told_once_per_environment() -> None:
    environment = results(render_ctrf(as_expected()))["environment"]
    assert environment["healthy"] is True
    assert environment["extra"]["environments"]["torch2.11.0-cp311-linux_x86_64"]["imported"] == "2.11.0+cpu"
    assert results(render_ctrf(everything()))["environment"]["healthy"] is False


def test_hostile_text_is_short_and_holds_nothing_unseen() -> None:
    text = render_ctrf(hostile())
    assert len(text) < 20_000
    assert not set("\x00\x1b\x07\x9b\u202e\u2069\u200b") & set(json.dumps(json.loads(text), ensure_ascii=False))


def test_the_same_summary_gives_the_same_text() -> None:
    assert render_ctrf(everything()) == render_ctrf(everything())


def test_a_large_matrix_takes_seconds() -> None:
    made = many(1_000, 40)
    began = time.process_time()
    text = render_ctrf(made)
    assert time.process_time() - began < 30
    assert len(text) < 40_000_000


@pytest.mark.published
@pytest.mark.parametrize("scene", SCENES)
def test_it_is_valid(published: Schemas, scene: Any) -> None:
    Draft7Validator.check_schema(published.ctrf)
    Draft7Validator(published.ctrf, format_checker=FormatChecker()).validate(json.loads(render_ctrf(scene())))


@pytest.mark.published
def test_the_schema_refuses_what_is_wrong(published: Schemas) -> None:
    report = json.loads(render_ctrf(as_expected()))
    report["results"]["tests"][0]["status"] = "regressed"
    assert not Draft7Validator(published.ctrf).is_valid(report)
