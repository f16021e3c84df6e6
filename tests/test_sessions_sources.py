"""Where wheels come from, and what is said about it: folders first, then the CPU index, then the default index."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from typing import TYPE_CHECKING

import pytest

from support.environment import NOWHERE
from support.index import Index
from support.project import nox
from support.sessions import GREEN, NOTICE, leftovers, record_of, said
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from support.project import Project

RELEASES = ("9.0.0", "9.1.0")


def build_both(folder: Path, local: str) -> Path:
    """9.0.0 and 9.1.0 as another source has them."""
    build_torch(folder, f"9.0.0{local}")
    build_torch(folder, f"9.1.0{local}", checkpoints={"regresses": Behaviour.RAISES})
    return folder


@pytest.fixture
def cpu_index(tmp_path: Path) -> Iterator[Index]:
    with Index(build_both(tmp_path / "cpu", "+cpu")) as index:
        yield index


def where(project: Project) -> set[tuple[str, str]]:
    """The flavour and the source of every column, which records and matrix agree on."""
    facts = [record_of(project, release)["facts"] for release in RELEASES]
    columns = project.matrix_json()["environments"]
    recorded = {(fact["flavour"], fact["source"]) for fact in facts}
    assert recorded == {(column["flavour"], column["source"]) for column in columns}
    return recorded


def check_green(project: Project, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.cells() == GREEN
    assert leftovers(project) == []


def test_the_cpu_index_is_used_where_it_answers(project: Project, cpu_index: Index) -> None:
    project.write_matrix(cpu_index=cpu_index.url)
    done = nox(project, "-s", "matrix")
    check_green(project, done)
    assert where(project) == {("cpu", "CPU index")}
    assert {record_of(project, release)["facts"]["imported"] for release in RELEASES} == {"9.0.0+cpu", "9.1.0+cpu"}
    assert said(done.stderr) == []
    assert "installing torch-9.0.0+cpu-py3-none-any.whl (CPU index)" in done.stdout
    assert {*cpu_index.downloads} == {"torch-9.0.0+cpu-py3-none-any.whl", "torch-9.1.0+cpu-py3-none-any.whl"}
    assert project.index.downloads == []

    forced = nox(project, "-s", "matrix", "--", "--source", "default")
    check_green(project, forced)
    assert where(project) == {("cpu", "default index")}
    assert len(project.index.downloads) == 2
    assert said(forced.stderr) == []  # nobody is surprised

    cpu_index.close()
    gone = nox(project, "-s", "matrix", "--", "--source", "cpu")
    assert gone.returncode == 4
    (only,) = said(gone.stderr)
    assert only.startswith("--source cpu: PyTorch's CPU index is out of reach")
    assert only.endswith("; use --source default, or try again later.")
    assert where(project) == {("cpu", "default index")}


@pytest.mark.parametrize("jobs", [(), ("-j", "2")], ids=["one", "two"])
def test_source_cpu_out_of_reach(project: Project, jobs: tuple[str, ...]) -> None:
    done = nox(project, *jobs, "-s", "matrix", "--", "--source", "cpu")
    assert done.returncode == 4
    (only,) = said(done.stdout + done.stderr)
    assert only.startswith("--source cpu: PyTorch's CPU index is out of reach")
    assert "Traceback" not in done.stdout + done.stderr
    assert project.records() == {}
    assert project.index.requests == []
    assert leftovers(project) == []


@pytest.mark.parametrize("jobs", [(), ("-j", "2")], ids=["one", "two"])
def test_a_cpu_index_that_never_answers_is_noticed_soon(project: Project, jobs: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=8) as silent:
        project.write_matrix(cpu_index=f"http://127.0.0.1:{silent.getsockname()[1]}/whl/cpu")
        done = nox(project, *jobs, "-s", "matrix")
        assert calls(silent) == 1  # it is asked once
    check_green(project, done)
    assert where(project) == {("cpu", "default index")}
    (notice,) = said(done.stderr)
    assert notice.startswith(f"NOTE: {NOTICE}")
    assert notice.endswith("They run on the CPU all the same, and every record says which build was tested.")
    assert NOTICE not in done.stdout
    if not jobs:
        waited = sum(record_of(project, release)["run"]["seconds"]["resolving"] for release in RELEASES)
        assert 2.9 < waited < 30  # 3 s, and time for a busy machine


def calls(server: socket.socket) -> int:
    """How many have called a server that answers nobody."""
    server.setblocking(False)
    count = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            server.accept()[0].close()
            count += 1
    return count


def test_a_cuda_build_from_the_default_index(project: Project) -> None:
    for path in project.index.folder.glob("torch-*"):
        path.unlink()
    build_torch(project.index.folder, "9.0.0", imports_as="9.0.0+cu130")
    build_torch(project.index.folder, "9.1.0", imports_as="9.1.0+cu130", checkpoints={"regresses": Behaviour.RAISES})
    done = nox(project, "-s", "matrix")
    check_green(project, done)
    assert where(project) == {("cu130", "default index")}
    assert [line.split() for line in done.stdout.splitlines() if "cu130" in line] == [["cu130", "cu130"]]
    assert "| cu130 " in (project.reports / "matrix.md").read_text("utf-8")


def test_a_folder_comes_before_every_index(project: Project, cpu_index: Index, tmp_path: Path) -> None:
    local = build_both(tmp_path / "local", "+local.1")
    named = build_torch(tmp_path / "named", "9.0.0+named.1").parent
    environ = build_torch(tmp_path / "environ", "9.1.0+environ.1", checkpoints={"regresses": Behaviour.RAISES}).parent
    project.write_matrix(cpu_index=cpu_index.url)
    options = ("-s", "matrix", "--", "--find-links", str(named))
    done = nox(project, *options, env={"UV_FIND_LINKS": str(environ)})
    check_green(project, done)
    assert {source for _, source in where(project)} == {"wheel folder"}
    imported = [record_of(project, release)["facts"]["imported"] for release in RELEASES]
    assert imported == ["9.0.0+named.1", "9.1.0+environ.1"]
    assert cpu_index.downloads == []

    links = f"find-links = [{json.dumps(str(local))}]"
    text = (project.root / "matrix" / "matrix.toml").read_text("utf-8")
    (project.root / "matrix" / "matrix.toml").write_text(f"{text}{links}\n", "utf-8")
    again = nox(project, "-s", "matrix", "--", "--rerun", "all", "--torch", "latest-minors")
    check_green(project, again)
    imported = [record_of(project, release)["facts"]["imported"] for release in RELEASES]
    assert imported == ["9.0.0+local.1", "9.1.0+local.1"]


def test_a_folder_serves_without_any_network(project: Project, tmp_path: Path) -> None:
    folder = build_both(tmp_path / "local", "")
    env = {"UV_DEFAULT_INDEX": f"{NOWHERE}/simple/"}
    began = time.monotonic()
    done = nox(project, "-s", "matrix", "--", "--find-links", str(folder), env=env)
    check_green(project, done)
    assert {source for _, source in where(project)} == {"wheel folder"}
    assert project.index.requests == []
    assert said(done.stderr) == []
    assert time.monotonic() - began < 60


def test_what_a_release_needs_beside_it_comes_from_the_default_index(project: Project, cpu_index: Index) -> None:
    build_torch(cpu_index.folder, "9.0.0+cpu", behaviour=Behaviour.NEEDS_SETUPTOOLS)
    extra = '[[extras]]\ntorch = "<9.1"\npackages = ["setuptools<81", "numpy<2"]\nreason = "It imports them."'
    project.write_matrix(cpu_index=cpu_index.url, more=extra)
    done = nox(project, "-s", "matrix")
    check_green(project, done)
    packages = record_of(project, "9.0.0")["facts"]["packages"]
    assert (packages["setuptools"], packages["numpy"]) == ("80.9.0", "1.26.4")
    assert "setuptools" not in record_of(project, "9.1.0")["facts"]["packages"]
    assert record_of(project, "9.0.0")["run"]["options"]["packages"] == "setuptools<81 numpy<2"
    assert sorted(project.index.downloads) == ["numpy-1.26.4-py3-none-any.whl", "setuptools-80.9.0-py3-none-any.whl"]
