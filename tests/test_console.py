from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recompat.console import tell

ROOT = Path(__file__).parent.parent
COMMAND = f"'{sys.executable}' -m recompat --project '{ROOT}' show 2.11.0"


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such shell")
@pytest.mark.parametrize(("closed", "code"), [(">&-", 0), ("2>&-", 0), (">&- 2>&-", 0), ("--misspelt 2>&-", 4)])
def test_an_output_that_was_closed_is_no_fault(closed: str, code: int) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(["sh", "-c", f"{COMMAND} {closed}"], env=env, capture_output=True, check=False, timeout=60)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


def test_what_a_sentence_repeats_gives_the_terminal_no_orders(capsys: pytest.CaptureFixture[str]) -> None:
    tell("A key \x1b[31mred\x1b[0m \u202e\0 is\n  - \udce9 no key.", "Another.")
    assert capsys.readouterr().err == "recompat: A key red  is\n  - \\udce9 no key.\nrecompat: Another.\n"
