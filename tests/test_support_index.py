"""The loopback index serves uv and unearth, writes down what it was asked, and fails on demand."""

from __future__ import annotations

import sys
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import httpx2
import pytest
from unearth import PackageFinder
from unearth.fetchers.sync import PyPIClient

from support.environment import make_environment, uv
from support.index import Fault, Index
from support.wheels import build_torch

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

TORCH = "torch-9.1.0-py3-none-any.whl"


def versions(url: str, *, yanked: bool = False) -> list[str]:
    with PyPIClient() as client:
        finder = PackageFinder(client, index_urls=[url])  # type: ignore[arg-type]  # its own client
        found = finder.find_all_packages("torch", allow_yanked=yanked)
        return [str(package.version) for package in found]


@pytest.fixture(params=[True, False], ids=["json", "html"])
def either(request: pytest.FixtureRequest, wheelhouse: Path, tmp_path: Path) -> Iterator[Index]:
    folder = tmp_path / "either"
    for wheel in wheelhouse.iterdir():
        folder.mkdir(exist_ok=True)
        (folder / wheel.name).write_bytes(wheel.read_bytes())
    with Index(folder, json=request.param) as index:
        yield index


def test_unearth_lists_the_versions(either: Index) -> None:
    assert versions(either.url) == ["9.1.0", "9.0.0"]


def test_a_wheel_built_later_is_listed(either: Index) -> None:
    build_torch(either.folder, "9.2.0rc1")
    assert "9.2.0rc1" in versions(either.url)


def test_yanked(either: Index) -> None:
    either.yanked[TORCH] = 'broken on "old" CPUs'
    assert versions(either.url) == ["9.0.0"]
    assert versions(either.url, yanked=True) == ["9.0.0", "9.1.0"]  # yanked ones come last


def test_requires_python(either: Index) -> None:
    build_torch(either.folder, "9.2.0", requires_python=">=3.99")
    assert versions(either.url) == ["9.1.0", "9.0.0"]


def test_an_unknown_project(index: Index) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(index.url + "nothing/", timeout=5)


def test_head_and_the_list_of_projects(either: Index) -> None:
    with httpx2.Client(base_url=either.url) as client:
        assert client.head("torch/").status_code == 200
        listed = client.get("", headers={"Accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.1"})
    assert all(name in listed.text for name in ("torch", "numpy", "setuptools"))
    assert [request.method for request in either.requests] == ["HEAD", "GET"]


def test_nothing_is_fetched_from_a_cache(index: Index, env: dict[str, str], tmp_path: Path) -> None:
    make_environment(tmp_path / "one", "torch==9.1.0", env=env)
    assert index.downloads == [TORCH]
    index.requests.clear()
    make_environment(tmp_path / "two", "torch==9.1.0", env=env)
    assert index.downloads == []


@pytest.mark.parametrize(
    ("fault", "subject", "said"),
    [
        (Fault.NOT_FOUND, "torch", "not found"),
        (Fault.SERVER_ERROR, "torch", "500"),
        (Fault.NOT_FOUND, TORCH, "404"),
        (Fault.SERVER_ERROR, TORCH, "500"),
        (Fault.TRUNCATED, TORCH, "Failed to"),
        (Fault.WRONG_HASH, TORCH, "Hash mismatch"),
    ],
)
def test_uv_meets_the_fault(
    index: Index, env: dict[str, str], tmp_path: Path, fault: Fault, subject: str, said: str
) -> None:
    def install(version: str) -> subprocess.CompletedProcess[str]:
        target = str(tmp_path / version)
        return uv("pip", "install", "--target", target, "--python", sys.executable, f"torch=={version}", env=env)

    index.faults[subject] = fault
    broken = install("9.1.0")
    assert broken.returncode != 0
    assert said in broken.stderr
    assert (install("9.0.0").returncode == 0) is (subject == TORCH)


def test_a_stall_is_bounded(wheelhouse: Path) -> None:
    with Index(wheelhouse, stall_seconds=0.3) as index:
        index.faults["torch"] = Fault.STALL
        began = time.monotonic()
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(index.url + "torch/", timeout=5)
    assert 0.3 <= time.monotonic() - began < 3


def test_closing_lets_a_stalled_request_go(wheelhouse: Path) -> None:
    before = set(threading.enumerate())
    with Index(wheelhouse, stall_seconds=60) as index:
        index.faults["torch"] = Fault.STALL
        with pytest.raises(TimeoutError):
            urllib.request.urlopen(index.url + "torch/", timeout=0.2)
        serving = set(threading.enumerate()) - before
    for thread in serving:
        thread.join(5)
    assert [thread for thread in serving if thread.is_alive()] == []
    assert len(serving) == 2  # the index itself, and the request
