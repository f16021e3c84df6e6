from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recompat.runner import LOG_BYTES, importing, run_probe, start_probe
from support.sessions import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recompat.runner import Event, ProbeEnd


def python(source: str) -> Callable[..., subprocess.Popen[bytes]]:
    """A spawn that runs ``source`` with the path to write to as its argument."""

    def spawn(_: Path, arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        out = arguments[arguments.index("--out") + 1]
        return subprocess.Popen([sys.executable, "-c", source, out], start_new_session=True)

    return spawn


def run(tmp_path: Path, source: str, patience: float = 5, stop: threading.Event | None = None) -> ProbeEnd:
    return run_probe(python(source), tmp_path, [], tmp_path / "out", tmp_path / "log", lambda _: patience, stop=stop)


DAEMON = """
import subprocess

process = subprocess.Popen(["sleep", "60"], start_new_session=True)
with open("daemon", "w") as file:
    file.write(str(process.pid))
"""
WRITE = "import sys, os, time; out = open(sys.argv[1], 'ab', 0); "


def test_events_are_read_in_order(tmp_path: Path) -> None:
    end = run(tmp_path, WRITE + r"""out.write(b'{"event": "header"}\n{"event": "end"}\n')""")
    assert [event["event"] for event in end.events] == ["header", "end"]
    assert end.whole
    assert end.status == 0


def test_torn_and_foreign_lines_are_left_alone(tmp_path: Path) -> None:
    end = run(tmp_path, WRITE + r"""out.write(b'{"event": "header"}\nno json\n\xff\n{"event": "en')""")
    assert [event["event"] for event in end.events] == ["header"]
    assert not end.whole


def test_a_signal_is_told(tmp_path: Path) -> None:
    assert run(tmp_path, "import os; os.abort()").status == -signal.SIGABRT


def test_silence_ends_the_probe_and_its_group(tmp_path: Path) -> None:
    source = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); open(sys.argv[1] + '.pid', 'w').write(str(p.pid)); p.wait()"
    begin = time.monotonic()
    end = run(tmp_path, source, patience=2)
    assert end.stalled
    assert time.monotonic() - begin < 20
    child = int((tmp_path / "out.pid").read_text())
    wait_for(lambda: not _alive(child), "the probe's child ends with it")


def test_every_event_renews_the_patience(tmp_path: Path) -> None:
    source = (
        WRITE
        + r"""[(out.write(b'{"event": "started"}\n'), time.sleep(0.5)) for _ in range(6)]; out.write(b'{"event": "end"}\n')"""
    )
    assert run(tmp_path, source, patience=2).whole


def test_it_can_be_stopped(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    assert run(tmp_path, "import time; time.sleep(60)", patience=60, stop=stop).stalled


def test_an_interrupt_ends_the_probe(tmp_path: Path) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def spawn(interpreter: Path, arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        source = WRITE + r"""out.write(b'{"event": "header"}\n'); time.sleep(60)"""
        started.append(python(source)(interpreter, arguments, log))
        return started[0]

    def interrupt(_: Event) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_probe(spawn, tmp_path, [], tmp_path / "out", tmp_path / "log", lambda _: 60, interrupt)
    assert started[0].returncode is not None


def test_the_probe_gets_few_of_our_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "1")
    probe = start_probe(_env_printer(tmp_path), [], tmp_path / "log")
    assert probe.wait() == 0
    wait_for(lambda: "PATH=" in _printed(tmp_path / "log"), "the variables are in the log")
    assert "SECRET_TOKEN" not in _printed(tmp_path / "log")


def test_a_daemon_ends_with_its_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "__main__.py").write_text(DAEMON)
    monkeypatch.setattr("recompat.runner.probe_folder", lambda: tmp_path)
    out = tmp_path / "out"
    end = run_probe(start_probe, Path(sys.executable), [], out, tmp_path / "log", lambda _: 60)
    assert end.status == 0
    daemon = int((tmp_path / "out.work" / "daemon").read_text())
    wait_for(lambda: not _alive(daemon), "the daemon has ended")


def test_endless_output_does_not_fill_the_disk(tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexec yes\n")
    script.chmod(0o755)
    probe = start_probe(script, [], tmp_path / "log")
    wait_for(lambda: len(_printed(tmp_path / "log")) > LOG_BYTES, "the log is full")
    os.killpg(probe.pid, signal.SIGKILL)
    probe.wait()
    assert (tmp_path / "log").stat().st_size < LOG_BYTES + 1000


def _printed(log: Path) -> str:
    """What is in a log so far: a thread writes it, and makes it, in its own time."""
    return log.read_text() if log.exists() else ""


def _env_printer(folder: Path) -> Path:
    script = folder / "python"
    script.write_text("#!/bin/sh\nenv\n")
    script.chmod(0o755)
    return script


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


SLOW_MODULE = """
import os, subprocess, time

daemon = subprocess.Popen(["sleep", "60"], start_new_session=True)
with open({begun!r}, "w") as file:
    file.write(f"{{os.getpid()}} {{daemon.pid}} {{os.getcwd()}} {{len(os.listdir())}}.")
time.sleep(60)
"""


def test_a_module_is_imported_meanwhile_in_an_empty_folder_and_ended_with_all_that_it_started(tmp_path: Path) -> None:
    begun, site = tmp_path / "begun", tmp_path / "site"
    site.mkdir()
    (site / "slow_module.py").write_text(SLOW_MODULE.format(begun=str(begun)))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    (next((tmp_path / "env").glob("lib/python*/site-packages")) / "more.pth").write_text(str(site))
    with importing(tmp_path / "env" / "bin" / "python", "slow_module"):
        wait_for(lambda: begun.exists() and begun.read_text().endswith("."), "the import")
        one, daemon, folder, files = begun.read_text().rstrip(".").split()
        assert Path(folder).is_dir()
        assert (Path(folder) != Path.cwd(), files) == (True, "1")  # the mark of a temporary folder that is in use
    assert not Path(folder).exists()
    wait_for(lambda: not (Path("/proc", one).exists() or Path("/proc", daemon).exists()), "their end")


def test_a_module_that_is_not_there_is_nobodys_trouble(capfd: pytest.CaptureFixture[str]) -> None:
    with importing(Path(sys.executable), "no_such_module"):
        time.sleep(0.5)
    assert capfd.readouterr() == ("", "")
