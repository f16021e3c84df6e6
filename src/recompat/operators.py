"""Operators that changed from one release to the next though the outcome did not: the early warning. Pure."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import msgspec
from packaging.version import Version

from recompat.boundary import Ending
from recompat.evidence import attention, operator_diff
from recompat.model import Evidence, Pass
from recompat.tracks import Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recompat.model import Call

__all__ = ["OperatorChange", "Watched", "changed_operators", "operator_changes", "shared_calls"]


STOPPED: Final = "stopped early"


class OperatorChange(msgspec.Struct, frozen=True, kw_only=True):
    """A case that ends the same on two neighbouring releases, by other operators, in ``during``.

    ``before`` and ``after`` are the operators that did the attention; null where none did. ``beside`` are the packages that
    stand beside both; JSON has it only where an axis of the matrix chose some.
    """

    case: str
    platform: str
    beside: Written = msgspec.UNSET
    last: str
    first: str
    during: Pass
    before: str | None
    after: str | None
    diff: tuple[str, ...]


class Watched(msgspec.Struct, frozen=True):
    """How a case ended on a release, and what was seen of it."""

    release: Version
    ending: Ending
    evidence: Evidence


def operator_changes(case: str, platform: str, watched: Iterable[Watched]) -> tuple[OperatorChange, ...]:
    """Compare each release with the one before it, of those that were run.

    Args:
        watched: in any order; of a release with several interpreters, the last one counts.
    """
    ordered = sorted({one.release: one for one in watched}.values(), key=lambda one: one.release)
    return tuple(
        OperatorChange(
            case=case,
            platform=platform,
            last=str(one.release),
            first=str(other.release),
            during=before.during,
            before=attention(before.operators),
            after=attention(after.operators),
            diff=diff,
        )
        for one, other in pairwise(ordered)
        if one.ending == other.ending and _comparable(one) and _comparable(other)
        for before, after, diff in changed_operators(one.evidence, other.evidence)
    )


def changed_operators(one: Evidence, other: Evidence) -> Iterator[tuple[Call, Call, tuple[str, ...]]]:
    """The first calls of forward that ran other operators, and those of recomputation if they differ in another way."""
    if one is other:  # shared by the records of both
        return
    told = None
    for during in Pass:
        differing = ((*calls, _diff(*calls)) for calls in shared_calls(one, other, during))
        first = next((found for found in differing if found[2]), None)
        if first is not None and first[2] != told:
            told = first[2]
            yield first


def shared_calls(one: Evidence, other: Evidence, during: Pass) -> Iterator[tuple[Call, Call]]:
    """The calls of a pass that both have, beside each other."""
    before, after = _calls(one, during), _calls(other, during)
    return ((before[place], after[place]) for place in sorted(before.keys() & after.keys()))


def _comparable(watched: Watched) -> bool:
    """Whether what was seen is of a trial that ended as the unwatched one did."""
    return (watched.evidence.outcome, watched.evidence.exception) == (watched.ending.outcome, watched.ending.exception)


def _calls(evidence: Evidence, during: Pass) -> dict[tuple[int, int], Call]:
    """The calls of a pass, by region and by which time it was."""
    times: Counter[int] = Counter()
    calls: dict[tuple[int, int], Call] = {}
    for call in evidence.calls:
        if call.during is during:
            calls[call.region, times[call.region]] = call
            times[call.region] += 1
    return calls


def _diff(before: Call, after: Call) -> tuple[str, ...]:
    """How they differ; recomputation may stop sooner on one release than on the other."""
    if before.ending == STOPPED and not operator_diff(after.operators, before.operators, may_stop=True):
        return ()
    return operator_diff(before.operators, after.operators, may_stop=after.ending == STOPPED)
