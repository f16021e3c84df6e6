"""CTRF, the Common Test Report Format (https://ctrf.io): a test per cell; what is unexpected fails.

A cell whose trials differ fails too, and is labelled ``flaky``; the format's own flag is for a test that passed in the end.
How long a case took is not part of a summary: its ``duration`` is 0.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from recompat.errors import ExitCode
from recompat.model import Outcome, Verdict
from recompat.report.ci import ended, frames, headline, installed, telling
from recompat.report.moments import EPOCH, milliseconds, moment
from recompat.report.notes import claimed_for
from recompat.report.text import clean
from recompat.summary import UNEXPECTED

if TYPE_CHECKING:
    from recompat.cells import Cell
    from recompat.summary import Column, Row, Summary

__all__ = ["SPECIFICATION", "render_ctrf"]

SPECIFICATION: Final = "0.0.0"
STATUSES: Final = ("passed", "failed", "skipped", "pending", "other")

_Status = Literal["passed", "failed", "skipped", "other"]


class _Test(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A test object, as far as it is used here."""

    test_id: str
    name: str
    status: _Status
    duration: int
    suite: tuple[str, ...]
    stop: int | None = None
    message: str | None = None
    trace: str | None = None
    raw_status: str
    tags: tuple[str, ...]
    labels: dict[str, str | bool]
    file_path: str
    line: int
    extra: dict[str, Any]


def render_ctrf(summary: Summary) -> str:
    """Write the tests case by case, and what was installed beside them; the same summary gives the same text."""
    columns = {column.id: column for column in summary.environments}
    tests = [_test(row, cell, columns[cell.environment]) for row, cells in summary.lines() for cell in cells]
    report = {
        "reportFormat": "CTRF",
        "specVersion": SPECIFICATION,
        "timestamp": moment(summary.generated).isoformat(),
        "generatedBy": f"recompat {summary.recompat}",
        "results": {
            "tool": {"name": "recompat", "version": summary.recompat},
            "summary": _counts(summary, tests),
            "tests": tests,
            "environment": {
                "appName": "torch",
                "healthy": summary.exit_code is ExitCode.OK,
                "extra": {"environments": {clean(id_): installed(column) for id_, column in columns.items()}},
            },
        },
    }
    return msgspec.json.encode(report).decode() + "\n"


def _counts(summary: Summary, tests: list[_Test]) -> dict[str, int]:
    counts: Counter[str] = Counter(test.status for test in tests)
    start = min((moment(column.started) for column in summary.environments), default=EPOCH)
    stop = max((moment(column.finished) for column in summary.environments), default=start)
    return {
        "tests": len(tests),
        **{status: counts[status] for status in STATUSES},
        "suites": len({test.suite for test in tests}),
        "start": milliseconds(start),
        "stop": milliseconds(max(start, stop)),
    }


def _test(row: Row, cell: Cell, column: Column) -> _Test:
    place, case = clean(column.id), clean(row.id)
    family, file = clean(row.family), case.partition("::")[0]
    status = _status(cell)
    return _Test(
        test_id=f"{place}/{case}",
        name=case,
        status=status,
        duration=0,
        stop=milliseconds(moment(cell.date)) if cell.date else None,
        suite=tuple(dict.fromkeys(filter(None, (place, family, file)))),
        message=_message(cell, status),
        trace="\n".join(frames(cell)) or None,
        raw_status=cell.outcome,
        tags=tuple(dict.fromkeys(filter(None, (family, cell.outcome, cell.detection)))),
        labels=_labels(cell),
        file_path=f"matrix/cases/{clean(row.file)}",
        line=row.line,
        extra={"title": clean(row.title), **({"facts": telling(cell)} if status in {"failed", "other"} else {})},
    )


def _status(cell: Cell) -> _Status:
    """Hold the verdict against what torch does; ``other`` is a case file that is broken, which says nothing of torch."""
    if cell.verdict is Verdict.MISSING:
        return "skipped"
    if cell.verdict in UNEXPECTED:
        return "other" if cell.outcome is Outcome.ERROR else "failed"
    return "passed"


def _message(cell: Cell, status: _Status) -> str | None:
    match status:
        case "passed":
            return None
        case "skipped":
            return clean(cell.detail or "") or None
        case _:
            return headline(cell)


def _labels(cell: Cell) -> dict[str, str | bool]:
    """What a reader would select by."""
    labels: dict[str, str | None] = {
        "verdict": cell.verdict,
        "ended": ended(cell),
        "exception": clean(cell.exception or ""),
        "cause": clean(cell.cause or ""),
        "expected": "" if cell.expectation is None else cell.expectation.outcome,
        "expectedFor": "" if cell.expectation is None else clean(claimed_for(cell.expectation)),
        "reason": "" if cell.expectation is None else clean(cell.expectation.reason),
    }
    flags = {"flaky": cell.flaky, "drift": cell.drift, "processDependent": cell.process_dependent}
    return {name: text for name, text in labels.items() if text} | {name: True for name, set_ in flags.items() if set_}
