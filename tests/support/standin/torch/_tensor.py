"""A tensor of Python floats in one flat list: contiguous, on the CPU, with gradients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch.autograd
from torch import random
from torch._basics import Size, bool_, device, dtype, float32, int64, strided
from torch.autograd.graph import Node, record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CPU = device("cpu")


class Tensor:
    """Numbers with a shape and a dtype."""

    def __init__(self, data: list[Any], shape: Sequence[int], of: dtype, *, requires_grad: bool = False) -> None:
        self._data = data
        self.shape = Size(shape)
        self.dtype = of
        self.device = _CPU
        self.layout = strided
        self.requires_grad = requires_grad
        self.grad: Tensor | None = None
        self.grad_fn: Node | None = None

    # What it is.

    def numel(self) -> int:
        """The number of elements."""
        return len(self._data)

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_leaf(self) -> bool:
        """Whether no operation made it."""
        return self.grad_fn is None

    def is_floating_point(self) -> bool:
        """Whether its numbers have a fraction."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether its numbers are complex: never."""
        return False

    def item(self) -> Any:
        """The one number in it."""
        if len(self._data) != 1:
            raise RuntimeError(f"a Tensor with {len(self._data)} elements cannot be converted to Scalar")
        return self._data[0]

    def tolist(self) -> Any:
        """Nested lists of numbers."""
        if not self.shape:
            return self._data[0]
        rows: list[Any] = list(self._data)
        for length in reversed(self.shape[1:]):
            rows = [rows[start : start + length] for start in range(0, len(rows), length)]
        return rows

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __repr__(self) -> str:
        return f"tensor({self.tolist()}, dtype={self.dtype}, requires_grad={self.requires_grad})"

    # Copies.

    def detach(self) -> Tensor:
        """The same numbers, without their history."""
        return Tensor(self._data, self.shape, self.dtype)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Ask for a gradient, in place."""
        self.requires_grad = requires_grad
        return self

    def clone(self) -> Tensor:
        """A copy with the same history."""
        return self._result(list(self._data), self.shape, (self,), lambda gradient: [gradient])

    def cpu(self) -> Tensor:
        """Itself: there is no other device."""
        return self

    def to(self, of: dtype) -> Tensor:
        """A copy with another dtype."""
        if of is self.dtype:
            return self
        convert = float if of.is_floating_point else bool if of is bool_ else int
        return self._result([convert(x) for x in self._data], self.shape, (self,), lambda gradient: [gradient], of)

    def reshape(self, *shape: int) -> Tensor:
        """The same numbers in another shape; one length may be -1."""
        known = Size(length for length in shape if length != -1).numel()
        lengths = [self.numel() // known if length == -1 else length for length in shape]
        return self._result(list(self._data), lengths, (self,), lambda gradient: [gradient])

    # Arithmetic, each with its derivative.

    def __add__(self, other: Tensor | float) -> Tensor:
        return self._pairwise(other, lambda a, b: a + b, lambda a, b: (1.0, 1.0))

    def __sub__(self, other: Tensor | float) -> Tensor:
        return self._pairwise(other, lambda a, b: a - b, lambda a, b: (1.0, -1.0))

    def __mul__(self, other: Tensor | float) -> Tensor:
        return self._pairwise(other, lambda a, b: a * b, lambda a, b: (b, a))

    def __truediv__(self, other: Tensor | float) -> Tensor:
        return self._pairwise(other, lambda a, b: a / b, lambda a, b: (1 / b, -a / (b * b)))

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Tensor:
        return self * -1

    def sum(self) -> Tensor:
        """All numbers added up."""
        return self._result([math.fsum(self._data)], (), (self,), lambda gradient: [gradient * self.numel()])

    # Comparisons.

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        return Tensor([a == b for a, b in zip(self._data, self._like(other)._data, strict=True)], self.shape, bool_)

    __hash__ = object.__hash__

    def all(self) -> Tensor:
        """Whether all numbers are true."""
        return Tensor([all(self._data)], (), bool_)

    # Gradients.

    def backward(self, gradient: Tensor | None = None) -> None:
        """Add this tensor's gradients to those of the leaves it was made from."""
        torch.autograd.backward(self, gradient)

    def _accumulate(self, gradient: list[float]) -> None:
        before = self.grad._data if self.grad is not None else [0.0] * len(gradient)
        self.grad = Tensor([a + b for a, b in zip(before, gradient, strict=True)], self.shape, self.dtype)

    # Helpers.

    def _result(
        self,
        data: list[Any],
        shape: Sequence[int],
        inputs: Any,
        vjp: Callable[[list[float]], list[list[float] | None]],
        of: dtype | None = None,
    ) -> Tensor:
        result = Tensor(data, shape, of or self.dtype)
        record(result, Node(inputs, vjp))
        return result

    def _like(self, other: object) -> Tensor:
        if not isinstance(other, Tensor):
            return Tensor([other] * self.numel(), self.shape, self.dtype)
        if other.shape != self.shape:
            raise RuntimeError(f"The stand-in does not broadcast: shapes {self.shape} and {other.shape}")
        return other

    def _pairwise(self, other: object, function: Callable[..., Any], derivative: Callable[..., Any]) -> Tensor:
        twin = self._like(other)
        pairs = list(zip(self._data, twin._data, strict=True))

        def vjp(gradient: list[float]) -> list[list[float] | None]:
            slopes = [derivative(a, b) for a, b in pairs]
            return [[g * slope[side] for g, slope in zip(gradient, slopes, strict=True)] for side in (0, 1)]

        return self._result([function(a, b) for a, b in pairs], self.shape, (self, twin), vjp)


def tensor(data: Any, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor from a number or nested lists of numbers."""
    shape, flat = [], [data]
    while isinstance(flat[0], (list, tuple)):
        shape.append(len(flat[0]))
        flat = [number for row in flat for number in row]
    of = dtype or (bool_ if isinstance(flat[0], bool) else int64 if isinstance(flat[0], int) else float32)
    return Tensor(flat, shape, of, requires_grad=requires_grad).to(of)


def full(shape: Sequence[int], value: float, *, dtype: dtype = float32, requires_grad: bool = False) -> Tensor:
    """A tensor filled with one number."""
    return Tensor([value] * Size(shape).numel(), shape, dtype, requires_grad=requires_grad)


def ones(*shape: int, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    return full(shape, 1.0, requires_grad=requires_grad)


def zeros(*shape: int, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    return full(shape, 0.0, requires_grad=requires_grad)


def rand(*shape: int, requires_grad: bool = False) -> Tensor:
    """A tensor of seeded random numbers in [0, 1)."""
    numbers = [random.generator.random() for _ in range(Size(shape).numel())]
    return Tensor(numbers, shape, float32, requires_grad=requires_grad)


def equal(one: Tensor, other: Tensor) -> bool:
    """Whether shape and numbers are the same."""
    return one.shape == other.shape and one._data == other._data


def allclose(one: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, *, equal_nan: bool = False) -> bool:
    """Whether no number differs by more than ``atol + rtol * abs(other)``."""
    return all(
        a == b or abs(a - b) <= atol + rtol * abs(b) or (equal_nan and math.isnan(a) and math.isnan(b))
        for a, b in zip(one._data, one._like(other)._data, strict=True)
    )
