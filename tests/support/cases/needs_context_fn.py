"""One case that needs a parameter which 2.0 lacks, and one that does not."""

import contextlib

import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    return (torch.ones(2, 3, requires_grad=True),)


def square(x):
    return (x * x).sum()


def reference(x):
    square(x).backward()
    return {"x.grad": x.grad}


def contexts():
    return contextlib.nullcontext(), contextlib.nullcontext()


def case_with_context_fn(x):
    """A context for the recomputation.

    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    """
    checkpoint(square, x, use_reentrant=False, context_fn=contexts).backward()
    return {"x.grad": x.grad}


def case_without(x):
    checkpoint(square, x, use_reentrant=False).backward()
    return {"x.grad": x.grad}
