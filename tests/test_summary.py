from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from builders import (
    CHECKPOINT_ERROR,
    NOW,
    PASSES,
    SHA,
    again,
    case_file,
    claim,
    claims,
    differs,
    ends,
    raises,
    record,
    result,
    summary,
    trouble,
)
from recompat.errors import ExitCode
from recompat.expectations import Expectations
from recompat.model import CaseResult, Mismatch, Outcome, Phase, Record, Replay, TensorMeta, Verdict
from recompat.news import news
from recompat.summarise import summarise
from recompat.summary import Summary

if TYPE_CHECKING:
    from recompat.cases import CaseFile
    from recompat.cells import Cell

FILE = case_file("patterns", "one", "two")
ONE, TWO = (case.id for case in FILE.cases)
PASS = claim(">=2", Outcome.PASS)
BOTH_PASS = claims(one=PASS, two=PASS)


def cells(made: Summary) -> dict[tuple[str, str], Cell]:
    return {(cell.case, cell.environment): cell for cell in made.cells}


def only_cell(seen: CaseResult, **more: object) -> Cell:
    file = case_file("patterns", "one")
    return summary(record("2.11.0", seen), file=file, **more).cells[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("python", ["pp310", "cp", "", "cp3²", "٣t"])
def test_any_word_may_stand_where_an_interpreter_should(python: str) -> None:
    made = summary(record("2.9.1", python=python), record("2.9.1"), file=FILE)
    assert {column.python for column in made.environments} == {python, "cp311"}


def test_columns_are_in_version_order_and_every_case_has_a_cell_in_each() -> None:
    made = summary(record("2.11.0"), record("2.9.1", python="cp311"), record("2.9.1", python="cp39"), file=FILE)
    environments = [column.id.removesuffix("-linux_x86_64") for column in made.environments]
    assert environments == ["torch2.9.1-cp39", "torch2.9.1-cp311", "torch2.11.0-cp311"]
    pairs = [(cell.case, cell.environment) for cell in made.cells]
    assert pairs == [(case, column.id) for case in (ONE, TWO) for column in made.environments]
    assert [(row.id, len(line)) for row, line in made.lines()] == [(ONE, 3), (TWO, 3)]


def test_a_cell_says_what_the_cold_trial_said() -> None:
    mismatch = Mismatch(0, TensorMeta((2,), "torch.float32", "cpu"), TensorMeta((3,), "torch.float32", "cpu"))
    cold = raises(message="they differ", frames=("torch/utils/checkpoint.py:1",), mismatches=(mismatch,))
    cell = only_cell(result(ONE, cold), expectations=claims(one=claim(">=2.1", Outcome.RAISES, CHECKPOINT_ERROR)))
    assert (cell.outcome, cell.verdict) == (Outcome.RAISES, Verdict.EXPECTED)
    assert (cell.exception, cell.phase, cell.message) == (CHECKPOINT_ERROR, Phase.BACKWARD, "they differ")
    assert (cell.frames, cell.mismatches) == (("torch/utils/checkpoint.py:1",), (mismatch,))
    assert cell.replays == dict.fromkeys(Replay, "CheckpointError")
    assert cell.date == "2026-11-29T14:01:00Z"
    assert cell.expectation is not None
    assert (cell.expectation.torch, cell.expectation.exception) == (">=2.1", CHECKPOINT_ERROR)


def test_the_largest_difference_is_the_cells() -> None:
    assert only_cell(result(ONE, differs(0.25))).max_abs_diff == 0.25
    assert only_cell(result(ONE, PASSES)).max_abs_diff == 0.0
    assert only_cell(result(ONE, raises())).max_abs_diff is None


def test_a_process_dependent_cell_shows_both_endings_and_is_not_flaky() -> None:
    cell = only_cell(result(ONE, raises("builtins.RuntimeError"), PASSES))
    assert cell.process_dependent
    assert not cell.flaky
    assert cell.replays == {Replay.COLD: "RuntimeError", Replay.WARM: "pass", Replay.WARM_COPIED: "pass"}


def test_a_flaky_cell_says_in_what_its_replays_differ() -> None:
    cell = only_cell(result(ONE, copied=raises()), expectations=claims(one=PASS))
    assert cell.flaky
    assert cell.verdict is Verdict.FLAKY
    assert cell.unsteady == ("outcome", "raised", "differences")


def missing_details(made: Summary) -> list[str | None]:
    assert all(cell.outcome is Outcome.NOT_RUN for cell in made.cells if cell.verdict is Verdict.MISSING)
    assert all(cell.date is None for cell in made.cells if cell.verdict is Verdict.MISSING)
    return [cell.detail for cell in made.cells if cell.verdict is Verdict.MISSING]


def test_a_cell_says_whether_it_was_verified_and_how_it_ended_from_scratch() -> None:
    same, other = (only_cell(again(result(ONE, raises()), cold)) for cold in (raises(), PASSES))
    assert (same.verified, same.flaky, same.again) == (True, False, same.replays)
    assert (other.verified, other.flaky, other.unsteady) == (False, True, ("verification",))
    assert (other.outcome, other.verdict, other.again[Replay.COLD]) == (Outcome.RAISES, Verdict.FLAKY, "pass")


def test_an_environment_with_trouble_is_missing_with_its_reason() -> None:
    made = summary(record("2.11.0", trouble=trouble()), file=FILE, expectations=BOTH_PASS)
    assert missing_details(made) == ["There is no wheel for cp314."] * 2
    assert made.environments[0].trouble == trouble()
    assert made.environments[0].imported is None


def test_what_an_environment_left_before_its_trouble_counts() -> None:
    made = summary(record("2.11.0", result(ONE), trouble=trouble()), file=FILE, expectations=BOTH_PASS)
    assert [cell.verdict for cell in made.cells] == [Verdict.EXPECTED, Verdict.MISSING]


def test_a_result_of_other_bytes_is_stale() -> None:
    made = summary(record("2.11.0", result(ONE, sha256="c" * 64), result(TWO)), file=FILE, expectations=BOTH_PASS)
    assert missing_details(made) == ["patterns.py has changed since this was recorded; run it again."]
    assert made.totals.verdicts[Verdict.EXPECTED] == 1


def test_a_record_without_the_case_is_missing_and_says_so() -> None:
    made = summary(record("2.11.0", result(TWO)), file=FILE, expectations=BOTH_PASS)
    assert missing_details(made) == ["The record has no result for this case; run it again."]


def test_a_result_without_its_cold_trial_is_missing() -> None:
    warm = CaseResult(ONE, SHA, {Replay.WARM: PASSES, Replay.WARM_COPIED: PASSES})
    made = summary(record("2.11.0", warm, result(TWO)), file=FILE, expectations=BOTH_PASS)
    assert missing_details(made) == ["The cold trial, which gives the verdict, was not run."]


@pytest.mark.parametrize("seen", [record("2.11.0", result("patterns::*")), record("2.11.0", trouble=trouble())])
def test_a_case_of_a_faulty_file_is_an_error_whatever_the_record_says(seen: Record) -> None:
    file = case_file("patterns", "*", fault="patterns.py, line 3 is not valid Python: invalid syntax.")
    made = summary(seen, record("2.12.0"), file=file)
    assert [cell.outcome for cell in made.cells] == [Outcome.ERROR] * 2
    assert {cell.detail for cell in made.cells} == {file.fault}
    assert made.cases[0].fault == file.fault
    assert made.exit_code is ExitCode.UNEXPECTED


@pytest.mark.parametrize(
    ("file", "records"),
    [
        (FILE, []),
        (case_file("patterns"), [record("2.11.0")]),
        (FILE, [record("2.11.0", result(ONE), result(TWO, raises())), record("2.12.0", trouble=trouble())]),
        (FILE, [record("2.11.0", result(ONE, ends(Outcome.CRASH)), result(TWO, copied=raises()))]),
    ],
)
def test_totals_add_up(file: CaseFile, records: list[Record]) -> None:
    counts = summary(*records, file=file, expectations=claims(one=PASS)).totals
    assert counts.cells == counts.environments * counts.cases == len(records) * len(file.cases)
    assert sum(counts.outcomes.values()) == sum(counts.verdicts.values()) == counts.cells
    assert set(counts.outcomes) == set(Outcome)
    assert set(counts.verdicts) == set(Verdict)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([result(ONE), result(TWO)], ExitCode.OK),
        ([result(ONE)], ExitCode.INCOMPLETE),
        ([result(ONE, raises())], ExitCode.UNEXPECTED),
        ([result(ONE, raises()), result(TWO)], ExitCode.UNEXPECTED),
        ([result(ONE), result(TWO, copied=raises())], ExitCode.UNEXPECTED),
    ],
)
def test_the_exit_code_says_unexpected_before_incomplete(results: list[CaseResult], expected: ExitCode) -> None:
    assert summary(record("2.11.0", *results), file=FILE, expectations=BOTH_PASS).exit_code is expected


@pytest.mark.parametrize("claimed", [claim("<2", Outcome.PASS), claim(">=2", Outcome.RAISES, CHECKPOINT_ERROR)])
def test_what_nobody_claimed_or_claimed_otherwise_is_unexpected(claimed: object) -> None:
    file = case_file("patterns", "one")
    made = summary(record("2.11.0", result(ONE)), file=file, expectations=claims(one=claimed))  # type: ignore[arg-type]
    assert made.exit_code is ExitCode.UNEXPECTED


def test_the_same_records_in_another_order_give_the_same_summary() -> None:
    records = [record("2.9.1", result(ONE), result(TWO)), record("2.11.0", result(TWO), result(ONE))]
    assert summary(*records, file=FILE) == summary(*reversed(records), file=FILE)


def test_a_summary_survives_its_own_json() -> None:
    made = summary(record("2.11.0", result(ONE, raises()), result(TWO, differs())), file=FILE, expectations=BOTH_PASS)
    assert msgspec.json.decode(msgspec.json.encode(made), type=Summary) == made


def test_boundaries_know_of_records_between_the_columns_and_of_no_others() -> None:
    trials = {"2.8.0": PASSES, "2.9.1": PASSES, "2.10.0": raises(), "2.11.0": raises(), "2.12.0": PASSES}
    records = {torch: record(torch, result("patterns::a", trial)) for torch, trial in trials.items()}
    file = case_file("patterns", "a")
    columns = [records["2.9.1"], records["2.11.0"]]
    made = summarise(columns, [file], file.cases, Expectations({}), NOW, others=records.values())
    assert [column.torch for column in made.environments] == ["2.9.1", "2.11.0"]
    assert [(one.last, one.first, one.not_run) for one in made.boundaries] == [("2.9.1", "2.10.0", ())]
    assert [(one.torch, [item.what.first for item in one.items]) for one in news(made)] == [("2.11.0", ["2.10.0"])]
    alone = summarise(columns, [file], file.cases, Expectations({}), NOW)
    assert [(one.last, one.first) for one in alone.boundaries] == [("2.9.1", "2.11.0")]
