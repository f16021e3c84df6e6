"""``examples/transformers``: its files are read without fault, its records are as claimed, and its page shows what they make."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recompat.cases import read_case_files
from recompat.judging import judged
from recompat.matrix import load_matrix
from recompat.model import Outcome
from recompat.options import parse_options
from recompat.project import Project
from recompat.record import load_records
from recompat.report.markdown import sections
from recompat.setup import load_setup
from recompat.tracks import target_of

if TYPE_CHECKING:
    from recompat.summary import Summary

ROOT = Path(__file__).parents[1]
EXAMPLE = Project(ROOT / "examples" / "transformers")
SHOWN = ("Matrix", "Where versions of transformers disagree")


@cache
def summary() -> Summary:
    matrix, files = load_matrix(EXAMPLE.matrix), read_case_files(EXAMPLE.cases)
    records = load_records(EXAMPLE.baseline)[0]
    return judged(EXAMPLE, matrix, files, [case for file in files for case in file.cases], records, records)


def test_there_is_a_record_of_each_release_with_each_version() -> None:
    setup = load_setup(EXAMPLE, parse_options([]))
    records = load_records(EXAMPLE.baseline)[0]
    assert {target_of(one.environment) for one in records} == {*setup.targets(setup.matrix.default)}
    assert all(file.fault is None for file in setup.files)
    for one in records:
        assert one.facts is not None
        assert one.facts.packages["transformers"] == one.environment.beside["transformers"]


def test_all_is_as_claimed() -> None:
    assert summary().exit_code == 0, [cell for cell in summary().cells if cell.verdict.value != "expected"]
    assert summary().notices == ()


def test_it_shows_what_an_axis_is_for() -> None:
    by_version: dict[str, set[Outcome]] = {}
    columns = {column.id: (column.beside or {})["transformers"] for column in summary().environments}
    for cell in summary().of("checkpointed_llama::math_around_forward_only_as_enabled").cells:
        by_version.setdefault(columns[cell.environment], set()).add(cell.outcome)
    assert by_version == {"4.57.6": {Outcome.PASS}, "5.24.0": {Outcome.RAISES}}
    changed = {(one.case, one.last, one.first) for one in summary().boundaries}
    assert changed == {("scored_before_training::scored_in_the_same_scope", "2.8.0", "2.11.0")}
    assert len(summary().boundaries) == 2  # one on each track


@pytest.mark.parametrize("title", SHOWN)
def test_its_page_shows_what_the_records_make(title: str) -> None:
    made = dict(sections(summary()))[title]
    assert f"### {title}\n\n{made.replace('### ', '#### ')}\n" in (EXAMPLE.root / "README.md").read_text(
        encoding="utf-8"
    )


def test_its_noxfile_needs_no_more_than_the_sessions() -> None:
    lines = (EXAMPLE.root / "noxfile.py").read_text(encoding="utf-8").splitlines()
    code = [line for line in itertools.dropwhile(lambda line: not line.startswith("from"), lines) if line]
    assert code == ["from recompat.nox import define_sessions", "define_sessions(__file__)"]
