"""A matrix of 1,000 cases on 40 releases, made of the accepted records: as varied as the library is, and larger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from builders import NOW
from recompat.cases import read_case_files
from recompat.expectations import Expectation, Expectations, load_expectations
from recompat.listing import Listing
from recompat.matrix import load_matrix
from recompat.record import load_records
from recompat.summarise import summarise
from recompat.tracks import ALONE, Beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.cases import Case, CaseFile
    from recompat.model import CaseResult, Record
    from recompat.summary import Summary

__all__ = ["large"]

MATRIX = Path(__file__).parent.parent / "matrix"


def large(cases: int, releases: int) -> Summary:
    """Copies of the library's cases under other names, and of its whole records under other versions.

    No two copies say the same: each has its number in the first line of its message and in its claims.
    """
    files = read_case_files(MATRIX / "cases")
    total = sum(len(file.cases) for file in files)
    whole = (record for record in load_records(MATRIX / "baseline")[0] if len(record.results) == total)
    records = sorted(whole, key=lambda record: Version(record.environment.torch))
    copies = [_copy(file, number) for number in range(-(-cases // len(records[0].results))) for file in files]
    known = [case for file in copies for case in file.cases][:cases]
    wanted = {case.id for case in known}
    made = [_renamed(_taken(records, place, releases), place, copies, wanted) for place in range(releases)]
    listing = Listing(NOW, tuple(record.environment.torch for record in made))
    originals = {
        Version(made[place].environment.torch): Version(_taken(records, place, releases).environment.torch)
        for place in range(releases)
    }
    claims = load_expectations(MATRIX / "expectations.toml", files, load_matrix(MATRIX / "matrix.toml").releases)
    return summarise(made, copies, known, _Claims(by_case=claims.by_case, originals=originals), NOW, listing)


def _taken(records: Sequence[Record], place: int, releases: int) -> Record:
    return records[place * len(records) // releases]


def _copy(file: CaseFile, number: int) -> CaseFile:
    path = file.path.with_stem(_stem(file, number))

    def renamed(case: str) -> str:
        return f"{path.stem}::{case.partition('::')[2]}"

    cases = tuple(
        msgspec.structs.replace(
            case,
            id=renamed(case.id),
            about=msgspec.structs.replace(case.about, repairs=tuple(map(renamed, case.about.repairs))),
        )
        for case in file.cases
    )
    return msgspec.structs.replace(file, path=path, cases=cases)


def _stem(file: CaseFile, number: int) -> str:
    return f"{file.path.stem}_{number}"


def _renamed(record: Record, place: int, files: Sequence[CaseFile], wanted: set[str]) -> Record:
    results = {result.case: result for result in record.results}
    copies = tuple(
        _result(results[_original(case)], case) for file in files for case in file.cases if case.id in wanted
    )
    environment = msgspec.structs.replace(record.environment, torch=f"3.{place}.0")
    return msgspec.structs.replace(record, environment=environment, results=copies)


def _original(case: Case) -> str:
    stem, _, name = case.id.partition("::")
    return f"{stem.rpartition('_')[0]}::{name}"


def _result(result: CaseResult, case: Case) -> CaseResult:
    number = case.id.partition("::")[0].rpartition("_")[2]
    trials = {
        replay: trial
        if trial.raised is None
        else msgspec.structs.replace(
            trial, raised=msgspec.structs.replace(trial.raised, message=f"({number}) {trial.raised.message}")
        )
        for replay, trial in result.trials.items()
    }
    return msgspec.structs.replace(result, case=case.id, trials=trials)


class _Claims(Expectations, frozen=True, kw_only=True):
    """The library's claims, for the copies; of each 97th cell nothing is claimed, so that it is new."""

    originals: dict[Version, Version]

    def for_(self, case_id: str, version: Version, beside: Beside = ALONE) -> Expectation | None:
        stem, _, name = case_id.partition("::")
        stem, _, number = stem.rpartition("_")
        claim = super().for_(f"{stem}::{name}", self.originals[version], beside)
        if claim is None or hash((len(name), version.minor, int(number))) % 97 == 0:
            return None
        return msgspec.structs.replace(claim, reason=f"({number}) {claim.reason}")
