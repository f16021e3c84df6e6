from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders import PASSES, differs, ends, raises, record, result
from recompat.cases import read_case_file
from recompat.errors import NothingSelected
from recompat.model import Outcome
from recompat.pages import restored
from recompat.project import Project
from recompat.record import save_record

if TYPE_CHECKING:
    from pathlib import Path

CASES = '''
def case_dtype(x):
    """A.

    :restores: default dtype (use_reentrant=False)
    """

def case_dtype_reentrant(x):
    """B.

    :restores: default dtype (use_reentrant=True)
    """

def case_mode(x):
    """C.

    :restores: a | mode (use_reentrant=False)
    """

def case_other(x): ...
'''


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "matrix" / "cases").mkdir(parents=True)
    (tmp_path / "matrix" / "matrix.toml").write_text('[torch]\ndefault = ["2.11.0"]\n')
    (tmp_path / "matrix" / "expectations.toml").write_text("")
    (tmp_path / "matrix" / "cases" / "kept.py").write_text(CASES)
    return Project(tmp_path)


def test_a_table_for_each_variant_each_word_linked_to_its_case(project: Project) -> None:
    sha = read_case_file(project.cases / "kept.py").sha256
    trials = {"dtype": differs(), "dtype_reentrant": PASSES, "mode": raises("builtins.RuntimeError")}
    results = [result(f"kept::{name}", trial, sha256=sha) for name, trial in trials.items()]
    absent = [result("kept::mode", ends(Outcome.UNSUPPORTED, "There is none."), sha256=sha)]
    save_record(project.records, record("2.10.0", *results))
    save_record(project.records, record("2.11.0", *absent))
    page = restored(project)
    before, after = page.split("## `use_reentrant=True`")
    assert "## `use_reentrant=False`" in before
    lines = [[part.strip() for part in line.split("|")[1:-1]] for line in before.splitlines() if line.startswith("|")]
    assert lines[0] == ["setting", "2.10.0", "2.11.0"]
    link = "(../matrix/cases/kept.py#L{})"
    assert lines[2] == ["default dtype", "[**no**]" + link.format(2), "[-]" + link.format(2)]
    assert lines[3] == ["a &#124; mode", "[RuntimeError]" + link.format(14), "[n/a]" + link.format(14)]
    assert "[yes](../matrix/cases/kept.py#L8)" in after
    assert "other" not in page


def test_it_needs_cases_that_say_so_and_records(project: Project) -> None:
    with pytest.raises(NothingSelected, match="Nothing is recorded of these cases in"):
        restored(project)
    (project.cases / "kept.py").write_text("def case_other(x): ...\n")
    with pytest.raises(NothingSelected, match="No case has a field such as :restores:"):
        restored(project)
