"""Whether there is room on a disk: for bytes, and for files."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_room", "free_gib", "says_full", "was_full"]

GIB: Final = 1 << 30
EMPTY_ENVIRONMENT: Final = 1 << 18  # bytes
ITS_FILES: Final = 64
FULL: Final = 1 << 16  # bytes that are of no use
LAST: Final = 1 << 20  # bytes of a log


def check_room(folder: Path) -> None:
    """See that an empty environment, or what uv asks of an interpreter, can be written: where nox fails at it, that looks like ours.

    Raises:
        OSError: it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            for number in range(ITS_FILES):
                file = stack.enter_context(tempfile.TemporaryFile(dir=folder, buffering=0))
                content = bytes(0 if number else EMPTY_ENVIRONMENT)
                if file.write(content) < len(content):  # the last that fits is no error
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error


def free_gib(folder: Path) -> float:
    """How many GiB are free where ``folder`` stands."""
    return shutil.disk_usage(folder).free / GIB


def was_full(log: Path, folders: Iterable[Path]) -> bool:
    """Whether what printed ``log`` failed since a disk was full: it says so, or one of ``folders`` stands on such a disk."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LAST))
        if says_full(file.read().decode("utf-8", "replace")):
            return True
    return any(map(_is_full, (*folders, Path(tempfile.gettempdir()))))


def says_full(text: str) -> bool:
    """Whether a program said that a disk is full."""
    return os.strerror(errno.ENOSPC).lower() in text.lower()


def _is_full(folder: Path) -> bool:
    try:
        files = os.statvfs(folder) if hasattr(os, "statvfs") else None
        lacks_files = files is not None and files.f_files > 0 and files.f_favail < ITS_FILES
        return lacks_files or shutil.disk_usage(folder).free < FULL
    except OSError:  # it is not there any more
        return False
