"""Ends what this process started and has not ended, also where it is killed, and also what began a session of its own. On Linux.

A small process waits for the end of a pipe of which nothing but this process holds the other end. Then it kills whatever has the
mark of this process among its variables; what has made itself other variables is not found.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from recompat.marked import end_marked

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MARK", "end_reaped", "reaped"]

MARK: Final = "RECOMPAT_HOST"
REAPING: Final = """\
import os, signal, sys, time
mark = os.fsencode(sys.argv[1])
sys.stdin.buffer.read()
left = True
end = time.monotonic() + 5
while left and time.monotonic() < end:
    left = False
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark in file.read().split(b"\\0"):
                    left = True
                    os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass
"""
_lock = threading.Lock()


def reaped(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process that is to end with this one, and all that it starts with it."""
    with _lock:
        return {**environ, MARK: _watched()}


def end_reaped() -> None:
    """End all of these now, and whatever they started; on Linux alone."""
    with _lock:
        if _watched.cache_info().currsize:
            end_marked(MARK, _watched())


@functools.cache
def _watched() -> str:
    """Start the reaper; return the mark of what it will end."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    if sys.platform.startswith("linux"):
        command = [sys.executable, "-I", "-S", "-c", REAPING, f"{MARK}={mark}"]
        nothing = subprocess.DEVNULL
        reaper = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, cwd="/", start_new_session=True
        )
        atexit.register(_let_go, reaper)
    return mark


def _let_go(reaper: subprocess.Popen[bytes]) -> None:
    """Have it do its work now, and wait for that, whoever presses Ctrl-C once more."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(ValueError):  # only the main thread may
            signal.signal(number, signal.SIG_IGN)
    reaper.communicate()
