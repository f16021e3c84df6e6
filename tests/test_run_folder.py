from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from recompat.errors import ExitCode
from recompat.run_folder import VARIABLE, RunFolder, holder_of
from recompat.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHILD = "from recompat.run_folder import RunFolder; from recompat.errors import ExitCode; r = RunFolder(); r.note(ExitCode(5))"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunFolder]:
    monkeypatch.delenv(VARIABLE, raising=False)
    folder = RunFolder()
    yield folder
    folder.remove()


def test_sources_are_asked_once(run: RunFolder) -> None:
    asked = []

    def find() -> Sources:
        asked.append(1)
        return Sources({}, {})

    assert run.sources(find) == run.sources(find)
    assert len(asked) == 1


def test_a_child_shares_the_folder_and_its_exit_code_is_handed_on(run: RunFolder) -> None:
    assert run.noted == 0
    subprocess.run([sys.executable, "-c", CHILD], check=True)
    assert run.noted == ExitCode.NOTHING_SELECTED
    run.note(ExitCode.INCOMPLETE)
    assert run.noted == ExitCode.NOTHING_SELECTED


def test_a_code_that_a_full_disk_had_no_room_for_is_that_of_trouble(run: RunFolder) -> None:
    (run.path / "exit").touch()
    assert run.noted is ExitCode.INCOMPLETE


def test_one_run_at_a_time_in_a_checkout(run: RunFolder, tmp_path: Path) -> None:
    run.hold(tmp_path / "lock", lambda _: pytest.fail("nobody holds it"))
    code = f"""
from pathlib import Path
from recompat.run_folder import RunFolder
RunFolder().hold(Path({str(tmp_path / "lock")!r}), lambda who: print(f"waiting{{who}}", flush=True))
print("mine")
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        told = re.fullmatch(r"waiting \(process ([0-9]+), since ([0-9T:+-]+)\)\n", other.stdout.readline())
        assert told
        assert told[1] == str(os.getpid())
        assert abs(datetime.fromisoformat(told[2]) - datetime.now(UTC)) < timedelta(minutes=5)
        run._lock.release()  # as the end of this process would
        assert other.stdout.readline() == "mine\n"


@pytest.mark.parametrize("content", [b"", b"\xff", b"1 \x1b[31m", b"one 2026-11-30T00:00:00+00:00", b"1" * 1000])
def test_what_else_stands_where_the_holder_is_named_is_not_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "recompat.holder").write_bytes(content)
    assert holder_of(tmp_path / "recompat.holder") == ""


def test_who_held_it_is_forgotten_at_the_end(tmp_path: Path) -> None:
    run = RunFolder()
    run.hold(tmp_path / "lock", lambda _: None)
    assert holder_of(tmp_path / "lock.holder").startswith(f" (process {os.getpid()}, since ")
    run.remove()
    assert not (tmp_path / "lock.holder").exists()


def test_a_child_of_a_run_keeps_others_out_as_long_as_it_lives(run: RunFolder, tmp_path: Path) -> None:
    """The process that held the lock was killed, and what it started has yet to end."""
    lock = tmp_path / "lock"
    code = f"""
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from recompat.run_folder import RunFolder
run = RunFolder()
run.join(Path({str(lock)!r}))
print("joined", flush=True)
sys.stdin.read()
"""
    holder = f"from pathlib import Path; from recompat.run_folder import RunFolder; RunFolder().hold(Path({str(lock)!r}), print)"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stdout.readline() == b"joined\n"
        with subprocess.Popen([sys.executable, "-c", f"{holder}; print('held')"], stdout=subprocess.PIPE) as other:
            with pytest.raises(subprocess.TimeoutExpired):
                other.wait(1.5)
            child.kill()
            assert other.communicate(timeout=30)[0] == b"held\n"


def test_a_child_of_a_run_that_holds_nothing_needs_no_folder(run: RunFolder, tmp_path: Path) -> None:
    run.join(tmp_path / "nowhere" / "lock")
    assert list(tmp_path.iterdir()) == []


def test_what_is_told_is_kept_for_the_end(run: RunFolder) -> None:
    assert run.told == []
    run.tell("One.")
    run.tell("Two.")
    assert run.told == ["One.", "Two."]


def test_a_grandchild_has_a_run_of_its_own(run: RunFolder) -> None:
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}], check=True)"
    subprocess.run([sys.executable, "-c", nested], check=True)
    assert run.noted is ExitCode.OK


def test_a_folder_that_is_gone_is_made_anew(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"{os.getppid()}:/nowhere")
    another = RunFolder()
    assert another.mine
    another.remove()
    assert not another.path.exists()
