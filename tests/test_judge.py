from __future__ import annotations

import itertools

import msgspec
import pytest

from builders import CHECKPOINT_ERROR, PASSES, again, claim, differs, ends, raises, result
from recompat.judge import Finding, NoFinding, finding, verdict
from recompat.model import CaseResult, Outcome, Replay, Trial, Verdict

CASE = "patterns::one"
BROKEN = (Outcome.RAISES, Outcome.DIFFERS, Outcome.MOOT, Outcome.CRASH, Outcome.TIMEOUT, Outcome.ERROR)
CLAIMABLE = (Outcome.PASS, Outcome.UNSUPPORTED, *BROKEN)


def trial(outcome: Outcome) -> Trial:
    return {Outcome.PASS: PASSES, Outcome.RAISES: raises(), Outcome.DIFFERS: differs()}.get(outcome) or ends(outcome)


def without(result: CaseResult, replay: Replay) -> CaseResult:
    return msgspec.structs.replace(result, trials={r: t for r, t in result.trials.items() if r is not replay})


@pytest.mark.parametrize("outcome", CLAIMABLE)
def test_what_was_claimed_is_expected(outcome: Outcome) -> None:
    assert verdict(result(CASE, trial(outcome)), claim(">=2", outcome)) is Verdict.EXPECTED


@pytest.mark.parametrize(("claimed", "seen"), [*itertools.product((Outcome.PASS, Outcome.UNSUPPORTED), BROKEN)])
def test_what_worked_and_no_longer_does_is_regressed(claimed: Outcome, seen: Outcome) -> None:
    assert verdict(result(CASE, trial(seen)), claim(">=2", claimed)) is Verdict.REGRESSED


@pytest.mark.parametrize("claimed", BROKEN)
def test_what_failed_and_now_passes_is_fixed(claimed: Outcome) -> None:
    assert verdict(result(CASE), claim(">=2", claimed)) is Verdict.FIXED


@pytest.mark.parametrize(
    ("claimed", "seen"),
    [
        (Outcome.PASS, Outcome.UNSUPPORTED),
        (Outcome.UNSUPPORTED, Outcome.PASS),
        (Outcome.RAISES, Outcome.UNSUPPORTED),
        *itertools.permutations(BROKEN, 2),
    ],
)
def test_any_other_change_is_changed(claimed: Outcome, seen: Outcome) -> None:
    assert verdict(result(CASE, trial(seen)), claim(">=2", claimed)) is Verdict.CHANGED


@pytest.mark.parametrize(
    ("claimed", "expected"),
    [(CHECKPOINT_ERROR, Verdict.EXPECTED), ("builtins.RuntimeError", Verdict.CHANGED), (None, Verdict.EXPECTED)],
)
def test_the_exception_counts_where_it_is_named(claimed: str | None, expected: Verdict) -> None:
    assert verdict(result(CASE, raises()), claim(">=2", Outcome.RAISES, claimed)) is expected


def test_a_moot_case_whose_reference_raises_otherwise_is_changed() -> None:
    moot = msgspec.structs.replace(raises("builtins.TypeError"), outcome=Outcome.MOOT)
    assert verdict(result(CASE, moot), claim(">=2", Outcome.MOOT, "builtins.TypeError")) is Verdict.EXPECTED
    assert verdict(result(CASE, moot), claim(">=2", Outcome.MOOT, "builtins.RuntimeError")) is Verdict.CHANGED


def test_without_a_claim_it_is_new() -> None:
    assert verdict(result(CASE), None) is Verdict.NEW


@pytest.mark.parametrize("claimed", [None, claim(">=2", Outcome.PASS)])
def test_warm_replays_that_differ_are_flaky_whatever_is_claimed(claimed: None) -> None:
    assert verdict(result(CASE, copied=raises()), claimed) is Verdict.FLAKY


def test_the_cold_trial_gives_the_verdict() -> None:
    assert verdict(result(CASE, raises(), PASSES), claim(">=2", Outcome.PASS)) is Verdict.REGRESSED


@pytest.mark.parametrize("claimed", [None, claim(">=2", Outcome.NOT_RUN), claim(">=2", Outcome.PASS)])
@pytest.mark.parametrize(
    "seen",
    [None, result(CASE, ends(Outcome.NOT_RUN)), without(result(CASE), Replay.COLD)],
    ids=["none", "not-run", "warm"],
)
def test_what_did_not_run_is_missing_and_never_a_failure(seen: CaseResult | None, claimed: None) -> None:
    assert isinstance(finding(seen), NoFinding)
    assert verdict(seen, claimed) is Verdict.MISSING


def test_a_finding_holds_the_cold_trial() -> None:
    seen = finding(result(CASE, raises(), PASSES))
    assert isinstance(seen, Finding)
    assert seen.trial == raises()


@pytest.mark.parametrize("claimed", [None, claim(">=2", Outcome.PASS), claim(">=2", Outcome.RAISES)])
def test_what_ends_otherwise_from_scratch_is_flaky_and_never_regressed(claimed: None) -> None:
    assert verdict(again(result(CASE, raises()), PASSES), claimed) is Verdict.FLAKY
    assert verdict(again(result(CASE, raises()), raises()), claim(">=2", Outcome.PASS)) is Verdict.REGRESSED
