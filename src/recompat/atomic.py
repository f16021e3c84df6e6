"""Files that are seen whole or not at all."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from recompat.temporary import temporary_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that is seen whole or not at all, whatever happens meanwhile."""
    try:
        with contextlib.suppress(FileNotFoundError):  # before it was locked, it was taken for one that was left
            return _replace(path, content)
        _replace(path, content)
    except OSError as error:  # it names the temporary file, which tells nobody anything
        error.filename, error.filename2 = str(path), None
        raise


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with temporary_file(path) as (handle, temporary):
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())  # it was made so that only its owner can read it
        temporary.replace(path)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
