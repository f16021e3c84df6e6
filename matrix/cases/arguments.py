"""Arguments and outputs of a region that the reentrant variant does not take.

With ``use_reentrant=True`` a region is one autograd function: it has no keyword arguments, and only tensors that are
themselves arguments or outputs belong to the graph. With ``use_reentrant=False`` any function can be a region.
"""

import functools
from dataclasses import dataclass

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "diagnostics"


@dataclass
class Output:
    """What a model's block may return."""

    hidden: torch.Tensor


class Scaled(torch.nn.Module):
    """A block with a keyword argument."""

    def forward(self, x, scale=1.0):
        """Scale and squash."""
        return torch.tanh(x * scale)


def in_dataclass(x):
    """A block that returns a dataclass."""
    return Output(hidden=torch.tanh(x))


def in_tuple(x):
    """A block that returns a tuple."""
    return (torch.tanh(x),)


def backward(output, x):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad}


def inputs():
    """Features."""
    torch.manual_seed(1729)
    return (torch.randn(4, requires_grad=True),)


def reference(x):
    """The block that returns a dataclass, without checkpoint."""
    return backward(in_dataclass(x).hidden, x)


def residual_reference(x):
    """The same beside a residual connection, without checkpoint."""
    return backward(x + in_dataclass(x).hidden, x)


def keyword_reference(x):
    """The block with a keyword argument, without checkpoint."""
    return backward(Scaled()(x, scale=2.0), x)


def case_dataclass_output_reentrant(x):
    """use_reentrant=True for a block that returns a dataclass.

    The tensor in the dataclass is not an output of the autograd function, so it has no gradient.

    :report: pytorch/pytorch#124725
    :detected: builtins.RuntimeError: does not require grad
    """
    return backward(checkpoint(in_dataclass, x, use_reentrant=True).hidden, x)


def case_dataclass_output_reentrant_residual(x):
    """use_reentrant=True for a block that returns a dataclass, beside a residual connection.

    The gradient takes the residual connection alone: the block is trained by nothing, and nothing says so.

    :report: pytorch/pytorch#124725
    :reference: residual_reference
    """
    return backward(x + checkpoint(in_dataclass, x, use_reentrant=True).hidden, x)


def case_dataclass_output_nonreentrant(x):
    """use_reentrant=False for a block that returns a dataclass, beside a residual connection.

    The graph is recorded in forward, wherever the tensors are put.

    :repairs: dataclass_output_reentrant
    :repairs: dataclass_output_reentrant_residual
    :reference: residual_reference
    """
    return backward(x + checkpoint(in_dataclass, x, use_reentrant=False).hidden, x)


def case_tuple_output_reentrant(x):
    """use_reentrant=True for a block that returns a tuple, from which the dataclass is made outside.

    Tensors in a tuple are outputs of the autograd function.

    :repairs: dataclass_output_reentrant
    :repairs: dataclass_output_reentrant_residual
    :reference: residual_reference
    """
    return backward(x + Output(*checkpoint(in_tuple, x, use_reentrant=True)).hidden, x)


def case_keyword_argument_reentrant(x):
    """use_reentrant=True with a keyword argument for the block.

    Masks and flags of a transformer's block are often passed by name.

    :report: huggingface/pytorch-image-models#2389
    :reference: keyword_reference
    :detected: builtins.ValueError: Unexpected keyword arguments
    """
    return backward(checkpoint(Scaled(), x, scale=2.0, use_reentrant=True), x)


def case_keyword_argument_nonreentrant(x):
    """use_reentrant=False with a keyword argument for the block.

    It is passed on to the block in forward and in recomputation.

    :repairs: keyword_argument_reentrant
    :reference: keyword_reference
    """
    return backward(checkpoint(Scaled(), x, scale=2.0, use_reentrant=False), x)


def case_keyword_argument_in_partial(x):
    """use_reentrant=True with the keyword argument bound by functools.partial.

    It serves for flags and numbers; a tensor that is to get a gradient belongs among the arguments.

    :repairs: keyword_argument_reentrant
    :reference: keyword_reference
    """
    return backward(checkpoint(functools.partial(Scaled(), scale=2.0), x, use_reentrant=True), x)


def case_keyword_argument_through_wrapper(x):
    """checkpoint_wrapper in its reentrant mode, called with a keyword argument.

    The wrapper passes keyword arguments by position and puts their names back inside the region.

    :requires: torch.distributed.algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper
    :repairs: keyword_argument_reentrant
    :reference: keyword_reference
    """
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, checkpoint_wrapper

    block = checkpoint_wrapper(Scaled(), checkpoint_impl=CheckpointImpl.REENTRANT)
    return backward(block(x, scale=2.0), x)
