"""A forked child per trial, each with a process group, a time limit and a private file for its result."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import deque
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, NoReturn

if TYPE_CHECKING:
    from types import FrameType

    from recompat_probe.tasks import Task
    from recompat_probe.wire import Wire

__all__ = ["PROBE_FAILED", "Children", "die_with_parent", "flush_log"]

PROBE_FAILED = 70
_exit = os._exit  # a trial may put something else in its place
PAUSE = 0.005  # seconds between looks at the children: a fifth of the shortest trial
STOPPING = (signal.SIGTERM, signal.SIGINT)
PR_SET_PDEATHSIG = 1


class _Running(NamedTuple):
    task: Task
    result: str
    since: float


class Children:
    """The trials that are running. A signal to stop kills them and ends the process at once."""

    def __init__(self, wire: Wire, jobs: int, limit: float) -> None:
        self._wire = wire
        self._jobs = jobs
        self._limit = limit
        self._running: dict[int, _Running] = {}
        self._folder = ""

    def run(self, tasks: Iterable[Task]) -> None:
        """Run every task, ``jobs`` at once, each with its pair of events."""
        waiting = deque(tasks)
        with self._prepared():
            while waiting or self._running:
                while waiting and len(self._running) < self._jobs:
                    self._start(waiting.popleft())
                time.sleep(PAUSE)
                for pid, running in list(self._running.items()):
                    self._look_after(pid, running)

    @contextlib.contextmanager
    def _prepared(self) -> Iterator[None]:
        self._folder = tempfile.mkdtemp(prefix="trials-", dir=self._wire.folder)
        before = {number: signal.signal(number, self._stop) for number in STOPPING}
        try:
            yield
        finally:
            self._clear()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self._clear()
        os._exit(128 + number)

    def _clear(self) -> None:
        for pid in self._running:
            _kill(pid)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, task: Task) -> None:
        task.started(self._wire)
        descriptor, result = tempfile.mkstemp(dir=self._folder)
        os.close(descriptor)
        flush_log()
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)  # neither may a child be missed nor our handler run in it
        pid = os.fork()
        if pid == 0:
            self._running.clear()  # whatever comes, a child ends nobody but itself
            _live(task, result, parent)
        self._running[pid] = _Running(task, result, time.monotonic())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)

    def _look_after(self, pid: int, running: _Running) -> None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        seconds = time.monotonic() - running.since
        if not ended and seconds < self._limit:
            return
        if ended:
            _kill_group(pid)  # what the trial left behind, such as compile workers
            result = _read(running.result) or running.task.lost("crash", _ending(status))
        else:
            _kill(pid)
            os.waitpid(pid, 0)
            result = running.task.lost("timeout", f"no result within {self._limit:g} s")
        del self._running[pid]
        running.task.finished(self._wire, seconds, result)


def die_with_parent(parent: int) -> None:
    """On Linux, have this process killed when the thread that started it ends, even by SIGKILL."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before we asked
            os._exit(PROBE_FAILED)


def _live(task: Task, result: str, parent: int) -> NoReturn:
    """Be the child: whatever happens, nothing of the parent's code runs after this."""
    status = PROBE_FAILED
    try:
        os.setsid()
        die_with_parent(parent)
        _look_fresh()
        content = json.dumps(task.run(), allow_nan=False)
        with open(result, "w") as file:
            file.write(content)
        status = 0
    except BaseException:  # noqa: BLE001  (nothing may unwind into the parent's code)
        traceback.print_exc()
    finally:
        flush_log()
        _exit(status)


def _look_fresh() -> None:
    """Give the trial the signal handlers of a process of its own."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def flush_log() -> None:
    """Write out what is buffered: neither a fork nor a sudden end may double or lose it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a trial may have closed it
            stream.flush()


def _kill(pid: int) -> None:
    """Kill a child that was not waited for yet, with its group, which it does not lead in its first moments."""
    _kill_group(pid)
    os.kill(pid, signal.SIGKILL)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # none left, or (on macOS) only zombies
        os.killpg(pid, signal.SIGKILL)


def _read(result: str) -> dict[str, Any] | None:
    """Return what a child wrote, or None if it did not come to that."""
    try:
        with open(result) as file:
            content = json.load(file)
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and "outcome" in content else None


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        try:
            return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
        except ValueError:  # a real-time signal
            return f"ended by signal {os.WTERMSIG(status)}"
    return f"exited with status {os.WEXITSTATUS(status)}"
