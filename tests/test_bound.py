"""What is started ends with what started it, also where that is killed; and is otherwise as if it were started plainly."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recompat.bound import OUTSIDE, bound, is_from_outside
from support.sessions import wait_for

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the kernel does it, and that of Linux alone"
)
STARTS = "import subprocess, sys; from recompat.bound import bound; p = subprocess.Popen(bound(sys.argv[1:])); "


def runs(pid: int) -> bool:
    """Whether a process is there, and more than what is left of one until it is asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_command_ends_with_what_started_it() -> None:
    source = f"{STARTS} print(p.pid, flush=True); p.wait()"
    with subprocess.Popen([sys.executable, "-c", source, "/bin/sleep", "60"], stdout=subprocess.PIPE) as starter:
        assert starter.stdout
        pid = int(starter.stdout.readline())
        wait_for(lambda: b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes()[:12], "it has become the command")
        starter.kill()
    wait_for(lambda: not runs(pid), "the command has ended")


def test_killed_at_once_what_it_started_does_not_run(tmp_path: Path) -> None:
    """The starter ends before the command has begun: at none of these moments does it begin without it."""
    mark = tmp_path / "mark"
    for pause in range(8):
        source = f"{STARTS} import time; time.sleep({pause} / 200)"
        subprocess.run([sys.executable, "-c", source, "/bin/sh", "-c", f"sleep 1; touch {mark}"], check=True)
    time.sleep(2)
    assert not mark.exists()


def test_status_signal_and_output_are_those_of_the_command() -> None:
    done = subprocess.run(bound(["/bin/sh", "-c", "echo said; exit 7"]), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "said\n", "")
    assert subprocess.run(bound(["/bin/sh", "-c", "kill -9 $$"]), check=False).returncode == -signal.SIGKILL


def test_signals_do_what_they_do_elsewhere() -> None:
    """Python ignores two, and what it becomes would inherit that."""
    ignored = subprocess.check_output(bound(["/bin/grep", "SigIgn", "/proc/self/status"]), text=True)
    assert int(ignored.split()[1], 16) & ((1 << signal.SIGPIPE - 1) | (1 << signal.SIGXFSZ - 1)) == 0


def test_a_program_that_is_not_there_is_named() -> None:
    done = subprocess.run(bound(["/nowhere/uv", "x"]), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "/nowhere/uv: No such file or directory\n")


def test_nothing_that_python_reads_changes_it(tmp_path: Path) -> None:
    (tmp_path / "signal.py").write_text("raise SystemExit(3)")
    done = subprocess.run(bound(["/bin/true"]), cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_others_end_a_process_with(name: str) -> None:
    assert is_from_outside(-signal.Signals[name])


@pytest.mark.parametrize("status", [0, 1, 9, 137, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGRTMIN])
def test_what_a_process_ends_by_itself_with(status: int) -> None:
    assert not is_from_outside(status)
