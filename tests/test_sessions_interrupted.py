"""Ctrl-C, SIGTERM and SIGKILL in the middle: nothing runs on, nothing half done is trusted, the next run completes."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.index import Fault
from support.project import add_case, interrupt, nox, start
from support.sessions import GREEN, NOTICE, environments, leftovers, processes, said, stopped_writing, wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from support.project import Project

LAST = "torch-9.1.0-py3-none-any.whl"
PARALLEL = pytest.mark.parametrize("jobs", [(), ("-j", "2")], ids=["one", "two"])
SIGNALS = pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)


@pytest.fixture(autouse=True)
def nothing_runs_on(project: Project) -> Iterator[None]:
    """A test that fails may leave what it was to show the end of."""
    yield
    for pid in processes(project):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def stop(process: subprocess.Popen[str], by: signal.Signals) -> None:
    """Press Ctrl-C, or end nox as a supervisor does: only nox itself gets that."""
    if by is signal.SIGINT:
        interrupt(process)
    else:
        process.send_signal(by)


def installing(project: Project) -> bool:
    """Whether uv waits for the wheel that never comes."""
    return any(request.path.rpartition("/")[2].startswith(LAST) for request in project.index.requests)


def sleeping(project: Project, at_least: int) -> bool:
    """Whether so many trials of ``hangs`` run: their probes say so on the command line, and each has forked a child."""
    return sum("hangs.py::sleeps" in command for command in processes(project).values()) >= at_least


def check_stopped(project: Project, process: subprocess.Popen[str]) -> str:
    """Ended by itself with 2, in a sentence, and without a trace."""
    out, err = stopped_writing(process)
    assert process.returncode == 2, out + err
    told = said(out + err)
    assert any(line.startswith("Interrupted") and line.endswith("finished records stay.") for line in told), told
    assert "Traceback" not in out + err
    wait_for(lambda: not processes(project), "no process is left")
    assert leftovers(project) == []
    assert not (project.reports / "matrix.json").exists()
    return out + err


def check_completes(project: Project) -> None:
    """The next run has its way, and does not run again what was recorded."""
    recorded = {record["environment"]["torch"]: record for record in project.records().values()}
    done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.cells() == GREEN
    for release, before in recorded.items():
        assert f"probe(torch='{release}')" not in done.stderr
        assert before in project.records().values()
    assert leftovers(project) == []


@SIGNALS
@PARALLEL
def test_while_installing(project: Project, by: signal.Signals, jobs: tuple[str, ...]) -> None:
    project.index.faults[LAST] = Fault.STALL
    project.index.stall_seconds = 300
    with start(project, *jobs, "-s", "matrix", env={"UV_HTTP_TIMEOUT": "300"}) as process:
        wait_for(lambda: installing(project) and project.records(), "9.0.0 is recorded and 9.1.0 is being installed")
        stop(process, by)
        check_stopped(project, process)
    assert [record["environment"]["torch"] for record in project.records().values()] == ["9.0.0"]
    project.index.faults.clear()
    check_completes(project)


@SIGNALS
@PARALLEL
def test_while_asking_what_there_is(project: Project, by: signal.Signals, jobs: tuple[str, ...]) -> None:
    """The noxfile itself waits here: no session has begun."""
    project.index.faults["torch"] = Fault.STALL
    project.index.stall_seconds = 300
    with start(project, *jobs, "-s", "matrix", "--", "--torch", "latest") as process:
        wait_for(lambda: project.index.requests, "the index is asked")
        stop(process, by)
        check_stopped(project, process)
    assert project.records() == {}


@SIGNALS
@PARALLEL
def test_during_trials(project: Project, by: signal.Signals, jobs: tuple[str, ...]) -> None:
    (hangs,) = add_case(project.cases, "hangs")
    project.write_matrix(timeout=300)
    with start(project, *jobs, "-s", "matrix") as process:
        wait_for(lambda: sleeping(project, 12 if jobs else 6), "each replay of each release is at the case that hangs")
        stop(process, by)
        check_stopped(project, process)
    assert project.records() == {}
    hangs.unlink()
    check_completes(project)


@PARALLEL
def test_killed_while_installing(project: Project, jobs: tuple[str, ...]) -> None:
    """uv is no child of a process that would end it: it ends by itself, before the next run installs at the same place."""
    project.index.faults[LAST] = Fault.STALL
    project.index.stall_seconds = 300
    with start(project, *jobs, "-s", "matrix", env={"UV_HTTP_TIMEOUT": "300"}) as process:
        wait_for(lambda: installing(project) and project.records(), "9.0.0 is recorded and 9.1.0 is being installed")
        process.kill()
        stopped_writing(process)
        wait_for(lambda: not processes(project), "no process is left")
    left = [] if jobs else ["probe-torch-ahead"]  # a child drops its own still
    wait_for(lambda: environments(project) == left, f"{left} is left")
    assert len(list(Path(project.env["TMPDIR"]).iterdir())) > 0
    project.index.faults.clear()
    check_completes(project)


def test_what_nox_starts_ends_where_that_nox_has_ended(project: Project) -> None:
    """A child of ``nox -j`` that comes too late to see its parent."""
    done = nox(project, "-s", "probe(torch='9.0.0')", "--parallel-worker", "--no-dependencies")
    assert done.returncode == 2, done.stdout + done.stderr
    assert said(done.stderr) == ["The nox that started this one has ended."]
    assert leftovers(project) == []


@PARALLEL
def test_killed_during_trials(project: Project, jobs: tuple[str, ...]) -> None:
    (hangs,) = add_case(project.cases, "hangs")
    project.write_matrix(timeout=300)
    with start(project, *jobs, "-s", "matrix") as process:
        wait_for(lambda: sleeping(project, 12 if jobs else 6), "each replay of each release is at the case that hangs")
        process.kill()
        out, err = stopped_writing(process)
        assert process.returncode == -signal.SIGKILL
        assert NOTICE in err
        assert "recorded" not in out
        wait_for(lambda: not processes(project), "no process is left")
    assert project.records() == {}
    assert not list(project.reports.rglob(".*"))
    hangs.unlink()
    done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.cells() == GREEN
    assert leftovers(project) == []
