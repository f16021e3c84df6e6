"""The words of what changed in a new release: sentences and captions, which text and Markdown lay out."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from recompat.changes import ChangeKind, State
from recompat.errors import ExitCode
from recompat.replays import bare_name
from recompat.report.entries import listing
from recompat.report.findings import boundary_text, operator_change_text
from recompat.report.notes import Line, counted, expected_text
from recompat.report.style import CHANGES, STATES, ending_text, replay_text
from recompat.summary import UNEXPECTED
from recompat.tracks import beside_text, options_of, packed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.cells import Cell
    from recompat.changes import CaseChange, Changes, ReleaseChanges

__all__ = ["Entry", "conclusion", "entries", "heading", "remarks", "standing"]

FAILS: Final = {
    "regression": "regressed, verified",
    "unexpected": "not as expected",
    "any": "not as before, or not as expected",
}
DRIFT: Final = frozenset({ChangeKind.DRIFT_APPEARS, ChangeKind.DRIFT_VANISHES})


class Entry(NamedTuple):
    """A change of one case or more; all of it is text from records, which formats clean or escape."""

    kind: ChangeKind
    state: State
    cases: tuple[str, ...]
    what: str
    lines: tuple[Line, ...]

    @property
    def label(self) -> str:
        """The kind, and whether it is so."""
        label = CHANGES[self.kind].label
        return label if self.kind is ChangeKind.FLAKY else f"{label}, {self.state}"


def conclusion(changes: Changes) -> str:
    """Say in a sentence what the exit code says."""
    match changes.exit_code:
        case ExitCode.OK:
            return f"Nothing to fail for (--fail-on {changes.fail_on})."
        case ExitCode.INCOMPLETE:
            return "Incomplete: what is not known yet is named, and the next watch goes on from there."
        case _:
            failing = ((named(release), changes.failing(release)) for release in changes.releases)
            counts = (f"{counted(len(cases), 'case')} on torch {torch}" for torch, cases in failing if cases)
            return f"Fails (--fail-on {changes.fail_on}), {FAILS[changes.fail_on]}: {', '.join(counts)}."


def standing(changes: Changes) -> Iterator[str]:
    """Say what the index has and what is recorded, and how far that can be trusted."""
    if not changes.releases:
        listed = changes.newest_listed or "none"
        recorded = changes.newest_recorded or "none"
        yield f"Nothing is new: the newest release on the index is {listed}, the newest recorded one {recorded}."
    if changes.unreviewed:
        what = f"{counted(changes.unreviewed, 'case')} {_are(changes.unreviewed)} not as expected"
        yield f"On torch {changes.newest_recorded} {what}; recompat report shows them."
    if not changes.reached and changes.listed is None:
        yield "No index could be asked, and none ever was: whether a release is new is not known."
    elif not changes.reached and changes.listed is not None:
        yield f"No index could be asked: its list is of {changes.listed}, {_age(changes)} old. What came since is not known."
    yield from changes.notices


def heading(release: ReleaseChanges) -> str:
    """Say how much changed in a release, and how sure that is."""
    build = f" ({release.imported}, {release.source})" if release.imported else ""
    against = f" against {release.before}" if release.before else ", with no earlier release to compare with"
    if release.cases == release.missing:
        return f"torch {named(release)}: not run"
    kinds = Counter(change.kind for change in release.changes)
    what = ", ".join(f"{kinds[kind]} {CHANGES[kind].label}" for kind in ChangeKind if kinds[kind])
    return f"torch {named(release)}{build}{against}: {what or 'no change'}"


def named(release: ReleaseChanges) -> str:
    """Name a release, with what stands beside it."""
    return f"{release.torch} with {beside_text(packed(release.beside))}" if release.beside else release.torch


def entries(release: ReleaseChanges) -> tuple[Entry, ...]:
    """Tell every change, and what stands behind it; cases that changed in the same way are told once."""
    alike: dict[tuple[ChangeKind, State, str, tuple[Line, ...]], list[str]] = {}
    for change in release.changes:
        alike.setdefault((change.kind, change.state, _what(change), tuple(_behind(change))), []).append(change.case)
    return tuple(
        Entry(kind, state, tuple(dict.fromkeys(cases)), what, (*lines, _reproduce(cases[0], release)))
        for (kind, state, what, lines), cases in alike.items()
    )


def _what(change: CaseChange) -> str:
    if change.boundary is not None:
        return boundary_text(change.boundary)
    if change.operators is not None:
        return operator_change_text(change.operators)
    if change.kind is ChangeKind.FLAKY:
        again = f"; from scratch {replay_text(change.cell.again)}" if change.cell.again else ""
        return f"{replay_text(change.cell.replays)}{again}"
    if change.kind in DRIFT:
        return CHANGES[change.kind].meaning
    return f"{ending_text(change.cell)}, which is not as expected; no change by this release is known"


def _behind(change: CaseChange) -> Iterator[Line]:
    """What was said, why, and what was expected; other operators stand for themselves."""
    cell = change.cell
    if change.kind is ChangeKind.OPERATORS:
        return
    if cell.unsteady:
        yield Line("differs in", ", ".join(cell.unsteady))
    if said := _said(cell):
        yield Line("said", said, verbatim=True)
    if cell.cause:
        yield Line("cause", " ".join(filter(None, (cell.cause, cell.watched))))
    if cell.expectation is not None and (cell.verdict in UNEXPECTED or change.kind not in DRIFT):
        yield Line("expected" if cell.verdict in UNEXPECTED else "as expected", expected_text(cell.expectation))


def _reproduce(case: str, release: ReleaseChanges) -> Line:
    return Line("reproduce", f"recompat reproduce {case} {options_of(release)} --run", verbatim=True)


def remarks(release: ReleaseChanges) -> Iterator[str]:
    """Say what else there is to know of a release: what is the same, what nothing is claimed of, what has no result."""
    run = release.cases - release.missing
    same = run - len({change.case for change in release.changes})
    if run and release.before and same:
        yield f"{'The other ' * bool(release.changes)}{same} of {counted(run, 'case')} {_are(same)} as on {release.before}."
    if release.of(State.VERIFIED):
        yield f"Verified: {STATES[State.VERIFIED]}."
    if release.unclaimed:
        yield f"expectations.toml says nothing of {listing(release.unclaimed)}; recompat accept writes what was seen."
    if release.missing:
        reason = f": {release.reason}" if release.reason else "."
        yield f"{release.missing} of {counted(release.cases, 'case')} {_have(release.missing)} no result{reason}"
    if unverified := len(release.of(State.UNVERIFIED)):
        yield f"{counted(unverified, 'change')} {_are(unverified)} not verified, and may be flaky; nox -s watch tries again."


def _said(cell: Cell) -> str:
    """What was raised, or went wrong, in its first line."""
    said = (cell.message or cell.detail or "").strip().partition("\n")[0]
    return f"{bare_name(cell.exception)}: {said}" if cell.exception else said


def _age(changes: Changes) -> str:
    """How old the list is: in days, which a release takes at least."""
    try:
        now, then = (datetime.fromisoformat(text or "") for text in (changes.generated, changes.listed))
        return counted(max(0, (now - then).days), "day")
    except (TypeError, ValueError):
        return "an unknown time"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"
