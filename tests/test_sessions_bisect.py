"""`recompat bisect` over a package index on loopback: 40 releases, five that cannot be installed, two changes."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from support.index import Index
from support.project import ROOT, Project, nox
from support.sessions import processes, said, stopped_writing, wait_for
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RELEASES = [f"9.{minor}.0" for minor in range(40)]
RAISES, DIFFERS = 14, 30
"""From 9.14.0 on the case raises, and from 9.30.0 on it differs."""
BROKEN = {13: Behaviour.REQUIRES_ABSENT, 19: Behaviour.IMPORT_RAISES, 33: Behaviour.REQUIRES_ABSENT}
YANKED, ELSEWHERE = 12, 25  # the latter has no wheel for this platform
ENDS = ("--from", "9.0.0", "--to", "9.39.0")
MOST = 2 * math.log2(40) + 5


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("forty")
    for minor, release in enumerate(RELEASES):
        does = Behaviour.NORMAL if minor < RAISES else Behaviour.RAISES if minor < DIFFERS else Behaviour.DIFFERS
        tags = "cp311-cp311-win_amd64" if minor == ELSEWHERE else "py3-none-any"
        broken = BROKEN.get(minor, Behaviour.NORMAL)
        build_torch(folder, release, tags=tags, behaviour=broken, checkpoints={"regresses": does})
    with Index(folder) as index:
        index.yanked[f"torch-9.{YANKED}.0-py3-none-any.whl"] = "It was a mistake."
        yield index


@pytest.fixture(scope="module")
def bisected(
    index: Index, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Project, subprocess.CompletedProcess[str]]:
    """A project in which the whole range was bisected once, and what that printed."""
    project = Project(tmp_path_factory.mktemp("bisected") / "project", index)
    return project, recompat(project, "bisect", "regresses", *ENDS, "--format", "json")


def begin(project: Project, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "recompat", *arguments],
        cwd=project.root,
        env={**project.env, "PYTHONPATH": str(ROOT / "src")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def recompat(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    with begin(project, *arguments) as process:
        out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def installed(found: Any) -> list[str]:
    return [one["torch"] for one in found["tried"] if one["installed"]]


def places(found: Any) -> list[tuple[str, str, str, str]]:
    return [(t["last"]["column"]["torch"], t["old"], t["first"]["column"]["torch"], t["new"]) for t in found["turns"]]


def steps(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The releases of the lines that tell steps, in order."""
    return [line.split()[0] for line in said(done.stderr) if line.startswith("9.") and line.endswith(")")]


def test_both_changes_are_found_in_few_installs(
    bisected: tuple[Project, subprocess.CompletedProcess[str]],
) -> None:
    project, done = bisected
    assert done.returncode == 6, done.stderr
    found = json.loads(done.stdout)
    assert places(found) == [
        ("9.29.0", "CheckpointError", "9.30.0", "DIFFERS"),
        ("9.11.0", "pass", "9.14.0", "CheckpointError"),
    ]
    newer, older = found["turns"]
    assert newer["between"] == []
    assert [(one["torch"], one["trouble"]) for one in older["between"]] == [("9.12.0", False), ("9.13.0", True)]
    assert "yanked" in older["between"][0]["reason"]
    assert len(installed(found)) <= MOST
    assert found["releases"] == 39
    assert older["first"]["wheel"] == "torch-9.14.0-py3-none-any.whl"
    assert older["first"]["commands"][-1].endswith('"import regresses as f; f.case_regresses(*f.inputs())"')
    assert found["source"] == (project.cases / "regresses.py").read_text("utf-8")


def test_each_step_is_told_once_and_nothing_is_left_behind(
    bisected: tuple[Project, subprocess.CompletedProcess[str]],
) -> None:
    project, done = bisected
    told = steps(done)
    assert told[:2] == ["9.0.0", "9.39.0"]
    assert len(told) == len(set(told)) == len(json.loads(done.stdout)["tried"])
    assert "9.39.0  DIFFERS  (37 releases left, about 6 steps)" in done.stderr
    assert said(done.stderr)[-1].endswith("(done)")
    assert list((project.root / ".nox" / "bisect").iterdir()) == []


def test_what_was_run_is_in_the_records_and_is_not_run_again(
    bisected: tuple[Project, subprocess.CompletedProcess[str]],
) -> None:
    project, first = bisected
    downloads = len(project.index.downloads)
    done = recompat(project, "bisect", "regresses", *ENDS, "--format", "json")
    assert done.returncode == 6, done.stderr
    found = json.loads(done.stdout)
    assert installed(found) == []
    assert places(found) == places(json.loads(first.stdout))
    matrix = nox(project, "-s", "matrix", "--", "--torch", "9.0.0,9.39.0", "-k", "regresses")
    assert "probe(" not in matrix.stderr
    assert len(project.index.downloads) == downloads


def test_the_newest_change_that_is_recorded_is_where_it_begins(
    bisected: tuple[Project, subprocess.CompletedProcess[str]],
) -> None:
    project, _ = bisected
    done = recompat(project, "bisect", "regresses")
    assert done.returncode == 0, done.stderr
    assert "regresses::regresses changes between 9.29.0 and 9.30.0\n" in done.stdout
    assert "exact, no release lies between" in " ".join(done.stdout.split())
    assert "between 9.11.0 and 9.14.0" in done.stdout
    assert said(done.stderr)[0].endswith(
        "2 of 2 releases are recorded, and they leave nothing to run (--verify runs it again)."
    )


def test_the_essence_alone(bisected: tuple[Project, subprocess.CompletedProcess[str]]) -> None:
    done = recompat(bisected[0], "bisect", "regresses", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("regresses::regresses changes between 9.29.0 and 9.30.0\n")
    assert len(done.stdout.splitlines()) < 10


def test_verified_changes_are_run_again(bisected: tuple[Project, subprocess.CompletedProcess[str]]) -> None:
    project, _ = bisected
    done = recompat(project, "bisect", "regresses", "--verify", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert installed(json.loads(done.stdout)) == ["9.29.0", "9.30.0"]


def test_records_of_others_tell_the_ends_and_are_neither_believed_nor_written(
    bisected: tuple[Project, subprocess.CompletedProcess[str]], index: Index, tmp_path: Path
) -> None:
    others = bisected[0].reports / "records"
    before = {path.name: path.read_bytes() for path in others.iterdir()}
    mine = Project(tmp_path / "mine", index)
    done = recompat(mine, "bisect", "regresses", "--records", str(others), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert installed(json.loads(done.stdout)) == ["9.29.0", "9.30.0"]
    assert {path.name: path.read_bytes() for path in others.iterdir()} == before
    assert len(mine.records()) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--from", "9.31.0", "--to", "9.39.0"), 5, "does the same on 9."),
        (("--from", "9.0.0", "--to", "9.40.0"), 5, "There is no torch 9.40.0. There are: 9.0.0, 9.1.0, "),
        (
            ("--on", "mismatch", "--to", "9.0.0"),
            5,
            "The records know of no change of regresses::regresses in mismatch;",
        ),
        (("--from", "nine"), 4, "--from nine is no release; write one such as 2.11.0."),
    ],
)
def test_where_there_is_nothing_to_find(
    bisected: tuple[Project, subprocess.CompletedProcess[str]], arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    done = recompat(bisected[0], "bisect", "regresses", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert sentence in said(done.stderr)[-1]


NARROW = ("bisect", "regresses", "--from", "9.10.0", "--to", "9.15.0", "--format", "json")


def stopped(project: Project, by: signal.Signals) -> tuple[int, str]:
    """Begin, and end it by a signal when both ends are recorded."""
    with begin(project, *NARROW) as process:
        wait_for(lambda: len(project.records()) == 2, "two releases are recorded")
        process.send_signal(by)
        _, err = stopped_writing(process)
    wait_for(lambda: not processes(project), "no process is left")
    return process.returncode, err


def test_a_run_that_was_killed_goes_on_where_it_was(index: Index, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", index)
    code, _ = stopped(project, signal.SIGKILL)
    assert code == -signal.SIGKILL
    before = {record["environment"]["torch"] for record in project.records().values()}
    done = recompat(project, *NARROW)
    found = json.loads(done.stdout)
    assert places(found) == [("9.11.0", "pass", "9.14.0", "CheckpointError")]
    assert {one["torch"] for one in found["tried"] if one["recorded"]} == before
    assert not before & {*installed(found)}
    assert list((project.root / ".nox" / "bisect").iterdir()) == []


def test_a_run_that_is_interrupted_says_so(index: Index, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", index)
    code, err = stopped(project, signal.SIGTERM)
    assert code == 2
    assert "Traceback" not in err
    assert said(err)[-1].startswith("Interrupted")  # at a release, or between two
    assert list((project.root / ".nox" / "bisect").iterdir()) == []


def test_without_an_index_the_releases_are_those_of_the_last_listing(
    bisected: tuple[Project, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    project, _ = bisected
    project.env["UV_DEFAULT_INDEX"], there = "http://127.0.0.1:9/simple/", project.env["UV_DEFAULT_INDEX"]
    try:
        done = recompat(project, "bisect", "regresses", "--format", "markdown")
        open_ = recompat(project, "bisect", "regresses", "--from", "9.0.0", "--to", "9.8.0", "--verify")
    finally:
        project.env["UV_DEFAULT_INDEX"] = there
    assert done.returncode == 0, done.stderr
    assert "No index was in reach; the releases are those of 20" in done.stdout
    assert open_.returncode == 6, open_.stderr
    assert said(open_.stderr)[-1].endswith("What was run is recorded; the same command goes on from there.")


def test_to_the_day_with_builds_of_a_further_index(index: Index, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", index)
    for day in range(1, 5):
        does = Behaviour.RAISES if day >= 3 else Behaviour.DIFFERS
        build_torch(tmp_path / "nightly", f"9.40.0.dev2026120{day}", checkpoints={"regresses": does})
    with Index(tmp_path / "nightly") as nightly:
        arguments = ("--from", "9.39.0", "--to", "9.40.0.dev20261204", "--index-url", nightly.url, "--format", "json")
        done = recompat(project, "bisect", "regresses", *arguments)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert places(found) == [("9.40.0.dev20261202", "DIFFERS", "9.40.0.dev20261203", "CheckpointError")]
    assert len(installed(found)) == 4
    assert found["turns"][0]["last"]["column"]["source"].startswith("named index http://127.0.0.1:")
