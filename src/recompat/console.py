"""What the output goes to: a terminal of some width, or a pipe."""

from __future__ import annotations

import os
import shutil
import sys

__all__ = ["wants_colour", "width"]

WITHOUT_TERMINAL = 160


def wants_colour() -> bool:
    """Colour on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width(without_terminal: int = WITHOUT_TERMINAL) -> int:
    """How many columns a line may have."""
    return shutil.get_terminal_size((without_terminal, 24)).columns
