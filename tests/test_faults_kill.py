"""The short form of ``nox -s faults -- kill``: one process of each kind is killed, and nothing is blamed for it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from faults.promises import halves, invented, look
from faults.strike import end_all, of_run
from faults.tally import Tally
from support.project import nox, start
from support.sessions import GREEN, environments, leftovers, said, stopped_writing, wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from support.project import Project

SLOW = """
import time

def inputs():
    return ()

def reference():
    return {}

def case_slow():
    time.sleep(2)
    return {}
"""


@pytest.fixture
def slow(project: Project) -> Iterator[Project]:
    """A project with a case that there is time to kill; whatever runs on ends with the test."""
    (project.cases / "slow.py").write_text(SLOW)
    project.expect("slow::slow", ">=9", "pass")
    yield project
    end_all(project.env["HOME"])


def kill(project: Project, process: subprocess.Popen[str], role: str, doing: str = "") -> None:
    """Kill the first process of that role that comes."""

    def killed() -> bool:
        running = of_run(project.env["HOME"], process.pid)
        return any(one.kill(signal.SIGKILL) for one in running if one.role == role and doing in one.command)

    wait_for(killed, f"there is a {role}, and it was killed")


def test_uv_a_probe_and_a_trial_are_killed_and_nothing_is_blamed(slow: Project) -> None:
    with start(slow, "-s", "matrix") as process:
        kill(slow, process, "uv", "pip install")
        kill(slow, process, "probe")
        kill(slow, process, "trial")
        out, err = stopped_writing(process)
    assert process.returncode == 0, out + err
    assert slow.cells() == {**GREEN, ("slow::slow", "9.0.0"): "pass", ("slow::slow", "9.1.0"): "pass"}
    assert leftovers(slow) == []


def test_a_killed_child_of_nox_is_no_failing_case(slow: Project) -> None:
    with start(slow, "-j", "2", "-s", "matrix") as process:
        wait_for(lambda: any(one.role == "trial" for one in of_run(slow.env["HOME"], process.pid)), "a trial runs")
        kill(slow, process, "child")
        out, err = stopped_writing(process)
    assert process.returncode == 6, out + err
    assert [line for line in said(err) if "came to no end; run it again." in line], err
    assert not (slow.reports / "matrix.json").exists()
    done = nox(slow, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert environments(slow) == []


def test_after_a_power_cut_files_without_content_are_made_anew(finished: Project) -> None:
    right = look(finished.reports)
    assert invented(right, right) == halves(finished.reports) == []
    for path in (*(finished.reports / "records").glob("*9.1.0*"), finished.reports / "site" / "matrix.json"):
        os.truncate(path, 0)
    assert len(halves(finished.reports)) == 2
    done = nox(finished, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9.1.0" in next(line for line in said(done.stderr) if "is no valid record" in line)
    assert look(finished.reports) == right
    assert [path.suffix for path in (finished.reports / "records").glob("*.bad*")] == [".bad1"]


def test_what_a_killed_run_left_is_removed_though_nothing_needs_it(finished: Project) -> None:
    """The environment of a release that is not asked for any more, and of a verification."""
    for left in (finished.root / ".nox" / "probe-torch-8-0-0", finished.reports / ".verification-torch8.0.0"):
        (left / "lib").mkdir(parents=True)
    kept = finished.root / ".nox" / "probe-torch-8-1-0"
    kept.mkdir()
    (kept / "recompat-complete.json").touch()
    done = nox(finished, "-s", "matrix", "--", "--rerun", "all", "-k", "square", "--torch", "9.0.0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert leftovers(finished) == ["probe-torch-8-1-0"]


def test_a_result_that_no_run_gives_is_found() -> None:
    """What the campaign itself looks for."""
    tally = Tally(3)
    assert tally.clean
    tally.wrong.append("one")
    assert not tally.clean
    assert tally.line("kill", 1, 2.4) == "kill: 3 injected, 0 lost, 1 wrongly reported, 0 left behind (seed 1, 2 s)"
