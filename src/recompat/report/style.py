"""Every label, mark and colour, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.changes import ChangeKind, State
from recompat.detection import Detection
from recompat.model import Outcome, Verdict
from recompat.news import NewsKind
from recompat.once import FEW, once_per_object
from recompat.replays import bare_name
from recompat.report.text import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.cells import Cell
    from recompat.model import Replay
    from recompat.summary import Summary

__all__ = [
    "CHANGES",
    "DETECTIONS",
    "DRIFT",
    "NEWS",
    "OUTCOMES",
    "PROCESS_DEPENDENT",
    "STATES",
    "UNRELATED",
    "VERDICTS",
    "Look",
    "cell_text",
    "drift_text",
    "ending_text",
    "label",
    "largest",
    "legend",
    "mark",
    "paint",
    "plain_cell_text",
    "replay_text",
    "report_link",
    "verified_text",
    "warned_text",
]


class Look(msgspec.Struct, frozen=True):
    """How an outcome looks; ``colour`` is an SGR parameter of ECMA-48."""

    label: str
    meaning: str
    colour: str


OUTCOMES: dict[Outcome, Look] = {
    Outcome.PASS: Look("pass", "ran to the end, and all values match the reference", "32"),
    Outcome.RAISES: Look("raises", "an exception left the case", "33"),
    Outcome.DIFFERS: Look(
        "DIFFERS", "ran to the end, but values do not match the reference: silent corruption", "1;31"
    ),
    Outcome.MOOT: Look("moot", "the reference raises too, so this says nothing about checkpointing", "2"),
    Outcome.UNSUPPORTED: Look("n/a", "an API that the case needs is not in this release", "2"),
    Outcome.CRASH: Look("crash", "the process of the case died", "35"),
    Outcome.TIMEOUT: Look("timeout", "the case took longer than the limit of a trial", "35"),
    Outcome.ERROR: Look("error", "the case file or its reference is broken", "35"),
    Outcome.NOT_RUN: Look("not run", "no result, which says nothing about torch; the matrix is incomplete", "36"),
}

VERDICTS: dict[Verdict, Look] = {
    Verdict.EXPECTED: Look("", "as expectations.toml says", ""),
    Verdict.REGRESSED: Look("regressed!", "expected to work, and no longer does", "1;31"),
    Verdict.FIXED: Look("fixed!", "expected to fail, and now passes", "1;32"),
    Verdict.CHANGED: Look("changed!", "ended otherwise than expected", "1;33"),
    Verdict.NEW: Look("new!", "expectations.toml says nothing about it", "1;34"),
    Verdict.FLAKY: Look(
        "flaky!", "the warm replays differ from each other, or from what the case did again from scratch", "1;35"
    ),
    Verdict.MISSING: Look("", "no result", ""),  # the cell itself says "not run"
}

PROCESS_DEPENDENT = Look("†", "ends otherwise where torch._dynamo was imported before", "1;36")

DRIFT = Look(
    "DRIFT",
    "passes, though settings or operators differed in recomputation; the number is the largest difference of a value",
    "1;33",
)

UNRELATED = Look("°", "torch fails, and the exception is about something else than what the case is about", "1;33")

DETECTIONS: dict[Detection, str] = {
    Detection.FINE: "passes",
    Detection.NOTICED: "notices, and raises",
    Detection.SILENT: "goes on, and a value, a count, a setting or a promise is not as in the reference",
    Detection.UNRELATED: "fails with an exception that is about something else",
}

NEWS: dict[NewsKind, Look] = {
    NewsKind.REGRESSED: Look("regressed", "passed before, and does not now; or its process dies now", "1;31"),
    NewsKind.CHANGED: Look("changed", "ended otherwise before", "1;33"),
    NewsKind.FIXED: Look("fixed", "did not pass before, and does now", "1;32"),
    NewsKind.API_DISAPPEARS: Look("API gone", "an API that the case needs is not there any more", "1;31"),
    NewsKind.API_APPEARS: Look("API new", "an API that the case needs is there now", "32"),
    NewsKind.OPERATORS: Look("operators", "the same outcome, by other operators", "36"),
}

CHANGES: dict[ChangeKind, Look] = {
    **{ChangeKind(kind.value): look for kind, look in NEWS.items()},
    ChangeKind.FLAKY: Look("flaky", "does not end the same each time it is run on this release", "1;35"),
    ChangeKind.DRIFT_APPEARS: Look("drift", "passes, and settings or operators now differ in recomputation", "1;33"),
    ChangeKind.DRIFT_VANISHES: Look("drift gone", "passes, and recomputation is as forward now", "32"),
}

STATES: dict[State, str] = {
    State.VERIFIED: "it came out the same again from scratch, in an environment of its own",
    State.FLAKY: "it did not come out the same again",
    State.UNVERIFIED: "it was not run again yet, so it may be flaky",
}

LONGEST_LABEL = 28


def label(outcome: Outcome, exception: str | None) -> str:
    """Say how a case ended, as a cell does: an exception by its bare name."""
    if outcome is Outcome.RAISES and exception:
        return shorten(clean(bare_name(exception)), LONGEST_LABEL)
    return OUTCOMES[outcome].label


def mark(cell: Cell) -> str:
    """Say what is not as expected, and nothing for a cell that is; drift is told apart from that."""
    marks = (VERDICTS[cell.verdict].label, PROCESS_DEPENDENT.label if cell.process_dependent else "")
    return " ".join(filter(None, marks))


def drift_text(cell: Cell) -> str:
    """Say that a cell is no plain pass, and by how much its values differ; nothing for one that has no drift."""
    return f"{DRIFT.label} {largest(cell)}" if cell.drift else ""


def largest(cell: Cell) -> str:
    """Write the largest difference between a value and its reference."""
    return "no number" if cell.max_abs_diff is None else f"{cell.max_abs_diff:.2g}"


def cell_text(cell: Cell) -> str:
    """Write a cell of the table, in full."""
    if cell.verdict is Verdict.EXPECTED and not (cell.drift or cell.process_dependent):  # nearly always
        return ending_text(cell)
    return " ".join(filter(None, (ending_text(cell), drift_text(cell), mark(cell))))


def plain_cell_text(cell: Cell) -> str:
    """Write a cell of the table without the number of its drift, which is another on each release."""
    return " ".join(filter(None, (ending_text(cell), DRIFT.label if cell.drift else "", mark(cell))))


def ending_text(cell: Cell) -> str:
    """Say how a cell ended, an exception that is about something else marked as such, with what it warned."""
    ended = label(cell.outcome, cell.exception)
    if cell.detection is Detection.UNRELATED:
        ended += UNRELATED.label
    return " ".join((ended, *map(warned_text, cell.warned))) if cell.warned else ended


def warned_text(category: str) -> str:
    """Name a warning that a case gave, to stand behind how it ended."""
    return f"+{shorten(clean(bare_name(category)), LONGEST_LABEL)}"


def report_link(report: str) -> str:
    """Where a public report such as ``pytorch/pytorch#141896`` stands."""
    repository, _, number = report.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


def replay_text(replays: dict[Replay, str]) -> str:
    """Say how each replay ended: ``cold RuntimeError, warm pass``."""
    words = {outcome.value: look.label for outcome, look in OUTCOMES.items()}
    return ", ".join(f"{replay} {words.get(word) or clean(word)}" for replay, word in replays.items())


def verified_text(cell: Cell) -> str:
    """Say whether a cell came out the same again from scratch, and if not, how it did."""
    return "ended the same again, from scratch" if cell.verified else f"no: from scratch, {replay_text(cell.again)}"


def paint(cell: Cell, text: str) -> str:
    """Colour the text of a cell for a terminal."""
    drift = DRIFT.colour if cell.drift else ""
    colour = VERDICTS[cell.verdict].colour or drift or OUTCOMES[cell.outcome].colour
    return f"\x1b[{colour}m{text}\x1b[0m"


@once_per_object(FEW)
def legend(summary: Summary) -> tuple[tuple[str, str], ...]:
    """Explain what occurs in this table, and nothing else; exceptions are told by their qualified types."""
    return tuple(_legend(summary))


def _legend(summary: Summary) -> Iterator[tuple[str, str]]:
    exceptions: dict[str, set[str]] = {}
    for cell in summary.cells:
        if cell.outcome is Outcome.RAISES:
            exceptions.setdefault(label(cell.outcome, cell.exception), set()).add(cell.exception or "")
    for outcome, look in OUTCOMES.items():
        if outcome is Outcome.RAISES:
            for shown, types in sorted(exceptions.items()):
                yield shown, f"{look.meaning}: {clean(', '.join(sorted(types)))}"
        elif summary.totals.outcomes[outcome]:
            yield look.label, look.meaning
    if any(cell.detection is Detection.UNRELATED for cell in summary.cells):
        yield UNRELATED.label, UNRELATED.meaning
    if any(cell.warned for cell in summary.cells):
        yield "+Warning", "a warning that the reference does not give, where a case observes them"
    if summary.totals.drift:
        yield DRIFT.label, DRIFT.meaning
    for verdict, look in VERDICTS.items():
        if look.label and summary.totals.verdicts[verdict]:
            yield look.label, look.meaning
    if any(cell.process_dependent for cell in summary.cells):
        yield PROCESS_DEPENDENT.label, PROCESS_DEPENDENT.meaning
