"""Lists the operators that torch's dispatcher runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Optional

import torch.utils.checkpoint
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Operators"]

LIMIT = 400
DEFAULT_OVERLOAD = ".default"
BETWEEN = ("torch._compile", "torch._dynamo.eval_frame", "torch.utils._python_dispatch")  # between a caller and a mode


class Operators(TorchDispatchMode):  # type: ignore[misc]  # torch is Any here
    """A dispatch mode that lists operators in order and changes nothing.

    What checkpoint itself runs while the function is running, such as the ``detach`` of each tensor that it keeps, is
    left out: only the function's own operators are told.
    """

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self._more = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if _caller(sys._getframe(1)) != torch.utils.checkpoint.__name__:
            self._note(func)
        return func(*args, **(kwargs or {}))

    def names(self) -> list[str]:
        """Return what ran, such as ``aten.mul.Tensor``; the last entry counts those beyond the limit."""
        return [*self._names, f"… ({self._more} more)"] if self._more else list(self._names)

    def _note(self, func: Any) -> None:
        if len(self._names) == LIMIT:
            self._more += 1
            return
        name = str(func)
        self._names.append(name[: -len(DEFAULT_OVERLOAD)] if name.endswith(DEFAULT_OVERLOAD) else name)


def _caller(frame: Optional[FrameType]) -> Optional[str]:
    """Return the module whose code called the operator that a mode was asked about."""
    while frame and frame.f_globals.get("__name__") in BETWEEN:
        frame = frame.f_back
    return frame.f_globals.get("__name__") if frame else None
