"""Ways to call checkpoint, each of which a watched trial must attribute."""

import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


def inputs():
    return (torch.ones(2, 3, requires_grad=True),)


def reference(x):
    return finish(twice(x), x)


def finish(output, x):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}


def twice(x):
    """The sine of the sine."""
    return torch.sin(torch.sin(x))


class Sine(torch.nn.Module):
    """A module without parameters."""

    def forward(self, x):
        return torch.sin(x)


def case_omitted(x):
    return finish(checkpoint(twice, x), x)


def case_by_keyword(x):
    return finish(checkpoint(function=twice, x=x, use_reentrant=False), x)


def case_backward_twice(x):
    total = checkpoint(twice, x, use_reentrant=False).sum()
    total.backward(retain_graph=True)
    total.backward()
    return {"output": twice(x), "x.grad": x.grad / 2}


def thrice_reference(x):
    return finish(torch.sin(twice(x)), x)


def case_sequential(x):
    """Two segments; the last is never checkpointed.

    :reference: thrice_reference
    """
    layers = torch.nn.Sequential(Sine(), Sine(), Sine())
    return finish(checkpoint_sequential(layers, 3, x, use_reentrant=False), x)


def case_wrapped_module(x):
    """A module that checkpoints itself.

    :requires: torch.distributed.algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper
    """
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, checkpoint_wrapper

    layers = torch.nn.Sequential(Sine(), Sine())
    return finish(checkpoint_wrapper(layers, checkpoint_impl=CheckpointImpl.NO_REENTRANT)(x), x)


def case_decorated(x):
    """The form without a function.

    :requires: torch.utils.checkpoint._checkpoint_impl
    """
    return finish(checkpoint(use_reentrant=False)(twice)(x), x)


def case_selective(x):
    """Selective checkpointing, whose own modes differ between forward and recomputation.

    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    """
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    def contexts():
        return create_selective_checkpoint_contexts([torch.ops.aten.sin.default])

    return finish(checkpoint(twice, x, use_reentrant=False, context_fn=contexts), x)


def case_nested(x):
    return finish(checkpoint(nesting(use_reentrant=False), x, use_reentrant=False), x)


def case_nested_reentrant(x):
    return finish(checkpoint(nesting(use_reentrant=True), x, use_reentrant=True), x)


def case_nested_reentrant_in_other(x):
    return finish(checkpoint(nesting(use_reentrant=True), x, use_reentrant=False), x)


def nesting(use_reentrant):
    """A function that checkpoints the first of two sines."""
    return lambda x: torch.sin(checkpoint(torch.sin, x, use_reentrant=use_reentrant))
