"""What is printed is run, as a user would: on the stand-in torch, from an index on loopback."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from uv import find_uv_bin

from support.index import Index
from support.project import CHECKPOINT_ERROR, ROOT, Project, nox
from support.wheels import build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are run by sh")

RECORDED_ON = "torch 9.1.0, Python"


@pytest.fixture(scope="module")
def project(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project whose matrix was run; numpy is an extra."""
    folder = tmp_path_factory.mktemp("end-to-end")
    with Index(shutil.copytree(wheelhouse, folder / "wheels")) as index:
        made = Project(folder / "project", index)
        made.write_matrix(more='[[extras]]\ntorch = ">=9"\npackages = ["numpy<2"]\nreason = "A test wants it."\n')
        done = nox(made, "-s", "matrix")
        assert done.returncode == 0, done.stdout + done.stderr
        yield made


def environ(project: Project) -> dict[str, str]:
    tools = [Path(sys.executable).parent, Path(find_uv_bin()).parent, Path(sys.base_prefix, "bin")]
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    return {**project.env, "PATH": path, "PYTHONPATH": str(ROOT / "src")}


def recompat(project: Project, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a subcommand; ``more`` are environment variables."""
    return subprocess.run(
        [sys.executable, "-m", "recompat", *arguments],
        cwd=project.root,
        env={**environ(project), **more},
        check=False,
        text=True,
        capture_output=True,
        timeout=120,
    )


def commands_run(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run what ``recompat reproduce -q`` prints."""
    printed = recompat(project, "reproduce", "-q", *arguments)
    assert printed.returncode == 0, printed.stderr
    env = {name: value for name, value in environ(project).items() if name != "PYTHONPATH"}
    return subprocess.run(
        ["sh", "-e", "-c", printed.stdout],
        cwd=project.root,
        env=env,
        check=False,
        text=True,
        capture_output=True,
        timeout=120,
    )


def test_show_and_report_need_neither_torch_nor_an_index(project: Project) -> None:
    requests = len(project.index.requests)
    done = recompat(project, "show", "regresses", "--torch", "9.1.0")
    assert done.returncode == 0, done.stderr
    assert "  9.0.0 pass" in done.stdout
    assert "| 9.1.0 CheckpointError" in done.stdout
    assert recompat(project, "show", "9.0.0").stdout.startswith("torch9.0.0-")
    assert recompat(project, "report").returncode == 0
    assert len(project.index.requests) == requests


def test_the_printed_commands_end_as_recorded(project: Project, tmp_path: Path) -> None:
    raised = commands_run(project, "regresses", "--torch", "9.1.0", "--out", str(tmp_path / "a folder"))
    assert raised.returncode == 1, raised.stderr
    assert f"\n{CHECKPOINT_ERROR}: " in raised.stderr
    written = (tmp_path / "a folder" / "regresses.py").read_bytes()
    assert hashlib.sha256(written).hexdigest() in {
        result["sha256"] for record in project.records().values() for result in record["results"]
    }
    packages = list((tmp_path / "a folder" / ".venv").rglob("*.dist-info"))
    assert sorted(path.name for path in packages) == ["numpy-1.26.4.dist-info", "torch-9.1.0.dist-info"]
    passed = commands_run(project, "regresses", "--torch", "9.0.0", "--out", str(tmp_path / "other"))
    assert passed.returncode == 0, passed.stderr


def test_run_again_with_the_recorded_outcome(project: Project) -> None:
    done = recompat(project, "reproduce", "regresses", "--torch", "9.1.0", "--run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"recorded  CheckpointError in backward ({RECORDED_ON}" in done.stdout
    assert f"now       CheckpointError in backward ({RECORDED_ON}" in done.stdout
    assert done.stdout.endswith("Reproduced: the outcome is the recorded one.\n")
    folder = project.root / "reproduce" / "torch9.1.0"
    assert sorted(path.name for path in folder.iterdir()) == ["regresses.py", "reports"], "the environment was dropped"
    assert f"127.0.0.1:{project.index.url.split(':')[2].split('/')[0]}" not in done.stdout + done.stderr


def test_run_again_with_another_outcome_and_with_trouble(project: Project, wheelhouse: Path, tmp_path: Path) -> None:
    arguments = ["reproduce", "regresses", "--torch", "9.1.0", "--out", str(tmp_path / "out"), "--run"]
    with Index(shutil.copytree(wheelhouse, tmp_path / "wheels")) as index:
        build_torch(index.folder, "9.1.0")
        env = {"UV_DEFAULT_INDEX": index.url, "UV_CACHE_DIR": str(tmp_path / "cache")}
        other = recompat(project, *arguments, **env)
        assert other.returncode == 1, other.stdout + other.stderr
        assert "\nnow       pass (torch 9.1.0, " in other.stdout
        assert other.stdout.endswith("Not reproduced: the outcome is another one.\n")
        (index.folder / "torch-9.1.0-py3-none-any.whl").unlink()
        gone = recompat(project, *arguments, **env)
    assert gone.returncode == 6, gone.stdout + gone.stderr
    assert "It could not be run again: There is no torch 9.1.0; the newest are 9.0.0." in gone.stderr
