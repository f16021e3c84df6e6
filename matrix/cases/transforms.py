"""Function transforms over and inside a checkpointed function: ``torch.func``, ``torch.vmap``, forward-mode AD.

Non-reentrant checkpoint is made of saved tensor hooks, and in some releases of an autograd.Function. A transform that
forbids the hooks, or for which that function has no rule, cannot pass through it.
"""

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "transforms"


def smooth(x):
    """A few elementwise operators."""
    return x.sin().exp()


def checkpointed_sum(x):
    """A scalar of a checkpointed function, as torch.func.grad needs it."""
    return checkpoint(smooth, x, use_reentrant=False).sum()


def inputs():
    """A batch of three samples."""
    torch.manual_seed(1729)
    return (torch.randn(3, 4, requires_grad=True),)


def reference(x):
    """The whole batch at once, without checkpoint."""
    return backward(smooth(x), x)


def func_grad_reference(x):
    """torch.func.grad, without checkpoint."""
    return {"gradient": torch.func.grad(lambda x: smooth(x).sum())(x)}


def per_sample_reference(x):
    """A gradient per sample by torch.func, without checkpoint."""
    return {"gradients": torch.vmap(torch.func.grad(lambda x: smooth(x).sum()))(x)}


def vmap_reference(x):
    """torch.vmap, without checkpoint."""
    return backward(torch.vmap(smooth)(x), x)


def forward_ad_reference(x):
    """Forward-mode AD, without checkpoint."""
    return directional(smooth, x)


def backward(output, x):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad}


def directional(function, x):
    """Return the output and its derivative along a vector of ones, by forward-mode AD."""
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
        primal, tangent = torch.autograd.forward_ad.unpack_dual(function(dual))
        return {"output": primal, "tangent": tangent}


def case_func_grad(x):
    """``torch.func.grad`` over a checkpointed function.

    torch.func forbids saved tensor hooks under grad, vjp, jacrev and hessian. A model with checkpoint inside cannot be
    differentiated by them.

    :report: pytorch/pytorch#122729
    :reference: func_grad_reference
    :detected: builtins.RuntimeError: support saved tensor hooks
    """
    return {"gradient": torch.func.grad(checkpointed_sum)(x)}


def case_autograd_grad(x):
    """``torch.autograd.grad`` over a checkpointed function.

    :reference: func_grad_reference
    :repairs: func_grad
    """
    (gradient,) = torch.autograd.grad(checkpointed_sum(x), x)
    return {"gradient": gradient}


def case_per_sample_gradients(x):
    """A gradient per sample by ``torch.vmap`` of ``torch.func.grad``, over a checkpointed function.

    This is how differentially private training gets its gradients; torch.func.grad forbids saved tensor hooks under vmap too.

    :report: pytorch/pytorch#165880
    :reference: per_sample_reference
    :detected: builtins.RuntimeError: support saved tensor hooks
    :detected: builtins.RuntimeError: You tried to vmap over
    """
    return {"gradients": torch.vmap(torch.func.grad(checkpointed_sum))(x)}


def case_per_sample_gradients_in_loop(x):
    """A gradient per sample by ``torch.autograd.grad`` in a loop.

    :reference: per_sample_reference
    :repairs: per_sample_gradients
    """
    gradients = [torch.autograd.grad(checkpointed_sum(sample), sample)[0] for sample in x]
    return {"gradients": torch.stack(gradients)}


def case_vmap_over_checkpoint(x):
    """``torch.vmap`` over a checkpointed function, with backward outside.

    checkpoint has no rule for vmap: either it refuses at once, or the recomputation meets a batched tensor whose vmap is over.

    :report: pytorch/pytorch#165880
    :reference: vmap_reference
    :detected: builtins.RuntimeError: support saved tensor hooks
    :detected: builtins.RuntimeError: You tried to vmap over
    """
    output = torch.vmap(lambda sample: checkpoint(smooth, sample, use_reentrant=False))(x)
    return backward(output, x)


def case_vmap_inside_checkpoint(x):
    """``torch.vmap`` inside a checkpointed function.

    A part that is written for one sample, such as a norm or a distance, is batched by vmap within a checkpointed block.

    :reference: vmap_reference
    :detected: builtins.RuntimeError: support saved tensor hooks
    """
    output = checkpoint(torch.vmap(smooth), x, use_reentrant=False)
    return backward(output, x)


def case_checkpoint_in_loop(x):
    """One checkpoint per sample, in a loop.

    :reference: vmap_reference
    :repairs: vmap_over_checkpoint
    :repairs: vmap_inside_checkpoint
    """
    output = torch.stack([checkpoint(smooth, sample, use_reentrant=False) for sample in x])
    return backward(output, x)


def case_forward_ad(x):
    """Forward-mode AD through a checkpointed function.

    From 2.1 to 2.11, checkpoint saves its inputs by an autograd.Function that has no rule for forward mode (``jvp``), so
    Jacobian-vector products of a model with checkpoint inside raise.

    :report: pytorch/pytorch#174327
    :report: pytorch/pytorch#129293
    :reference: forward_ad_reference
    :detected: builtins.NotImplementedError: to use it with forward mode AD
    """
    return directional(lambda x: checkpoint(smooth, x, use_reentrant=False), x)


def case_forward_ad_checkpoint_only_with_grad(x):
    """Forward-mode AD under no_grad, of a function that is checkpointed only where grad is on.

    Forward mode keeps no tensors for backward, so checkpoint would spare no memory.

    :reference: forward_ad_reference
    :repairs: forward_ad
    """

    def function(x):
        return checkpoint(smooth, x, use_reentrant=False) if torch.is_grad_enabled() else smooth(x)

    with torch.no_grad():
        return directional(function, x)
