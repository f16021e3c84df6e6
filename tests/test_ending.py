from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from recompat.ending import EXTRA, ends_well, leave
from recompat.errors import ConfigurationError, ExitCode, NothingSelected

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def terminal_signals() -> Iterator[None]:
    import signal

    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


FULL = OSError(errno.ENOSPC, "No space left on device", "reports/matrix.json")
IN_THE_WAY = NotADirectoryError(errno.ENOTDIR, "Not a directory", "reports")
MOUNTED = OSError(errno.EBUSY, "Device or resource busy", "reports/site")
LOCKED = PermissionError(errno.EACCES, "Permission denied", "reports/matrix.json")


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (ConfigurationError("It is wrong.", ("first", "second")), 4, "recompat: It is wrong.\n  - first\n  - second\n"),
        (NothingSelected("No case matches."), 5, "recompat: No case matches.\n"),
        (
            ModuleNotFoundError("No module named 'msgspec.json'", name="msgspec.json"),
            4,
            f"recompat: This needs more than recompat alone: msgspec is not installed; {EXTRA}\n",
        ),
        (KeyboardInterrupt(), 2, "recompat: Interrupted; finished records stay.\n"),
        (
            FULL,
            6,
            "recompat: The disk is full: reports/matrix.json was not written; free some space and run it again.\n",
        ),
        (
            IN_THE_WAY,
            6,
            "recompat: reports is in the way or gone (Not a directory); put that right and run it again.\n",
        ),
        (
            MOUNTED,
            6,
            "recompat: reports/site is in the way or gone (Device or resource busy); put that right and run it again.\n",
        ),
        (
            LOCKED,
            6,
            "recompat: reports/matrix.json cannot be written (Permission denied); make it writable and run it again.\n",
        ),
    ],
)
def test_faults_end_in_a_sentence(
    error: BaseException, code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    noted: list[ExitCode] = []
    with pytest.raises(SystemExit) as ending, ends_well(noted.append):
        raise error
    assert ending.value.code == code
    assert noted == [code]
    assert capsys.readouterr().err == sentence


def test_a_fault_of_ours_keeps_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending, ends_well():
        _ = 1 / 0
    assert ending.value.code == 3
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_module_of_ours_that_is_missing_is_a_fault_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending, ends_well():
        raise ModuleNotFoundError("No module named 'recompat.nowhere'", name="recompat.nowhere")
    assert ending.value.code == 3
    assert "No module named 'recompat.nowhere'" in capsys.readouterr().err


def test_what_the_encoding_lacks_is_escaped() -> None:
    code = "from recompat.ending import ends_well\nwith ends_well():\n    print('\u2020 caf\xe9')"
    environ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "\\u2020 caf\\xe9\n"


def test_leaving_when_all_is_well_is_no_exit() -> None:
    leave(ExitCode.OK, lambda _: pytest.fail("noted"))
    with pytest.raises(SystemExit):
        leave(ExitCode.UNEXPECTED, lambda _: None)
