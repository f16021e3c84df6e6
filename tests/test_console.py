from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMAND = f"'{sys.executable}' -m recompat --project '{ROOT}' show 2.11.0"


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such shell")
@pytest.mark.parametrize(("closed", "code"), [(">&-", 0), ("2>&-", 0), (">&- 2>&-", 0), ("--misspelt 2>&-", 4)])
def test_an_output_that_was_closed_is_no_fault(closed: str, code: int) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(["sh", "-c", f"{COMMAND} {closed}"], env=env, capture_output=True, check=False, timeout=60)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
