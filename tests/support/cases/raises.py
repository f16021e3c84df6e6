"""Recomputes tensors of another shape, which checkpoint notices on every release."""

import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    return (torch.ones(2, 3, requires_grad=True),)


def reference(x):
    (x * x).sum().backward()
    return {"x.grad": x.grad}


def case_recomputes_flat(x):
    """Two rows in the forward pass, a flat list in the recomputation."""
    calls = []

    def fickle(y):
        calls.append(y)
        z = y.reshape(2, 3) if len(calls) == 1 else y.reshape(6)
        return (z * z).sum()

    checkpoint(fickle, x, use_reentrant=False).backward()
    return {"x.grad": x.grad}


def case_forward(x):
    """An exception that has nothing to do with checkpointing, before backward."""
    raise LookupError("no such row")
