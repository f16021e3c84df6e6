"""Disks that are really full, and folders that really cannot be written, whoever runs the tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["fill", "read_only", "small_disk"]

SIZE = 1 << 20  # bytes
SMALL_ANYWAY = 1 << 28  # bytes: a disk that can be filled for a moment
PLACES = ("/run/lock", "/dev/shm")  # 5 MB on Debian, 64 MB in a container; everybody may write there
NOBODY_WRITES = "/sys"  # not even root


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Give ``folder`` a disk of its own with a megabyte: a mounted one where that is allowed, else one that is small anyway."""
    with contextlib.ExitStack() as stack:
        if not _mounted(folder, f"size={SIZE}", stack):
            place = _small_place()
            stack.enter_context(FileLock(Path(tempfile.gettempdir(), "recompat-tests-disk.lock")))  # one at a time
            lent = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)))
            filler = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)), "filler")
            with filler.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(place).free - SIZE)
            stack.enter_context(_leading_to(folder, lent))
        yield


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nobody write to ``folder``, root included; what was in it is out of sight meanwhile."""
    with contextlib.ExitStack() as stack:
        if not _mounted(folder, "ro", stack):
            stack.enter_context(_leading_to(folder, Path(NOBODY_WRITES)))
        yield


def fill(folder: Path, *, leave: int = 0) -> Path:
    """Take all the room of a small disk but ``leave`` bytes; return the file that does."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    os.truncate(path, path.stat().st_size - leave)
    return path


def _mounted(folder: Path, options: str, stack: contextlib.ExitStack) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    with contextlib.suppress(OSError):
        if subprocess.run(mount, capture_output=True, check=False).returncode == 0:
            stack.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
            return True
    return False


def _small_place() -> Path:
    for place in map(Path, PLACES):
        if place.is_dir() and os.access(place, os.W_OK) and shutil.disk_usage(place).free < SMALL_ANYWAY:
            return place
    pytest.fail(f"no disk can be filled: this user may not mount one, and none of {', '.join(PLACES)} is small")


@contextlib.contextmanager
def _leading_to(folder: Path, target: Path) -> Iterator[None]:
    """Put a link to ``target`` in the place of ``folder``."""
    aside = folder.with_name(f"{folder.name}-aside")
    folder.rename(aside)
    folder.symlink_to(target)
    try:
        yield
    finally:
        folder.unlink()
        aside.rename(folder)
