"""What a process has started ends with it: whatever it began a session of its own, and however it ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recompat.reaper import MARK
from support.sessions import wait_for

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes tell their variables on Linux")
STARTS = """
import subprocess, sys
from pathlib import Path
from recompat.runner import start_logged
script = f"setsid sleep 60 & echo $! > {sys.argv[1]}/new; mv {sys.argv[1]}/new {sys.argv[1]}/pid; sleep {sys.argv[2]}"
started = start_logged(["/bin/sh", "-c", script], Path(sys.argv[1], "log"), {"PATH": "/bin:/usr/bin"})
"""


def started(folder: Path, then: str, seconds: int) -> tuple[subprocess.Popen[bytes], int]:
    """A process that starts a shell, which leaves a process in a session of its own and ends after some seconds."""
    process = subprocess.Popen([sys.executable, "-c", STARTS + then, str(folder), str(seconds)])
    wait_for((folder / "pid").exists, "the shell has started it")
    return process, int((folder / "pid").read_text())


def environ(pid: int) -> list[bytes]:
    """The variables of a process; none where it has ended."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def test_what_stayed_is_ended_at_the_end(tmp_path: Path) -> None:
    process, pid = started(tmp_path, "started.wait()", 0)
    assert process.wait(30) == 0
    assert environ(pid) in ([], [b""]), "before the process itself has ended"


def test_where_it_is_killed_all_that_it_started_is_ended(tmp_path: Path) -> None:
    process, pid = started(tmp_path, "started.wait()", 60)
    assert any(variable.startswith(MARK.encode()) for variable in environ(pid))
    process.kill()
    process.wait()
    wait_for(lambda: environ(pid) in ([], [b""]), "it is ended")


def test_what_another_has_started_stays(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    one, pid = started(tmp_path / "one", "started.wait()", 60)
    other, _ = started(tmp_path / "other", "started.wait()", 60)
    other.kill()
    other.wait()
    time.sleep(1)
    os.kill(pid, 0)
    one.kill()
    one.wait()
