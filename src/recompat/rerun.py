"""What ``--rerun`` means: which cases of a release are run, beyond or in place of those that have to be. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from recompat.choices import Rerun
from recompat.judge import Finding, finding, verdict
from recompat.model import Outcome, Verdict
from recompat.summary import UNEXPECTED
from recompat.tracks import target_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recompat.expectations import Expectation, Expectations
    from recompat.model import CaseResult, Record
    from recompat.trials import CaseAddress

__all__ = ["chosen"]

CHANGED = frozenset({Verdict.REGRESSED, Verdict.FIXED, Verdict.CHANGED})
BROKEN = frozenset({Outcome.ERROR, Outcome.CRASH, Outcome.TIMEOUT})


def chosen(
    rerun: Rerun | None,
    wanted: Sequence[CaseAddress],
    pending: Sequence[CaseAddress],
    record: Record | None,
    claims: Callable[[], Expectations],
) -> Sequence[CaseAddress]:
    """Choose of the cases that are ``wanted`` those that are run.

    Args:
        rerun: what was asked for; None for what is pending.
        wanted: the selected cases.
        pending: those that have no result, or one that does not stand.
        record: what is recorded of the release.
        claims: asked for what is expected, where that matters.
    """
    results = {result.case: result for result in record.results} if record is not None else {}
    match rerun:
        case None:
            return pending
        case Rerun.ALL:
            return wanted
        case Rerun.STALE:
            return [case for case in pending if case.id in results]
        case Rerun.MISSING:
            return _missing(pending, results)
        case Rerun.FAILED | Rerun.CHANGED | Rerun.FLAKY:
            if record is None or not results:
                return pending
            due, target = {case.id for case in pending}, target_of(record.environment)
            expected = claims()
            return [
                case
                for case in wanted
                if case.id in due
                or _asked_for(rerun, results[case.id], expected.for_(case.id, target.torch, target.beside))
            ]
        case _:
            assert_never(rerun)


def _missing(pending: Sequence[CaseAddress], results: Mapping[str, CaseResult]) -> Sequence[CaseAddress]:
    """Those without a result; where others are of another probe or option, they could not stay beside the new ones."""
    missing = [case for case in pending if case.id not in results]
    others = any(results[case.id].sha256 == case.sha256 for case in pending if case.id in results)
    return pending if missing and others else missing


def _asked_for(rerun: Rerun, result: CaseResult, claim: Expectation | None) -> bool:
    held, seen = verdict(result, claim), finding(result)
    match rerun:
        case Rerun.CHANGED:
            return held in CHANGED
        case Rerun.FLAKY:
            return held is Verdict.FLAKY
        case _:
            return held in UNEXPECTED or (isinstance(seen, Finding) and seen.trial.outcome in BROKEN)
