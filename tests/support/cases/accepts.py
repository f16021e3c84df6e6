"""Runs through where its reference raises: checkpoint accepts what plain autograd refuses."""

import torch


def inputs():
    return (torch.ones(2, requires_grad=True),)


def reference(x):
    raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")


def case_accepts(x):
    return {"x": x}
