from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders import PASSES, differs, ends, raises, record, result
from recompat.cases import read_case_file
from recompat.errors import NothingSelected
from recompat.model import Outcome
from recompat.pages import library, restored
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
    absent = result("kept::mode", ends(Outcome.UNSUPPORTED, "There is none."), sha256=sha)
    save_record(project.records, record("2.10.0", *results))
    save_record(project.records, record("2.11.0", *results[:2], absent))
    save_record(project.records, record("2.12.0", absent))  # not all of them, so not in the table
    page = restored(project)
    before, after = page.split("## `use_reentrant=True`")
    assert "## `use_reentrant=False`" in before
    lines = [[part.strip() for part in line.split("|")[1:-1]] for line in before.splitlines() if line.startswith("|")]
    assert lines[0] == ["setting", "2.10.0", "2.11.0"]
    link = "(../matrix/cases/kept.py#L{})"
    assert lines[2] == ["default dtype", "[**no**]" + link.format(2), "[**no**]" + link.format(2)]
    assert lines[3] == ["a &#124; mode", "[RuntimeError]" + link.format(14), "[n/a]" + link.format(14)]
    assert "[yes](../matrix/cases/kept.py#L8)" in after
    assert "other" not in page


def test_it_needs_cases_that_say_so_and_records(project: Project) -> None:
    with pytest.raises(NothingSelected, match="Nothing is recorded of these cases in"):
        restored(project)
    (project.cases / "kept.py").write_text("def case_other(x): ...\n")
    with pytest.raises(NothingSelected, match="No case has a field such as :restores:"):
        restored(project)


LIBRARY = '''"""What is lost, and <b>kept</b>."""

FAMILY = "state"

def case_lost(x):
    """A ``scale`` is lost.

    It matters [here](x).

    :report: pytorch/pytorch#1
    """

def case_kept(x):
    """It is kept.

    :repairs: lost
    """
'''
CLAIMS = """
[[lost.lost]]
torch = ">=2.0"
outcome = "differs"
reason = "Nothing restores it."
link = "https://example.org/why"
"""


def test_the_library_tells_each_case_with_its_endings_reasons_and_repairs(project: Project) -> None:
    (project.cases / "kept.py").unlink()
    (project.cases / "lost.py").write_text(LIBRARY)
    project.expectations.write_text(CLAIMS)
    sha = read_case_file(project.cases / "lost.py").sha256
    for torch in ("2.9.0", "2.10.0"):
        trials = {"lost": differs(), "kept": PASSES}
        results = [result(f"lost::{name}", trial, sha256=sha) for name, trial in trials.items()]
        save_record(project.records, record(torch, *results))
    save_record(project.records, record("2.11.0", result("lost::lost", differs(), sha256=sha)))
    page = library(project)
    assert "2 cases in 1 family, run on 3 releases of torch from 2.9.0 to 2.11.0" in page
    assert "| [state](#state) |       2 |      0 |         0 |        1 |           0 |           1 |" in page
    assert "What is lost, and &#60;b&#62;kept&#60;/b&#62;." in page
    assert '<a id="lost-lost"></a>\n\n#### [lost](../matrix/cases/lost.py#L5)' in page
    assert "A `scale` is lost. It matters &#91;here&#93;(x)." in page
    assert "- 2.9.0 to 2.11.0: **DIFFERS**: Nothing restores it. [more](https://example.org/why)" in page
    assert "- repaired by: [kept](#lost-kept)" in page
    assert "- repairs: [lost](#lost-lost)" in page
    assert "- 2.9.0 to 2.10.0: **pass**" in page
    assert "see [pytorch/pytorch&#35;1](https://github.com/pytorch/pytorch/issues/1)" in page
