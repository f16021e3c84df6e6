"""What records say of cases along the releases, so far as it can be claimed; the rest is named. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

import msgspec
from packaging.version import Version

from recompat.boundary import Ending
from recompat.expectations import is_qualified
from recompat.judge import Finding, NoFinding, finding
from recompat.model import Outcome
from recompat.report.text import LIMIT
from recompat.tracks import ALONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recompat.cases import Case, CaseFile
    from recompat.expectations import Expectation, Expectations
    from recompat.model import CaseResult, Record, Trial
    from recompat.tracks import Beside

__all__ = ["Left", "Observed", "Why", "counts_warnings", "observe"]

TROUBLED = frozenset({Outcome.ERROR, Outcome.CRASH, Outcome.TIMEOUT})


class Why(StrEnum):
    """Why a cell can be no claim; the words follow those that name the cell."""

    FLAKY = "is flaky"
    TROUBLED = "crashed, timed out or is in error, which --even-errors accepts"
    UNNAMED = "names a type that cannot be written"
    SPLIT = "does not end the same on all interpreters and platforms"
    MISSING = "has no result"


class Left(msgspec.Struct, frozen=True):
    """A cell that was left out."""

    case: str
    release: Version
    why: Why


class Observed(msgspec.Struct, frozen=True):
    """How each case ended on each release, and what was left out."""

    endings: dict[str, dict[Version, Ending]]
    left: tuple[Left, ...]


def observe(
    records: Iterable[Record],
    files: Sequence[CaseFile],
    cases: Sequence[Case],
    expectations: Expectations,
    *,
    even_errors: bool = False,
    beside: Beside = ALONE,
) -> Observed:
    """Find out how the cases ended.

    Args:
        files: those that the cases are in; a result of other bytes than the file's is none.
        expectations: they tell which crash is no news, and which details count.
        even_errors: whether a crash, a timeout or an error may be claimed.
        beside: what stands beside torch in the records, where the claims are told apart by it.
    """
    file_of = {case.id: file for file in files for case in file.cases}
    held: dict[Version, list[dict[str, CaseResult]]] = {}
    for record in records:
        release = Version(Version(record.environment.torch).public)
        held.setdefault(release, []).append({result.case: result for result in record.results})
    endings: dict[str, dict[Version, Ending]] = {}
    left = []
    for case in cases:
        reader = _Reader(case, file_of[case.id], expectations, beside, even_errors=even_errors)
        endings[case.id] = {}
        for release in sorted(held):
            found = reader.read(release, [results.get(case.id) for results in held[release]])
            if isinstance(found, Why):
                left.append(Left(case.id, release, found))
            else:
                endings[case.id][release] = found
    return Observed(endings, tuple(left))


def counts_warnings(case: Case, claims: Iterable[Expectation]) -> bool:
    """Whether what a case warns is part of its claims."""
    return case.about.observes_warnings or any(claim.warns is not None for claim in claims)


class _Reader:
    """Reads the results of one case."""

    def __init__(
        self, case: Case, file: CaseFile, expectations: Expectations, beside: Beside, *, even_errors: bool
    ) -> None:
        self._case, self._file, self._expectations, self._even_errors = case, file, expectations, even_errors
        self._beside = beside
        claims = expectations.by_case.get(case.id, ())
        self._warnings = counts_warnings(case, claims)
        named = any(claim.outcome is Outcome.MOOT and claim.exception is not None for claim in claims)
        self._naming = {Outcome.RAISES, *([Outcome.MOOT] if named else [])}

    def read(self, release: Version, results: Iterable[CaseResult | None]) -> Ending | Why:
        """What all environments of a release say."""
        found = {self._read_one(release, result) for result in results} - {Why.MISSING}
        reasons = [why for why in Why if why in found]
        if reasons or not found:
            return reasons[0] if reasons else Why.MISSING
        return found.pop() if len(found) == 1 else Why.SPLIT

    def _read_one(self, release: Version, result: CaseResult | None) -> Ending | Why:
        usable = result is not None and self._file.fault is None and result.sha256 == self._file.sha256
        seen = finding(result if usable else None)
        match seen:
            case NoFinding():
                return Why.MISSING
            case Finding(flaky=True):
                return Why.FLAKY
            case Finding(trial=trial):
                return self._claimable(release, self._ending(trial))
            case _:
                assert_never(seen)

    def _ending(self, trial: Trial) -> Ending:
        """How a trial ended, as far as it counts."""
        exception = trial.raised.type if trial.raised is not None and trial.outcome in self._naming else None
        return Ending(trial.outcome, exception, trial.warned if self._warnings else ())

    def _claimable(self, release: Version, ending: Ending) -> Ending | Why:
        names = [*ending.warned, *([] if ending.exception is None else [ending.exception])]
        lacking = ending.outcome is Outcome.RAISES and ending.exception is None
        if lacking or not all(is_qualified(name) and len(name) <= LIMIT for name in names):
            return Why.UNNAMED
        claim = self._expectations.for_(self._case.id, release, self._beside)
        held = claim is not None and claim.allows(ending.outcome, ending.exception, ending.warned)
        return ending if self._even_errors or held or ending.outcome not in TROUBLED else Why.TROUBLED
