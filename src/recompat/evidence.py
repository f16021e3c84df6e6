"""What an evidence trial shows: forward and recomputation side by side, and in what they differ. Pure."""

from __future__ import annotations

import functools
from difflib import SequenceMatcher
from itertools import groupby
from typing import TYPE_CHECKING, Final

import msgspec

from recompat.model import Call, Change, Outcome, Pass
from recompat.once import MANY, once_per_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.model import Evidence, Trial

__all__ = ["Pair", "attention", "changes", "drifts", "operator_diff", "pairs", "telling_pair"]

GRAD_MODE: Final = "grad.enabled"
RETURNED: Final = "returned"
BOOKKEEPING: Final = frozenset({"aten.detach"})  # checkpoint's own, in forward and in recomputation not the same
BEYOND: Final = "…"  # with this begins how many more ran than the probe lists: it is no operator
ATTENTION: Final = ("aten._scaled_dot_product", "aten._safe_softmax", "aten._softmax")  # most telling first
MOST_LINES: Final = 12
MOST_RUNS: Final = 400  # what is compared of each side: difflib takes quadratic time

Run = tuple[str, int]


class Pair(msgspec.Struct, frozen=True, dict=True):
    """A region's forward, and one of its recomputations."""

    forward: Call
    recompute: Call

    @functools.cached_property
    def changes(self) -> tuple[Change, ...]:
        """The settings that were not the same; the grad mode that reentrant checkpointing itself turns on is none."""
        one, other = self.forward.settings, self.recompute.settings
        if one == other:
            return ()
        names = sorted({name for name, _ in one.items() ^ other.items()})
        found = (Change(name, one.get(name), other.get(name)) for name in names)
        return tuple(change for change in found if not self._own_doing(change))

    @functools.cached_property
    def operator_diff(self) -> tuple[str, ...]:
        """How the operators differ; recomputation that stopped early had no need of the rest."""
        return operator_diff(
            self.forward.operators, self.recompute.operators, may_stop=self.recompute.ending != RETURNED
        )

    @property
    def regraded(self) -> bool:
        """Whether reentrant checkpointing turned grad mode on, as it does."""
        one, other = self.forward.settings, self.recompute.settings
        return self.forward.reentrant and (one.get(GRAD_MODE), other.get(GRAD_MODE)) == ("off", "on")

    @property
    def differs(self) -> bool:
        """Whether a setting or an operator was not the same."""
        return bool(self.changes or self.operator_diff)

    def _own_doing(self, change: Change) -> bool:
        """Whether it is no change of the case's: a generator that was not there yet had no state."""
        if change.setting.startswith("rng."):
            return None in {change.forward, change.recompute}
        return change.setting == GRAD_MODE and self.regraded


def pairs(calls: Sequence[Call]) -> Iterator[Pair]:
    """Put each recomputation beside the forward of its region, region by region."""
    forwards: dict[int, Call] = {}
    for call in calls:
        if call.during is Pass.FORWARD:
            forwards.setdefault(call.region, call)
    recomputes = [call for call in calls if call.during is Pass.RECOMPUTE and call.region in forwards]
    for call in sorted(recomputes, key=lambda call: call.region):
        yield Pair(forwards[call.region], call)


@once_per_object(MANY)  # records of many releases share their calls
def telling_pair(calls: Sequence[Call]) -> Pair | None:
    """Choose what is told of a trial: the first pair with other settings, else with other operators, else the first."""
    found = list(pairs(calls))
    with_changes = (pair for pair in found if pair.changes)
    with_operators = (pair for pair in found if pair.operator_diff)
    return next(with_changes, None) or next(with_operators, None) or next(iter(found), None)


def changes(calls: Sequence[Call]) -> tuple[Change, ...]:
    """List the settings that differ in the first region where any does."""
    return next((pair.changes for pair in pairs(calls) if pair.changes), ())


def drifts(trial: Trial, evidence: Evidence | None) -> bool:
    """Whether a case passes although settings or operators were not the same in recomputation.

    Not where watching changed the outcome: what was seen then is not what passed.
    """
    if evidence is None or trial.outcome is not Outcome.PASS or evidence.outcome is not Outcome.PASS:
        return False
    return _any_differs(evidence.calls)


@once_per_object(MANY)
def _any_differs(calls: Sequence[Call]) -> bool:
    return any(pair.differs for pair in pairs(calls))


def attention(operators: Sequence[str]) -> str | None:
    """Name the operator that did the attention, if one did."""
    for beginning in ATTENTION:
        for operator in operators:
            if operator.startswith(beginning) and "backward" not in operator:
                return operator
    return None


def operator_diff(
    before: Sequence[str], after: Sequence[str], *, may_stop: bool = False, most: int = MOST_LINES
) -> tuple[str, ...]:
    """Write the difference of two runs of operators, such as ``- aten.bmm x2``; nothing where there is none.

    Args:
        may_stop: whether ``after`` may end before ``before`` does without differing from it.
        most: how many lines; one more says how many were left out.
    """
    if before == after:
        return ()
    lines = _lines(tuple(before), tuple(after), may_stop=may_stop)
    return lines if len(lines) <= most else (*lines[:most], f"and {len(lines) - most} more")


def _runs(operators: Sequence[str]) -> list[Run]:
    shown = (operator for operator in operators if operator not in BOOKKEEPING and not operator.startswith(BEYOND))
    return [(operator, sum(1 for _ in group)) for operator, group in groupby(shown)]


@functools.lru_cache(maxsize=4096)  # the same operators run in many cells of a matrix
def _lines(before: tuple[str, ...], after: tuple[str, ...], *, may_stop: bool) -> tuple[str, ...]:
    one, other = _runs(before), _runs(after)
    same = _common(one, other)
    one, other = one[same:], other[same:]
    if may_stop and _is_beginning(other, one):
        return ()
    return tuple(_differing(one[:MOST_RUNS], other[:MOST_RUNS], may_stop=may_stop))


def _differing(one: list[Run], other: list[Run], *, may_stop: bool) -> Iterator[str]:
    for tag, start, stop, begin, end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "equal" or (may_stop and tag == "delete" and stop == len(one)):
            continue
        yield from (f"- {_run(run)}" for run in one[start:stop])
        yield from (f"+ {_run(run)}" for run in other[begin:end])


def _common(before: list[Run], after: list[Run]) -> int:
    pairs_ = zip(before, after, strict=False)
    return next((number for number, (one, other) in enumerate(pairs_) if one != other), min(len(before), len(after)))


def _is_beginning(after: list[Run], before: list[Run]) -> bool:
    """Whether ``after`` ends within the first run of ``before``, which is where the two part."""
    if not after:
        return True
    if len(after) > 1 or not before:
        return False
    (operator, count), (other, times) = after[0], before[0]
    return operator == other and count < times


def _run(run: Run) -> str:
    operator, count = run
    return operator if count == 1 else f"{operator} x{count}"
