"""Raises with and without checkpoint."""

import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    return (torch.ones(2, requires_grad=True),)


def refuses(x):
    raise NotImplementedError("not implemented for 'Half'")


def reference(x):
    return {"y": refuses(x)}


def case_refuses(x):
    return {"y": checkpoint(refuses, x, use_reentrant=False)}
