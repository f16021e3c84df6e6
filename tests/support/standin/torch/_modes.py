"""The modes that are on, and how they are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import _build

if TYPE_CHECKING:
    from typing import Self

__all__ = ["TorchDispatchMode", "dispatch"]

_stack: list[TorchDispatchMode] = []


class TorchDispatchMode:
    """A scope whose ``__torch_dispatch__`` sees every operator."""

    def __enter__(self) -> Self:
        _stack.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _stack.pop()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """See an operator, and run it."""
        return func(*args, **(kwargs or {}))


class _Operator:
    def __init__(self, name: str, depth: int) -> None:
        self._name = name
        self._depth = depth

    def __str__(self) -> str:
        return f"aten.{self._name}.default"

    def __call__(self) -> None:
        dispatch(self._name, self._depth)


def dispatch(name: str, depth: int | None = None) -> None:
    """Tell the innermost mode of an operator; what it calls is told the next one."""
    at = (len(_stack) if depth is None else depth) - 1
    if at >= 0:
        _stack[at].__torch_dispatch__(_Operator(_build.RENAMED.get(name, name), at), ())
