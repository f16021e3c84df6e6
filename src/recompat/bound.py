"""Commands, and processes of a run, that do not outlive what started them: not even where that is killed. On Linux alone."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

from recompat.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OUTSIDE", "bound", "end_with", "is_from_outside"]

PR_SET_PDEATHSIG: Final = 1  # what the kernel keeps across execve
OUTSIDE: Final = ("SIGHUP", "SIGINT", "SIGKILL", "SIGTERM")
"""What others end a process with: the kernel where memory runs out, a supervisor, a person."""
BINDING: Final = f"""\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl({PR_SET_PDEATHSIG}, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("What started this has ended.")
for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(ignored, signal.SIG_DFL)
try:
    os.execv(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.exit(f"{{sys.argv[2]}}: {{error.strerror}}")
"""


def bound(command: Sequence[str]) -> list[str]:
    """Have a command killed when the thread that starts it ends, from before its first instruction on.

    It is done by a Python that becomes the command: what runs between fork and exec would not be safe beside other threads.
    """
    if not sys.platform.startswith("linux"):
        return list(command)
    return [sys.executable, "-I", "-S", "-c", BINDING, str(os.getpid()), *command]


def is_from_outside(status: int) -> bool:
    """Whether a process was ended by another, so far as its status tells, which is as ``Popen.returncode`` has it."""
    return any(-status == getattr(signal, name, None) for name in OUTSIDE)


def end_with(parent: int) -> None:
    """Have this process get SIGTERM when its parent dies, and end it at once if that has happened."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(ExitCode.INTERRUPTED)
