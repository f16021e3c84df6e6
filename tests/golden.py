"""Comparing with a file under tests/goldens, and accepting what came out instead."""

from __future__ import annotations

import os
from pathlib import Path

GOLDENS = Path(__file__).parent / "goldens"


def check_golden(name: str, text: str, folder: Path = GOLDENS) -> None:
    """Fail with the command that accepts ``text`` if it is not what the file says."""
    path = folder / name
    if os.environ.get("RECOMPAT_ACCEPT") == "1":
        path.write_text(text, encoding="utf-8")
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
    assert text == known, f"{path} differs; look at it, then accept it with: RECOMPAT_ACCEPT=1 pytest '{test}'"
