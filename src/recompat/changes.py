"""What changed in a release that is new here, against the nearest earlier one that is recorded, and whether it is so. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from recompat.boundary import Boundary
from recompat.cells import Cell
from recompat.choices import FailOn
from recompat.errors import ExitCode
from recompat.evidence import drifts
from recompat.model import Outcome, Replay, Verdict
from recompat.news import news
from recompat.operators import OperatorChange, changed_operators
from recompat.summary import UNEXPECTED
from recompat.tracks import Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from recompat.model import CaseResult, Verification
    from recompat.news import Item
    from recompat.summary import Column, Summary

__all__ = [
    "CHANGES_SCHEMA",
    "CaseChange",
    "ChangeKind",
    "Changes",
    "ReleaseChanges",
    "State",
    "changes_of",
]

CHANGES_SCHEMA: Final = "recompat/changes/1"
OTHERWISE: Final = frozenset({Verdict.REGRESSED, Verdict.FIXED, Verdict.CHANGED})


class ChangeKind(StrEnum):
    """What became of a case, gravest first."""

    REGRESSED = "regressed"
    CHANGED = "changed"
    FIXED = "fixed"
    API_DISAPPEARS = "api-disappears"
    API_APPEARS = "api-appears"
    FLAKY = "flaky"
    DRIFT_APPEARS = "drift-appears"
    DRIFT_VANISHES = "drift-vanishes"
    OPERATORS = "operators"


class State(StrEnum):
    """Whether a change is one: it came out the same again from scratch, it did not, or that could not be tried."""

    VERIFIED = "verified"
    FLAKY = "flaky"
    UNVERIFIED = "unverified"


class CaseChange(msgspec.Struct, frozen=True, kw_only=True):
    """A case that is not as on the release before, or not as expected; ``cell`` is what it is now.

    ``boundary`` or ``operators`` tell what changed and between which releases; neither is there where the release
    before ended the same, or none is recorded.
    """

    case: str
    kind: ChangeKind
    state: State
    cell: Cell
    boundary: Boundary | None = None
    operators: OperatorChange | None = None


class ReleaseChanges(msgspec.Struct, frozen=True, kw_only=True):
    """A release against ``before``, the nearest earlier one that is recorded; null where there is none.

    ``beside`` are the packages that stand beside both; JSON has it only where an axis of the matrix chose some.

    ``cases`` counts those that were asked for, and ``missing`` those of them without a result, for ``reason``. ``unclaimed``
    are cases of which expectations.toml says nothing. ``complete`` unless something has to be run yet.
    """

    torch: str
    beside: Written = msgspec.UNSET
    before: str | None = None
    environment: str | None = None
    imported: str | None = None
    source: str | None = None
    cases: int = 0
    missing: int = 0
    reason: str | None = None
    unclaimed: tuple[str, ...] = ()
    changes: tuple[CaseChange, ...] = ()
    complete: bool = False

    def of(self, state: State) -> tuple[CaseChange, ...]:
        """The changes of a state."""
        return tuple(change for change in self.changes if change.state is state)


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What a watch found; ``releases`` are those that it is about, oldest first. Times are UTC, ISO 8601.

    ``listed`` is when the index last gave its list, and ``reached`` whether that was now. ``newest_listed`` and
    ``newest_recorded`` are final releases; null where there is none. Where nothing is new, ``unreviewed`` counts the cells
    of the newest recorded one that are not as expected. ``notices`` are sentences about the run itself.
    """

    recompat: str
    generated: str
    platform: str
    fail_on: FailOn
    reached: bool
    listed: str | None = None
    newest_listed: str | None = None
    newest_recorded: str | None = None
    unreviewed: int = 0
    releases: tuple[ReleaseChanges, ...] = ()
    notices: tuple[str, ...] = ()
    schema: Literal["recompat/changes/1"] = CHANGES_SCHEMA

    def failing(self, release: ReleaseChanges) -> tuple[str, ...]:
        """The cases of a release for which the watch fails. What is not verified yet is none, whatever it seems to be."""
        known = [change for change in release.changes if change.state is not State.UNVERIFIED]
        match self.fail_on:
            case "never":
                return ()
            case "regression":
                found = [change.case for change in release.of(State.VERIFIED) if _regressed(change)]
            case "unexpected":
                found = [change.case for change in known if change.cell.verdict in UNEXPECTED] + [*release.unclaimed]
            case "any":
                found = [change.case for change in known] + [*release.unclaimed]
        return tuple(dict.fromkeys(found))

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The releases of which something has to be run yet."""
        return tuple(dict.fromkeys(release.torch for release in self.releases if not release.complete))

    @property
    def exit_code(self) -> ExitCode:
        """What the watch says when it ends: a failure that is asked for weighs more than what is not known yet."""
        if any(map(self.failing, self.releases)):
            return ExitCode.UNEXPECTED
        return ExitCode.INCOMPLETE if self.unfinished or self.notices or not self.reached else ExitCode.OK


def changes_of(summary: Summary, results: Mapping[tuple[str, str], CaseResult], torch: str) -> ReleaseChanges:
    """Tell what changed in a release.

    Args:
        summary: the release among those that are recorded on its track; all of them have a column.
        results: those of the summary, by case and environment.
        torch: the release.
    """
    column = next(column for column in summary.environments if column.torch == torch)
    told = next((one for one in news(summary) if one.torch == torch), None)
    cells = {cell.case: cell for cell in summary.cells if cell.environment == column.id}
    found = [*_boundaries_and_operators(told.items if told else (), cells), *_drift(summary, results, column)]
    told_cases = {change.case for change in found if change.kind is not ChangeKind.OPERATORS}
    found += (_otherwise(cell) for cell in cells.values() if cell.verdict in OTHERWISE and cell.case not in told_cases)
    changes = [_judged(change, results.get((change.case, column.id))) for change in _steady(found, cells)]
    missing = [cell for cell in cells.values() if cell.verdict is Verdict.MISSING]
    return ReleaseChanges(
        torch=torch,
        beside=column.beside,
        before=_before(summary, column),
        environment=column.id,
        imported=column.imported,
        source=column.source,
        cases=len(cells),
        missing=len(missing),
        reason=column.trouble.reason if column.trouble else missing[0].detail if missing else None,
        unclaimed=tuple(cell.case for cell in cells.values() if cell.verdict is Verdict.NEW),
        changes=tuple(sorted(changes, key=lambda change: list(ChangeKind).index(change.kind))),
        complete=not missing and all(change.state is not State.UNVERIFIED for change in changes),
    )


def _before(summary: Summary, column: Column) -> str | None:
    """The nearest earlier release that has any result."""
    run = {cell.environment for cell in summary.cells if cell.outcome is not Outcome.NOT_RUN}
    earlier = summary.environments[: summary.environments.index(column)]
    return next((one.torch for one in reversed(earlier) if one.id in run), None)


def _boundaries_and_operators(items: Iterable[Item], cells: Mapping[str, Cell]) -> Iterator[CaseChange]:
    for item in items:
        what = item.what
        yield CaseChange(
            case=item.case,
            kind=ChangeKind(item.kind.value),
            state=State.UNVERIFIED,
            cell=cells[item.case],
            boundary=what if isinstance(what, Boundary) else None,
            operators=what if isinstance(what, OperatorChange) else None,
        )


def _drift(summary: Summary, results: Mapping[tuple[str, str], CaseResult], column: Column) -> Iterator[CaseChange]:
    """Compare with the nearest earlier release on which the case passed and was watched."""
    place = summary.environments.index(column)
    for _, line in summary.lines():
        cell = line[place]
        earlier = (one for one in reversed(line[:place]) if _passed_watched(one, results))
        before = next(earlier, None)
        if before is not None and _passed_watched(cell, results) and before.drift is not cell.drift:
            kind = ChangeKind.DRIFT_APPEARS if cell.drift else ChangeKind.DRIFT_VANISHES
            yield CaseChange(case=cell.case, kind=kind, state=State.UNVERIFIED, cell=cell)


def _passed_watched(cell: Cell, results: Mapping[tuple[str, str], CaseResult]) -> bool:
    result = results.get((cell.case, cell.environment))
    return cell.outcome is Outcome.PASS and result is not None and result.evidence is not None


def _otherwise(cell: Cell) -> CaseChange:
    """A cell that is not as expected, though not by this release."""
    return CaseChange(case=cell.case, kind=ChangeKind(cell.verdict.value), state=State.UNVERIFIED, cell=cell)


def _steady(found: Iterable[CaseChange], cells: Mapping[str, Cell]) -> Iterator[CaseChange]:
    """Tell of a cell that is flaky that alone: what else it seems to say is not known."""
    yield from (change for change in found if change.cell.verdict is not Verdict.FLAKY)
    for cell in cells.values():
        if cell.verdict is Verdict.FLAKY:
            yield CaseChange(case=cell.case, kind=ChangeKind.FLAKY, state=State.FLAKY, cell=cell)


def _judged(change: CaseChange, result: CaseResult | None) -> CaseChange:
    """Hold a change against the verification of its case."""
    if change.state is State.FLAKY or result is None or result.again is None:
        return change
    state = State.VERIFIED if _repeated(change.kind, result, result.again) else State.FLAKY
    return msgspec.structs.replace(change, state=state)


def _repeated(kind: ChangeKind, result: CaseResult, again: Verification) -> bool:
    """Whether what was seen of a case that ended the same again was the same, too."""
    match kind:
        case ChangeKind.OPERATORS:
            one, other = result.evidence, again.evidence
            return one is not None and other is not None and not any(changed_operators(one, other))
        case ChangeKind.DRIFT_APPEARS | ChangeKind.DRIFT_VANISHES:
            return drifts(again.trials[Replay.COLD], again.evidence) is (kind is ChangeKind.DRIFT_APPEARS)
        case _:
            return True


def _regressed(change: CaseChange) -> bool:
    return ChangeKind.REGRESSED in {change.kind, change.cell.verdict.value}
