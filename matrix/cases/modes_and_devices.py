"""Modes must be in force when checkpoint recomputes; and meta tensors, which have a device of their own.

A dispatch mode and a torch-function mode hold for a scope. Recomputation runs in backward: after the scope was left, or
inside ``Tensor.backward()``, a call that the innermost torch-function mode has already handled.
"""

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

FAMILY = "modes"


class SinBecomesCos(TorchDispatchMode):
    """A dispatch mode that runs another operator."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        func = torch.ops.aten.cos.default if func is torch.ops.aten.sin.default else func
        return func(*args, **(kwargs or {}))


class SinInDouble(TorchFunctionMode):
    """A torch-function mode that changes a dtype."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        args = (args[0].double(),) if func is torch.sin else args
        return func(*args, **(kwargs or {}))


class SinOfDouble(TorchFunctionMode):
    """A torch-function mode that changes values only."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        args = (args[0] * 2,) if func is torch.sin else args
        return func(*args, **(kwargs or {}))


def sin_cubed(x):
    """A function whose ``torch.sin`` a mode can change."""
    return torch.sin(x) ** 3


def backward(output, x):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}


def inputs():
    """Four numbers."""
    torch.manual_seed(1729)
    return (torch.randn(4, requires_grad=True),)


def meta_inputs():
    """A tensor without numbers."""
    return (torch.empty(4, device="meta", requires_grad=True),)


def dispatch_mode_reference(x):
    """Under the dispatch mode, without checkpoint."""
    with SinBecomesCos():
        output = sin_cubed(x)
    return backward(output, x)


def dtype_reference(x):
    """Under the torch-function mode that changes a dtype, without checkpoint."""
    with SinInDouble():
        return backward(sin_cubed(x), x)


def value_reference(x):
    """Under the torch-function mode that changes values, without checkpoint."""
    with SinOfDouble():
        return backward(sin_cubed(x), x)


def plain_reference(x):
    """No mode, without checkpoint."""
    return backward(sin_cubed(x), x)


def case_dispatch_mode_around_forward_only(x):
    """A dispatch mode that is active around the checkpointed forward only.

    Backward recomputes without the mode: the gradients are those of another function, and nothing is said.

    :report: pytorch/pytorch#84864
    :reference: dispatch_mode_reference
    """
    with SinBecomesCos():
        output = checkpoint(sin_cubed, x, use_reentrant=False)
    return backward(output, x)


def case_dispatch_mode_inside_function(x):
    """The dispatch mode is entered inside the checkpointed function.

    :repairs: dispatch_mode_around_forward_only
    :reference: dispatch_mode_reference
    """

    def function(x):
        with SinBecomesCos():
            return sin_cubed(x)

    return backward(checkpoint(function, x, use_reentrant=False), x)


def case_dispatch_mode_through_context_fn(x):
    """The dispatch mode is given to checkpoint, for forward and for recomputation.

    :repairs: dispatch_mode_around_forward_only
    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    :reference: dispatch_mode_reference
    """
    output = checkpoint(sin_cubed, x, use_reentrant=False, context_fn=lambda: (SinBecomesCos(), SinBecomesCos()))
    return backward(output, x)


def case_function_mode_changes_dtype(x):
    """A torch-function mode that changes a dtype is active around forward and backward.

    ``Tensor.backward()`` runs without the innermost torch-function mode, so the mode does not see the recomputation.

    :report: pytorch/pytorch#147995
    :reference: dtype_reference
    """
    with SinInDouble():
        output = checkpoint(sin_cubed, x, use_reentrant=False)
        return backward(output, x)


def case_function_mode_changes_values(x):
    """A torch-function mode that changes values only is active around forward and backward.

    As with a dtype; but the recomputed tensors look right, so the gradients are wrong and nothing is said.

    :report: pytorch/pytorch#147995
    :reference: value_reference
    """
    with SinOfDouble():
        output = checkpoint(sin_cubed, x, use_reentrant=False)
        return backward(output, x)


def case_function_mode_inside_function(x):
    """The torch-function mode is entered inside the checkpointed function.

    :repairs: function_mode_changes_dtype
    :repairs: function_mode_changes_values
    :reference: dtype_reference
    """

    def function(x):
        with SinInDouble():
            return sin_cubed(x)

    return backward(checkpoint(function, x, use_reentrant=False), x)


def case_function_mode_through_context_fn(x):
    """The torch-function mode is given to checkpoint, for forward and for recomputation.

    :repairs: function_mode_changes_dtype
    :repairs: function_mode_changes_values
    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    :reference: value_reference
    """
    output = checkpoint(sin_cubed, x, use_reentrant=False, context_fn=lambda: (SinOfDouble(), SinOfDouble()))
    return backward(output, x)


def case_meta_tensors(x):
    """Meta tensors go through a checkpointed function, without random state to restore.

    Shapes and memory are estimated this way before a model is trained.

    :report: pytorch/pytorch#133550
    :inputs: meta_inputs
    :reference: plain_reference
    """
    output = checkpoint(sin_cubed, x, use_reentrant=False, preserve_rng_state=False)
    return backward(output, x)


def case_reentrant_meta_tensors(x):
    """Meta tensors go through a checkpointed function, with ``use_reentrant=True``.

    :report: pytorch/pytorch#133550
    :inputs: meta_inputs
    :reference: plain_reference
    """
    output = checkpoint(sin_cubed, x, use_reentrant=True, preserve_rng_state=False)
    return backward(output, x)


def case_meta_tensors_in_closure(x):
    """Meta tensors that are no arguments of the checkpointed function.

    Checkpoint looks for the device among the arguments, and finds none here.

    :repairs: meta_tensors
    :repairs: reentrant_meta_tensors
    :inputs: meta_inputs
    :reference: plain_reference
    """
    output = checkpoint(lambda: sin_cubed(x), use_reentrant=False, preserve_rng_state=False)
    return backward(output, x)
