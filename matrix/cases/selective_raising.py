"""What a selectively checkpointed region leaves behind when it raises.

While such a region runs, a dispatch mode is active that asks its policy about every operator. It must be gone when an
exception leaves the region.
"""

import functools

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "selective"
REQUIRES = ("torch.utils.checkpoint.create_selective_checkpoint_contexts",)

MATMUL = torch.ops.aten.mm.default


def keep_matmuls():
    """A pair of contexts, for forward and recomputation, that keep the results of matrix products."""
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    return create_selective_checkpoint_contexts([MATMUL])


def decision(keep):
    """What a policy answers."""
    from torch.utils.checkpoint import CheckpointPolicy

    return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE


def two_layers(x, w):
    """Two products with one weight, each followed by a nonlinear function."""
    return torch.mm(torch.mm(x, w).tanh(), w).tanh()


def backward(output, x, w):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad, "w.grad": w.grad}


def inputs():
    """Three rows of activations, and a weight."""
    torch.manual_seed(1729)
    return torch.randn(3, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)


def reference(x, w):
    """Two layers, without checkpoint."""
    return backward(two_layers(x, w), x, w)


def nothing_asked_reference(x, w):
    """Outside a selective region no policy is asked."""
    return {"asked afterwards": []}


def case_exception_is_kept(x, w):
    """A selective region raises, and its exception is kept: is the policy asked outside the region?

    The traceback holds on to the call of checkpoint, and so its contexts stay open: every later operator is traced, and
    what the policy keeps stays in memory.

    :report: pytorch/pytorch#184018
    :reference: nothing_asked_reference
    """
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    asked, failures = [], []

    def policy(context, op, *args, **kwargs):
        asked.append(str(op))
        return decision(op is MATMUL)

    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    try:
        checkpoint(torch.mm, x, x, use_reentrant=False, context_fn=contexts)  # the shapes do not fit
    except RuntimeError as failure:
        failures.append(failure)
    asked.clear()
    torch.mm(x, w)
    return {"asked afterwards": asked}


def case_exception_is_kept_without_traceback(x, w):
    """A selective region raises, and its exception is kept without its traceback.

    :repairs: exception_is_kept
    :reference: nothing_asked_reference
    """
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    asked, failures = [], []

    def policy(context, op, *args, **kwargs):
        asked.append(str(op))
        return decision(op is MATMUL)

    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    try:
        checkpoint(torch.mm, x, x, use_reentrant=False, context_fn=contexts)  # the shapes do not fit
    except RuntimeError as failure:
        failures.append(failure.with_traceback(None))
    asked.clear()
    torch.mm(x, w)
    return {"asked afterwards": asked}


def case_next_region_while_exception_is_handled(x, w):
    """A selective region raises, and another one runs in the ``except`` block.

    Until the exception is gone, the contexts of the first region stay open, and the second one runs inside them.

    :report: pytorch/pytorch#184018
    """
    try:
        output = checkpoint(torch.mm, x, x, use_reentrant=False, context_fn=keep_matmuls)  # the shapes do not fit
    except RuntimeError:
        output = checkpoint(two_layers, x, w, use_reentrant=False, context_fn=keep_matmuls)
    return backward(output, x, w)


def case_next_region_after_exception_was_handled(x, w):
    """A selective region raises, and another one runs after the ``except`` block.

    The exception is gone by then, and with it the first region.

    :repairs: next_region_while_exception_is_handled
    """
    failed = False
    try:
        output = checkpoint(torch.mm, x, x, use_reentrant=False, context_fn=keep_matmuls)  # the shapes do not fit
    except RuntimeError:
        failed = True
    if failed:
        output = checkpoint(two_layers, x, w, use_reentrant=False, context_fn=keep_matmuls)
    return backward(output, x, w)
