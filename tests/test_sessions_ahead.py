"""While the cases of one release run, the next one is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.index import Fault
from support.project import nox, start
from support.sessions import GREEN, cell, environments, leftovers, record_of, wait_for

if TYPE_CHECKING:
    from support.project import Project

LAST = "torch-9.1.0-py3-none-any.whl"
WAITS = '''"""Passes on 9.0.0 once the next release is installed, in a folder of its own; on any other at once."""

import time
from pathlib import Path

import torch

INSTALLED = "lib/python*/site-packages/torch/__init__.py"


def inputs():
    return ()


def case_next_is_installed():
    """Waits for it."""
    end = time.monotonic() + {seconds}
    while torch.__version__.startswith("9.0.0") and not list(Path({place!r}).glob(INSTALLED)):
        assert time.monotonic() < end, "it is not there"
        time.sleep(0.05)
    return {{}}


reference = case_next_is_installed
'''


def add_waiting_case(project: Project, seconds: float) -> None:
    place = project.root / ".nox" / "probe-torch-ahead"
    (project.cases / "waits.py").write_text(WAITS.format(place=str(place), seconds=seconds))
    project.expect("waits::next_is_installed", ">=9", "pass")


def installed_ahead(project: Project) -> bool:
    return bool(cell(project, "waits::next_is_installed", "9.0.0")["outcome"] == "pass")


def test_the_next_release_is_installed_meanwhile(project: Project) -> None:
    add_waiting_case(project, 15)
    done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert installed_ahead(project)
    assert project.index.downloads == ["torch-9.0.0-py3-none-any.whl", LAST]  # and each of them once
    assert cell(project, "regresses::regresses", "9.1.0")["outcome"] == "raises"  # it is the one that was tested
    (log,) = (project.reports / "logs").glob("torch9.1.0-*/install.log")
    assert "torch==9.1.0" in log.read_text() or "torch @" in log.read_text()
    assert record_of(project, "9.1.0")["run"]["seconds"]["installing"] >= 0
    assert leftovers(project) == []


@pytest.mark.parametrize("option", ["-x", "--keep"])
def test_not_where_it_may_be_left_out_or_stand_there(project: Project, option: str) -> None:
    add_waiting_case(project, 1)
    nox(project, "-s", "matrix", "--", option)
    assert not installed_ahead(project)


def test_what_hinders_it_is_told_when_its_turn_comes(project: Project) -> None:
    project.index.faults[LAST] = Fault.SERVER_ERROR
    done = nox(project, "-s", "matrix", env={"UV_HTTP_RETRIES": "0"})
    assert done.returncode == 6, done.stdout + done.stderr
    assert cell(project, "regresses::regresses", "9.0.0")["outcome"] == "pass"
    assert cell(project, "regresses::regresses", "9.1.0")["verdict"] == "missing"
    assert leftovers(project) == []
    project.index.faults.clear()
    again = nox(project, "-s", "matrix")
    assert again.returncode == 0, again.stdout + again.stderr
    assert project.cells() == GREEN


def test_what_a_killed_run_left_of_it_is_removed(project: Project) -> None:
    left = project.root / ".nox" / "probe-torch-ahead"
    left.mkdir(parents=True)
    (left / "pyvenv.cfg").write_text("home = /nowhere\n")
    done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert environments(project) == []


def test_a_slow_one_is_waited_for_and_said(project: Project) -> None:
    project.index.faults[LAST] = Fault.STALL
    project.index.stall_seconds = 4
    with start(project, "-s", "matrix") as process:
        wait_for(lambda: record_of(project, "9.0.0") if project.records() else None, "9.0.0 is recorded")
        project.index.faults.clear()  # uv asks again
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, out + err
    waiting = out.index("torch 9.0.0  waiting for torch 9.1.0 to be installed")
    assert out.index("torch 9.0.0  recorded in") < waiting < out.index("torch 9.1.0  installing")
    assert record_of(project, "9.1.0")["run"]["seconds"]["installing"] < 1
