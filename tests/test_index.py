"""What an index offers, as it says it in JSON (PEP 691, 700) or in HTML (PEP 503), and where wheels are taken from."""

from __future__ import annotations

import hashlib
import shutil
import socket
import time
from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from recompat.errors import ConfigurationError
from recompat.index import Offer, Unreachable, is_index_url, offered, offers_of_index, without_login
from recompat.interpreters import running
from recompat.sources import Source, find_sources, named_index, origin
from recompat.wheels import EnvironmentTrouble, choose_wheel
from support.environment import NOWHERE
from support.index import Fault, Index
from support.wheels import build_torch, running_tags

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "torch-{}-py3-none-any.whl"


@pytest.fixture(params=[True, False], ids=["json", "html"])
def either(request: pytest.FixtureRequest, wheelhouse: Path, tmp_path: Path) -> Iterator[Index]:
    """9.0.0 and 9.1.0, a yanked 9.2.0, a candidate and a build of a day; 9.1.0 has a time, in another zone."""
    folder = shutil.copytree(wheelhouse, tmp_path / "either")
    for version in ("9.2.0", "9.3.0rc1", "9.4.0.dev20261120+cpu"):
        build_torch(folder, version)
    with Index(folder, json=request.param) as index:
        index.yanked[NAME.format("9.2.0")] = "broken"
        index.uploaded[NAME.format("9.1.0")] = "2026-11-20T01:30:00.123456+02:00"
        index.uploaded[NAME.format("9.3.0rc1")] = "2026-11-21T10:00:00Z"
        yield index


@pytest.fixture
def nightly(tmp_path: Path) -> Iterator[Index]:
    """An index of its own for 9.4.0.dev20261120, and for 9.0.0."""
    folder = tmp_path / "nightly"
    build_torch(folder, "9.0.0")
    build_torch(folder, "9.4.0.dev20261120+cpu")
    with Index(folder) as index:
        yield index


def test_all_that_an_index_tells_is_read_in_one_request(either: Index) -> None:
    offers = {str(offer.version): offer for offer in offers_of_index(either.url)}
    assert sorted(offers) == ["9.0.0", "9.1.0", "9.2.0", "9.3.0rc1", "9.4.0.dev20261120+cpu"]
    assert [version for version, offer in offers.items() if offer.yanked] == ["9.2.0"]
    wheel = either.folder / NAME.format("9.1.0")
    assert offers["9.1.0"].sha256 == hashlib.sha256(wheel.read_bytes()).hexdigest()
    times = {version: offer.uploaded for version, offer in offers.items() if offer.uploaded}
    assert times == (
        {"9.1.0": "2026-11-19T23:30:00+00:00", "9.3.0rc1": "2026-11-21T10:00:00+00:00"} if either.json else {}
    )
    assert len(either.requests) == 1


def test_what_can_be_selected(either: Index) -> None:
    found = offered(offers_of_index(either.url))
    assert [str(version) for version in found.named] == ["9.0.0", "9.1.0", "9.3.0rc1", "9.4.0.dev20261120", "9.2.0"]
    assert (found.previews, found.yanked) == (found.named[2:4], found.named[4:])


def test_a_release_with_one_wheel_that_is_not_yanked_is_not_yanked() -> None:
    found = offered([Offer("torch-9.0.0-1-py3-none-any.whl", "", yanked=True), Offer(NAME.format("9.0.0+cpu"), "")])
    assert (found.releases, found.yanked) == ((Version("9.0.0"),), ())


def test_a_time_that_cannot_be_read_makes_no_list(index: Index) -> None:
    index.uploaded[NAME.format("9.1.0")] = "yesterday"
    with pytest.raises(Unreachable, match="answered with something that is no list"):
        offers_of_index(index.url)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://host/whl/cpu", "https://host/whl/cpu"),
        ("https://host/whl/cpu/", "https://host/whl/cpu"),
        ("https://user:secret@host:8443/simple/", "https://host:8443/simple"),
        ("https://secret@host/simple", "https://host/simple"),
        ("https://user:sec@ret@host/simple", "https://host/simple"),
        ("https://user:sec/ret@host/simple", "https://host/simple"),
        ("https://user:sec?ret@host/simple", "https://host/simple"),
        ("https://host/simple?token=secret#secret", "https://host/simple"),
        ("https://[", "https://["),
        ("user:secret@host/simple", "host/simple"),
        ("host", "host"),
        ("https://secret@host/simple?at=https://other", "https://host/simple"),
    ],
)
def test_an_address_is_told_without_a_login(url: str, told: str) -> None:
    assert without_login(url) == told


@pytest.mark.parametrize(
    "url", ["", "host/simple", "ftp://host/", "file:///wheels", "https://", "https://h/\n", "https://h/ x"]
)
def test_what_is_no_index(url: str) -> None:
    assert not is_index_url(url)


def test_a_named_index_comes_before_the_others(index: Index, nightly: Index) -> None:
    sources = find_sources("cpu", [], index.url, [nightly.url, nightly.url])
    wheels = {name: choose_wheel(Version(name), sources) for name in ("9.0.0", "9.1.0", "9.4.0.dev20261120")}
    told = nightly.url.rstrip("/")
    assert {name: wheel.origin for name, wheel in wheels.items()} == {
        "9.0.0": f"named index {told}",
        "9.1.0": "CPU index",
        "9.4.0.dev20261120": f"named index {told}",
    }
    assert [request.method for request in nightly.requests] == ["HEAD", "GET"], "it is asked once"
    assert named_index(wheels["9.0.0"].origin) == told
    assert named_index(wheels["9.1.0"].origin) is None


def test_what_only_a_named_index_has_is_not_out(index: Index, nightly: Index) -> None:
    build_torch(nightly.folder, "9.3.0")
    sources = find_sources("cpu", [], index.url, [nightly.url])
    assert [str(version) for version in sources.offered.releases] == ["9.0.0", "9.1.0", "9.3.0"]
    assert [str(version) for version in sources.listed.named] == ["9.0.0", "9.1.0", "9.4.0.dev20261120"]


def test_a_login_is_used_and_not_told(index: Index, nightly: Index) -> None:
    nightly.login = "user:secret"
    sources = find_sources("cpu", [], index.url, [nightly.url_with_login])
    (offer,) = [offer for offer in sources.offers[Source.NAMED] if offer.release.is_prerelease]
    assert "user:secret@" in offer.url, "it is needed to download the wheel"
    assert "secret" not in origin(Source.NAMED, offer)
    nightly.faults["torch"] = Fault.NOT_FOUND
    silent = find_sources("cpu", [], index.url, [nightly.url_with_login])
    assert silent.silent == {Source.NAMED: f"the named index {nightly.url.rstrip('/')} answered 404"}


def test_a_named_index_that_is_silent_leaves_the_others(index: Index, nightly: Index) -> None:
    gone = f"{NOWHERE}/user/simple/"
    sources = find_sources("cpu", [], index.url, [gone, nightly.url])
    assert choose_wheel(Version("9.4.0.dev20261120"), sources).source is Source.NAMED
    assert sources.silent == {Source.NAMED: f"the named index {gone.rstrip('/')} is out of reach"}
    with pytest.raises(
        EnvironmentTrouble, match=r"torch 9\.9\.0rc1 could not be looked up: the named index .* is out of reach"
    ):
        choose_wheel(Version("9.9.0rc1"), sources)


def test_a_pre_release_that_nobody_has(index: Index) -> None:
    sources = find_sources("cpu", [], index.url)
    with pytest.raises(
        EnvironmentTrouble, match=r"the newest are 9\.0\.0, 9\.1\.0\. .* or an index that has it with --ind"
    ):
        choose_wheel(Version("9.9.0rc1"), sources)


def test_a_yanked_wheel_is_the_last_choice(tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    build_torch(folder, "9.0.0+cpu")
    build_torch(folder, "9.0.0", tags=running_tags())
    build_torch(folder, "9.1.0")
    with Index(folder) as index:
        index.yanked = {f"torch-9.0.0-{running_tags()}.whl": "broken", NAME.format("9.1.0"): "broken"}
        sources = find_sources("cpu", [], index.url)
    wheel = choose_wheel(Version("9.0.0"), sources)
    assert (wheel.python, wheel.offer.filename) == (running(), NAME.format("9.0.0+cpu"))
    assert choose_wheel(Version("9.1.0"), sources).offer.yanked, "named, and there is no other"


def test_an_index_that_alone_was_asked_for_and_never_answers_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompat.sources.FORCED_SECONDS", 0.5)
    begun = time.monotonic()
    with socket.create_server(("127.0.0.1", 0), backlog=8) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/whl/cpu"
        with pytest.raises(
            ConfigurationError, match=r"^--source cpu: PyTorch's CPU index is out of reach; use --source"
        ):
            find_sources("cpu", [], url)
    assert time.monotonic() - begun < 10
