"""JUnit XML: a suite per environment, a test case per cell; what is unexpected fails, whatever torch does.

Valid against Jenkins' schema and against Windy Road's, of which older copies do not know ``skipped``. Neither has a place
for how a passed case ended, so that each suite lists ``case: ending`` as its output. How long a case took is not part of a
summary: its ``time`` is 0, and that of a suite is the time of the whole environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from recompat.model import Outcome, Verdict
from recompat.report.ci import ended, frames, headline, installed, telling
from recompat.report.moments import moment
from recompat.report.text import clean
from recompat.report.xml import child, document
from recompat.summary import UNEXPECTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.cells import Cell
    from recompat.summary import Column, Summary

__all__ = ["render_junit"]

HOST = "localhost"  # what Windy Road's schema asks for in place of a name; the real one is nobody's business


def render_junit(summary: Summary) -> str:
    """Write a suite for each environment, in version order."""
    root = ET.Element("testsuites")
    width = len(summary.environments)
    for number, column in enumerate(summary.environments):
        _suite(root, number, column, summary.cells[number::width])
    return document(root)


def _suite(root: ET.Element, number: int, column: Column, cells: Sequence[Cell]) -> None:
    marks = [_mark(cell) for cell in cells]
    started, finished = moment(column.started), moment(column.finished)
    suite = child(
        root,
        "testsuite",
        name=clean(column.id),
        package="recompat",
        id=number,
        hostname=HOST,
        timestamp=started.replace(tzinfo=None).isoformat(),
        tests=len(cells),
        failures=marks.count("failure"),
        errors=marks.count("error"),
        time=max(0, int((finished - started).total_seconds())),
    )
    if "skipped" in marks:  # an attribute that older copies of a schema do not know
        suite.set("skipped", str(marks.count("skipped")))
    properties = child(suite, "properties")
    for name, value in installed(column).items():
        child(properties, "property", name=name, value=value)
    for cell, mark in zip(cells, marks, strict=True):
        _case(suite, cell, mark)
    child(suite, "system-out", "\n".join(f"{clean(cell.case)}: {ended(cell)}" for cell in cells))
    child(suite, "system-err")


def _mark(cell: Cell) -> str:
    """Name the element that says what is wrong; trouble with a machine is never a failing case."""
    if cell.verdict is Verdict.MISSING:
        return "skipped"
    if cell.verdict in UNEXPECTED:
        return "error" if cell.outcome is Outcome.ERROR else "failure"
    return ""


def _case(suite: ET.Element, cell: Cell, mark: str) -> None:
    file, _, name = clean(cell.case).partition("::")
    case = child(suite, "testcase", classname=file, name=name, time=0)
    if mark == "skipped":  # Jenkins' schema has no attribute for the reason
        child(case, mark, clean(cell.detail or ""))
    elif mark:
        body = "\n".join((*telling(cell), *(f"frame: {frame}" for frame in frames(cell))))
        child(case, mark, body, type=cell.verdict, message=headline(cell))
