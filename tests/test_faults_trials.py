"""The short form of ``nox -s faults -- trials``: what misbehaves ends as what it is, and harms nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faults.misbehaviours import MISBEHAVIOURS
from faults.tally import Tally
from faults.trials import Run
from support.project import Project, nox
from support.sessions import cell, record_of, said

if TYPE_CHECKING:
    from pathlib import Path

    from support.index import Index

SHORT = {
    "fork": {"segfaults", "leaves_a_daemon", "closes_all", "scribbles", "cannot_say", "takes_all_memory"},
    "process": {"removes_its_folder", "litters", "turns_back_the_clock"},
}
HUNGRY = """
def inputs():
    return ()

def reference():
    return {}

def case_hungry():
    bytearray(1 << 30)
    return {}
"""


@pytest.mark.parametrize("isolation", SHORT)
def test_each_ends_as_what_it_is_and_its_neighbours_pass(index: Index, tmp_path: Path, isolation: str) -> None:
    chosen = [one for one in MISBEHAVIOURS if one.name in SHORT[isolation]]
    tally = Tally()
    Run(Project(tmp_path / "project", index), chosen, tally).run(isolation)
    assert len(SHORT[isolation]) == tally.injected
    assert (tally.lost, tally.wrong, tally.left) == ([], [], [])


def test_a_result_stands_only_for_the_memory_that_it_had(project: Project) -> None:
    (project.cases / "hungry.py").write_text(HUNGRY)
    only = ("-s", "matrix", "--", "-k", "hungry", "--torch", "9.0.0", "--no-evidence")
    nox(project, *only, "--memory", "500MiB")
    assert cell(project, "hungry::hungry", "9.0.0")["exception"] == "builtins.MemoryError"
    assert record_of(project, "9.0.0")["run"]["options"]["memory"] == "500 MiB"
    nox(project, *only)
    assert cell(project, "hungry::hungry", "9.0.0")["outcome"] == "pass"
    assert "memory" not in record_of(project, "9.0.0")["run"]["options"]


def test_what_is_no_size_is_told(project: Project) -> None:
    done = nox(project, "-s", "matrix", "--", "--memory", "lots")
    assert done.returncode == 4
    assert [line for line in said(done.stderr) if "--memory: 'lots' is no size such as \"4 GiB\"" in line], done.stderr
