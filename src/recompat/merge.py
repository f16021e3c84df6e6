"""Many records of the same environments become one of each: whichever comes first, and however often. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from recompat.model import CaseResult, Record, Replay
from recompat.replays import label
from recompat.report.moments import EPOCH, moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from recompat.model import Facts

__all__ = ["Found", "Merged", "merge"]

MOST_NAMES = 5  # cases that a remark lists


class Found(msgspec.Struct, frozen=True):
    """A record and the folder that it was in; what is ``preferred`` counts more than what is newer."""

    record: Record
    place: str
    preferred: bool = False


class Merged(msgspec.Struct, frozen=True):
    """One record per environment, and a sentence for each conflict and for whatever had to be left out."""

    records: tuple[Record, ...]
    remarks: tuple[str, ...]


class _Result(msgspec.Struct, frozen=True):
    """A result, dated, with where it is from."""

    result: CaseResult
    found: Found

    @property
    def rank(self) -> tuple[bool, datetime, bytes, str]:
        """Higher for what counts more; what is equal in all that matters has the same place in every order."""
        place = self.found.place
        return self.found.preferred, moment(self.result.finished), msgspec.json.encode(self.result), place


def merge(found: Iterable[Found]) -> Merged:
    """Make one record of all that there are of an environment.

    A record with results counts more than one with none, then what is preferred, then what was finished last. Results of
    other records are added where they were measured on the same ground: the same probe, options, build and machine.
    """
    groups: dict[str, list[Found]] = defaultdict(list)
    for one in found:
        groups[one.record.environment.id].append(one)
    records, remarks = [], []
    for _, group in sorted(groups.items()):
        told = [one for one in group if one.record.results] or group
        best = max(told, key=_rank)
        records.append(_merged(best, [one for one in told if _ground(one.record) == _ground(best.record)]))
        remarks += [*_conflicts(records[-1], told), *_left_out(records[-1], best, told)]
    return Merged(tuple(records), tuple(remarks))


def _rank(found: Found) -> tuple[bool, datetime, bytes, str]:
    record = found.record
    return found.preferred, moment(record.run.finished), msgspec.json.encode(record), found.place


def _ground(record: Record) -> tuple[str, dict[str, str], Facts | None]:
    """What results depend on besides the case: they can stand in one record only where this is the same."""
    return record.run.probe_sha256, record.run.options, record.facts


def _merged(best: Found, alike: Sequence[Found]) -> Record:
    record = best.record
    if all(one.record == record for one in alike):
        return record
    results = {case: max(held, key=_by_rank).result for case, held in sorted(_results(alike).items())}
    started = min((one.record.run.started for one in alike), key=moment)
    finished = max((one.record.run.finished for one in alike), key=moment)
    run = msgspec.structs.replace(record.run, started=started, finished=finished)
    return msgspec.structs.replace(record, run=run, results=tuple(results.values()))


def _results(found: Iterable[Found]) -> dict[str, list[_Result]]:
    """All results by case; those that do not say when they were finished get the date of their record."""
    held: dict[str, list[_Result]] = defaultdict(list)
    for one in found:
        date = one.record.run.finished or EPOCH.isoformat()
        for result in one.record.results:
            dated = msgspec.structs.replace(result, finished=result.finished or date)
            held[result.case].append(_Result(dated, one))
    return held


def _by_rank(result: _Result) -> tuple[bool, datetime, bytes, str]:
    return result.rank


def _conflicts(record: Record, told: Sequence[Found]) -> Iterator[str]:
    """Name the cases whose same bytes ended otherwise in another folder."""
    by_case = _results(told)
    for result in record.results:
        kept = max((one for one in by_case[result.case] if _ending(one.result) == _ending(result)), key=_by_rank)
        others = sorted(
            {(_ending(one.result), one.found.place) for one in by_case[result.case] if _differs(one, result)}
        )
        if others:
            listed = ", ".join(f"{ending} in {place}" for ending, place in others)
            why = "which is preferred" if kept.found.preferred else "which is the newest"
            where = f"{result.case} on {record.environment.id}"
            yield f"{where}: {listed}, but {_ending(result)} in {kept.found.place}, {why} and is kept."


def _differs(one: _Result, kept: CaseResult) -> bool:
    return one.result.sha256 == kept.sha256 and _ending(one.result) != _ending(kept)


def _ending(result: CaseResult) -> str:
    """How the cold trial ended, which gives the verdict."""
    cold = result.trials.get(Replay.COLD)
    return "no result" if cold is None else label(cold)


def _left_out(record: Record, best: Found, told: Sequence[Found]) -> Iterator[str]:
    """Name the results that were measured on another ground, for cases of which the record has none."""
    there = {result.case for result in record.results}
    for one in sorted(told, key=_rank, reverse=True):
        missing = sorted({result.case for result in one.record.results} - there)
        if missing:
            names = ", ".join([*missing[:MOST_NAMES], *(["…"] if len(missing) > MOST_NAMES else [])])
            yield (
                f"{record.environment.id}: {one.place} has {len(missing)} more than {best.place} ({names}), recorded with"
                " another build, package, option or machine; left out, since a record speaks of one."
            )
