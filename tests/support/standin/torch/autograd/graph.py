"""The tape: what each tensor was made from, and how a gradient goes back through it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from torch import _modes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch._tensor import Tensor

_Flat = list[float]
_enabled = [True]
_recorders: list[list[Tensor]] = []


class Node:
    """One operation: ``vjp`` maps the gradient of its result to one per input."""

    def __init__(self, inputs: tuple[Tensor, ...], vjp: Callable[[_Flat], list[_Flat | None]]) -> None:
        self.inputs = inputs
        self.vjp = vjp


def is_grad_enabled() -> bool:
    """Whether operations are recorded."""
    return _enabled[0]


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    """Record no operations within."""
    before, _enabled[0] = _enabled[0], False
    try:
        yield
    finally:
        _enabled[0] = before


@contextlib.contextmanager
def recording() -> Iterator[list[Tensor]]:
    """Gather the results of all operations within."""
    made: list[Tensor] = []
    _recorders.append(made)
    try:
        yield made
    finally:
        _recorders.pop()


def record(result: Tensor, node: Node) -> None:
    """Note how ``result`` came about."""
    owner, _, name = node.vjp.__qualname__.partition(".")
    if owner == "Tensor":  # an operator, and no checkpoint
        _modes.dispatch(name.partition(".")[0].strip("_"))
    for made in _recorders:
        made.append(result)
    if _enabled[0] and any(tensor.requires_grad for tensor in node.inputs):
        result.requires_grad = True
        result.grad_fn = node


def _engine_run_backward(root: Tensor, gradient: _Flat) -> None:
    if not root.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    gradients: dict[int, _Flat] = {id(root): gradient}
    for tensor in reversed(_in_order(root)):
        gradient = gradients.pop(id(tensor))
        if tensor.grad_fn is None:
            tensor._accumulate(gradient)
            continue
        for source, part in zip(tensor.grad_fn.inputs, tensor.grad_fn.vjp(gradient), strict=True):
            if part is not None and source.requires_grad:
                known = gradients.get(id(source))
                gradients[id(source)] = part if known is None else [a + b for a, b in zip(known, part, strict=True)]


def _in_order(root: Tensor) -> list[Tensor]:
    """All tensors that ``root`` was made from and that need a gradient, each after its own sources."""
    order: list[Tensor] = []
    seen: set[int] = set()

    def visit(tensor: Tensor) -> None:
        if id(tensor) in seen or not tensor.requires_grad:
            return
        seen.add(id(tensor))
        for source in tensor.grad_fn.inputs if tensor.grad_fn else ():
            visit(source)
        order.append(tensor)

    visit(root)
    return order
