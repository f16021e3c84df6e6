"""``matrix/lock.toml``: read and written without loss, refused where it is not what it should be, held against what is chosen."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from typing import TYPE_CHECKING

import msgspec
import pytest
from packaging.version import Version

from recompat.errors import ConfigurationError
from recompat.index import Offer
from recompat.lock import Lock, LockedEnvironment, LockedPackage, load_lock, render_lock
from recompat.sources import Source
from recompat.tracks import Target
from recompat.wheels import EnvironmentTrouble, Wheel

if TYPE_CHECKING:
    from pathlib import Path

ONE, OTHER = "1" * 64, "2" * 64
TORCH = LockedPackage("torch", "2.11.0+cpu", (ONE,))
NUMPY = LockedPackage("numpy", "2.3.1", (ONE, OTHER))
ALONE = LockedEnvironment("2.11.0", "cp311", "linux_x86_64", (NUMPY, TORCH), ("numpy",))
BESIDE = msgspec.structs.replace(ALONE, beside={"transformers": "4.57.6"})
OFFER = Offer("torch-2.11.0+cpu-cp311-cp311-linux_x86_64.whl", "https://example.org/torch.whl", ONE)
WHEEL = Wheel(OFFER, Source.CPU, "cp311", "python", (ONE,))
TARGET = Target(Version("2.11.0"))


def written(folder: Path, text: str) -> Path:
    path = folder / "lock.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    lock = Lock((ALONE, BESIDE))
    text = render_lock(lock)
    assert load_lock(written(tmp_path, text)) == lock
    assert tomllib.loads(text)["lock-version"] == 1
    assert load_lock(written(tmp_path, render_lock(Lock()))) == Lock()


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("lock-version = 1", "lock-version = 2", "[lock-version] is 2, and this recompat reads 1; recompat lock"),
        ("lock-version = 1", "", "[lock-version] is missing"),
        ('name = "numpy"', 'name = "numpy @ https://x/y.whl"', 'write the name of a package such as "numpy"'),
        ('"2.3.1"', '"2.3.1 --index-url=x"', "write a version such as"),
        (f'["{ONE}", "{OTHER}"]', "[]", "sha256 is no list of digests"),
        (OTHER, "2" * 63, "sha256 is no list of digests"),
        ('name = "torch"', 'name = "NumPy"', "names torch not once, or another package twice"),
        ('torch = "2.11.0"', 'torch = "latest"', 'write a release such as "2.11.0"'),
        ("requires", "url", "is not a known key"),
    ],
)
def test_a_file_that_is_not_so_is_refused(tmp_path: Path, right: str, wrong: str, fault: str) -> None:
    text = render_lock(Lock((ALONE,)))
    assert right in text
    with pytest.raises(ConfigurationError) as caught:
        load_lock(written(tmp_path, text.replace(right, wrong)))
    assert fault in str(caught.value)


def test_an_environment_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="names a release twice"):
        load_lock(written(tmp_path, render_lock(Lock((ALONE, ALONE)))))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"There is no file .*; recompat lock writes it\."):
        load_lock(tmp_path / "lock.toml")


def test_new_environments_take_the_place_of_the_same_and_leave_others() -> None:
    elsewhere = msgspec.structs.replace(ALONE, platform="macosx_arm64")
    anew = msgspec.structs.replace(ALONE, packages=(TORCH,))
    older = msgspec.structs.replace(ALONE, torch="2.9.1")
    made = Lock((ALONE, elsewhere, BESIDE)).with_environments([anew, older])
    assert made.environments == (older, anew, elsewhere, BESIDE)


def test_what_results_depend_on_is_the_release_alone() -> None:
    lock, release = Lock((ALONE, BESIDE)), Version("2.11.0")
    assert lock.digest(release) == Lock((BESIDE, ALONE, msgspec.structs.replace(ALONE, torch="2.9.1"))).digest(release)
    assert lock.digest(release) != Lock((ALONE,)).digest(release)
    assert lock.digest(release) != lock.digest(Version("2.9.1"))


def test_what_is_locked_is_found() -> None:
    lock = Lock((ALONE, BESIDE))
    assert lock.environment(TARGET, WHEEL, "linux_x86_64", ["numpy"]) == ALONE
    beside = Target(TARGET.torch, (("transformers", "4.57.6"),))
    assert lock.environment(beside, WHEEL, "linux_x86_64", ["numpy"]) == BESIDE


@dataclasses.dataclass
class Asked:
    target: Target = TARGET
    wheel: Wheel = WHEEL
    platform: str = "linux_x86_64"
    beside: tuple[str, ...] = ("numpy",)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (Asked(platform="win_amd64"), "matrix/lock.toml has no torch 2.11.0 for cp311 on win_amd64; recompat lock"),
        (
            Asked(target=Target(TARGET.torch, (("transformers", "5.0"),))),
            "matrix/lock.toml has no torch 2.11.0 with transformers 5.0 for cp311 on linux_x86_64; recompat lock",
        ),
        (
            Asked(beside=()),
            "matrix/lock.toml has torch 2.11.0 with numpy, and nothing is asked for beside it; recompat lock",
        ),
        (
            Asked(wheel=msgspec.structs.replace(WHEEL, digests=(OTHER,))),
            "torch-2.11.0+cpu-cp311-cp311-linux_x86_64.whl of the CPU index has another digest than matrix/lock.toml says",
        ),
        (
            Asked(
                wheel=msgspec.structs.replace(
                    WHEEL,
                    offer=msgspec.structs.replace(OFFER, filename="torch-2.11.0-cp311-cp311-linux_x86_64.whl"),
                    source=Source.DEFAULT,
                )
            ),
            "matrix/lock.toml has torch 2.11.0+cpu, and the default index 2.11.0; recompat lock --torch 2.11.0 writes it.",
        ),
    ],
)
def test_what_is_not_locked_is_told(asked: Asked, reason: str) -> None:
    with pytest.raises(EnvironmentTrouble) as caught:
        Lock((ALONE,)).environment(asked.target, asked.wheel, asked.platform, asked.beside)
    assert caught.value.trouble.reason.startswith(reason)


def test_what_is_written_can_be_read_whatever_it_says(tmp_path: Path) -> None:
    lock = Lock(
        (LockedEnvironment("2.11.0", "\U0001f600\x7f", '"\\\n', (TORCH,), ("\x00\u2028",), {"numpy": "1.26.4"}),)
    )
    assert load_lock(written(tmp_path, render_lock(lock))) == lock


def test_what_stands_beside_torch_is_a_package_with_its_version(tmp_path: Path) -> None:
    for name, version in (("x\x1b[31m", "1"), ("numpy", "9" * 5_000), ("torch", "2")):
        text = render_lock(Lock((BESIDE,))).replace('transformers = "4.57.6"', f'{json.dumps(name)} = "{version}"')
        with pytest.raises(ConfigurationError, match="which is no package with its version"):
            load_lock(written(tmp_path, text))
