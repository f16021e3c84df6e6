"""Which processes a run consists of, and the moment at which one of them is ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Process", "end_all", "entered", "of_run"]

IN_CREATE = 0x100


class Process(NamedTuple):
    """A process of a run. ``role`` is nox, child (of ``nox -j``), uv, probe, trial, script or other."""

    pid: int
    role: str
    command: str

    def kill(self, by: signal.Signals) -> bool:
        """Send a signal; False where it has ended meanwhile."""
        try:
            os.kill(self.pid, by)
        except ProcessLookupError:
            return False
        return True


def of_run(home: str, first: int) -> list[Process]:
    """The living processes whose HOME, or whose files, are in a place of their own; zombies are none.

    Args:
        home: a path that no other process has in its command line or environment.
        first: the process that was started.
    """
    found = dict(_processes(home))
    commands = {pid: command for pid, (_, command) in found.items()}
    return [
        Process(pid, _role(pid, command, parent, commands, first), " ".join(command))
        for pid, (parent, command) in sorted(found.items())
    ]


def end_all(home: str) -> None:
    """As a power cut does: all stand still, and then all are gone."""
    for by in (signal.SIGSTOP, signal.SIGSTOP, signal.SIGKILL):  # the second for what was forked meanwhile
        for process in of_run(home, 0):
            process.kill(by)


@contextlib.contextmanager
def entered(folder: Path, name: str) -> Iterator[_Watch]:
    """Notice at once when something whose name begins so is made in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = library.inotify_init1(os.O_CLOEXEC)
    try:
        if library.inotify_add_watch(descriptor, os.fsencode(folder), IN_CREATE) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch", str(folder))
        yield _Watch(descriptor, name.encode())
    finally:
        os.close(descriptor)


class _Watch:
    def __init__(self, descriptor: int, name: bytes) -> None:
        self._descriptor = descriptor
        self._name = name

    def wait(self, seconds: float) -> bool:
        """Whether it was made within that time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and select.select([self._descriptor], [], [], left)[0]:
            if b"\0" + self._name in b"\0" + os.read(self._descriptor, 65536):
                return True
        return False


def _processes(home: str) -> Iterator[tuple[int, tuple[int, list[str]]]]:
    mark = home.encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):  # it has ended meanwhile
            command = (folder / "cmdline").read_bytes()
            if command and mark in command + (folder / "environ").read_bytes():
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                yield int(folder.name), (int(parent), command.decode("utf-8", "replace").split("\0")[:-1])


def _role(pid: int, command: list[str], parent: int, commands: dict[int, list[str]], first: int) -> str:
    def runs(name: str, words: list[str]) -> bool:
        return any(word.endswith(name) for word in words)

    if pid == first:
        return "nox"
    if Path(command[0]).name == "uv":
        return "uv"
    if runs("recompat_probe/__main__.py", command) and "-c" not in command:
        return "trial" if runs("recompat_probe/__main__.py", commands.get(parent, [])) else "probe"
    if runs("script_runner.py", command):
        return "script"
    return "child" if parent == first and runs("nox", command) else "other"
