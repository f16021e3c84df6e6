from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builders import PASSES, SHA, again, claim, claims, ends, raises, record, result
from recompat.choices import Rerun
from recompat.model import CaseResult, Outcome
from recompat.rerun import chosen
from recompat.standing import pending_cases
from recompat.trials import CaseAddress

if TYPE_CHECKING:
    from recompat.expectations import Expectations

EXPECTED = claims(
    fine=claim(">=2", Outcome.PASS),
    regressed=claim(">=2", Outcome.PASS),
    fixed=claim(">=2", Outcome.RAISES),
    crashes=claim(">=2", Outcome.CRASH),
    hangs=claim(">=2", Outcome.TIMEOUT),
    is_flaky=claim(">=2", Outcome.PASS),
    not_repeated=claim(">=2", Outcome.RAISES),
    stale=claim(">=2", Outcome.PASS),
)
RESULTS = (
    result("patterns::fine"),
    result("patterns::regressed", raises()),
    result("patterns::fixed"),
    result("patterns::crashes", ends(Outcome.CRASH)),
    result("patterns::hangs", ends(Outcome.TIMEOUT)),
    result("patterns::unclaimed"),
    result("patterns::is_flaky", copied=raises()),
    again(result("patterns::not_repeated", raises()), PASSES),
    result("patterns::stale", sha256="old"),
)
NAMES = [*(one.case.partition("::")[2] for one in RESULTS), "absent"]
WANTED = [CaseAddress(f"patterns::{name}", Path("patterns.py"), SHA) for name in NAMES]


def run(
    rerun: Rerun | None,
    results: tuple[CaseResult, ...] = RESULTS,
    claims: Expectations = EXPECTED,
    probe: str = "b" * 64,
) -> set[str]:
    """What is run of the cases above, where results of another probe do not stand."""
    known = record("2.11.0", *results)
    pending = pending_cases(known, WANTED, probe, {})
    return {case.name for case in chosen(rerun, WANTED, pending, known, lambda: claims)}


DUE = {"stale", "absent"}


@pytest.mark.parametrize(
    ("rerun", "expected"),
    [
        (None, DUE),
        (Rerun.ALL, set(NAMES)),
        (Rerun.STALE, {"stale"}),
        (Rerun.MISSING, {"absent"}),
        (Rerun.CHANGED, {*DUE, "regressed", "fixed"}),
        (Rerun.FLAKY, {*DUE, "is_flaky", "not_repeated"}),
        (Rerun.FAILED, set(NAMES) - {"fine"}),
    ],
)
def test_what_is_run(rerun: Rerun | None, expected: set[str]) -> None:
    assert run(rerun) == expected


def test_cases_are_run_in_the_order_of_their_files() -> None:
    known = record("2.11.0", *RESULTS)
    names = [case.name for case in chosen(Rerun.FAILED, WANTED, WANTED[-1:], known, lambda: EXPECTED)]
    assert names == [name for name in NAMES if name in names]


@pytest.mark.parametrize("rerun", [Rerun.FAILED, Rerun.CHANGED, Rerun.FLAKY])
def test_without_a_record_nothing_is_judged(rerun: Rerun) -> None:
    def never() -> Expectations:
        raise AssertionError("the expectations were read")

    assert chosen(rerun, WANTED, WANTED, None, never) == WANTED
    assert chosen(rerun, WANTED, WANTED, record("2.11.0"), never) == WANTED


def test_results_of_another_probe_are_stale_and_cannot_stay_beside_new_ones() -> None:
    assert run(Rerun.STALE, probe="c" * 64) == set(NAMES) - {"absent"}
    assert run(Rerun.MISSING, probe="c" * 64) == set(NAMES)
    assert run(Rerun.MISSING, (*RESULTS, result("patterns::absent")), probe="c" * 64) == set()
