"""Cases for what a release may do to them: by another operator, an API that goes, an abort, and what does not repeat."""

import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    torch.manual_seed(0)
    return (torch.rand(2, 3, requires_grad=True),)


def copies(x):
    return (x * x).clone().sum()


def aborts(x):
    return (x * x).sum()


def wavers(x):
    return (x * x).sum()


def reference(x):
    copies(x).backward()
    return {"x.grad": x.grad}


def case_copies(x):
    checkpoint(copies, x, use_reentrant=False).backward()
    return {"x.grad": x.grad}


def case_aborts(x):
    checkpoint(aborts, x, use_reentrant=False).backward()
    return {"x.grad": x.grad}


def case_wavers(x):
    checkpoint(wavers, x, use_reentrant=False).backward()
    return {"x.grad": x.grad}


def case_needs_contexts(x):
    """Needs the contexts that do nothing.

    :requires: torch.utils.checkpoint.noop_context_fn
    """
    from torch.utils.checkpoint import noop_context_fn

    checkpoint(copies, x, use_reentrant=False, context_fn=noop_context_fn).backward()
    return {"x.grad": x.grad}
