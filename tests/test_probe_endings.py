"""No trial can hurt another, outlive its probe, or leave anything behind."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support import probing as fixtures

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.probing import Probing

probing, standin_python = fixtures.probing, fixtures.standin_python

DYING = """
import os, signal, sys

def case_aborts(): os.abort()
def case_killed(): os.kill(os.getpid(), signal.SIGKILL)
def case_terminated(): os.kill(os.getpid(), signal.SIGTERM)
def case_exits(): os._exit(3)
def case_exits_well(): os._exit(0)
def case_leaves(): sys.exit(3)
def case_leaves_well(): sys.exit()
def case_leaves_below_zero(): sys.exit(-1)
def case_leaves_with_a_text(): sys.exit("no more")
def case_passes(): return {}
"""
LEAVES_A_HELPER = """
import pathlib, subprocess, sys, time

def helper():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    pathlib.Path(__file__).with_name("pid").write_text(str(process.pid))

def case_ends():
    helper()
    return {}

def case_hangs():
    helper()
    time.sleep(300)
"""
MEETS = """
import pathlib, time

def meet(mine, other):
    folder = pathlib.Path(__file__).parent
    (folder / mine).touch()
    deadline = time.monotonic() + WAIT
    while not (folder / other).exists():
        if time.monotonic() > deadline:
            raise RuntimeError("alone")
        time.sleep(0.01)

def case_one(): return meet("one", "other") or {}
def case_other(): return meet("other", "one") or {}
"""


def until(condition: Callable[[], Any], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Whether a process ended, though perhaps nobody has waited for it yet."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return True
    except FileNotFoundError:  # just now, or there is no /proc
        return not Path("/proc/self").exists()
    return state == "Z"


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in events]


# How a trial ends.


@pytest.mark.parametrize(
    ("case", "detail"),
    [
        ("aborts", "ended by SIGABRT"),
        ("killed", "ended by SIGKILL"),
        ("terminated", "ended by SIGTERM"),
        ("exits", "exited with status 3"),
        ("exits_well", "exited with status 0"),
        ("leaves", "exited with status 3"),
        ("leaves_well", "exited with status 0"),
        ("leaves_below_zero", "exited with status 255"),
        ("leaves_with_a_text", "exited with status 1"),
    ],
)
def test_a_death_is_a_crash_with_its_name_and_the_next_case_runs(probing: Probing, case: str, detail: str) -> None:
    path = probing.write(DYING)
    trials = probing.trials(f"{path}::{case}", f"{path}::passes")
    assert (trials[case]["outcome"], trials[case]["detail"]) == ("crash", detail)
    assert trials[case]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert trials["passes"]["outcome"] == "pass"


def test_a_trial_that_is_too_late(probing: Probing) -> None:
    trial = probing.trial("import time\ndef case_it(): time.sleep(300)", "--timeout", "0.3")
    assert (trial["outcome"], trial["detail"]) == ("timeout", "no result within 0.3 s")
    assert 0.3 <= trial["seconds"] < 10


@pytest.mark.parametrize(("case", "outcome"), [("ends", "pass"), ("hangs", "timeout")])
def test_what_a_trial_leaves_behind_is_ended(probing: Probing, case: str, outcome: str) -> None:
    path = probing.write(LEAVES_A_HELPER)
    assert probing.trials("--timeout", "2", f"{path}::{case}")[case]["outcome"] == outcome
    until(lambda: gone(int((probing.folder / "pid").read_text())))


def test_one_job_runs_one_trial_at_a_time(probing: Probing) -> None:
    path = probing.write(f"WAIT = 0.2\n{MEETS}")
    events = probing.run(f"{path}::one", f"{path}::other")
    assert kinds(events) == ["header", "torch", "started", "finished", "started", "finished", "end"]
    assert [event["outcome"] for event in events if event["event"] == "finished"] == ["raises", "pass"]


def test_two_jobs_run_two_trials_at_once(probing: Probing) -> None:
    path = probing.write(f"WAIT = 20\n{MEETS}")
    trials = probing.trials("--jobs", "2", f"{path}::one", f"{path}::other")
    assert [trial["outcome"] for trial in trials.values()] == ["pass", "pass"]


def test_a_trial_that_takes_the_exit_away_ends_nobody_else(probing: Probing) -> None:
    path = probing.write(
        "import os, time\n"
        "def case_slow():\n    time.sleep(1)\n    return {}\n"
        "def case_stays():\n    os._exit = lambda status=0: None\n    return {}\n"
    )
    trials = probing.trials("--jobs", "2", f"{path}::slow", f"{path}::stays")
    assert [trial["outcome"] for trial in trials.values()] == ["pass", "pass"]


# How a probe ends.


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGINT, 128 + signal.SIGINT),
        pytest.param(
            signal.SIGKILL,
            -signal.SIGKILL,
            marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died"),
        ),
    ],
)
def test_a_probe_that_is_stopped_takes_its_trials_along(probing: Probing, number: int, status: int) -> None:
    path = probing.write(
        "import os, pathlib, time\n"
        "def case_it():\n"
        "    pathlib.Path(__file__).with_suffix('.tmp').write_text(str(os.getpid()))\n"
        "    os.rename(pathlib.Path(__file__).with_suffix('.tmp'), pathlib.Path(__file__).with_name('pid'))\n"
        "    time.sleep(300)"
    )
    told = probing.folder / "pid"
    with probing.start(f"{path}::it") as process:
        until(told.exists)
        process.send_signal(number)
        process.communicate(timeout=20)
    assert process.returncode == status
    assert kinds(probing.events()) == ["header", "torch", "started"]
    until(lambda: gone(int(told.read_text())))


def test_only_the_events_are_left(probing: Probing) -> None:
    path = probing.write(DYING)
    probing.trials(f"{path}::aborts", f"{path}::passes")
    assert sorted(path.name for path in probing.folder.iterdir()) == ["events.jsonl", "file.py"]


def test_without_isolation_a_trial_runs_in_the_probe(probing: Probing) -> None:
    path = probing.write(DYING)
    events = probing.run("--isolation", "none", f"{path}::passes", f"{path}::leaves", f"{path}::exits")
    assert kinds(events) == ["header", "torch", *("started", "finished") * 2, "started"]
    assert [event["outcome"] for event in events if event["event"] == "finished"] == ["pass", "crash"]
    assert probing.status == 3


def test_without_isolation_a_thread_that_a_trial_left_does_not_keep_the_probe(probing: Probing) -> None:
    sleeper = "threading.Thread(target=time.sleep, args=[300])"
    source = f"import threading, time\ndef case_it():\n    {sleeper}.start()\n    return {{}}"
    trial = probing.trial(source, "--isolation", "none")
    assert trial["outcome"] == "pass"
