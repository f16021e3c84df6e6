"""Which results of an earlier run still stand. Pure."""

from __future__ import annotations

from datetime import MAXYEAR, timedelta
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat.report.moments import EPOCH, moment
from recompat.sources import named_index
from recompat.tracks import Target, packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recompat.model import CaseResult, Environment, Record
    from recompat.trials import CaseAddress

__all__ = ["dated", "is_candidate", "merge_results", "most_telling", "pending_cases", "record_of", "superseded"]


def record_of(records: Iterable[Record], target: Target, python: str, platform: str) -> Record | None:
    """The record that speaks for ``target`` where ``python`` asks: its own, or of the interpreter chosen in its place."""
    return most_telling(record for record in records if _speaks_for(record, target, python, platform))


def most_telling(records: Iterable[Record]) -> Record | None:
    """The newest record with results, or else the newest."""
    return max(records, key=lambda record: (bool(record.results), moment(record.run.finished)), default=None)


def dated(record: Record, records: Iterable[Record]) -> Record:
    """Date ``record`` after those that speak for the same, so that it is the newest also where the clock was turned back."""
    mine = record.environment
    target = Target(Version(mine.torch), packed(mine.beside))
    rivals = [
        moment(one.run.finished)
        for one in records
        if one.environment.id != mine.id and _speaks_for(one, target, mine.host_python, mine.platform)
    ]
    latest = max(rivals, default=EPOCH)
    if moment(record.run.finished) > latest or latest.year == MAXYEAR:
        return record
    finished = (latest + timedelta(seconds=1)).isoformat()
    return msgspec.structs.replace(record, run=msgspec.structs.replace(record.run, finished=finished))


def superseded(records: Iterable[Record], by: Record) -> list[Record]:
    """Records without a result that stood in for the environment of ``by``."""
    mine = by.environment
    return [
        record
        for record in records
        if not record.results and record.environment.id != mine.id and _asked(record.environment) == _asked(mine)
    ]


def is_candidate(record: Record) -> bool:
    """Whether what was tested may have been a candidate: an index for tests has them under the final number.

    A pre-release has its number for itself, wherever it came from.
    """
    version = Version(record.environment.torch)
    return record.facts is not None and named_index(record.facts.source) is not None and not version.is_prerelease


def pending_cases(
    record: Record | None,
    wanted: Sequence[CaseAddress],
    probe_sha256: str,
    terms: Mapping[str, str],
    *,
    named: bool = False,
) -> list[CaseAddress]:
    """Those of ``wanted`` that have no result, or one that another case file, probe or option gave.

    Args:
        record: what there is.
        wanted: the cases that were asked for.
        probe_sha256: the probe of today.
        terms: what results depend on, as it is today.
        named: whether an index is named; without one, a candidate's results do not stand for the release.
    """
    if record is None or record.run.probe_sha256 != probe_sha256 or record.run.options != terms:
        return list(wanted)
    if is_candidate(record) and not named:
        return list(wanted)
    standing = {(result.case, result.sha256) for result in record.results}
    return [case for case in wanted if (case.id, case.sha256) not in standing]


def merge_results(record: Record, earlier: Record | None, known: Mapping[str, str]) -> Record:
    """Add to ``record`` what still stands of ``earlier``.

    Args:
        record: the new one.
        earlier: from the same terms and the same installation, or it says nothing about this one.
        known: the digest of each case's file today; other results are dropped.
    """
    if earlier is None or not _same_ground(record, earlier):
        return record
    results = {result.case: result for result in (*earlier.results, *record.results)}
    kept = sorted((r for r in results.values() if known.get(r.case) == r.sha256), key=_by_case)
    return msgspec.structs.replace(record, results=tuple(kept), facts=record.facts or earlier.facts)


def _same_ground(record: Record, earlier: Record) -> bool:
    """Trouble tells nothing about the installation: it leaves the earlier results as they are."""
    same_terms = (record.run.probe_sha256, record.run.options) == (earlier.run.probe_sha256, earlier.run.options)
    return same_terms and (record.facts is None or record.facts == earlier.facts)


def _asked(environment: Environment) -> tuple[str, dict[str, str], str, str]:
    return environment.torch, environment.beside, environment.host_python, environment.platform


def _speaks_for(record: Record, target: Target, python: str, platform: str) -> bool:
    environment = record.environment
    same = environment.torch == str(target.torch) and environment.platform == platform
    return (
        same and packed(environment.beside) == target.beside and python in {environment.python, environment.host_python}
    )


def _by_case(result: CaseResult) -> str:
    return result.case
