"""``recompat versions``, as a user runs it, from indexes on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support.environment import NOWHERE
from support.index import Index
from support.project import ROOT
from support.wheels import build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.project import Project

UPLOADED = "2026-11-20T10:00:00Z"


@pytest.fixture
def project(finished: Project) -> Project:
    """9.0.0 and 9.1.0 are recorded, 9.2.0 is out, 9.2.1 yanked, 9.3.0rc1 on the index too."""
    for version in ("9.2.0", "9.2.1", "9.3.0rc1"):
        build_torch(finished.index.folder, version)
    finished.index.yanked["torch-9.2.1-py3-none-any.whl"] = "broken"
    finished.index.uploaded["torch-9.2.0-py3-none-any.whl"] = UPLOADED
    return finished


@pytest.fixture
def nightly(tmp_path: Path) -> Iterator[Index]:
    build_torch(tmp_path / "nightly", "9.4.0.dev20261120+cpu")
    with Index(tmp_path / "nightly") as index:
        index.login = "somebody:xyzzy"
        yield index


def versions(project: Project, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**project.env, "PYTHONPATH": str(ROOT / "src"), **more}
    command = [sys.executable, "-m", "recompat", "versions", *arguments]
    return subprocess.run(command, cwd=project.root, env=env, check=False, text=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("kind", ["json", "html"])
def test_what_the_index_offers(project: Project, kind: str) -> None:
    project.index.json = kind == "json"
    done = versions(project, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    rows = {line[0]: line[1:] for line in lines if line and line[0].startswith("9.")}
    assert list(rows) == ["9.3.0rc1", "9.2.1", "9.2.0", "9.1.0", "9.0.0"]
    assert (rows["9.3.0rc1"][0], rows["9.2.1"][0]) == ("pre-release", "yanked")
    assert rows["9.1.0"][-3:] == ["2", "cases", "default"]
    assert ("2026-11-20" in rows["9.2.0"]) is project.index.json
    assert [request.path for request in project.index.requests] == ["/simple/torch/"]
    kept = json.loads((project.reports / "index.json").read_bytes())
    assert (kept["releases"], kept["previews"]) == (["9.0.0", "9.1.0", "9.2.0"], ["9.3.0rc1"])


def test_selectors(project: Project) -> None:
    for selector, names in {
        "new": "9.2.0\n",
        "newest-2": "9.2.0\n9.1.0\n",
        "9.2.1": "9.2.1\n",
        "pre": "9.3.0rc1\n",
    }.items():
        done = versions(project, "--torch", selector, "-q")
        assert (done.returncode, done.stdout) == (0, names), done.stderr


def test_a_named_index_with_a_login(project: Project, nightly: Index) -> None:
    done = versions(project, "--torch", "pre", "--format", "json", "--index-url", nightly.url_with_login)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [release["torch"] for release in told["releases"]] == ["9.4.0.dev20261120", "9.3.0rc1"]
    assert told["releases"][0]["builds"][0]["source"] == f"named index {nightly.url.rstrip('/')}"
    for arguments in ((), ("--format", "markdown"), ("--torch", "5.0")):
        again = versions(project, *arguments, "--index-url", nightly.url_with_login)
        assert "xyzzy" not in again.stdout + again.stderr
    nightly.close()
    silent = versions(project, "--index-url", nightly.url_with_login)
    assert silent.returncode == 6
    assert f"The named index {nightly.url.rstrip('/')} is out of reach." in " ".join(silent.stdout.split())
    assert "xyzzy" not in silent.stdout + silent.stderr


def test_without_a_network(project: Project) -> None:
    date = json.loads((project.reports / "index.json").read_bytes())["date"]
    away = {"UV_DEFAULT_INDEX": f"{NOWHERE}/simple/"}
    done = versions(project, **away)
    assert done.returncode == 6
    told = " ".join(done.stdout.split())
    assert f"No index answered: this is what one listed on {date}" in told
    assert "9.2.0" not in told, "it was not out then"
    assert versions(project, "--torch", "latest", "-q", **away).stdout == "9.1.0\n"
    (project.reports / "index.json").unlink()
    never = versions(project, **away)
    assert never.returncode == 6
    assert "none has been asked before" in " ".join(never.stdout.split())
    assert "2 cases" in never.stdout
    assert not (project.reports / "index.json").exists()


def test_a_mistake_ends_in_a_sentence(project: Project) -> None:
    there = "There are: 9.0.0, 9.1.0, 9.2.0. Pre-releases: 9.3.0rc1. Yanked: 9.2.1."
    mistakes = {
        ("--torch", "5.0"): (5, f"No release matches --torch 5.0. {there}"),
        ("--torch", "newst-3"): (4, "--torch newst-3 cannot be read; did you mean newest-3? Write a release"),
        ("--index-url", "ftp://u:xyzzy@host"): (
            4,
            "Argument --index-url: ftp://host is no http or https URL; recompat",
        ),
        ("--format", "jsno"): (4, "Argument --format: invalid choice: 'jsno'"),
    }
    for arguments, (code, sentence) in mistakes.items():
        done = versions(project, *arguments)
        assert (done.returncode, done.stdout) == (code, "")
        assert done.stderr.startswith(f"recompat: {sentence}")
