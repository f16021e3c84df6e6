"""The throw-away project runs nox as a user would, away from this machine's settings, and can be interrupted."""

from __future__ import annotations

import ast
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from recompat.cases import read_case_files
from recompat.expectations import load_expectations
from recompat.matrix import load_matrix
from support.project import CASES, add_case, interrupt, nox, start

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

NOXFILE = """
# /// script
# dependencies = ["a-package-that-is-not-installed"]
# ///
import os, subprocess, sys, time
import nox

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["matrix"]

@nox.session
@nox.parametrize("torch", ["9.0.0", "9.1.0"])
def probe(session, torch):
    session.install(f"torch=={torch}")
    session.run("python", "-I", "-c", "import torch; print('imported', torch.__version__, flush=True)")

@nox.session(requires=[f"probe(torch='{v}')" for v in ("9.0.0", "9.1.0")], venv_backend="none")
def matrix(session):
    print("home", os.environ["HOME"], session.posargs, flush=True)

@nox.session(venv_backend="none")
def sleeps(session):
    print("asleep", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def stub(project: Project) -> Project:
    (project.root / "noxfile.py").write_text(NOXFILE)
    return project


def test_nox_installs_from_the_index_alone(stub: Project, tmp_path: Path) -> None:
    done = nox(stub, "-s", "matrix", "--", "--torch", ">=9")
    assert done.returncode == 0, done.stderr
    assert "imported 9.0.0" in done.stdout
    assert "imported 9.1.0" in done.stdout
    assert f"home {tmp_path / 'project-home'} ['--torch', '>=9']" in done.stdout
    assert stub.index.downloads == ["torch-9.0.0-py3-none-any.whl", "torch-9.1.0-py3-none-any.whl"]


def test_exit_code_and_error_output(stub: Project) -> None:
    done = nox(stub, "-s", "nothing")
    assert done.returncode != 0
    assert "nothing" in done.stderr


def test_the_environment_can_be_changed(stub: Project) -> None:
    done = nox(stub, "-s", "probe(torch='9.0.0')", env={"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple/"})
    assert done.returncode != 0
    assert stub.index.requests == []


def test_ctrl_c(stub: Project) -> None:
    with start(stub, "-s", "sleeps") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "asleep\n"
        interrupt(process)
        process.communicate(timeout=10)
    assert process.returncode not in (0, -9)


def test_what_takes_too_long_is_ended(stub: Project) -> None:
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        nox(stub, "-s", "sleeps", timeout=1)
    assert time.monotonic() - began < 10


def test_the_small_matrix_is_sound(project: Project) -> None:
    matrix = load_matrix(project.root / "matrix" / "matrix.toml")
    files = read_case_files(project.cases)
    claims = load_expectations(project.expectations, files, matrix.releases)
    assert {case.id for file in files for case in file.cases} == set(claims.by_case)
    assert [str(version) for version in matrix.releases] == ["9.0.0", "9.1.0"]


def test_every_case_file_is_what_it_is_named_after(tmp_path: Path) -> None:
    names = sorted(path.name.partition(".")[0] for path in CASES.iterdir() if path.is_file())
    add_case(tmp_path, *names)
    faults = {file.path.stem: file.fault for file in read_case_files(tmp_path) if file.fault}
    assert sorted(faults) == ["duplicates", "no_cases", "syntax_error"]
    for path in set(tmp_path.iterdir()) - {tmp_path / "syntax_error.py"}:
        assert ast.get_docstring(ast.parse(path.read_bytes()))


def test_the_small_matrix_runs_as_expected(project: Project) -> None:
    done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.cells() == {
        ("passes::square", "9.0.0"): "pass",
        ("passes::square", "9.1.0"): "pass",
        ("regresses::regresses", "9.0.0"): "pass",
        ("regresses::regresses", "9.1.0"): "raises",
    }
    assert set(project.cells("verdict").values()) == {"expected"}
    assert [record["facts"]["imported"] for record in project.records().values()] == ["9.0.0", "9.1.0"]
