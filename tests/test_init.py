"""``recompat init``: what it lays, what it leaves alone, and what becomes of the first runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from packaging.requirements import Requirement
from uv import find_uv_bin

from recompat import __version__
from recompat.cases import read_case_files
from recompat.cli import run
from recompat.errors import ConfigurationError
from recompat.expectations import load_expectations
from recompat.init import WORKFLOW, State, lay
from recompat.matrix import load_matrix
from recompat.origin import of_this_machine, read_requirement, requirement
from recompat.templates import SHARED, template
from support.disks import read_only
from support.environment import NOWHERE, isolated
from support.project import CASES, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recompat.init import Laid
    from support.index import Index

RELEASE = f"recompat[run]=={__version__}"
FILES = {
    ".github/workflows/recompat.yml",
    ".gitignore",
    "matrix/baseline/README.md",
    "matrix/cases/block.py",
    "matrix/expectations.toml",
    "matrix/matrix.toml",
    "noxfile.py",
}


@pytest.fixture(autouse=True)
def terminal_signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def files(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {name: path.read_bytes() for name, path in found.items() if path.is_file() and not name.startswith(".git/")}


def one(laid: Sequence[Laid], name: str) -> Laid:
    (found,) = [each for each in laid if each.path.as_posix() == name]
    return found


def ended(*arguments: str) -> int:
    try:
        run(arguments)
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def test_an_empty_folder_becomes_a_project_without_faults(tmp_path: Path) -> None:
    laid = lay(tmp_path, RELEASE)
    assert {each.state for each in laid} == {State.WRITTEN}
    assert set(files(tmp_path)) == FILES == {each.path.as_posix() for each in laid}
    matrix = load_matrix(tmp_path / "matrix" / "matrix.toml")
    cases = read_case_files(tmp_path / "matrix" / "cases")
    assert [file.fault for file in cases] == [None]
    assert [case.id for case in cases[0].cases] == ["block::policy_around_forward", "block::policy_around_step"]
    claims = load_expectations(tmp_path / "matrix" / "expectations.toml", cases, matrix.releases)
    assert claims.by_case == {}


def test_the_releases_are_the_newest_that_this_project_knows(tmp_path: Path) -> None:
    lay(tmp_path, RELEASE)
    ours, theirs = (load_matrix(root / "matrix" / "matrix.toml") for root in (ROOT, tmp_path))
    assert theirs.default[-1] == ours.releases[-1]
    assert len({release.release[:2] for release in theirs.default}) == len(theirs.default) == 4
    assert theirs.known == ()
    for release in ours.releases:
        assert theirs.packages_for(release) == ours.packages_for(release)
    assert (theirs.ci, theirs.timeout, theirs.cpu_index) == (ours.ci, ours.timeout, ours.cpu_index)


def test_a_second_time_nothing_is_touched(tmp_path: Path) -> None:
    lay(tmp_path, RELEASE)
    before = files(tmp_path)
    again = lay(tmp_path, "recompat[run]==9")
    assert {(each.state, each.by_hand) for each in again} == {(State.KEPT, ())}
    assert files(tmp_path) == before


def test_what_a_repository_has_is_kept_and_what_to_add_is_told(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "noxfile.py").write_text("import nox\n")
    (tmp_path / ".gitignore").write_text("*.pyc\n.nox\n")
    (tmp_path / "matrix" / "cases").mkdir(parents=True)
    (tmp_path / "matrix" / "cases" / "mine.py").write_text("import torch\n")
    laid = lay(tmp_path, RELEASE)
    lines = ("from recompat.nox import define_sessions", "define_sessions(__file__)")
    assert (one(laid, "noxfile.py").state, one(laid, "noxfile.py").by_hand) == (State.KEPT, lines)
    assert (one(laid, ".gitignore").state, one(laid, ".gitignore").by_hand) == (State.KEPT, ("/reports/",))
    assert one(laid, "matrix/cases/block.py").state is State.LEFT_OUT
    assert one(laid, WORKFLOW.as_posix()).state is State.WRITTEN
    assert (tmp_path / "noxfile.py").read_text() == "import nox\n"
    assert not (tmp_path / "matrix" / "cases" / "block.py").exists()


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "noxfile.py").symlink_to(tmp_path / "elsewhere.py")
    assert one(lay(tmp_path / "project", RELEASE), "noxfile.py").state is State.KEPT
    assert not (tmp_path / "elsewhere.py").exists()


def test_below_a_repository_there_is_no_workflow(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")  # as in a worktree
    laid = one(lay(tmp_path / "checks", RELEASE), WORKFLOW.as_posix())
    assert (laid.state, laid.what) == (
        State.LEFT_OUT,
        "GitHub reads workflows in the repository's own folder alone",
    )


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("init", str(tmp_path / "new"), "--dry-run") == 0
    assert not (tmp_path / "new").exists()
    out = capsys.readouterr().out
    assert out.count("would be written") == len(FILES)
    assert "Next:" not in out


def test_what_is_said_fits_a_screen_and_ends_with_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "noxfile.py").write_text("import nox\n")
    assert ended("init", "--from", "recompat==1") == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    assert lines[:3] == [
        "kept      noxfile.py                      lacks what follows",
        "            from recompat.nox import define_sessions",
        "            define_sessions(__file__)",
    ]
    after = lines[lines.index("Next:") + 1 :]
    wanted = ["python -m pip install 'recompat[run]==1'", "nox -s matrix", "recompat accept --reason", "nox -s matrix"]
    wanted += ["recompat accept --baseline"]
    assert [start for line, start in zip(after, wanted, strict=True) if not line.strip().startswith(start)] == []


def test_a_folder_that_nobody_may_write_ends_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with read_only(tmp_path):
        assert ended("init", str(tmp_path), "--from", "recompat==1") == 6
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"recompat: \S+ cannot be written \(.+\); make it writable and run it again\.\n", err)


def test_a_file_in_the_place_of_the_folder_ends_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert ended("init", str(tmp_path / "file"), "--from", "recompat==1") == 6
    assert " is in the way or gone (" in capsys.readouterr().err


COMMIT = "0123456789abcdef0123456789abcdef01234567"
GIT: Mapping[str, Any] = {"vcs_info": {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"}}


@pytest.mark.parametrize(
    ("origin", "wanted", "local"),
    [
        ({}, RELEASE, True),
        ({"url": "file:///home/me/recompat", "dir_info": {"editable": True}}, RELEASE, True),
        ({"url": "file:///home/me/recompat.whl", "archive_info": {}}, RELEASE, True),
        ({"url": "file:///home/me/recompat", **GIT}, RELEASE, True),
        (
            {"url": "https://me:secret@example.org/recompat.git", **GIT},
            f"recompat[run] @ git+https://example.org/recompat.git@{COMMIT}",
            False,
        ),
        (
            {"url": "ssh://git@example.org/recompat.git", "subdirectory": "py", **GIT},
            f"recompat[run] @ git+ssh://git@example.org/recompat.git@{COMMIT}#subdirectory=py",
            False,
        ),
        (
            {"url": "https://example.org/recompat-0.1.0-py3-none-any.whl", "archive_info": {}},
            "recompat[run] @ https://example.org/recompat-0.1.0-py3-none-any.whl",
            False,
        ),
    ],
)
def test_others_get_it_from_where_this_one_came(origin: dict[str, Any], wanted: str, *, local: bool) -> None:
    assert requirement(origin) == wanted
    assert of_this_machine(origin) is local
    assert Requirement(wanted).extras == {"run"}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("recompat", "recompat[run]"),
        ("Recompat[run]>=0.1,<2", "Recompat[run]<2,>=0.1"),
        ("recompat @ git+https://example.org/r@main", "recompat[run]@ git+https://example.org/r@main"),
        ("recompat @ git+ssh://git@example.org/r", "recompat[run]@ git+ssh://git@example.org/r"),
    ],
)
def test_a_requirement_that_is_named(given: str, read: str) -> None:
    assert Requirement(read_requirement(given)) == Requirement(read)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("git+https://example.org/r", "is no requirement; write recompat==0.1.0"),
        ("recompat\n- run: evil", "is no requirement"),
        ("torch", "--from names torch; name a recompat."),
        ("recompat; python_version>'3'", "has the marker"),
        ("recompat @ file:///home/me/recompat", "which no other machine has"),
        ("recompat @ git+file:///home/me/recompat", "which no other machine has"),
        ("recompat @ ./recompat", "which no other machine has"),
        ("recompat @ https://token@example.org/r.whl", "has a login in its address"),
        ("recompat @ git+ssh://git:secret@example.org/r", "has a login in its address"),
    ],
)
def test_a_requirement_that_is_of_no_use_elsewhere(given: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        read_requirement(given)
    assert sentence in str(error.value)
    assert "secret" not in str(error.value)
    assert "token" not in str(error.value)


def test_the_workflow_is_ours_but_for_where_recompat_comes_from(tmp_path: Path) -> None:
    wanted = "recompat[run]@ git+https://example.org/r@it's#subdirectory=a"
    lay(tmp_path, wanted)
    theirs = (tmp_path / WORKFLOW).read_text(encoding="utf-8").splitlines()
    ours = (ROOT / WORKFLOW).read_text(encoding="utf-8").splitlines()
    differing = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
    assert [one for one, _ in differing if not one.startswith("#") and "pip install" not in one] == []
    read = yaml.safe_load("\n".join(theirs))
    installs = [step["run"] for job in read["jobs"].values() for step in job["steps"] if "pip" in step.get("run", "")]
    assert [shlex.split(command) for command in installs] == [["python", "-m", "pip", "install", wanted]] * 3


def test_what_the_wheel_shares_is_what_the_checkout_has() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert built["force-include"] == {path: f"recompat/templates/{name}" for name, path in SHARED.items()}
    for name, path in SHARED.items():
        assert template(name) == (ROOT / path).read_text(encoding="utf-8")


def test_the_first_runs_of_a_new_project(index: Index, tmp_path: Path) -> None:
    root = tmp_path / "mein Projekt é"
    env = {**isolated(tmp_path / "home", index.url), "PYTHONPATH": str(ROOT / "src")}
    tools = [str(Path(sys.executable).parent), str(Path(find_uv_bin()).parent), env["PATH"]]
    env["PATH"] = os.pathsep.join(tools)

    def do(*command: str, status: int) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=root,
            env=env,
            check=False,
            text=True,
            capture_output=True,
            timeout=120,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    root.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=root, env=env, check=True)
    do("recompat", "init", status=0)
    _bring_own_case(root)
    first = do("nox", "-s", "matrix", status=1)
    assert re.search(r"^regresses +pass new! +CheckpointError new!$", first, re.MULTILINE)
    assert "Unexpected: 2 of 2 cells." in first
    told = do("recompat", "accept", "--reason", "The stand-in is built so.", status=0)
    assert "matrix/expectations.toml: 1 case written, to be reviewed." in told
    assert "As expected: all 2 cells." in do("nox", "-s", "matrix", status=0)
    do("recompat", "accept", "--baseline", status=0)
    assert json.loads(do("recompat", "ci-matrix", "--torch", "new", "--records", "matrix/baseline", status=0)) == {
        "include": []
    }
    seen = subprocess.run(["git", "status", "--short", "-uall"], cwd=root, env=env, check=True, capture_output=True)
    assert b"reports/" not in seen.stdout
    assert b".nox" not in seen.stdout
    assert seen.stdout.count(b"matrix/baseline/torch9.") == 2


def _bring_own_case(root: Path) -> None:
    """Do as a new user does: another case in the place of the example; releases that the index of the tests has."""
    (root / "matrix" / "cases" / "block.py").unlink()
    (root / "matrix" / "cases" / "own.py").write_bytes((CASES / "regresses.py").read_bytes())
    path = root / "matrix" / "matrix.toml"
    text = re.sub(r"default = \[.*\]", 'default = ["9.0.0", "9.1.0"]', path.read_text(encoding="utf-8"))
    path.write_text(text.replace("https://download.pytorch.org/whl/cpu", f"{NOWHERE}/cpu/"), encoding="utf-8")
