"""What the output goes to: a terminal of some width, or a pipe."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
from typing import TYPE_CHECKING, Final, TextIO

from recompat.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["STEP_SUMMARY", "accept_all_text", "readers_may_leave", "tell", "wants_colour", "width"]

WITHOUT_TERMINAL = 160
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The variable that names a file for GitHub's page of a run."""


def accept_all_text() -> None:
    """Let output never be a reason to fail: what its encoding lacks is written as escapes, what was closed takes all."""
    sys.stdout = sys.stdout or _nowhere()  # as with `>&-`, and in a program that has no console
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def readers_may_leave() -> Iterator[None]:
    """Write to the output, and drop the rest where its reader has enough: `recompat show … | head` is no fault."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(*sentences: str) -> None:
    """Print sentences to a person, beside the output proper; what they repeat of a file gives the terminal no orders."""
    for sentence in sentences:
        lines = map(visible, sentence.encode(errors="backslashreplace").decode().split("\n"))
        print("recompat:", "\n".join(lines), file=sys.stderr, flush=True)  # noqa: T201


def wants_colour() -> bool:
    """Colour on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width(without_terminal: int = WITHOUT_TERMINAL) -> int:
    """How many columns a line may have."""
    return shutil.get_terminal_size((without_terminal, 24)).columns


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - a name of the system, open to the end
