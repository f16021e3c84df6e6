"""What is kept of an exception that left a case."""

from __future__ import annotations

import os
import traceback
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType

    from recompat_probe.places import Places

__all__ = ["Raised", "describe", "message", "qualified", "sentence"]

FRAMES = 8
AUTOGRAD = os.path.join("torch", "autograd", "__init__.py")


@dataclass(frozen=True)
class Raised:
    """An exception as it stands in a record; ``frames`` are the last ones, innermost last."""

    type: str
    phase: str
    message: str
    frames: list[str]


def describe(error: BaseException, places: Places) -> Raised:
    """Describe an exception that was caught where the case was called: that first frame is the probe's own."""
    codes = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)][1:]
    frames = deque((f"{places.short(code.co_filename)}:{line} in {code.co_name}" for code, line in codes), FRAMES)
    phase = "backward" if any(_runs_the_engine(code) for code, _ in codes) else "forward"
    return Raised(qualified(type(error)), phase, message(error), list(frames))


def qualified(kind: Any) -> str:
    """Return a class's full name, such as ``builtins.RuntimeError``."""
    return f"{kind.__module__}.{kind.__qualname__}"


def message(error: object) -> str:
    """Return ``str(error)``, whatever its ``__str__`` does."""
    try:
        return str(error)
    except BaseException as trouble:  # noqa: BLE001  (foreign code, on which no verdict may hang)
        return f"(no message: str() of it raised {qualified(type(trouble))})"


def sentence(error: BaseException) -> str:
    """Return type and first line of the message, to stand inside a sentence."""
    first_line = message(error).strip().partition("\n")[0].rstrip(".")
    return f"{qualified(type(error))}: {first_line}" if first_line else qualified(type(error))


def _runs_the_engine(code: CodeType) -> bool:
    """Tell whether this is a frame by which Python code enters autograd's engine."""
    entry = code.co_name in ("backward", "grad") and code.co_filename.endswith(AUTOGRAD)
    return entry or code.co_name == "_engine_run_backward"
