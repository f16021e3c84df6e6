"""Gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from torch.autograd import graph
from torch.autograd.graph import _engine_run_backward

if TYPE_CHECKING:
    from torch._tensor import Tensor

__all__ = ["backward", "graph"]


def backward(tensors: Tensor, grad_tensors: Optional[Tensor] = None) -> None:  # noqa: UP045  (3.8)
    """Add the gradients of ``tensors`` to those of the leaves they were made from."""
    if grad_tensors is None:
        if tensors.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        flat = [1.0]
    else:
        flat = grad_tensors._data
    _engine_run_backward(tensors, flat)
