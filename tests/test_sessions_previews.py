"""What is new, what is yanked, and pre-releases from an index that is named, from the selector to the reproduction."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from uv import find_uv_bin

from support.index import Fault, Index
from support.project import CHECKPOINT_ERROR, ROOT, nox
from support.sessions import record_of, said
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.project import Project

CANDIDATE, DAY = "9.3.0rc1", "9.4.0.dev20261120"
SECRET = "xyzzy"


@pytest.fixture
def nightly(tmp_path: Path) -> Iterator[Index]:
    """An index that wants a login, with a candidate, and with builds of two days: on the second the case passes again."""
    folder = tmp_path / "nightly"
    build_torch(folder, CANDIDATE, checkpoints={"regresses": Behaviour.RAISES})
    build_torch(folder, "9.4.0.dev20261119+cpu", checkpoints={"regresses": Behaviour.RAISES})
    build_torch(folder, f"{DAY}+cpu")
    with Index(folder) as index:
        index.login = f"somebody:{SECRET}"
        yield index


@pytest.fixture
def project(finished: Project) -> Project:
    """9.0.0 and 9.1.0 are recorded, as expected; 9.1.1 and 9.2.0 are out, and 9.3.0 was yanked."""
    for version in ("9.1.1", "9.2.0", "9.3.0"):
        build_torch(finished.index.folder, version, checkpoints={"regresses": Behaviour.RAISES})
    finished.index.yanked["torch-9.3.0-py3-none-any.whl"] = "broken"
    return finished


def required(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"Running session probe\(torch='(.*)'\)", done.stderr)


def expect_pre_releases(project: Project) -> None:
    """Claim, in ranges that name none, how the pre-releases end."""
    project.expectations.write_text("")
    project.expect("passes::square", ">=9", "pass")
    project.expect("regresses::regresses", "<9.1", "pass")
    project.expect("regresses::regresses", ">=9.1,<9.4.0.dev20261120", "raises", CHECKPOINT_ERROR)
    project.expect("regresses::regresses", ">=9.4.0.dev20261120", "pass")


def recompat(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**project.env, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "recompat", *arguments]
    return subprocess.run(command, cwd=project.root, env=env, check=False, text=True, capture_output=True, timeout=120)


@pytest.mark.parametrize("jobs", [(), ("-j", "2")], ids=["alone", "parallel"])
def test_what_is_new_is_run_once(project: Project, jobs: tuple[str, ...]) -> None:
    done = nox(project, *jobs, "-s", "matrix", "--", "--torch", "new")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [column["torch"] for column in project.matrix_json()["environments"]] == ["9.1.1", "9.2.0"]
    assert sorted({record["environment"]["torch"] for record in project.records().values()}) == [
        "9.0.0",
        "9.1.0",
        "9.1.1",
        "9.2.0",
    ]
    again = nox(project, *jobs, "-s", "matrix", "--", "--torch", "new")
    assert again.returncode == 5
    (sentence,) = said(again.stderr)
    assert sentence.startswith("No release is new: the newest is 9.2.0, and all that there are were run here ")


def test_what_is_yanked_is_run_where_it_is_named(project: Project) -> None:
    refused = nox(project, "-s", "matrix", "--", "--torch", ">=9.3")
    assert refused.returncode == 5
    assert said(refused.stderr)[0].endswith("Yanked: 9.3.0.")
    named = nox(project, "-s", "matrix", "--", "--torch", "9.3.0")
    assert named.returncode == 0, named.stdout + named.stderr
    assert record_of(project, "9.3.0")["facts"]["source"] == "default index"


def test_pre_releases_from_the_selector_to_the_reproduction(project: Project, nightly: Index) -> None:
    url, told = nightly.url_with_login, nightly.url.rstrip("/")
    expect_pre_releases(project)
    done = nox(project, "-s", "matrix", "--", "--torch", "pre,9.4.0.dev20261119", "--index-url", url, "--keep")
    assert done.returncode == 0, done.stdout + done.stderr
    assert required(done) == [CANDIDATE, "9.4.0.dev20261119", DAY]
    record = record_of(project, DAY)
    assert (record["facts"]["imported"], record["facts"]["source"]) == (f"{DAY}+cpu", f"named index {told}")
    assert max(project.records()).startswith(f"torch{DAY}-cp3")

    alone = nox(
        project, "-s", f"probe(torch='{CANDIDATE}')", "--", "--torch", CANDIDATE, "--rerun", "all", "--index-url", url
    )
    assert alone.returncode == 0, alone.stdout + alone.stderr
    report = nox(project, "-s", "report")
    assert report.returncode == 0, report.stdout + report.stderr
    assert [column["torch"] for column in project.matrix_json()["environments"]] == [
        "9.0.0",
        "9.1.0",
        CANDIDATE,
        "9.4.0.dev20261119",
        DAY,
    ]
    (fixed,) = [change for change in project.matrix_json()["boundaries"] if change["first"] == DAY]
    assert (fixed["last"], fixed["exact"]) == ("9.4.0.dev20261119", True)
    assert f"torch{DAY}-cp3" in (project.reports / "index.html").read_text("utf-8")

    shown = recompat(project, "show", DAY)
    assert f"from the named index {told}" in " ".join(shown.stdout.split()), shown.stdout + shown.stderr
    cell = recompat(project, "show", "regresses", "--torch", CANDIDATE)
    assert "CheckpointError" in cell.stdout, cell.stderr
    commands = recompat(project, "reproduce", "-q", "regresses", "--torch", DAY)
    assert f"uv pip install --python .venv --find-links {told}/torch/ torch=={DAY}+cpu" in commands.stdout

    outputs = [output for one in (done, alone, report, shown, cell, commands) for output in (one.stdout, one.stderr)]
    files = [path for path in project.root.rglob("*") if path.is_file() and "site-packages" not in path.parts]
    assert any(path.name == "install.log" for path in files)
    assert any(path.name == "recompat-complete.json" for path in files)
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert [output for output in outputs if SECRET in output] == []


def test_a_pre_release_is_reproduced_where_its_index_is_named_again(project: Project, nightly: Index) -> None:
    nightly.login = None
    expect_pre_releases(project)
    (project.root / "matrix" / "matrix.toml").write_text(
        (project.root / "matrix" / "matrix.toml").read_text("utf-8").rstrip() + f'\nindex-urls = ["{nightly.url}"]\n',
        "utf-8",
    )
    done = nox(project, "-s", "matrix", "--", "--torch", DAY)
    assert done.returncode == 0, done.stdout + done.stderr
    project.write_matrix()
    again = ("reproduce", "regresses", "--torch", DAY, "--run")
    alone = recompat(project, *again)
    assert alone.returncode == 6
    assert f"There is no torch {DAY}; " in alone.stderr
    named = recompat(project, *again, "--index-url", nightly.url)
    assert named.returncode == 0, named.stdout + named.stderr
    assert "Reproduced: the outcome is the recorded one." in named.stdout

    env = {name: value for name, value in project.env.items() if name != "PYTHONPATH"}
    make = recompat(project, "reproduce", "-q", "passes", "--torch", DAY, "--out", "by-hand").stdout
    tools = os.pathsep.join([str(Path(find_uv_bin()).parent), str(Path(sys.base_prefix, "bin")), os.environ["PATH"]])
    by_hand = subprocess.run(
        ["sh", "-e", "-c", make],
        cwd=project.root,
        env={**env, "PATH": tools},
        check=False,
        text=True,
        capture_output=True,
        timeout=120,
    )
    assert by_hand.returncode == 0, make + by_hand.stderr


def test_a_candidate_under_its_final_number_does_not_stand_for_the_release(project: Project, nightly: Index) -> None:
    build_torch(nightly.folder, "9.4.0", checkpoints={"regresses": Behaviour.RAISES})
    named = ("--index-url", nightly.url_with_login)
    done = nox(project, "-s", "matrix", "--", "--torch", "9.4.0,9.3.0rc1", *named)
    assert done.returncode == 0, done.stdout + done.stderr
    stands = nox(project, "-s", "matrix", "--", "--torch", "9.4.0", *named)
    assert (stands.returncode, required(stands)) == (0, [])

    build_torch(project.index.folder, "9.4.0")
    out = nox(project, "-s", "matrix", "--", "--torch", "new,9.3.0rc1")
    assert out.returncode == 1, out.stdout + out.stderr
    assert required(out) == ["9.1.1", "9.2.0", "9.4.0"], "the candidate's number is news, and the pre-release stands"
    assert record_of(project, "9.4.0")["facts"]["source"] == "default index"
    assert project.cells()["regresses::regresses", "9.4.0"] == "pass"


def test_a_silent_index_is_said_and_nothing_else_is_lost(project: Project, nightly: Index) -> None:
    nightly.faults["torch"] = Fault.SERVER_ERROR
    done = nox(project, "-s", "matrix", "--", "--torch", "latest", "--index-url", nightly.url_with_login)
    assert done.returncode == 6, done.stdout + done.stderr
    told = nightly.url.rstrip("/")
    assert f"The named index {told} is out of reach; what it may offer was not looked at." in done.stdout + done.stderr
    assert record_of(project, "9.2.0")["facts"]["source"] == "default index"
