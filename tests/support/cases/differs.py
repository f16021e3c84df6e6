"""Recomputes other numbers with the same metadata, which checkpoint does not notice."""

import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    return (torch.ones(2, 3, requires_grad=True),)


def reference(x):
    (x * x).sum().backward()
    return {"x.grad": x.grad}


def case_counts_calls(x):
    """The recomputation multiplies by two, the forward pass by one."""
    calls = []

    def fickle(y):
        calls.append(y)
        z = y * len(calls)
        return (z * z).sum()

    checkpoint(fickle, x, use_reentrant=False).backward()
    return {"x.grad": x.grad}


def case_side_effect(x):
    """The number of calls is compared too.

    :reference: expects_one_call
    """
    calls = []

    def counts(y):
        calls.append("call")
        return (y * y).sum()

    checkpoint(counts, x, use_reentrant=False).backward()
    return {"calls": calls, "first": calls[0], "number": len(calls)}


def expects_one_call(x):
    return {"calls": ["call"], "first": "call", "number": 1}
