"""Checkpoints what a library beside torch gives it: from its version 2 on, a function named ``regresses``."""

import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    torch.manual_seed(0)
    return (torch.rand(2, 3, requires_grad=True),)


def square(x):
    return (x * x).sum()


def regresses(x):
    return (x * x).sum()


def reference(x):
    square(x).backward()
    return {"x.grad": x.grad}


def case_of_library(x):
    """Which function it is depends on the library."""
    import library

    checkpoint(square if library.__version__ < "2" else regresses, x, use_reentrant=False).backward()
    return {"x.grad": x.grad}
