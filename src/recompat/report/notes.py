"""What a report says below its table: the cells that need a reader, and the totals. Formats lay it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from recompat.detection import Detection
from recompat.errors import ExitCode
from recompat.model import Outcome, Verdict
from recompat.once import FEW, once_per_object
from recompat.report.style import DRIFT, OUTCOMES, drift_text, ending_text, mark, replay_text, warned_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recompat.cells import Cell, Claim
    from recompat.model import Difference, Mismatch
    from recompat.summary import Summary

__all__ = [
    "DETECTED",
    "Gap",
    "Line",
    "Note",
    "claimed_for",
    "claimed_text",
    "conclusion",
    "counted",
    "detected",
    "expected_text",
    "facts",
    "families",
    "gaps",
    "notes",
    "notes_title",
    "totals",
]

GRAVEST_FIRST = (
    Verdict.REGRESSED,
    Verdict.CHANGED,
    Verdict.FIXED,
    Verdict.FLAKY,
    Verdict.NEW,
    Verdict.EXPECTED,
)
MOST = 3  # mismatches or differences that are listed of one cell
DETECTED: Final = (*map(str, Detection), "no answer")
"""What heads the columns of ``detected``."""


class Line(msgspec.Struct, frozen=True):
    """A fact about a cell. ``verbatim`` marks text that is quoted from a record; ``link`` is from expectations.toml."""

    caption: str
    text: str
    verbatim: bool = False
    link: str | None = None


class Note(msgspec.Struct, frozen=True):
    """A case that is unexpected, flaky or process-dependent, in the environments where it ended the same way."""

    mark: str
    case: str
    environments: tuple[str, ...]
    lines: tuple[Line, ...]


class Gap(msgspec.Struct, frozen=True):
    """Cases that were not run, for one reason, in some environments; ``of`` is how many cases there are."""

    environments: tuple[str, ...]
    reason: str
    cases: tuple[str, ...]
    of: int


@once_per_object(FEW)
def notes(summary: Summary) -> tuple[Note, ...]:
    """List every cell that needs a reader, gravest first; cells of a case that say the same are told once."""
    found = sorted((c for c in summary.cells if mark(c)), key=lambda cell: GRAVEST_FIRST.index(cell.verdict))
    alike: dict[tuple[str, str, tuple[Line, ...]], list[str]] = {}
    for cell in found:
        alike.setdefault((mark(cell), cell.case, tuple(facts(cell))), []).append(cell.environment)
    return tuple(Note(marks, case, tuple(places), lines) for (marks, case, lines), places in alike.items())


def notes_title(summary: Summary) -> str:
    """Head the notes: where every cell is as expected, none is called unexpected."""
    if any(mark(cell) and cell.verdict is not Verdict.EXPECTED for cell in summary.cells):
        return "Unexpected, flaky or process-dependent"
    return "Process-dependent, as expected"


@once_per_object(FEW)
def gaps(summary: Summary) -> tuple[Gap, ...]:
    """List what was not run: trouble with an environment is told once, and so is what several have in common."""
    cases: dict[tuple[str, str], list[str]] = {}
    for cell in summary.cells:
        if cell.verdict is Verdict.MISSING:
            cases.setdefault((cell.environment, cell.detail or ""), []).append(cell.case)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (environment, reason), missing in cases.items():
        alike.setdefault((reason, tuple(missing)), []).append(environment)
    of = len(summary.cases)
    return tuple(Gap(tuple(places), reason, missing, of) for (reason, missing), places in alike.items())


def totals(summary: Summary) -> Iterator[tuple[str, str]]:
    """Count the cells, each count with what it is out of."""
    counts = summary.totals
    factors = f"{counted(counts.environments, 'environment')} x {counted(counts.cases, 'case')}"
    yield "cells", f"{counts.cells} = {factors}"
    drift = f" ({counts.drift} with {DRIFT.label})" if counts.drift else ""
    outcomes = (
        f"{OUTCOMES[outcome].label} {count}{drift if outcome is Outcome.PASS else ''}"
        for outcome, count in counts.outcomes.items()
        if count
    )
    yield "outcomes", f"{', '.join(outcomes) or 'none'} (of {counts.cells})"
    told = {detection: counts.detections.get(detection, 0) for detection in Detection}
    yield (
        "detection",
        f"{', '.join(f'{one} {count}' for one, count in told.items())} (of {sum(told.values())} that ended)",
    )
    verdicts = (f"{verdict} {count}" for verdict, count in counts.verdicts.items() if count)
    yield "verdicts", f"{', '.join(verdicts) or 'none'} (of {counts.cells})"


def families(summary: Summary) -> tuple[Sequence[str], list[list[str]]]:
    """Count the cells of each family, by what torch makes of them; the counts of a line add up to its cells.

    Returns:
        The heading and the rows of a table; no rows where there is one family alone, or no file that names its own.
    """
    heading = ("family", "cases", "cells", *DETECTED)
    rows = []
    named = any(row.family != row.id.partition("::")[0] for row in summary.cases)
    for family, counts in summary.families.items() if named and len(summary.families) > 1 else ():
        numbers = (counts.cases, counts.cells, *detected(counts.detections, counts.cells))
        rows.append([family, *map(str, numbers)])
    return heading, rows


def detected(counts: Mapping[Detection, int], cells: int) -> list[int]:
    """Count cells by what torch makes of them, and last those of which that cannot be said."""
    told = [counts.get(detection, 0) for detection in Detection]
    return [*told, cells - sum(told)]


def conclusion(summary: Summary) -> str:
    """Say in a sentence what the exit code says."""
    counts = summary.totals
    missing, expected = counts.verdicts[Verdict.MISSING], counts.verdicts[Verdict.EXPECTED]
    unexpected = counts.cells - missing - expected
    without = f"{missing} of {counted(counts.cells, 'cell')} {'has' if missing == 1 else 'have'} no result"
    match summary.exit_code:
        case ExitCode.OK:
            drift = f"; {counts.drift} of them with {DRIFT.label}" if counts.drift else ""
            return f"As expected: all {counted(counts.cells, 'cell')}{drift}."
        case ExitCode.INCOMPLETE:
            return f"Incomplete: {without}; the other {expected} as expected."
        case _:
            rest = f"; {without}" if missing else ""
            return f"Unexpected: {unexpected} of {counted(counts.cells, 'cell')}{rest}."


def counted(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def facts(cell: Cell) -> Iterator[Line]:
    """Tell of a cell what a reader has to know: what it got, what was expected, and why."""
    phase = f" in {cell.phase}" if cell.phase else ""
    yield Line("got", " ".join(filter(None, (ending_text(cell) + phase, drift_text(cell)))))
    if cell.message:  # what follows its first line is told better by the mismatches, if they could be read
        yield Line("message", cell.message.partition("\n")[0] if cell.mismatches else cell.message, verbatim=True)
    if cell.detail:
        yield Line("detail", cell.detail, verbatim=True)
    yield from _some("mismatch", [_mismatch(mismatch) for mismatch in cell.mismatches])
    yield from _some("differs", [_difference(one, cell) for one in cell.differences if not one.equal])
    yield from _why(cell)
    if cell.flaky or cell.process_dependent:
        yield Line("replays", replay_text(cell.replays))
    if cell.flaky:
        yield Line("differ in", ", ".join(cell.unsteady))
    if cell.verified is False:
        yield Line("from scratch", replay_text(cell.again))
    claim = cell.expectation
    if claim is None:
        yield Line("expected", "nothing; add a claim to expectations.toml")
    else:
        yield Line("expected", expected_text(claim), link=claim.link)


def _why(cell: Cell) -> Iterator[Line]:
    if cell.cause:
        yield Line("cause", cell.cause)
    if cell.watched:
        yield Line("watched", cell.watched)


def _some(caption: str, texts: list[str]) -> Iterator[Line]:
    for text in texts[:MOST]:
        yield Line(caption, text, verbatim=True)
    if len(texts) > MOST:
        yield Line(caption, f"and {len(texts) - MOST} more")


def _difference(difference: Difference, cell: Cell) -> str:
    number = "no number" if difference.max_abs_diff is None else f"by {difference.max_abs_diff:.3g} at most"
    number += " (never repeats)" if cell.varies else ""
    return f"{difference.name} {number}" + (f": {difference.note}" if difference.note else "")


def _mismatch(mismatch: Mismatch) -> str:
    saved, recomputed = mismatch.saved, mismatch.recomputed
    parts = (
        f"position {mismatch.position}: saved {list(saved.shape)}, recomputed {list(recomputed.shape)}",
        f"{saved.dtype}, recomputed {recomputed.dtype}" if saved.dtype != recomputed.dtype else "",
        f"{saved.device}, recomputed {recomputed.device}" if saved.device != recomputed.device else "",
    )
    return "; ".join(filter(None, parts))


def expected_text(claim: Claim) -> str:
    """Say what was claimed, for which releases, and why."""
    return f"{claimed_text(claim)}: {claim.reason}"


def claimed_text(claim: Claim) -> str:
    """Say what was claimed, and for which releases and versions beside them."""
    wanted = claim.exception if claim.outcome is Outcome.RAISES and claim.exception else OUTCOMES[claim.outcome].label
    warned = "" if claim.warns is None else f" {' '.join(map(warned_text, claim.warns)) or 'without a warning'}"
    return f"{wanted}{warned} for {claimed_for(claim)}"


def claimed_for(claim: Claim) -> str:
    """Say of what a claim speaks."""
    return " with ".join((f"torch {claim.torch}", *([", ".join(claim.beside)] if claim.beside else [])))
