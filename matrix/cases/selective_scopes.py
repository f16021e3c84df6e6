"""Scopes around a selectively checkpointed region: hooks for saved tensors, and autocast.

What selective checkpointing keeps, it keeps outside the autograd graph. Hooks do not see it, and what a cache of
autocast spares the forward, recomputation may have to do.
"""

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "selective"
REQUIRES = ("torch.utils.checkpoint.create_selective_checkpoint_contexts",)


def keep_matmuls():
    """A pair of contexts, for forward and recomputation, that keep the results of matrix products."""
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    return create_selective_checkpoint_contexts([torch.ops.aten.mm.default])


def wave(x, w):
    """A layer of which backward needs the product."""
    return torch.mm(x, w).sin()


def rounding_hooks():
    """Hooks that round to bfloat16 what is saved for backward."""
    return torch.autograd.graph.saved_tensors_hooks(lambda saved: saved.bfloat16(), lambda packed: packed.float())


def backward(output, x, w):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad, "w.grad": w.grad}


def inputs():
    """Activations and a weight, of numbers that bfloat16 can hold."""
    torch.manual_seed(1729)
    return tuple(torch.randn(4, 4).bfloat16().float().requires_grad_() for _ in range(2))


def reference(x, w):
    """No scope, without checkpoint."""
    return backward(wave(x, w), x, w)


def rounding_reference(x, w):
    """All that is saved is rounded, without checkpoint."""
    with rounding_hooks():
        output = wave(x, w)
    return backward(output, x, w)


def siblings_reference(x, w):
    """Two calls that share a weight under autocast, without checkpoint."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = wave(x, w) + wave(x + 1, w)
    return backward(output.float(), x, w)


def uncached_siblings_reference(x, w):
    """The same without autocast's cache, so that each call casts the weight."""
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        output = wave(x, w) + wave(x + 1, w)
    return backward(output.float(), x, w)


def case_save_on_cpu(x, w):
    """A selective region inside ``save_on_cpu``.

    The kept results are not moved to the CPU, so they hold the memory that the user wanted to free. Where torch plans
    to change that, it warns.

    :report: pytorch/pytorch#190581
    :report: pytorch/pytorch#191236
    :observes: warnings
    """
    with torch.autograd.graph.save_on_cpu():
        output = checkpoint(wave, x, w, use_reentrant=False, context_fn=keep_matmuls)
    return backward(output, x, w)


def case_saved_tensors_hooks(x, w):
    """A selective region inside hooks that round what is saved for backward.

    The hooks do not see the kept results. Where hooks compress or offload, those results stay as they are.

    :report: pytorch/pytorch#190581
    :report: pytorch/pytorch#191236
    :observes: warnings
    :reference: rounding_reference
    """
    with rounding_hooks():
        output = checkpoint(wave, x, w, use_reentrant=False, context_fn=keep_matmuls)
    return backward(output, x, w)


def case_saved_tensors_hooks_respected(x, w):
    """Hooks around a selective region that see the kept results, with ``respect_saved_tensors_hooks=True``.

    :repairs: saved_tensors_hooks
    :report: pytorch/pytorch#190581
    :requires: torch.utils.checkpoint.checkpoint(respect_saved_tensors_hooks)
    :reference: rounding_reference
    """
    options = {"context_fn": keep_matmuls, "respect_saved_tensors_hooks": True}
    with rounding_hooks():
        output = checkpoint(wave, x, w, use_reentrant=False, **options)
    return backward(output, x, w)


def case_matmul_outside_region(x, w):
    """The product is computed outside the region, and is its input.

    The input of a region is saved through the hooks.

    :repairs: saved_tensors_hooks
    :reference: rounding_reference
    """
    with rounding_hooks():
        output = checkpoint(torch.sin, torch.mm(x, w), use_reentrant=False)
    return backward(output, x, w)


def case_autocast_siblings_share_weight(x, w):
    """Two selective regions share a weight under autocast.

    The first region casts the weight, the second takes it from the cache of autocast. Recomputation opens an autocast
    scope of its own for each region, whose cache is empty: the second region then casts a weight that its forward did
    not cast.

    :report: pytorch/pytorch#193338
    :detected: builtins.RuntimeError: not found in storage
    :reference: siblings_reference
    """
    with torch.autocast("cpu", dtype=torch.bfloat16):
        first = checkpoint(wave, x, w, use_reentrant=False, context_fn=keep_matmuls)
        second = checkpoint(wave, x + 1, w, use_reentrant=False, context_fn=keep_matmuls)
        output = first + second
    return backward(output.float(), x, w)


def case_autocast_without_weight_cache(x, w):
    """Two selective regions share a weight under autocast with ``cache_enabled=False``.

    :repairs: autocast_siblings_share_weight
    :reference: uncached_siblings_reference
    """
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        first = checkpoint(wave, x, w, use_reentrant=False, context_fn=keep_matmuls)
        second = checkpoint(wave, x + 1, w, use_reentrant=False, context_fn=keep_matmuls)
        output = first + second
    return backward(output.float(), x, w)
