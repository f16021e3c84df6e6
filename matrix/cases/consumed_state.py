"""What a checkpointed function uses up is gone when it is called again.

Elements taken off a list, values taken from an iterator and random numbers of other libraries than torch are not put
back for recomputation, which goes on where the forward stopped.
"""

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "state"


def scaled(x, scale):
    """Multiply and apply the sine."""
    return (x * scale).sin()


def scaled_by_next(x, scales):
    """Multiply by what an iterator yields next."""
    return scaled(x, next(scales))


def add_last(x, features):
    """Take the last feature off a list and add it."""
    return (x + features.pop()).sin()


def add_last_of_copy(x, features):
    """Take the last feature off a copy of a list and add it."""
    return add_last(x, list(features))


def draw_rows(x):
    """Draw with NumPy how many rows an expert gets."""
    import numpy as np

    return int(np.random.randint(1, len(x)))


def expert(x, rows):
    """Let an expert work on the first rows."""
    return x[:rows].exp()


def expert_by_numpy(x):
    """Let an expert work on as many rows as NumPy says."""
    return expert(x, draw_rows(x))


def expert_by_torch(x):
    """Let an expert work on as many rows as torch says."""
    return expert(x, int(torch.randint(1, len(x), ())))


def backward(output, x):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad}


def batch():
    """Eight rows of four features."""
    torch.manual_seed(1729)
    return torch.randn(8, 4, requires_grad=True)


def inputs():
    """A batch and an iterator over scales."""
    return batch(), iter([2.0, 3.0, 4.0])


def list_inputs():
    """A batch and a list of one feature."""
    return batch(), [torch.ones(4)]


def numpy_inputs():
    """A batch, and NumPy's global generator from its seed."""
    import numpy as np

    np.random.seed(1729)
    return (batch(),)


def torch_inputs():
    """A batch."""
    return (batch(),)


def reference(x, scales):
    """The next scale, without checkpoint."""
    return backward(scaled_by_next(x, scales), x)


def list_reference(x, features):
    """The last feature added, without checkpoint."""
    return backward(add_last(x, features), x)


def numpy_reference(x):
    """As many rows as NumPy says, without checkpoint."""
    return backward(expert_by_numpy(x), x)


def torch_reference(x):
    """As many rows as torch says, without checkpoint."""
    return backward(expert_by_torch(x), x)


def case_iterator_moves_on(x, scales):
    """The checkpointed function takes its scale from an iterator.

    Recomputation takes the next one: the gradient belongs to another function.
    """
    output = checkpoint(scaled_by_next, x, scales, use_reentrant=False)
    return backward(output, x)


def case_iterator_read_outside(x, scales):
    """The caller takes the scale from the iterator.

    The scale is an argument, the same in forward and in recomputation.

    :repairs: iterator_moves_on
    """
    output = checkpoint(scaled, x, next(scales), use_reentrant=False)
    return backward(output, x)


def case_list_argument_emptied(x, features):
    """The checkpointed function takes an element off a list that it got as an argument.

    Checkpoint keeps the list, not its content: recomputation finds it empty. Done to free memory early.

    :report: PriorLabs/TabPFN#1138
    :inputs: list_inputs
    :reference: list_reference
    """
    output = checkpoint(add_last, x, features, use_reentrant=False)
    return backward(output, x)


def case_list_argument_copied(x, features):
    """The checkpointed function takes an element off a copy of the list.

    The caller's list is whole when recomputation gets it.

    :inputs: list_inputs
    :reference: list_reference
    :repairs: list_argument_emptied
    """
    output = checkpoint(add_last_of_copy, x, features, use_reentrant=False)
    return backward(output, x)


def case_numpy_routing(x):
    """NumPy's random numbers decide how many rows an expert sees.

    Checkpoint keeps torch's generators and no others, so recomputation sends other rows to the expert.

    :report: pytorch/pytorch#105031
    :report: pytorch/torchtitan#1117
    :report: NVIDIA-NeMo/Automodel#2635
    :report: NVIDIA-NeMo/Automodel#3156
    :requires: numpy.random
    :inputs: numpy_inputs
    :reference: numpy_reference
    """
    output = checkpoint(expert_by_numpy, x, use_reentrant=False)
    return backward(output, x)


def case_routing_drawn_outside(x):
    """The routing is drawn before the checkpointed function, which gets it as an argument.

    What is an argument is the same in forward and in recomputation.

    :requires: numpy.random
    :inputs: numpy_inputs
    :reference: numpy_reference
    :repairs: numpy_routing
    """
    output = checkpoint(expert, x, draw_rows(x), use_reentrant=False)
    return backward(output, x)


def case_routing_drawn_by_torch(x):
    """The routing is drawn inside the checkpointed function, by torch.

    With ``preserve_rng_state``, which is the default, recomputation draws the same numbers.

    :inputs: torch_inputs
    :reference: torch_reference
    :repairs: numpy_routing
    """
    output = checkpoint(expert_by_torch, x, use_reentrant=False)
    return backward(output, x)
