from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from packaging.version import Version

from recompat.model import CaseResult, Environment, Facts, Outcome, Record, Replay, Run, Trial, Trouble, TroubleKind
from recompat.standing import dated, merge_results, most_telling, pending_cases, record_of, superseded
from recompat.tracks import Target
from recompat.trials import CaseAddress

FACTS = Facts("9.0.0", "cpu", "wheel folder", "d", "3.11.7", "cpython", "glibc", "AVX2", 1, {})
TERMS = {"timeout": "60"}
A, B = (CaseAddress(f"file::{name}", Path("file.py"), "sha") for name in "ab")


def result(case: CaseAddress, sha256: str = "sha") -> CaseResult:
    return CaseResult(case.id, sha256, {Replay.COLD: Trial(Outcome.PASS, 0.1)})


def record(*results: CaseResult, python: str = "cp311", host: str = "cp311", finished: str = "1") -> Record:
    run = Run("0", "probe", TERMS, "0", finished, {})
    return Record(Environment("9.0.0", python, "linux", host), run, FACTS, results)


def pending(record: Record | None, probe: str = "probe", terms: dict[str, str] = TERMS) -> list[CaseAddress]:
    return pending_cases(record, [A, B], probe, terms)


def test_without_a_record_everything_is_pending() -> None:
    assert pending(None) == [A, B]


def test_a_result_stands() -> None:
    assert pending(record(result(A), result(B))) == []


@pytest.mark.parametrize(
    ("torch", "source", "named", "stands"),
    [
        ("9.0.0", "named index https://host/test", False, False),
        ("9.0.0", "named index https://host/test", True, True),
        ("9.0.0", "CPU index", True, True),
        ("9.0.0rc1", "named index https://host/test", False, True),
        ("9.0.0.dev20261120", "named index https://host/nightly", False, True),
    ],
)
def test_what_a_named_index_called_a_release(torch: str, source: str, named: bool, stands: bool) -> None:
    made = record(result(A), result(B))
    made = msgspec.structs.replace(
        made,
        environment=msgspec.structs.replace(made.environment, torch=torch),
        facts=msgspec.structs.replace(FACTS, source=source),
    )
    assert (pending_cases(made, [A, B], "probe", TERMS, named=named) == []) is stands


def test_an_edited_file_is_run_again_and_the_others_are_not() -> None:
    assert pending(record(result(A, "other"), result(B))) == [A]


def test_another_probe_or_option_leaves_nothing_standing() -> None:
    whole = record(result(A), result(B))
    assert pending(whole, probe="other") == [A, B]
    assert pending(whole, terms={"timeout": "30"}) == [A, B]


def test_a_record_speaks_for_the_interpreter_that_asked() -> None:
    instead = record(result(A), python="cp310", host="cp314")
    target = Target(Version("9.0.0"))
    assert record_of([instead], target, "cp314", "linux") is instead
    assert record_of([instead], target, "cp310", "linux") is instead
    assert record_of([instead], target, "cp312", "linux") is None
    assert record_of([instead], target, "cp314", "macosx") is None
    assert record_of([instead], Target(Version("9.1.0")), "cp314", "linux") is None


def test_a_record_with_results_comes_before_a_newer_one_without() -> None:
    empty = record(python="cp314", host="cp314", finished="2")
    whole = record(result(A), python="cp310", host="cp314")
    assert record_of([empty, whole], Target(Version("9.0.0")), "cp314", "linux") is whole
    assert superseded([empty, whole], by=whole) == [empty]
    assert superseded([whole], by=whole) == []


def test_merging_keeps_what_stands_and_drops_what_does_not() -> None:
    known = {A.id: "sha", B.id: "sha"}
    earlier = record(result(A), result(B, "old"))
    assert merge_results(record(result(B)), earlier, known).results == (result(A), result(B))
    assert merge_results(record(result(B)), earlier, {B.id: "sha"}).results == (result(B),)


def test_another_installation_says_nothing_about_this_one() -> None:
    other = msgspec.structs.replace(record(result(A)), facts=msgspec.structs.replace(FACTS, flavour="cu130"))
    assert merge_results(record(result(B)), other, {A.id: "sha", B.id: "sha"}).results == (result(B),)


def test_trouble_leaves_earlier_results_as_they_are() -> None:
    trouble = msgspec.structs.replace(record(), facts=None, trouble=Trouble(TroubleKind.UNREACHABLE, "No network."))
    merged = merge_results(trouble, record(result(A)), {A.id: "sha"})
    assert (merged.results, merged.facts, merged.trouble) == ((result(A),), FACTS, trouble.trouble)


AHEAD, NOW = "2027-11-30T00:00:00+00:00", "2026-11-30T00:00:00+00:00"


def test_what_was_run_while_the_clock_was_ahead_does_not_win() -> None:
    """Both speak for cp311: one is its own, the other one's interpreter was chosen in its place."""
    earlier, later = record(result(A), finished=AHEAD), record(result(B), python="cp312", finished=NOW)
    assert most_telling([earlier, later]) is earlier
    put_right = dated(later, [earlier])
    assert most_telling([earlier, put_right]) is put_right
    assert put_right.run.finished == "2027-11-30T00:00:01+00:00"


@pytest.mark.parametrize(
    "other",
    [
        record(result(A), python="cp312", finished=AHEAD),  # of the same environment: it is overwritten
        record(result(A), python="cp313", host="cp313", finished=AHEAD),
        record(result(A), finished="some day"),
        record(result(A), finished="9999-12-31T23:59:59+00:00"),
    ],
)
def test_a_date_stays_where_it_has_to_win_over_none(other: Record) -> None:
    mine = record(result(B), python="cp312", finished=NOW)
    assert dated(mine, [other]) is mine


def test_what_is_no_date_is_the_oldest() -> None:
    known, unknown = record(result(A), finished=NOW), record(result(A), finished="some day")
    assert most_telling([unknown, known]) is known
