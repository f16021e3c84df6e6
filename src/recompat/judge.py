"""Holding an outcome against its expectation: a pure function, and nothing else can make a verdict."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, assert_never

import msgspec

from recompat.model import CaseResult, Outcome, Replay, Trial, Verdict
from recompat.replays import unsteady

if TYPE_CHECKING:
    from recompat.expectations import Expectation

__all__ = ["Finding", "NoFinding", "finding", "verdict", "verdict_on"]


class Finding(msgspec.Struct, frozen=True):
    """What a case showed about torch; ``trial`` is the cold one, which gives the verdict.

    ``unsteady`` are the parts in which the warm replays differ, and the verification if that ended otherwise.
    """

    result: CaseResult
    trial: Trial
    unsteady: tuple[str, ...]

    @property
    def flaky(self) -> bool:
        """Whether anything of it is unsteady."""
        return bool(self.unsteady)


class NoFinding(msgspec.Struct, frozen=True):
    """The case could not speak: trouble with the machine or the record, and never a failure of the case."""

    reason: str


class _Grade(Enum):
    """How good an outcome is, so far as a verdict asks."""

    SOUND = auto()
    ABSENT = auto()
    BROKEN = auto()
    UNKNOWN = auto()


def finding(result: CaseResult | None) -> Finding | NoFinding:
    """Tell what a case showed from what did not let it speak."""
    if result is None:
        return NoFinding("There is no result.")
    trial = result.trials.get(Replay.COLD)
    if trial is None:
        return NoFinding("The cold trial, which gives the verdict, was not run.")
    if trial.outcome is Outcome.NOT_RUN:
        return NoFinding(trial.detail or "It was not run.")
    return Finding(result, trial, unsteady(result))


def verdict(result: CaseResult | None, expectation: Expectation | None) -> Verdict:
    """Hold a result against the claim for it, where there is one."""
    return verdict_on(finding(result), expectation)


def verdict_on(seen: Finding | NoFinding, expectation: Expectation | None) -> Verdict:
    """Hold what a case showed against the claim for it, where there is one."""
    match seen:
        case NoFinding():
            return Verdict.MISSING
        case Finding(flaky=True):
            return Verdict.FLAKY
        case Finding(trial=trial):
            return Verdict.NEW if expectation is None else _held(trial, expectation)
        case _:
            assert_never(seen)


def _held(trial: Trial, claim: Expectation) -> Verdict:
    exception = None if trial.raised is None else trial.raised.type
    if claim.allows(trial.outcome, exception, trial.warned):
        return Verdict.EXPECTED
    match _grade(claim.outcome), _grade(trial.outcome):
        case ((_Grade.SOUND | _Grade.ABSENT), _Grade.BROKEN):
            return Verdict.REGRESSED
        case _Grade.BROKEN, _Grade.SOUND:
            return Verdict.FIXED
        case _:
            return Verdict.CHANGED


def _grade(outcome: Outcome) -> _Grade:
    match outcome:
        case Outcome.PASS:
            return _Grade.SOUND
        case Outcome.UNSUPPORTED:
            return _Grade.ABSENT
        case Outcome.RAISES | Outcome.DIFFERS | Outcome.MOOT | Outcome.CRASH | Outcome.TIMEOUT | Outcome.ERROR:
            return _Grade.BROKEN
        case Outcome.NOT_RUN:
            return _Grade.UNKNOWN
        case _:
            assert_never(outcome)
