"""Whole runs with ``matrix/lock.toml``: what it has is installed and nothing else; what is not so is not run, and says why."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from recompat.lock import load_lock
from support.index import Index
from support.project import nox
from support.sessions import GREEN, cell, leftovers, record_of
from support.wheels import Behaviour, build_package, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.project import Project

EXTRA = '[[extras]]\ntorch = ">=9"\npackages = ["numpy<2"]\nreason = "It is imported."'
LOCKED = ("-s", "matrix", "--", "--require-hashes")


@pytest.fixture
def project(project: Project) -> Project:
    """Both releases need a package that the index has, and one that the matrix adds."""
    build_package(project.index.folder, "dep", "1.0")
    build_torch(project.index.folder, "9.0.0", requires=["dep"])
    build_torch(project.index.folder, "9.1.0", requires=["dep"], checkpoints={"regresses": Behaviour.RAISES})
    project.write_matrix(more=EXTRA)
    return project


@pytest.fixture
def cpu_index(tmp_path: Path) -> Iterator[Index]:
    build_torch(tmp_path / "cpu", "9.0.0+cpu", requires=["dep"])
    build_torch(tmp_path / "cpu", "9.1.0+cpu", requires=["dep"], checkpoints={"regresses": Behaviour.RAISES})
    with Index(tmp_path / "cpu") as index:
        yield index


def lock(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recompat", "lock", *arguments]
    env = {**project.env, "PYTHONPATH": str(project.root / "src")}
    return subprocess.run(command, cwd=project.root, env=env, text=True, capture_output=True, check=False, timeout=60)


def locked(project: Project, *arguments: str) -> str:
    done = lock(project, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return (project.root / "matrix" / "lock.toml").read_text("utf-8")


def test_what_is_locked_is_installed_and_records_say_so(project: Project) -> None:
    text = locked(project)
    assert "http" not in text
    assert "127.0.0.1" not in text
    assert all(hashlib.sha256(wheel.read_bytes()).hexdigest() in text for wheel in project.index.wheels("torch"))
    build_package(project.index.folder, "numpy", "1.26.9")  # newer than what is locked
    done = nox(project, *LOCKED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.cells() == GREEN
    assert leftovers(project) == []
    first = record_of(project, "9.0.0")
    assert first["facts"]["packages"] == {"torch": "9.0.0", "dep": "1.0", "numpy": "1.26.4"}
    assert len(first["run"]["options"]["lock"]) == 16

    again = nox(project, *LOCKED)
    assert (again.returncode, "installing" in again.stdout) == (0, False)
    without = nox(project, "-s", "matrix", "--", "--torch", "9.0.0")  # results with a lock and without are not the same
    assert without.returncode == 0, without.stdout + without.stderr
    found = record_of(project, "9.0.0")
    assert ("lock" in found["run"]["options"], found["facts"]["packages"]["numpy"]) == (False, "1.26.9")


def test_what_is_not_as_locked_is_not_run_and_the_rest_is(project: Project, cpu_index: Index) -> None:
    project.write_matrix(cpu_index=cpu_index.url, more=EXTRA)
    locked(project)
    project.write_matrix(["9.0.0", "9.1.0", "9.2.0"], cpu_index=cpu_index.url, more=EXTRA)
    build_torch(cpu_index.folder, "9.1.0+cpu", requires=["dep", "numpy"])  # replaced under its version
    build_torch(cpu_index.folder, "9.2.0+cpu")
    cpu_index.requests.clear()
    done = nox(project, *LOCKED)
    assert done.returncode == 6, done.stdout + done.stderr
    assert project.cells()["passes::square", "9.0.0"] == "pass"
    for release, reason in (
        ("9.1.0", "torch-9.1.0+cpu-py3-none-any.whl of the CPU index has another digest than matrix/lock.toml says;"),
        ("9.2.0", "matrix/lock.toml has no torch 9.2.0 for cp3"),
    ):
        trouble = record_of(project, release)["trouble"]
        assert trouble["kind"] == "install-failed"
        assert trouble["reason"].startswith(reason)
        missing = cell(project, "passes::square", release)
        assert (missing["outcome"], missing["verdict"], missing["detail"]) == ("not-run", "missing", trouble["reason"])
    assert cpu_index.downloads == ["torch-9.0.0+cpu-py3-none-any.whl"] or not cpu_index.downloads
    assert leftovers(project) == []


def test_matrix_toml_may_require_it_and_what_stands_beside_torch_is_locked_too(project: Project) -> None:
    for version in ("1.0", "2.0"):
        build_package(project.index.folder, "tformers", version)
    project.expectations.write_text("", "utf-8")
    for case in ("passes::square", "regresses::regresses"):
        project.expect(case, ">=9", "pass")
    project.write_matrix(["9.0.0"], more='[[axis]]\nname = "tformers"\nversions = ["1.0", "2.0"]')
    matrix = project.root / "matrix" / "matrix.toml"
    matrix.write_text(matrix.read_text("utf-8").replace("[run]\n", "[run]\nrequire-hashes = true\n"), "utf-8")
    done = nox(project, "-s", "matrix")
    assert (done.returncode, project.index.downloads) == (4, [])
    assert "matrix/lock.toml; recompat lock writes it." in done.stderr

    locked(project, "--axis", "tformers==1.0")
    done = nox(project, "-s", "matrix")
    assert done.returncode == 6, done.stdout + done.stderr
    first, second = (record["trouble"] for _, record in sorted(project.records().items()))
    assert first is None
    assert "matrix/lock.toml has no torch 9.0.0 with tformers 2.0 for cp3" in second["reason"]
    assert "recompat lock --torch 9.0.0 --axis tformers==2.0 writes it." in second["reason"]
    assert locked(project).count("[[environment]]") == 2


def test_what_cannot_be_locked_is_told_and_the_rest_is(project: Project) -> None:
    project.write_matrix(["9.0.0", "9.1.0", "9.5.0"], more=EXTRA)
    build_torch(project.index.folder, "9.1.0", behaviour=Behaviour.REQUIRES_ABSENT)
    done = lock(project)
    assert done.returncode == 6, done.stdout + done.stderr
    assert "torch 9.1.0 was not locked: " in done.stderr
    assert "There is no torch 9.5.0" in done.stderr
    assert "http" not in done.stderr
    assert [one.torch for one in load_lock(project.root / "matrix" / "lock.toml").environments] == ["9.0.0"]
