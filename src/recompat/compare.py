"""From two sides, each a release, a run, a machine or a build, to what differs between them. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat import __version__
from recompat.compare_case import Result, changes
from recompat.diff import COUNTED, Compared, Diff, Fact, Part
from recompat.errors import NothingSelected
from recompat.judge import Finding, finding
from recompat.model import Record
from recompat.tracks import target_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from recompat.model import CaseResult
    from recompat.tracks import Target

__all__ = ["Side", "compare", "diff"]

UNKNOWN_RUN = "not recorded"


class Side(msgspec.Struct, frozen=True):
    """One of the two that are compared, as it was named; ``chosen`` if the name stands for an environment, not for a folder."""

    name: str
    records: tuple[Record, ...]
    chosen: bool = False


def diff(
    a: Side,
    b: Side,
    only: Collection[Part] = (),
    *,
    cases: Collection[str] | None = None,
    observing: Collection[str] = (),
) -> Diff:
    """Compare two sides, environment by environment.

    Args:
        only: the parts that are told and that count; without any, all are told, and how torch behaves counts.
        cases: the only ones to look at; None for all.
        observing: the cases that have their warnings as a part of their outcome.

    Raises:
        NothingSelected: they have no environment in common, or no case; the message says what either has.
    """
    told = tuple(part for part in Part if part in (only or Part))
    pairs = _pairs(a.records, b.records)
    compared = tuple(compare(one, other, told, cases=cases, observing=observing) for one, other in pairs)
    if not any(pair.cases for pair in compared):
        raise _nothing(a, b, pairs)
    either = a.chosen or b.chosen  # of a folder, the partner alone was asked for
    return Diff(
        recompat=__version__,
        a=a.name,
        b=b.name,
        told=told,
        counted=tuple(part for part in told if part in (only or COUNTED)),
        pairs=compared,
        only_in_a=() if either else _without(a.records, [one for one, _ in pairs]),
        only_in_b=() if either else _without(b.records, [other for _, other in pairs]),
    )


def compare(
    a: Record,
    b: Record,
    parts: Collection[Part] = tuple(Part),
    *,
    cases: Collection[str] | None = None,
    observing: Collection[str] = (),
) -> Compared:
    """Compare two environments, case by case; the arguments are those of ``diff``."""
    one, other = _findings(a, cases), _findings(b, cases)
    shared = {case: (one[case], other[case]) for case in one if case in other}
    results = {
        case: (Result.of(x, observes=case in observing), Result.of(y, observes=case in observing))
        for case, (x, y) in shared.items()
    }
    return Compared(
        a=a.environment.id,
        b=b.environment.id,
        finished=(a.run.finished or UNKNOWN_RUN, b.run.finished or UNKNOWN_RUN),
        facts=tuple(_facts(a, b)),
        cases=tuple(shared),
        changes=tuple(change for case, both in results.items() for change in changes(case, *both, parts)),
        only_in_a=tuple(case for case in one if case not in other),
        only_in_b=tuple(case for case in other if case not in one),
        edited=tuple(case for case, (x, y) in shared.items() if x.result.sha256 != y.result.sha256),
        flaky=tuple(case for case, both in shared.items() if any(seen.flaky for seen in both)),
        unwatched=tuple(case for case, both in results.items() if None in [result.evidence for result in both]),
    )


def _findings(record: Record, cases: Collection[str] | None) -> dict[str, Finding]:
    """The results of a record that tell something, by case and in its order."""
    wanted = (result for result in record.results if cases is None or result.case in cases)
    seen = {result.case: finding(result) for result in sorted(wanted, key=_case)}
    return {case: found for case, found in seen.items() if isinstance(found, Finding)}


def _case(result: CaseResult) -> str:
    return result.case


def _pairs(a: Sequence[Record], b: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Put environments beside each other: two that are alone; else those with one id, or else with one target."""
    if len(a) == len(b) == 1:
        return [(a[0], b[0])]
    by_id = {record.environment.id: record for record in b}
    pairs = [(record, by_id[record.environment.id]) for record in a if record.environment.id in by_id]
    paired = {record.environment.id for record, _ in pairs}
    left, right = (_by_target(record for record in side if record.environment.id not in paired) for side in (a, b))
    pairs += [(left[target], right[target]) for target in left if target in right]
    return sorted(pairs, key=lambda pair: (Version(pair[0].environment.torch), pair[0].environment.id))


def _by_target(records: Iterator[Record]) -> dict[Target, Record]:
    """Those that are the only one of their release, and of what stands beside it."""
    known = [(target_of(record.environment), record) for record in records]
    counts = Counter(target for target, _ in known)
    return {target: record for target, record in known if counts[target] == 1}


def _without(records: Sequence[Record], partners: Sequence[Record]) -> tuple[str, ...]:
    paired = {record.environment.id for record in partners}
    alone = (record.environment for record in records if record.environment.id not in paired)
    return tuple(one.id for one in sorted(alone, key=lambda one: (Version(one.torch), one.id)))


def _nothing(a: Side, b: Side, pairs: Sequence[tuple[Record, Record]]) -> NothingSelected:
    if not pairs:
        has = (f"{side.name} has {', '.join(_without(side.records, ())) or 'none'}" for side in (a, b))
        return NothingSelected("\n  - ".join(("There is nothing to compare: no environment is on both sides.", *has)))
    said = (
        f"{_side_of(record, side)}: {_holds(record)}"
        for pair in pairs
        for record, side in zip(pair, (a, b), strict=True)
    )
    return NothingSelected(
        "\n  - ".join(("There is nothing to compare: no selected case has a result on both sides.", *said))
    )


def _side_of(record: Record, side: Side) -> str:
    return side.name if side.name == record.environment.id else f"{record.environment.id} of {side.name}"


def _holds(record: Record) -> str:
    trouble = f"; {record.trouble.reason}" if record.trouble else ""
    return f"{len(record.results)} case{'s' * (len(record.results) != 1)}{trouble}"


def _facts(a: Record, b: Record) -> Iterator[Fact]:
    """What was installed, how it was run, and which packages were beside torch."""
    one, other = (dict(_facts_of(record)) for record in (a, b))
    packages = [dict(record.facts.packages) if record.facts else {} for record in (a, b)]
    yield from (Fact(name, one.get(name), other.get(name)) for name in dict.fromkeys((*one, *other)))
    names = sorted({*packages[0], *packages[1]} - {"torch"})
    yield from (Fact(f"package {name}", packages[0].get(name), packages[1].get(name)) for name in names)


def _facts_of(record: Record) -> Iterator[tuple[str, str]]:
    if record.trouble is not None:
        yield "trouble", f"{record.trouble.kind}: {record.trouble.reason}"
    facts = record.facts
    yield "torch", record.environment.torch if facts is None else facts.imported
    if facts is not None:
        yield "build", facts.flavour
        yield "from", facts.source
        yield "RECORD", facts.distribution_sha256
        yield "Python", f"{facts.python_version} ({facts.implementation})"
        yield "C library", facts.libc
        yield "CPU", facts.cpu_capability
        yield "threads", str(facts.threads)
    yield "platform", record.environment.platform
    yield from (item for item in record.run.options.items() if item[0] != "packages")  # those stand below, as installed
    yield "probe", record.run.probe_sha256
