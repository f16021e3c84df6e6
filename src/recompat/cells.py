"""One cell of the matrix: what a record says of a case in an environment, held against the claim for it."""

from typing import assert_never

import msgspec

from recompat.cases import Case, CaseFile
from recompat.cause import cause, watched_otherwise
from recompat.detection import Detection, detection
from recompat.evidence import Pair, attention, drifts, telling_pair
from recompat.expectations import Expectation
from recompat.judge import Finding, NoFinding, finding, verdict_on
from recompat.model import (
    CaseResult,
    Change,
    Difference,
    Disagreement,
    Mismatch,
    Outcome,
    Phase,
    Record,
    Replay,
    Trial,
    Verdict,
    Warned,
)
from recompat.once import MANY, once_per_object
from recompat.replays import label, process_dependent, verified

__all__ = ["Attention", "Cell", "Claim", "make_cell"]


class Claim(msgspec.Struct, frozen=True):
    """The expectation that a cell was held against; ``torch`` is its version specifier.

    ``warns`` is null where it says nothing about warnings. ``beside`` are packages with their specifiers, such as
    ``transformers>=4.50``; JSON has it only where the claim names some.
    """

    torch: str
    outcome: Outcome
    exception: str | None
    reason: str
    link: str | None
    warns: tuple[str, ...] | None = None
    beside: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class Attention(msgspec.Struct, frozen=True):
    """The operators that did the attention; null where none did."""

    forward: str | None
    recompute: str | None


class Cell(msgspec.Struct, frozen=True):
    """A case in an environment.

    Outcome and evidence are those of the cold trial. ``exception`` is a qualified type. ``max_abs_diff`` is the largest
    over ``differences``, and null where none has a number. ``detail`` is the sentence for outcomes without exception
    or difference, such as why a cell was not run. ``replays`` says in a word how each replay ended; ``unsteady`` names
    the parts of the record in which the warm ones differ, which makes a cell ``flaky``. ``verified`` says whether the case
    ended the same from scratch, in an environment of its own, and ``again`` how each replay did; null and empty where that
    was not tried. ``date`` is when the
    case was run, in UTC; null for a cell that was not run. ``detection`` says whether torch notices what the case is
    about; null where nothing can be said. ``warned`` are the categories of the warnings, where the case observes them.
    Where it ``varies``, its numbers never repeat.

    What follows is of the evidence trial, and null or empty where there was none: ``cause`` is a sentence made from it;
    ``changes`` are the settings that were not the same in recomputation, and ``operator_diff`` the operators. ``drift``
    marks a cell that passes although either differs. ``watched`` says that watching changed the outcome, where it did.
    """

    case: str
    environment: str
    outcome: Outcome
    verdict: Verdict
    exception: str | None = None
    phase: Phase | None = None
    message: str | None = None
    frames: tuple[str, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    max_abs_diff: float | None = None
    differences: tuple[Difference, ...] = ()
    warnings: tuple[Warned, ...] = ()
    detail: str | None = None
    replays: dict[Replay, str] = {}
    process_dependent: bool = False
    flaky: bool = False
    unsteady: tuple[str, ...] = ()
    expectation: Claim | None = None
    date: str | None = None
    detection: Detection | None = None
    warned: tuple[str, ...] = ()
    varies: bool = False
    disagreement: Disagreement | None = None
    cause: str | None = None
    drift: bool = False
    changes: tuple[Change, ...] = ()
    attention: Attention | None = None
    operator_diff: tuple[str, ...] = ()
    watched: str | None = None
    verified: bool | None = None
    again: dict[Replay, str] = {}


def make_cell(
    case: Case, file: CaseFile, record: Record, recorded: CaseResult | None, claim: Expectation | None
) -> Cell:
    """Make the cell of a case in the environment of ``record``, which has ``recorded`` for it; ``claim`` is for both."""
    seen = finding(_counting(case, file, recorded))
    cell = Cell(
        case=case.id,
        environment=record.environment.id,
        outcome=Outcome.NOT_RUN,
        verdict=verdict_on(seen, claim),
        expectation=None if claim is None else _claim(claim),
    )
    match seen:
        case NoFinding(reason=reason):
            return msgspec.structs.replace(cell, detail=_why_not_run(file, record, recorded) or reason)
        case Finding():
            filled = _filled(cell, seen, seen.result.finished or record.run.finished)
            return _explained(_read(filled, seen.trial, case), seen)
        case _:
            assert_never(seen)


def _counting(case: Case, file: CaseFile, recorded: CaseResult | None) -> CaseResult | None:
    """Choose the result that counts: a faulty file's is its fault, and one of other bytes than the file's is none."""
    if file.fault is not None:
        return CaseResult(case.id, file.sha256, {Replay.COLD: Trial(Outcome.ERROR, 0.0, detail=file.fault)})
    return recorded if recorded is not None and recorded.sha256 == file.sha256 else None


def _why_not_run(file: CaseFile, record: Record, recorded: CaseResult | None) -> str | None:
    if recorded is not None and recorded.sha256 != file.sha256:
        return f"{file.name} has changed since this was recorded; run it again."
    if record.trouble is not None:
        return record.trouble.reason
    return "The record has no result for this case; run it again." if recorded is None else None


def _filled(cell: Cell, seen: Finding, date: str) -> Cell:
    result, trial, raised = seen.result, seen.trial, seen.trial.raised
    numbers = [d.max_abs_diff for d in trial.differences if d.max_abs_diff is not None]
    return msgspec.structs.replace(
        cell,
        outcome=trial.outcome,
        exception=None if raised is None else raised.type,
        phase=None if raised is None else raised.phase,
        message=None if raised is None else raised.message,
        frames=() if raised is None else raised.frames,
        mismatches=() if raised is None else raised.mismatches,
        max_abs_diff=max(numbers, default=None),
        differences=trial.differences,
        warnings=trial.warnings,
        detail=trial.detail,
        replays=_labels(result.trials),
        process_dependent=process_dependent(result),
        flaky=seen.flaky,
        unsteady=seen.unsteady,
        date=date,
        disagreement=None if raised is None else raised.disagreement,
        verified=verified(result),
        again={} if result.again is None else _labels(result.again.trials),
    )


def _labels(trials: dict[Replay, Trial]) -> dict[Replay, str]:
    return {replay: label(trials[replay]) for replay in Replay if replay in trials}


def _read(cell: Cell, trial: Trial, case: Case) -> Cell:
    """Add what only the case's own docstring makes of its trial."""
    warned = trial.warned if case.about.observes_warnings else ()
    return msgspec.structs.replace(cell, detection=detection(trial, case.about), warned=warned, varies=trial.varies)


def _explained(cell: Cell, seen: Finding) -> Cell:
    evidence = seen.result.evidence
    pair = None if evidence is None else telling_pair(evidence.calls)
    return msgspec.structs.replace(
        cell,
        cause=cause(seen.trial, evidence),
        drift=drifts(seen.trial, evidence),
        changes=() if evidence is None else evidence.changes,
        attention=None if pair is None else _attention(pair),
        operator_diff=() if pair is None else pair.operator_diff,
        watched=watched_otherwise(seen.trial, evidence, seen.result.trials.get(Replay.WARM)),
    )


@once_per_object(MANY)  # the pairs of evidence that many releases share
def _attention(pair: Pair) -> Attention | None:
    both = Attention(attention(pair.forward.operators), attention(pair.recompute.operators))
    return None if both == Attention(None, None) else both


@once_per_object(MANY)  # each speaks of many releases
def _claim(expectation: Expectation) -> Claim:
    return Claim(
        torch=str(expectation.torch),
        outcome=expectation.outcome,
        exception=expectation.exception,
        reason=expectation.reason,
        link=expectation.link,
        warns=expectation.warns,
        beside=tuple(f"{name}{wanted}" for name, wanted in sorted(expectation.beside.items())) or msgspec.UNSET,
    )
