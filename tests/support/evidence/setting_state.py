"""State that a checkpointed function may depend on changes between forward and backward: one case a setting."""

import contextvars
import random

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint


def inputs():
    return (torch.ones(2, 3, requires_grad=True),)


def reference(x):
    return finish(torch.sin(x), x)


def finish(output, x):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}


def before(change, x, function=torch.sin):
    """Checkpoint a function, change a setting, run backward."""
    output = checkpoint(function, x, use_reentrant=False)
    change()
    return finish(output, x)


branch = contextvars.ContextVar("branch")


class Seen(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    """A mode that changes nothing."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def case_function_mode(x):
    with Seen():
        output = checkpoint(torch.sin, x, use_reentrant=False)
    return finish(output, x)


def case_dispatch_mode(x):
    with Dispatched():
        output = checkpoint(torch.sin, x, use_reentrant=False)
    return finish(output, x)


def case_rng_cpu(x):
    output = checkpoint(torch.sin, x, use_reentrant=False, preserve_rng_state=False)
    torch.rand(1)
    return finish(output, x)


def case_rng_python(x):
    return before(random.random, x)


def case_rng_numpy(x):
    """NumPy's own generator.

    :requires: numpy.random
    """
    import numpy as np

    return before(np.random.rand, x)


def case_training(x):
    layer = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Dropout(0.0))

    def block(x):
        return layer(torch.sin(x))

    return before(layer.eval, x, block)


def case_training_of_a_child(x):
    layer = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Dropout(0.0))
    return before(layer[1].eval, x, lambda x: torch.sin(layer(x)))


def case_training_of_the_function_itself(x):
    layer = torch.nn.Sequential(torch.nn.Dropout(0.0), Sine())
    return before(layer.eval, x, layer)


def case_training_of_an_argument(x):
    layer = torch.nn.Dropout(0.0)
    output = checkpoint(lambda layers, x: layers[0](x).sin(), [layer], x, use_reentrant=False)
    layer.eval()
    return finish(output, x)


class Sine(torch.nn.Module):
    """A module without parameters."""

    def forward(self, x):
        return torch.sin(x)


def case_contextvar_set(x):
    return before(lambda: branch.set("left"), x)


def case_contextvar_changed(x):
    branch.set("left")
    return before(lambda: branch.set("right"), x)


def case_contextvar_reset(x):
    token = branch.set("left")
    return before(lambda: branch.reset(token), x)
