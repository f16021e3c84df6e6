from __future__ import annotations

import csv
import hashlib
import zipfile
from typing import TYPE_CHECKING

import pytest

from recompat.environment import wheel_digest
from support.environment import make_environment
from support.wheels import build_torch

if TYPE_CHECKING:
    from pathlib import Path


def installed(wheel: Path, location: Path, env: dict[str, str]) -> str | None:
    make_environment(location, str(wheel), env=env)
    assert str(location) in (location / "bin" / "torchrun").read_text()
    return wheel_digest(location)


@pytest.mark.usefixtures("index")
def test_a_wheel_has_one_digest_wherever_it_is_installed(tmp_path: Path, env: dict[str, str]) -> None:
    wheel = build_torch(tmp_path / "made", "9.0.0")
    one, other = (installed(wheel, tmp_path / name, env) for name in ("here", "further away"))
    assert one == other
    assert one == of_the_wheel_itself(wheel)
    assert installed(build_torch(tmp_path / "made", "9.1.0"), tmp_path / "later", env) != one


def of_the_wheel_itself(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
        rows = csv.reader(archive.read(name).decode().splitlines())
        lines = sorted(",".join(row) for row in rows if row[0] != name)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def test_where_no_torch_is_installed_there_is_none(tmp_path: Path) -> None:
    assert wheel_digest(tmp_path) is None


@pytest.mark.parametrize("content", [b"\xff", b"a" * 200_000, b'"' + b"\n" * 200_000])
def test_a_list_of_files_that_cannot_be_read_has_none(content: bytes, tmp_path: Path) -> None:
    info = tmp_path / "lib" / "python3.11" / "site-packages" / "torch-9.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "RECORD").write_bytes(content)
    assert wheel_digest(tmp_path) is None
