"""Fixtures: wheels, an index over them, and an environment that sees nothing else."""

from __future__ import annotations

import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from support.environment import isolated
from support.index import Index
from support.project import Project, nox
from support.published import Schemas, fetch
from support.wheels import Behaviour, build_package, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in the background of a shell; what tests start would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


ON_DEMAND = ("browser", "published", "tutorial")  # they need Chromium or npm, or download for many minutes


def pytest_configure(config: pytest.Config) -> None:
    """Leave out what needs more than Python, unless ``-m`` names it: also under another ``-m``."""
    asked = config.option.markexpr
    left_out = [f"not {marker}" for marker in ON_DEMAND if marker not in asked]
    config.option.markexpr = " and ".join([*([f"({asked})"] if asked else []), *left_out])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what drives Chromium where that is left out: Playwright is then not installed."""
    left_out = collection_path.name == "browser" and "not browser" in config.option.markexpr
    return True if left_out else None


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of wheels to read only: torch 9.0.0, 9.1.0 (where ``regresses`` raises), numpy and setuptools."""
    folder = tmp_path_factory.mktemp("wheelhouse")
    build_torch(folder, "9.0.0")
    build_torch(folder, "9.1.0", checkpoints={"regresses": Behaviour.RAISES})
    build_package(folder, "numpy", "1.26.4")
    build_package(folder, "setuptools", "80.9.0")
    return folder


@pytest.fixture
def index(wheelhouse: Path, tmp_path: Path) -> Iterator[Index]:
    """An index over a copy of ``wheelhouse``, to which a test may add."""
    with Index(shutil.copytree(wheelhouse, tmp_path / "wheels")) as index:
        yield index


@pytest.fixture
def env(index: Index, tmp_path: Path) -> dict[str, str]:
    """The environment of a process that sees ``index`` and nothing else."""
    return isolated(tmp_path / "home", index.url)


@pytest.fixture
def project(index: Index, tmp_path: Path) -> Project:
    """A copy of the project, with wheels from ``index`` alone."""
    return Project(tmp_path / "project", index)


@pytest.fixture(scope="session")
def finished_reports(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``nox -s matrix`` left under ``reports/`` where all is as expected."""
    with Index(wheelhouse) as index:
        project = Project(tmp_path_factory.mktemp("finished") / "project", index)
        done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    return project.reports


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Schemas:
    """Schemas that others publish; for tests that are marked ``published``."""
    return fetch(tmp_path_factory.mktemp("published"))


@pytest.fixture
def finished(project: Project, finished_reports: Path) -> Project:
    """A project whose matrix was run; nothing has been asked of its index yet."""
    shutil.copytree(finished_reports, project.reports, symlinks=True)
    return project
