"""The programs that recompat runs."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

from recompat.errors import ConfigurationError
from recompat.room import check_room

__all__ = ["check_uv", "uv_binary"]


@functools.cache
def uv_binary() -> str:
    """The uv that came with ``nox[uv]``, or the one on PATH.

    Raises:
        ConfigurationError: there is none.
    """
    found: str | None
    try:
        import uv
    except ImportError:
        found = shutil.which("uv")
    else:
        try:
            found = uv.find_uv_bin()
        except FileNotFoundError:  # the package is there without its program
            found = shutil.which("uv")
    if not found:
        raise ConfigurationError('uv is missing; install it with: python -m pip install "nox[uv]"')
    return found


def check_uv() -> None:
    """See that uv is there and can write to its cache: nox runs it too, and its failure would look like ours.

    Raises:
        ConfigurationError: it is not.
        OSError: it cannot.
    """
    done = subprocess.run([uv_binary(), "cache", "dir"], capture_output=True, check=False)
    told = os.fsdecode(done.stdout.strip())
    if not told or os.environ.get("UV_NO_CACHE"):
        return
    check_room(Path(told))
