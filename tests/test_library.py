"""The case library that is published: its files, its accepted records and its claims belong together."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from recompat.cases import Case, CaseFile, read_case_files
from recompat.judging import judged
from recompat.matrix import load_matrix
from recompat.model import Outcome, Record, Verdict
from recompat.pages import restored
from recompat.project import Project
from recompat.record import load_record
from recompat.report.repairs import BROKEN, SILENT
from recompat.selection import default_cases

if TYPE_CHECKING:
    from recompat.summary import Summary

ROOT = Path(__file__).parents[1]
PROJECT = Project(ROOT, ROOT / "matrix" / "baseline")
FILES = read_case_files(PROJECT.cases)
CASES = {case.id: case for file in FILES for case in file.cases}
MATRIX = load_matrix(PROJECT.matrix)
LATEST_MINORS = [
    "2.0.1",
    "2.1.2",
    "2.2.2",
    "2.3.1",
    "2.4.1",
    "2.5.1",
    "2.6.0",
    "2.7.1",
    "2.8.0",
    "2.9.1",
    "2.10.0",
    "2.11.0",
    "2.12.1",
    "2.13.0",
    "2.14.1",
    "2.15.0",
]
NAME = 60


@cache
def records() -> tuple[Record, ...]:
    return tuple(load_record(path) for path in sorted(PROJECT.baseline.glob("*.json")))


@cache
def summary() -> Summary:
    """The baseline, judged."""
    return judged(PROJECT, MATRIX, FILES, list(CASES.values()), records(), records())


def test_there_are_as_many_cases_and_families_as_the_documentation_says() -> None:
    families = {case.family for case in CASES.values()}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(CASES)} cases in {len(families)} families" in text


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.stem)
def test_a_case_file_imports_torch_and_the_standard_library_alone(file: CaseFile) -> None:
    assert file.fault is None
    tree = ast.parse(file.path.read_text(encoding="utf-8"))
    top = {name for node in tree.body for name in imported(node)}
    assert top - {"torch"} <= sys.stdlib_module_names
    inside = {name for node in ast.walk(tree) for name in imported(node)} - top - sys.stdlib_module_names
    assert inside <= {"torch", "numpy"}
    numpy = [case for case in file.cases if "numpy" in case.id]
    assert ("numpy" in inside) is bool(numpy)


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]] if isinstance(node, ast.ImportFrom) else []


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_case_says_what_it_is_about(case: Case) -> None:
    assert case.title.endswith((".", "?")), case.title
    assert len(case.title) <= 120
    assert len(case.id.partition("::")[2]) <= NAME


def test_every_release_is_in_the_baseline_and_every_case_on_the_latest_of_each_minor() -> None:
    assert {Version(record.environment.torch) for record in records()} == set(MATRIX.releases)
    whole = {record.environment.torch: {result.case for result in record.results} for record in records()}
    for release in LATEST_MINORS:
        assert whole[release] == CASES.keys()
    assert not any(record.trouble for record in records())


def test_the_baseline_is_what_the_claims_say() -> None:
    known = {(cell.case, cell.environment): cell for cell in summary().cells if cell.outcome is not Outcome.NOT_RUN}
    recorded = {(result.case, record.environment.id) for record in records() for result in record.results}
    assert known.keys() == recorded  # no result is of other bytes than those of its case file
    unexpected = {place: cell.verdict for place, cell in known.items() if cell.verdict is not Verdict.EXPECTED}
    assert not unexpected
    assert not [
        place for place, cell in known.items() if cell.outcome in {Outcome.ERROR, Outcome.CRASH, Outcome.TIMEOUT}
    ]


def test_no_release_lies_within_a_boundary() -> None:
    between = [
        (boundary.case, boundary.last, boundary.first, boundary.not_run)
        for boundary in summary().boundaries
        if any(Version(boundary.last) < release < Version(boundary.first) for release in silent_about(boundary.case))
    ]
    assert not between


def silent_about(case: str) -> set[Version]:
    told = {Version(r.environment.torch) for r in records() if any(result.case == case for result in r.results)}
    return set(MATRIX.releases) - told


def test_every_broken_case_has_a_repair_that_holds_wherever_it_can_or_says_why_there_is_none() -> None:
    cells = {row.id: held for row, held in summary().lines()}
    sound = {case for case, held in cells.items() if {cell.outcome for cell in held} - SILENT == {Outcome.PASS}}
    wanting = {
        row.id: row.repaired_by
        for row in summary().cases
        if any(cell.outcome in BROKEN for cell in cells[row.id])
        and not row.unrepaired
        and not sound.intersection(row.repaired_by)
    }
    assert not wanting


def test_the_default_cases_are_the_mission_s_and_twenty_more() -> None:
    chosen = {case.id for case in default_cases(CASES.values(), MATRIX.default_cases)}
    mission = {case for case in CASES if case.startswith("sdpa_policy::")}
    assert mission <= chosen
    assert len(chosen - mission) == 20


def test_the_page_of_what_is_restored_is_made_from_the_baseline() -> None:
    page = (ROOT / "docs" / "restored.md").read_text(encoding="utf-8")
    assert page == restored(PROJECT), "write it again: recompat restored --records matrix/baseline > docs/restored.md"
