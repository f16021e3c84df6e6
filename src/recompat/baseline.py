"""``matrix/baseline/``: the accepted records of the published matrix; a record that tells less does not replace one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat.accept import recorded_releases
from recompat.cases import read_case_files
from recompat.errors import ConfigurationError
from recompat.matrix import load_matrix
from recompat.record import load_records, save_record
from recompat.replays import flaky

if TYPE_CHECKING:
    from collections.abc import Collection

    from recompat.model import Record
    from recompat.project import Project

__all__ = ["Taken", "accept_records"]


class Taken(msgspec.Struct, frozen=True):
    """A sentence for each record that was taken, and remarks about the others."""

    changes: tuple[str, ...]
    remarks: tuple[str, ...]


def accept_records(project: Project, torch: str | None) -> Taken:
    """Copy the records of the releases that ``torch`` names, or of all.

    Raises:
        ConfigurationError: the records to copy are the accepted ones.
        NothingSelected: there are none.
    """
    if project.records.resolve() == project.baseline.resolve():
        raise ConfigurationError("matrix/baseline is where records are copied to; name another folder with --records.")
    records, set_aside = load_records(project.records)
    chosen = recorded_releases(records, load_matrix(project.matrix), torch)
    known = {case.id for file in read_case_files(project.cases) for case in file.cases}
    accepted, more = load_records(project.baseline)
    held = {record.environment.id: record for record in accepted}
    changes, remarks = [], [*set_aside, *more]
    for record in records:
        name = record.environment.id
        if Version(Version(record.environment.torch).public) not in chosen or held.get(name) == record:
            continue
        worse = _worse(record, held.get(name), known)
        if worse:
            remarks.append(f"{name} was left, since {worse}.")
        else:
            save_record(project.baseline, record)
            changes.append(f"{name}: {'replaced' if name in held else 'new'}, {_count(len(record.results))}.")
    return Taken(tuple(changes) or ("matrix/baseline is as it was.",), tuple(remarks))


def _worse(record: Record, held: Record | None, known: Collection[str]) -> str | None:
    """Why a record is not to be accepted, if so; ``known`` are the cases that there are."""
    if record.trouble is not None or not record.results:
        return "it has trouble with its environment" if record.trouble else "it has no results"
    lacking = set() if held is None else (_steady(held) & {*known}) - _steady(record)
    return f"the accepted one has steady results of {_count(len(lacking))} more" if lacking else None


def _steady(record: Record) -> set[str]:
    """The cases that have a result and are not flaky."""
    return {result.case for result in record.results if not flaky(result)}


def _count(number: int) -> str:
    return "1 case" if number == 1 else f"{number} cases"
