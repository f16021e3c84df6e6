"""Comparing two results of one case, part by part. Pure."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

import msgspec

from recompat.diff import Change, Part
from recompat.evidence import attention, telling_pair
from recompat.model import CaseResult, DisagreementKind, Evidence, Outcome, Pass, Raised, Replay, TensorMeta, Trial
from recompat.operators import changed_operators, shared_calls
from recompat.replays import label, process_dependent, stable
from recompat.wording import clauses, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from recompat.judge import Finding
    from recompat.model import Difference, Mismatch

__all__ = ["Result", "changes"]

FOLLOWS: Final = {  # what says nothing of its own where the key differs
    Part.OUTCOME: {Part.EXCEPTION, Part.MISMATCH, Part.MESSAGE, Part.DIFFERENCES},
    Part.EXCEPTION: {Part.MISMATCH, Part.MESSAGE},
    Part.MISMATCH: {Part.MESSAGE},
}
SAME: Final = "the same in forward and recompute"
ADDRESS = re.compile(r"\[[0-9]{6,}\]")  # of an object, in the name of a context variable
LINE = re.compile(r"(\.[a-z]{1,3}:)[0-9]+\b")  # of a source file, in a message that lists frames
BEFORE, AFTER = 40, 160  # characters of a message that are told around the place where two of them part


class Result(msgspec.Struct, frozen=True):
    """What a side has of a case, without what never repeats; where it ``observes`` warnings, they are of its outcome."""

    trial: Trial
    whole: CaseResult
    observes: bool = False

    @classmethod
    def of(cls, seen: Finding, *, observes: bool = False) -> Result:
        """Take what repeats of the trial that gives the outcome."""
        return cls(stable(seen.trial), seen.result, observes)

    @property
    def evidence(self) -> Evidence | None:
        """What was seen, if the watched trial ended as the other one did."""
        seen, raised = self.whole.evidence, self.trial.raised
        ended = self.trial.outcome, None if raised is None else raised.type
        return seen if seen is not None and (seen.outcome, seen.exception) == ended else None


def changes(case: str, one: Result, other: Result, parts: Collection[Part]) -> Iterator[Change]:
    """Tell in which of ``parts`` two results differ; what merely follows from a part that is told is left out."""
    told: set[Part] = set()
    for part, differences in COMPARING.items():
        if part not in parts or any(part in FOLLOWS.get(earlier, ()) for earlier in told):
            continue
        for subject, a, b, lines in differences(one, other):
            told.add(part)
            yield Change(part, case, subject, a, b, lines)


Told = tuple[str | None, str | None, str | None, tuple[str, ...]]
"""Subject, A, B and lines of a change."""


def _outcome(one: Result, other: Result) -> Iterator[Told]:
    a, b = _ending(one), _ending(other)
    if a != b:
        yield None, a, b, _signed(_why(one.trial), _why(other.trial))


def _ending(result: Result) -> str:
    """The outcome, with what it warned where that counts, and how a warm replay ended where that was otherwise."""
    warned = (f"+{category}" for category in (result.trial.warned if result.observes else ()))
    warm = f"(warm: {label(result.whole.trials[Replay.WARM])})" if process_dependent(result.whole) else ""
    return " ".join(filter(None, (result.trial.outcome.value, *warned, warm)))


def _why(trial: Trial) -> str | None:
    if trial.raised is not None:
        return f"{_exception_text(trial.raised)}: {_first_line(trial.raised)}"
    wrong = next((one for one in trial.differences if not one.equal), None)
    return trial.detail if wrong is None else f"{wrong.name} {_status(wrong)}"


def _exception(one: Result, other: Result) -> Iterator[Told]:
    a, b = _how_it_died(one.trial), _how_it_died(other.trial)
    if a != b:
        said = (None if trial.raised is None else _first_line(trial.raised) for trial in (one.trial, other.trial))
        yield None, a, b, _signed(*said)


def _how_it_died(trial: Trial) -> str | None:
    if trial.outcome is Outcome.MOOT:  # by which exception both fail is of no interest
        return None
    if trial.raised is not None:
        return _exception_text(trial.raised)
    return trial.detail if trial.outcome is Outcome.CRASH else None


def _exception_text(raised: Raised) -> str:
    return f"{raised.type} in {raised.phase}"


def _first_line(raised: Raised) -> str:
    return raised.message.strip().partition("\n")[0]


def _mismatch(one: Result, other: Result) -> Iterator[Told]:
    a, b = one.trial.raised, other.trial.raised
    kinds = _unless_same(_disagreement(a), _disagreement(b))
    before, after = (tuple(map(_tensors, raised.mismatches if raised else ())) for raised in (a, b))
    if any(kinds) or before != after:
        gone = (f"- {text}" for text in before if text not in after)
        yield None, *kinds, (*gone, *(f"+ {text}" for text in after if text not in before))


def _disagreement(raised: Raised | None) -> str | None:
    found = raised and raised.disagreement
    if not found:
        return None
    counts = "" if found.saved is None else f": {found.saved} saved, {found.recomputed} recomputed"
    return f"{found.kind}{counts}"


def _tensors(mismatch: Mismatch) -> str:
    return f"position {mismatch.position}: saved {_meta(mismatch.saved)}, recomputed {_meta(mismatch.recomputed)}"


def _meta(tensor: TensorMeta) -> str:
    return f"{list(tensor.shape)} {tensor.dtype.removeprefix('torch.')} {tensor.device}"


def _settings(one: Result, other: Result) -> Iterator[Told]:
    if one.evidence is None or other.evidence is None or not (one.evidence.calls and other.evidence.calls):
        return
    a, b = _restored(one.evidence), _restored(other.evidence)
    if a != b:
        yield "at recompute", a, b, ()
    found = {
        (ADDRESS.sub("[…]", name), before.settings[name], after.settings[name])
        for before, after in shared_calls(one.evidence, other.evidence, Pass.FORWARD)
        for name in before.settings.keys() & after.settings.keys()  # what a release lacks is no setting of it
        if before.settings[name] != after.settings[name] and not name.startswith("rng.")
    }
    for name, before, after in sorted(found):
        yield name, before, after, ()


def _restored(evidence: Evidence) -> str:
    """Say which settings were not the same when the function was run again."""
    pair = telling_pair(evidence.calls)
    if pair is None or not pair.changes:
        return SAME
    said = clauses(pair.changes, pair.forward.settings, pair.recompute.settings)
    return joined([ADDRESS.sub("[…]", text) for text in said])


def _operators(one: Result, other: Result) -> Iterator[Told]:
    if one.evidence is None or other.evidence is None:
        return
    for before, after, lines in changed_operators(one.evidence, other.evidence):
        yield before.during, *_unless_same(attention(before.operators), attention(after.operators)), lines


def _message(one: Result, other: Result) -> Iterator[Told]:
    a, b = _said(one.trial), _said(other.trial)
    if a is not None and b is not None and a != b:
        yield None, None, None, _signed(*_parting(a, b))


def _said(trial: Trial) -> str | None:
    found = trial.raised and trial.raised.disagreement
    if found and found.kind is DisagreementKind.OPERATOR_LOG:  # frames of two releases, and no wording
        return None
    text = trial.detail if trial.raised is None else trial.raised.message
    return None if text is None else " ".join(LINE.sub(r"\1…", text).split())


def _parting(a: str, b: str) -> tuple[str, str]:
    """Cut two texts to what stands around the place where they part."""
    shared = next((at for at, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))
    start = 0 if shared <= BEFORE else a.rfind(" ", 0, shared - BEFORE) + 1
    one, other = (text[start : shared + AFTER] + "…" * (len(text) > shared + AFTER) for text in (a, b))
    head = "…" if start else ""
    return f"{head}{one}", f"{head}{other}"


def _differences(one: Result, other: Result) -> Iterator[Told]:
    if one.trial.varies or other.trial.varies:
        return
    a, b = ({value.name: value for value in result.trial.differences} for result in (one, other))
    statuses = {name: (_status(a.get(name)), _status(b.get(name))) for name in (*a, *b)}
    changed = {name: both for name, both in statuses.items() if both[0] != both[1]}
    yield from ((name, before, after, ()) for name, (before, after) in changed.items())
    before, after = _largest(one.trial), _largest(other.trial)
    if not changed and before is not None and after is not None and before != after:
        yield "largest difference", f"{before:.2g}", f"{after:.2g}{_factor(before, after)}", ()


def _status(value: Difference | None) -> str | None:
    if value is None:
        return None
    note = f": {value.note}" if value.note else ""
    return f"{'within the tolerance' if value.equal else 'not equal'}{note}"


def _largest(trial: Trial) -> float | None:
    numbers = [one.max_abs_diff for one in trial.differences if one.max_abs_diff is not None]
    return max((number for number in numbers if math.isfinite(number)), default=None)


def _factor(before: float, after: float) -> str:
    if not (before and after):
        return ""
    return f" ({after / before:.2g} times as large)" if after > before else f" ({before / after:.2g} times as small)"


def _warnings(one: Result, other: Result) -> Iterator[Told]:
    a, b = ({(warned.category, warned.text): None for warned in result.trial.warnings} for result in (one, other))
    yield from ((category, text, None, ()) for category, text in a if (category, text) not in b)
    yield from ((category, None, text, ()) for category, text in b if (category, text) not in a)


def _unless_same(a: str | None, b: str | None) -> tuple[str | None, str | None]:
    return (a, b) if a != b else (None, None)


def _signed(a: str | None, b: str | None) -> tuple[str, ...]:
    """Put two texts into lines, as a diff does; nothing where they are the same."""
    if a == b:
        return ()
    return tuple(f"{sign} {text}" for sign, text in (("-", a), ("+", b)) if text)


COMPARING: Final[dict[Part, Callable[[Result, Result], Iterator[Told]]]] = {
    Part.OUTCOME: _outcome,
    Part.EXCEPTION: _exception,
    Part.MISMATCH: _mismatch,
    Part.SETTINGS: _settings,
    Part.OPERATORS: _operators,
    Part.MESSAGE: _message,
    Part.DIFFERENCES: _differences,
    Part.WARNINGS: _warnings,
}
"""What compares each part of a result; it yields nothing where the two are the same."""
