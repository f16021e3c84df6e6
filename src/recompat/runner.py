"""Starts probes and reads what they write; the only place that waits for one, and the only one that ends one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from recompat.bound import bound
from recompat.marked import end_marked
from recompat.memory import limit_memory
from recompat.reaper import reaped
from recompat.temporary import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "Event",
    "ProbeEnd",
    "Spawn",
    "Started",
    "importing",
    "passed_on",
    "probe_folder",
    "run_probe",
    "start_logged",
    "start_probe",
]

POLL_SECONDS = 0.02
LOG_BYTES = 4_000_000  # of what the probes of an environment print
CHUNK = 65_536
TERM_SECONDS = 1.0  # what a probe gets to end its trials, before it is killed
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "LD_LIBRARY_PATH", "CXX")
MARK = "RECOMPAT_PROBE"
"""The variable that all has that a probe starts; its value is the file of the probe's events."""

Event = dict[str, object]


class Started(Protocol):
    """A probe that runs: what ``subprocess.Popen`` offers of itself."""

    pid: int

    def poll(self) -> int | None:
        """The exit status, or None while it runs; negative for a signal."""

    def wait(self) -> int:
        """Wait for the end."""


class Spawn(Protocol):
    """Starts a probe: the one seam for tests."""

    def __call__(self, python: Path, arguments: Sequence[str], log: Path, /) -> Started:
        """Start it in a process group of its own, its output going to ``log``."""


class ProbeEnd(msgspec.Struct, frozen=True):
    """How a probe ended: ``stalled`` if it was ended because nothing came for too long."""

    events: tuple[Event, ...]
    status: int
    stalled: bool

    @property
    def whole(self) -> bool:
        """Whether the probe came to its own end."""
        return bool(self.events) and self.events[-1]["event"] == "end"


def probe_folder() -> Path:
    """Where the probe's source stands, found without importing it."""
    spec = find_spec("recompat_probe")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("recompat_probe is not installed beside recompat")
    return Path(spec.origin).parent


def start_probe(python: Path, arguments: Sequence[str], log: Path, environ: Mapping[str, str] | None = None) -> Started:
    """Start the probe by path. It gets a few of our environment variables and no more: it runs other people's code.

    It works in an empty folder: what a case leaves or removes there is nobody's.
    """
    flags = ["-I", "-X", "faulthandler"] + ([] if "--facts" in arguments else ["-B"])
    variables = passed_on(PASSED_ON) if environ is None else environ
    command = [os.path.abspath(python), *flags, str(probe_folder() / "__main__.py"), *arguments]  # noqa: PTH100 - a link
    if arguments[:1] != ["--out"]:
        return start_logged(command, log, variables)
    folder = Path(f"{arguments[1]}.work")
    folder.mkdir()
    return start_logged(command, log, {**variables, MARK: arguments[1]}, folder)


@contextlib.contextmanager
def importing(python: Path, module: str, memory: int | None = None) -> Iterator[None]:
    """Have an environment import a module meanwhile, which byte-compiles it; that it has none, or a broken one, is not told here.

    It is as a probe is: with a few variables, in an empty folder, and ended with all that it started.
    """
    command = [os.path.abspath(python), "-I", "-c", f"import {module}"]  # noqa: PTH100 - a link
    with TemporaryFolder() as folder:
        started = start_logged(command, Path(os.devnull), {**passed_on(PASSED_ON), MARK: str(folder)}, folder)
        if memory is not None:
            limit_memory(started.pid, memory)
        try:
            yield
        finally:
            _end(started)
            end_marked(MARK, str(folder))
            started.wait()


def passed_on(names: Iterable[str]) -> dict[str, str]:
    """Our own variables of these names, as far as they are set."""
    return {name: os.environ[name] for name in names if name in os.environ}


def start_logged(command: Sequence[str], log: Path, environ: Mapping[str, str], folder: Path | None = None) -> Started:
    """Start a command in a process group of its own, in ``folder``; what it prints goes to ``log``, up to a limit."""
    log.parent.mkdir(parents=True, exist_ok=True)
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            bound(command),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            env=reaped(environ),
            cwd=folder,
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    threading.Thread(target=_keep, args=(reading, log), daemon=True).start()
    return process


def _keep(pipe: int, log: Path) -> None:
    """Write to ``log`` what comes out of ``pipe``, up to a limit, and forget the rest: an unread pipe would stop the probe."""
    with open(pipe, "rb", buffering=0) as output:
        with contextlib.suppress(OSError), log.open("ab", buffering=0) as file:  # a full disk may cost us the log alone
            while (room := LOG_BYTES - file.tell()) > 0 and (chunk := output.read(CHUNK)):
                file.write(chunk[:room])
                if len(chunk) > room:
                    file.write(b"\n... what follows is not kept\n")
        while output.read(CHUNK):
            pass


def run_probe(
    spawn: Spawn,
    python: Path,
    arguments: Sequence[str],
    out: Path,
    log: Path,
    patience: Callable[[Event | None], float],
    heard: Callable[[Event], None] = lambda _: None,
    stop: threading.Event | None = None,
    memory: int | None = None,
) -> ProbeEnd:
    """Run a probe to its end and read its events.

    Args:
        out: the file that the probe writes; it must not exist.
        patience: how many seconds may follow an event (None before the first) before the probe is ended.
        heard: told each event as it comes.
        stop: once set, the probe is ended as if it had stalled.
        memory: how many bytes each of its processes may have.

    The probe is ended in every case, an interrupt included, with all that it started: also what made itself a daemon.
    """
    probe = spawn(python, ["--out", str(out), *arguments], log)
    if memory is not None:
        limit_memory(probe.pid, memory)
    reader = _Reader(out)
    events: list[Event] = []
    stalled = False
    last = time.monotonic()
    try:
        while True:
            status = probe.poll()
            for event in reader.read():
                events.append(event)
                heard(event)
                last = time.monotonic()
            if status is not None:
                break
            silence = time.monotonic() - last
            if (stop and stop.is_set()) or silence > patience(events[-1] if events else None):
                stalled = True
                break
            time.sleep(POLL_SECONDS)
    finally:
        _end(probe)
        end_marked(MARK, str(out))
        status = probe.wait()
    return ProbeEnd(tuple(events), status, stalled)


class _Reader:
    """Reads the whole lines that were appended to a file since the last time; a torn last line is left alone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def read(self) -> Iterator[Event]:
        with contextlib.suppress(FileNotFoundError), self._path.open("rb") as file:
            file.seek(self._offset)
            whole, newline, _ = file.read().rpartition(b"\n")
            self._offset += len(whole) + len(newline)
            for line in whole.splitlines():
                with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
                    yield msgspec.json.decode(line, type=Event)


def _end(probe: Started) -> None:
    """End the probe and all that it started. Its trials are in groups of their own: on SIGTERM it ends them itself."""
    if probe.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(probe.pid, signal.SIGTERM)
        patience = time.monotonic() + TERM_SECONDS
        while probe.poll() is None and time.monotonic() < patience:
            time.sleep(POLL_SECONDS)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(probe.pid, signal.SIGKILL)
