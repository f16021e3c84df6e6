"""A plain script in an environment with the stand-in torch ends as a person would say who ran it."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recompat.errors import ConfigurationError
from recompat.model import Outcome, Trial
from recompat.runner import ProbeEnd
from recompat.sandbox import Sandbox, sandbox_folder
from recompat.script_work import run_script, trial_of
from recompat.trials import Job
from support.probing import standin_python
from support.sessions import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    Try = Callable[..., Trial]

__all__ = ["standin_python"]

BACKWARD = """
import torch
from torch.utils.checkpoint import checkpoint

def recomputed_differently(x):
    return (x * x).sum()

checkpoint(recomputed_differently, torch.ones(2, requires_grad=True), use_reentrant=False).backward()
"""
LEAVES_A_CHILD = """
import os, pathlib, time
if os.fork() == 0:
    pathlib.Path({note!r}).write_text(str(os.getpid()))
    time.sleep(60)
while not (pathlib.Path({note!r}).exists() and pathlib.Path({note!r}).read_text()):
    time.sleep(0.01)
"""
SPAWNS = """
import multiprocessing

def square(x):
    return x * x

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(square, [3]) == [9]
"""


@pytest.fixture
def tried(standin_python: Path, tmp_path: Path) -> Try:
    def run(source: str, *passed: str, timeout: float = 20, place: Path = tmp_path / "sandbox") -> Trial:
        script = tmp_path / "repro-1.py"
        script.write_text(source, "utf-8")
        place.mkdir(exist_ok=True)
        log = tmp_path / "logs" / "probe.log"
        sandbox = Sandbox(place, passed)
        job = Job(standin_python, log, timeout, "fork", 1, sandbox.probe)
        return run_script(job, script, sandbox.script)

    return run


def raised(trial: Trial) -> tuple[str, str, str]:
    assert trial.outcome is Outcome.RAISES, trial
    assert trial.raised is not None
    return trial.raised.type, str(trial.raised.phase), trial.raised.message


@pytest.mark.parametrize(
    "source",
    [
        "import torch; torch.manual_seed(0)",
        "import sys; sys.exit()",
        "raise SystemExit(0)",
        "assert __name__ == '__main__'; import sys; assert sys.argv == [__file__]",
        "open('written.txt', 'w').write('x'); import os; assert 'written.txt' in os.listdir()",
        "import os; os.fork() or [][0]",  # what a child raises is its own matter
        "import sys; sys.stdin.read() == '' or [][0]",
        SPAWNS,
    ],
)
def test_a_script_that_ends_well_passes(source: str, tried: Try) -> None:
    assert tried(source).outcome is Outcome.PASS


def test_what_it_writes_is_written_in_a_copy_folder(tried: Try, tmp_path: Path) -> None:
    assert tried("open('x.txt', 'w').close(); open(__file__, 'a').write('y')").outcome is Outcome.PASS
    assert (tmp_path / "repro-1.py").read_text().endswith("write('y')")
    assert list(tmp_path.rglob("x.txt")) == []


@pytest.mark.parametrize(
    ("source", "exception", "message"),
    [
        ("import sys; sys.exit(3)", "builtins.SystemExit", "3"),
        ("import sys; sys.exit('bad')", "builtins.SystemExit", "bad"),
        ("input()", "builtins.EOFError", "EOF when reading a line"),
        ("import transformers", "builtins.ModuleNotFoundError", "No module named 'transformers'"),
        ("raise KeyboardInterrupt", "builtins.KeyboardInterrupt", ""),
        ("class Own(Exception): pass\nraise Own('x')", "__main__.Own", "x"),
    ],
)
def test_an_exception_is_told_by_its_type(source: str, exception: str, message: str, tried: Try) -> None:
    assert raised(tried(source)) == (exception, "forward", message)


def test_exit_status_three_is_told(tried: Try) -> None:
    assert tried("import sys; sys.exit(3)").detail == "exited with status 3"


def test_what_is_no_python_raises_syntax_error(tried: Try) -> None:
    assert raised(tried("def"))[0] == "builtins.SyntaxError"


def test_an_exception_of_backward_has_that_phase_and_its_tensors(tried: Try) -> None:
    trial = tried(BACKWARD)
    assert raised(trial)[:2] == ("torch.utils.checkpoint.CheckpointError", "backward")
    assert trial.raised is not None
    assert trial.raised.disagreement is not None
    assert trial.raised.frames[0] == "repro-1.py:8 in <module>"


def test_an_exit_hook_that_raises_is_told_apart(tried: Try) -> None:
    trial = tried("import atexit\ndef hook():\n    raise ValueError('late')\natexit.register(hook)")
    assert raised(trial) == ("builtins.ValueError", "forward", "late")
    assert trial.detail == "raised in an exit hook; the exit status is 0"
    assert trial.raised is not None
    assert trial.raised.frames == ("repro-1.py:3 in hook",)


def test_an_exception_counts_before_that_of_an_exit_hook(tried: Try) -> None:
    trial = tried("import atexit\natexit.register(lambda: [][0])\nraise ValueError('first')")
    assert raised(trial)[2] == "first"


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("import os; os.abort()", "ended by SIGABRT at repro-1.py:1 in <module>"),
        ("import os\n\ndef inner():\n    os.abort()\n\ninner()", "ended by SIGABRT at repro-1.py:4 in inner"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
        ("import os; os._exit(3)", "exited with status 3, without an exception"),
        (
            "import atexit, os; atexit.register(os.abort); raise ValueError",
            "ended by SIGABRT, after it raised builtins.ValueError",
        ),
    ],
)
def test_a_process_that_dies_is_a_crash(source: str, detail: str, tried: Try) -> None:
    trial = tried(source)
    assert (trial.outcome, trial.detail) == (Outcome.CRASH, detail)


def test_a_script_that_another_process_ended_runs_again(tried: Try, tmp_path: Path) -> None:
    """It is ended the first time alone, as where memory ran out for a moment."""
    mark = tmp_path / "mark"
    once = f"import os, pathlib; mark = pathlib.Path({str(mark)!r}); first = not mark.exists(); mark.touch()"
    assert tried(f"{once}\nif first: os.kill(os.getpid(), 9)").outcome is Outcome.PASS
    mark.unlink()
    assert tried(f"{once}\nif first: os.abort()").detail == "ended by SIGABRT at repro-1.py:2 in <module>"
    mark.unlink()
    assert tried(f"{once}\nif first: raise KeyboardInterrupt").outcome is Outcome.RAISES


def test_where_it_died_stands_in_the_log_too(tried: Try, tmp_path: Path) -> None:
    tried("print('before', flush=True); import os; os.abort()")
    log = tmp_path / "logs" / "output.log"
    wait_for(lambda: "before" in log.read_text("utf-8"), "a thread of its own writes what was printed")
    assert "Fatal Python error: Aborted" in log.read_text("utf-8")


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("import time\n\ndef wait():\n    time.sleep(60)\n\nwait()", "; it was at repro-1.py:4 in wait"),
        ("import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()", ", after its last line"),
        ("import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)", ""),
    ],
)
def test_a_script_that_hangs_is_ended(source: str, after: str, tried: Try) -> None:
    begun = time.monotonic()
    trial = tried(source, timeout=1)
    assert (trial.outcome, trial.detail) == (Outcome.TIMEOUT, f"did not end within 1 s{after}")
    assert time.monotonic() - begun < 20


def test_output_is_a_log_of_limited_size(tried: Try, tmp_path: Path) -> None:
    assert tried("for _ in range(6): print('x' * 1_000_000)").outcome is Outcome.PASS
    assert 1_000_000 < (tmp_path / "logs" / "output.log").stat().st_size < 4_100_000


def test_a_child_that_stays_is_ended(tried: Try, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    assert tried(LEAVES_A_CHILD.format(note=str(note))).outcome is Outcome.PASS
    with contextlib.suppress(ProcessLookupError):
        for _ in range(500):
            os.kill(int(note.read_text()), 0)
            time.sleep(0.01)
        pytest.fail("it is still there")


def test_what_began_a_session_of_its_own_is_ended_too(tried: Try, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    source = LEAVES_A_CHILD.replace("    pathlib", "    os.setsid()\n    pathlib", 1)
    assert tried(source.format(note=str(note))).outcome is Outcome.PASS
    process = int(note.read_text())
    os.kill(process, 0)  # it has outlived the group of the script
    Sandbox(tmp_path / "other", []).end_processes()
    os.kill(process, 0)  # and is no process of another sandbox
    Sandbox(tmp_path / "sandbox", []).end_processes()
    wait_for(lambda: not is_alive(process), "it is ended")


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/environ").read_bytes() != b""  # a zombie has none
    except OSError:
        return False


def test_a_warning_is_kept_once(tried: Try) -> None:
    trial = tried("import warnings\nfor _ in range(3):\n    warnings.warn('old', FutureWarning)")
    assert [(one.category, one.text) for one in trial.warnings] == [("builtins.FutureWarning", "old")]


def test_the_callers_variables_stay_away_but_for_those_that_are_named(
    tried: Try, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("MY_FLAG", "1")
    source = "import os; assert 'MY_TOKEN' not in os.environ; assert os.environ.get('MY_FLAG') == {}"
    assert tried(source.format("None")).outcome is Outcome.PASS
    assert tried(source.format("'1'"), "MY_FLAG").outcome is Outcome.PASS


def test_home_and_temporary_folder_are_its_own(tried: Try, tmp_path: Path) -> None:
    source = "import os, pathlib, tempfile; print(); import sys\n"
    source += f"assert os.path.expanduser('~').startswith({str(tmp_path)!r})\n"
    source += f"assert tempfile.gettempdir().startswith({str(tmp_path)!r})"
    assert tried(source).outcome is Outcome.PASS


def test_the_temporary_folder_of_a_script_has_room_for_a_socket(
    tried: Try, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 80)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    source = (
        "from multiprocessing.connection import Listener\nwith Listener(family='AF_UNIX') as one: print(one.address)"
    )
    with sandbox_folder() as place:
        assert tried(source, place=place).outcome is Outcome.PASS
    assert tried(source, place=long).outcome is Outcome.RAISES


def test_a_variable_that_is_not_set_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--env NOT_SET_HERE"):
        Sandbox(tmp_path, ["NOT_SET_HERE"])


def test_what_a_script_writes_into_our_file_is_not_taken_as_it_comes() -> None:
    events: list[dict[str, Any]] = [
        {"event": "started"},
        {"event": "warned", "category": 1},
        {"event": "raised", "raised": {"type": []}, "at_exit": "x"},
        {"event": "raised"},
    ]
    trial = trial_of(ProbeEnd(tuple(events), 1, False), 0.1, 20)
    assert (trial.outcome, trial.warnings) == (Outcome.CRASH, ())
