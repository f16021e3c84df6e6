"""Processes that are known by a variable that they were started with, whatever session they are in now. On Linux alone."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["end_marked"]

ROUNDS: Final = 100  # of looking for what is left: it may start more meanwhile
PAUSE: Final = 0.01


def end_marked(name: str, value: str) -> None:
    """End all that has the variable ``name`` with that value, also daemons; what has made itself other variables is not found."""
    mark = os.fsencode(f"{name}={value}")
    for _ in range(ROUNDS):
        left = list(_processes(mark))
        for process in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        if not left:
            return
        time.sleep(PAUSE)


def _processes(mark: bytes) -> Iterator[int]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile, or is another user's
            if mark in (process / "environ").read_bytes().split(b"\0"):
                yield int(process.name)
