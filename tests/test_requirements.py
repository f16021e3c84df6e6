"""What is told to uv: digests where they are known, wheels alone, and nothing that an index could slip in."""

from __future__ import annotations

import hashlib
import os
import tarfile
from typing import TYPE_CHECKING

import msgspec
import pytest
from packaging.version import Version

from recompat.environment import Build, build_environment, python_of
from recompat.index import Offer, offers_of_index
from recompat.lock import Lock, LockedPackage, render_lock
from recompat.locking import lock_target
from recompat.requirements import requirement_lines
from recompat.sources import Source, Sources, find_sources
from recompat.tracks import Target
from recompat.wheels import EnvironmentTrouble, Wheel, choose_wheel
from support.environment import NOWHERE
from support.index import Fault, _Listed
from support.wheels import build_package, build_torch

if TYPE_CHECKING:
    from pathlib import Path

    from support.index import Index

RELEASE = Version("9.0.0")
TORCH = "torch-9.0.0-py3-none-any.whl"
DIGEST = "1" * 64


@pytest.fixture(autouse=True)
def as_uv_sees_it(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name not in env]:
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)


def sources() -> Sources:
    return find_sources("auto", [], f"{NOWHERE}/cpu")


def build(*packages: str, locked: tuple[LockedPackage, ...] = (), known: Sources | None = None) -> Build:
    return Build(str(RELEASE), choose_wheel(RELEASE, known or sources()), packages, "", locked)


def installed(folder: Path, wanted: Build) -> set[str]:
    """The distributions that are there afterwards."""
    location = folder / "environment"
    build_environment(location, wanted, folder / "logs" / "install.log")
    found = python_of(location).parents[1].glob("[Ll]ib/**/site-packages/*.dist-info")
    return {path.name.removesuffix(".dist-info") for path in found}


def reason(folder: Path, wanted: Build) -> str:
    with pytest.raises(EnvironmentTrouble) as caught:
        installed(folder, wanted)
    assert "http" not in caught.value.trouble.reason
    return caught.value.trouble.reason


def digest_of(index: Index, name: str) -> str:
    return hashlib.sha256((index.folder / name).read_bytes()).hexdigest()


def relocked(wanted: Build, name: str, digest: str) -> Build:
    """The same, with another digest of one package."""
    held = (msgspec.structs.replace(one, sha256=(digest,)) if one.name == name else one for one in locked_for(wanted))
    return msgspec.structs.replace(wanted, locked=tuple(held))


def locked_for(wanted: Build) -> tuple[LockedPackage, ...]:
    return lock_target(Target(RELEASE), sources(), wanted.packages).packages


def test_uv_gets_the_digests_of_all_wheels_of_the_release(index: Index) -> None:
    other = build_torch(index.folder, "9.0.0", tags="py3-none-win32").name
    (line,) = requirement_lines(build())
    assert line.split()[0] == "torch==9.0.0"
    assert {*line.split()[1:]} == {f"--hash=sha256:{digest_of(index, name)}" for name in (TORCH, other)}


def test_where_one_wheel_has_no_digest_none_is_given() -> None:
    known = sources()
    offers = known.offers[Source.DEFAULT]
    more = Offer("torch-9.0.0-py3-none-win32.whl", "https://example.org/torch.whl")
    known = msgspec.structs.replace(known, offers={**known.offers, Source.DEFAULT: (*offers, more)})
    assert requirement_lines(build(known=known)) == ["torch==9.0.0"]


def test_a_wheel_that_was_replaced_after_the_index_was_read_is_refused(index: Index, tmp_path: Path) -> None:
    wanted = build()
    build_torch(index.folder, "9.0.0", requires=["numpy"])
    assert "Hash mismatch for `torch==9.0.0`" in reason(tmp_path, wanted)
    assert installed(tmp_path, build()) == {"torch-9.0.0", "numpy-1.26.4"}  # what it lists now


@pytest.mark.parametrize("sign", ["${SECRET}", "$SECRET", " --extra-index-url=x", "\n-r x", "\t; x", "\\", "\u202e"])
def test_an_address_gives_no_orders(index: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sign: str) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    address = f"{index.url.removesuffix('simple/')}files/{sign}/{TORCH}"
    wheel = Wheel(Offer(TORCH, address, DIGEST), Source.CPU, "cp311", choose_wheel(RELEASE, sources()).executable)
    wanted = Build(str(RELEASE), wheel, ())
    (line,) = requirement_lines(wanted)
    assert len(line.split()) == 3
    reason(tmp_path, wanted)
    assert all("hunter2" not in request.path for request in index.requests)
    assert any(TORCH in request.path for request in index.requests)


@pytest.mark.parametrize("digest", ["x", "1" * 63, f"{DIGEST} --index-url=x", "é" * 64])
def test_what_is_no_digest_is_none(index: Index, monkeypatch: pytest.MonkeyPatch, digest: str) -> None:
    honest = _Listed.as_json
    monkeypatch.setattr(_Listed, "as_json", lambda file: {**honest(file), "hashes": {"sha256": digest}})
    assert {offer.sha256 for offer in offers_of_index(index.url)} == {None}


def test_no_package_is_built(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "built"
    source = tmp_path / "evil-1.0"
    source.mkdir()
    (source / "setup.py").write_text(f"open({str(trace)!r}, 'w')\n")
    links = tmp_path / "links"
    links.mkdir()
    with tarfile.open(links / "evil-1.0.tar.gz", "w:gz") as archive:
        archive.add(source, "evil-1.0")
    monkeypatch.setenv("UV_FIND_LINKS", str(links))
    assert "evil" in reason(tmp_path, build("evil"))
    assert not trace.exists()


def test_what_is_locked_and_nothing_else(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_package(index.folder, "dep", "1.0")
    build_torch(index.folder, "9.0.0", requires=["dep"])
    wanted = build("numpy")
    locked = locked_for(wanted)
    assert [(one.name, one.version) for one in locked] == [("dep", "1.0"), ("numpy", "1.26.4"), ("torch", "9.0.0")]
    assert {one.sha256 for one in locked} == {(digest_of(index, wheel.name),) for wheel in wheels(index, locked)}
    build_package(index.folder, "numpy", "1.26.9")
    whole = msgspec.structs.replace(wanted, locked=locked)
    assert installed(tmp_path, whole) == {"dep-1.0", "numpy-1.26.4", "torch-9.0.0"}

    lacking = msgspec.structs.replace(wanted, locked=tuple(one for one in locked if one.name != "dep"))
    said = reason(tmp_path, lacking)
    assert "no trusted hash was provided for: `dep`" in said
    assert "matrix/lock.toml says what may be: recompat lock --torch 9.0.0 writes it anew." in said
    for name, version in (("dep", "1.0"), ("torch", "9.0.0")):
        assert f"Hash mismatch for `{name}=={version}`" in reason(tmp_path, relocked(wanted, name, DIGEST))

    build_package(index.folder, "dep", "1.0", modules={"dep": "STOLEN = True\n"})
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "another-cache"))
    assert "Hash mismatch for `dep==1.0`" in reason(tmp_path, whole)
    (index.folder / "dep-1.0-py3-none-any.whl").unlink()
    assert "dep was not found in the package registry" in reason(tmp_path, whole)


def wheels(index: Index, locked: tuple[LockedPackage, ...]) -> list[Path]:
    return [index.folder / f"{one.name}-{one.version}-py3-none-any.whl" for one in locked]


def test_a_wheel_from_a_folder_is_held_to_the_lock(tmp_path: Path) -> None:
    folder = build_torch(tmp_path / "local", "9.0.0").parent
    known = find_sources("auto", [folder], f"{NOWHERE}/cpu")
    locked = lock_target(Target(RELEASE), known, ()).packages
    wanted = build(locked=locked, known=known)
    assert wanted.wheel.source is Source.FOLDER
    assert installed(tmp_path, wanted) == {"torch-9.0.0"}
    build_torch(folder, "9.0.0", absent=["noop_context_fn"])
    assert "Hash mismatch for `torch" in reason(tmp_path, wanted)


@pytest.mark.parametrize("fault", [Fault.WRONG_HASH, Fault.TRUNCATED])
def test_a_wheel_that_is_not_what_the_index_says(index: Index, tmp_path: Path, fault: Fault) -> None:
    index.faults[TORCH] = fault
    assert "torch 9.0.0 was not installed: " in reason(tmp_path, build())
    index.faults.clear()
    assert installed(tmp_path, build()) == {"torch-9.0.0"}


def test_what_uv_has_in_its_cache_is_not_held_against_the_index(index: Index, tmp_path: Path) -> None:
    named = find_sources("cpu", [], index.url)
    assert installed(tmp_path, build(known=named)) == {"torch-9.0.0"}
    build_torch(index.folder, "9.0.0", requires=["numpy"])  # at the same address
    named = find_sources("cpu", [], index.url)
    assert installed(tmp_path, build(known=named)) == {"torch-9.0.0", "numpy-1.26.4"}


def test_a_wheel_of_another_version_than_its_name(index: Index, tmp_path: Path) -> None:
    build_torch(index.folder, "9.2.0").rename(index.folder / TORCH)
    assert "Wheel version does not match filename (9.2.0 != 9.0.0)" in reason(tmp_path, build())


def test_a_lock_names_no_index(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index.login = "me:secret"
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.url_with_login)
    made = lock_target(Target(RELEASE), sources(), ["numpy"])
    text = render_lock(Lock((made,)))
    assert not any(part in text for part in ("http", "127.0.0.1", "secret", "simple"))
