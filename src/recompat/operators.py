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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recompat.model import Call

__all__ = ["OperatorChange", "Watched", "operator_changes"]


STOPPED: Final = "stopped early"


class OperatorChange(msgspec.Struct, frozen=True, kw_only=True):
    """A case that ends the same on two neighbouring releases, by other operators, in ``during``.

    ``before`` and ``after`` are the operators that did the attention; null where none did.
    """

    case: str
    platform: str
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
        msgspec.structs.replace(change, case=case, platform=platform)
        for one, other in pairwise(ordered)
        if one.ending == other.ending and _comparable(one) and _comparable(other)
        for change in _changes(one, other)
    )


def _comparable(watched: Watched) -> bool:
    """Whether what was seen is of a trial that ended as the unwatched one did."""
    return (watched.evidence.outcome, watched.evidence.exception) == (watched.ending.outcome, watched.ending.exception)


def _changes(one: Watched, other: Watched) -> Iterator[OperatorChange]:
    """Tell forward and recomputation once each: of the first region in which they differ."""
    told: set[tuple[str, ...]] = set()
    for during in Pass:
        before, after = _calls(one.evidence, during), _calls(other.evidence, during)
        for place in sorted(before.keys() & after.keys()):
            change = _change(before[place], after[place])
            if change.diff and change.diff not in told:
                told.add(change.diff)
                yield msgspec.structs.replace(change, last=str(one.release), first=str(other.release))
            if change.diff:
                break


def _calls(evidence: Evidence, during: Pass) -> dict[tuple[int, int], Call]:
    """The calls of a pass, by region and by which time it was."""
    times: Counter[int] = Counter()
    calls: dict[tuple[int, int], Call] = {}
    for call in evidence.calls:
        if call.during is during:
            calls[call.region, times[call.region]] = call
            times[call.region] += 1
    return calls


def _change(before: Call, after: Call) -> OperatorChange:
    diff = operator_diff(before.operators, after.operators, may_stop=after.ending == STOPPED)
    if before.ending == STOPPED and not operator_diff(after.operators, before.operators, may_stop=True):
        diff = ()  # the earlier release stopped sooner
    return OperatorChange(
        case="",
        platform="",
        last="",
        first="",
        during=before.during,
        before=attention(before.operators),
        after=attention(after.operators),
        diff=diff,
    )
