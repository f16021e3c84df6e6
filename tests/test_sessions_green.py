"""The main job as a user runs it, where all is as expected: the first run, the second, in parallel, one release alone."""

from __future__ import annotations

import datetime as dt
import platform
from typing import TYPE_CHECKING

from filelock import FileLock

from support.project import CHECKPOINT_ERROR, nox, start
from support.sessions import GREEN, NOTICE, cell, leftovers, record_of, said

if TYPE_CHECKING:
    import subprocess

    from support.project import Project

WHEELS = ["torch-9.0.0-py3-none-any.whl", "torch-9.1.0-py3-none-any.whl"]


def without_date(project: Project) -> dict[str, object]:
    return {key: value for key, value in project.matrix_json().items() if key != "generated"}


def record_bytes(project: Project) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (project.reports / "records").iterdir()}


def check_green(project: Project, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.cells() == GREEN
    assert set(project.cells("verdict").values()) == {"expected"}
    assert "As expected: all 4 cells." in done.stdout
    assert leftovers(project) == []


def test_first_run_second_run_and_report(project: Project) -> None:
    done = nox(project)  # `matrix` is the default session
    check_green(project, done)
    _check_the_first_run(project, done)
    before, matrix, downloads = record_bytes(project), without_date(project), list(project.index.downloads)
    page = (project.reports / "matrix.md").read_text()
    asked = len(project.index.requests)

    project.index.close()  # neither of these needs a network
    again = nox(project, "-s", "matrix")
    check_green(project, again)
    assert "probe" not in again.stdout + again.stderr
    assert "trying" not in again.stdout
    assert said(again.stderr) == []
    assert table(again.stdout) == table(done.stdout)
    assert len(project.index.requests) == asked
    assert project.index.downloads == downloads
    assert record_bytes(project) == before
    assert without_date(project) == matrix

    for name in ("matrix.json", "matrix.md"):
        (project.reports / name).unlink()
    report = nox(project, "-s", "report")
    check_green(project, report)
    assert table(report.stdout) == table(done.stdout)
    assert record_bytes(project) == before
    assert without_date(project) == matrix
    assert undated((project.reports / "matrix.md").read_text()) == undated(page)

    # A probe that has nothing to do leaves nothing, and what stands as it is.
    alone = nox(project, "-s", "probe(torch='9.0.0')")
    assert alone.returncode == 0, alone.stderr
    assert "trying" not in alone.stdout
    assert record_bytes(project) == before
    assert leftovers(project) == []


def _check_the_first_run(project: Project, done: subprocess.CompletedProcess[str]) -> None:
    assert project.index.downloads == WHEELS
    assert [sentence.startswith(f"NOTE: {NOTICE}") for sentence in said(done.stderr)] == [True]
    for release in ("9.0.0", "9.1.0"):
        for step in ("resolving", "installing", "importing", "trying"):
            assert done.stdout.count(f"torch {release}  {step}") == 1, step
    assert sum(path.stat().st_size for path in project.root.rglob("*") if path.is_file()) < 100e6
    page = (project.reports / "matrix.md").read_text()
    assert page.startswith("# Compatibility matrix")
    assert "As expected: all 4 cells." in page
    assert "outcomes   pass 3, raises 1 (of 4)" in done.stdout
    facts = record_of(project, "9.1.0")["facts"]
    assert (facts["imported"], facts["flavour"], facts["source"]) == ("9.1.0", "cpu", "default index")
    assert facts["python_version"] == platform.python_version()
    assert facts["threads"] == 1
    assert facts["cpu_capability"] == "DEFAULT"
    assert len(bytes.fromhex(facts["distribution_sha256"])) == 32
    assert facts["distribution_sha256"] != record_of(project, "9.0.0")["facts"]["distribution_sha256"]
    raised = cell(project, "regresses::regresses", "9.1.0")
    assert (raised["exception"], raised["phase"]) == (CHECKPOINT_ERROR, "backward")
    assert raised["mismatches"][0]["saved"]["shape"] == [2, 3]
    assert raised["mismatches"][0]["recomputed"]["shape"] == [1, 2, 3]
    assert raised["replays"] == {"cold": "CheckpointError", "warm": "CheckpointError", "warm-copied": "CheckpointError"}
    assert cell(project, "passes::square", "9.0.0")["max_abs_diff"] == 0.0
    run = record_of(project, "9.0.0")["run"]
    assert set(run["seconds"]) == {"resolving", "installing", "importing", "trying"}
    assert dt.datetime.fromisoformat(run["started"]) <= dt.datetime.fromisoformat(run["finished"])


def test_two_at_once(project: Project) -> None:
    done = nox(project, "-j", "2", "-s", "matrix")
    check_green(project, done)
    assert done.stdout.count("Starting session probe(") == 2  # each in a process of its own
    assert done.stdout.index("Starting session probe(torch='9.1.0')") < done.stdout.index("trying")
    assert [sentence.startswith(f"NOTE: {NOTICE}") for sentence in said(done.stderr)] == [True]
    assert NOTICE not in done.stdout
    assert [request.path for request in project.index.requests].count("/simple/torch/") == 3  # ours, and uv's own two

    again = nox(project, "-s", "matrix", "--", "-j", "2", "--rerun", "all")
    check_green(project, again)
    assert again.stdout.count("Starting session probe(") == 2
    assert again.stderr.count(NOTICE) == 1


def test_one_release_alone(project: Project) -> None:
    done = nox(project, "-s", "probe(torch='9.0.0')")
    assert done.returncode == 0, done.stderr
    assert "torch 9.0.0  recorded in" in done.stdout
    assert [record["environment"]["torch"] for record in project.records().values()] == ["9.0.0"]
    assert not (project.reports / "matrix.json").exists()
    assert leftovers(project) == []

    report = nox(project, "-s", "report")
    assert report.returncode == 0, report.stderr
    assert {release for _, release in project.cells()} == {"9.0.0"}

    default = nox(project, "-s", "report", "--", "--torch", "9.0.0,9.1.0")
    assert default.returncode == 6
    assert "torch 9.1.0 has not been run yet; nox -s matrix -- --torch 9.1.0 runs it." in " ".join(
        default.stdout.split()
    )

    rest = nox(project, "-s", "matrix")
    check_green(project, rest)
    assert "probe(torch='9.0.0')" not in rest.stderr
    assert project.index.downloads == WHEELS


def test_runs_in_one_checkout_take_turns(project: Project) -> None:
    (project.root / ".nox").mkdir()
    lock = FileLock(project.root / ".nox" / "recompat.lock")
    with lock, start(project, "-s", "matrix") as one, start(project, "-s", "matrix") as other:
        for process in (one, other):
            assert process.stderr is not None
            first = process.stderr.readline()
            assert said(first) == ["another run is at work in this checkout; waiting for its end."]
        assert project.index.requests == []
        lock.release()
        ended = [(*process.communicate(timeout=60), process.returncode) for process in (one, other)]
    assert [code for _, _, code in ended] == [0, 0], ended
    assert project.cells() == GREEN
    assert project.index.downloads == WHEELS  # the second one found everything done
    assert sorted("trying" in out for out, _, _ in ended) == [False, True]
    assert leftovers(project) == []


def table(output: str) -> str:
    return output[output.index("case  ") :]


def undated(page: str) -> str:
    return page.partition("Written by recompat")[0]
