"""Which generators and flags are as they were when checkpoint recomputes?

Checkpoint puts back torch's own default generators. Each case lets one piece of state move on after the forward; the
checkpointed function notes what it sees, first in the forward and then in the recomputation.
"""

import random
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "settings"

RESTORED = {"recomputation saw": "what forward saw"}
LANGUAGE = ContextVar("LANGUAGE", default="unset")


class Watched:
    """A function to checkpoint, which notes a number or flag whenever it is called."""

    def __init__(self, read):
        self.read = read
        self.seen = []

    def __call__(self, x, *arguments):
        """Note first, so that early stop cannot cut it, and compute."""
        self.seen.append(self.read(*arguments))
        return x.sin()

    def compared(self, output):
        """Run backward and return what is compared."""
        output.backward(torch.ones_like(output))
        forward, recomputation = self.seen
        return RESTORED if recomputation == forward else {"recomputation saw": f"{recomputation} instead of {forward}"}


@contextmanager
def changed(set_value, inside, outside):
    """Open a scope in which a setting has another value."""
    set_value(inside)
    try:
        yield
    finally:
        set_value(outside)


def drawn():
    """Draw a number from torch's default generator."""
    return round(torch.rand(()).item(), 4)


def drawn_from(generator):
    """Return a function that draws a number from a generator of one's own."""
    return lambda: round(torch.rand((), generator=generator).item(), 4)


def drawn_by_python():
    """Draw a number from Python's generator."""
    return round(random.random(), 4)


def seed_numpy():
    """Seed NumPy's generator."""
    import numpy as np

    np.random.seed(1729)


def drawn_by_numpy():
    """Draw a number from NumPy's generator."""
    import numpy as np

    return round(np.random.random(), 4)


def drawn_from_seed(seed):
    """Draw numbers from fresh generators; ``numpy.random.default_rng(seed)`` is NumPy's."""
    return [drawn_from(torch.Generator().manual_seed(seed))(), round(random.Random(seed).random(), 4)]


def inputs():
    """One tensor that requires grad."""
    torch.manual_seed(1729)
    return (torch.randn(4, requires_grad=True),)


def reference(x):
    """What recomputation should see."""
    return RESTORED


def case_cpu_generator(x):
    """The function draws from torch's default generator.

    Dropout and noise must be drawn again as they were; checkpoint keeps the state of the generator for that.

    :repairs: cpu_generator_not_preserved
    :restores: CPU generator (use_reentrant=False)
    """
    function = Watched(drawn)
    return function.compared(checkpoint(function, x, use_reentrant=False))


def case_cpu_generator_reentrant(x):
    """The function draws from torch's default generator, with ``use_reentrant=True``.

    The reentrant variant keeps the state as well.

    :repairs: cpu_generator_not_preserved_reentrant
    :restores: CPU generator (use_reentrant=True)
    """
    function = Watched(drawn)
    return function.compared(checkpoint(function, x, use_reentrant=True))


def case_cpu_generator_not_preserved(x):
    """The function draws from torch's default generator, with ``preserve_rng_state=False``.

    This saves the copies of the state, and is sound only for a function that draws nothing: dropout drops other elements.

    :report: pytorch/pytorch#76737
    :report: pytorch/pytorch#82465
    :report: allenai/OLMo-core#828
    :restores: CPU generator with preserve_rng_state=False (use_reentrant=False)
    """
    function = Watched(drawn)
    return function.compared(checkpoint(function, x, use_reentrant=False, preserve_rng_state=False))


def case_cpu_generator_not_preserved_reentrant(x):
    """The function draws from torch's default generator, with ``preserve_rng_state=False``, with ``use_reentrant=True``.

    The switch means the same for the reentrant variant.

    :restores: CPU generator with preserve_rng_state=False (use_reentrant=True)
    """
    function = Watched(drawn)
    return function.compared(checkpoint(function, x, use_reentrant=True, preserve_rng_state=False))


def case_own_generator(x):
    """The function draws from a ``torch.Generator`` of the user's own.

    Checkpoint knows the default generators only: noise from any other differs in the recomputation.

    :restores: generator of one's own (use_reentrant=False)
    """
    function = Watched(drawn_from(torch.Generator().manual_seed(1729)))
    return function.compared(checkpoint(function, x, use_reentrant=False))


def case_own_generator_reentrant(x):
    """The function draws from a ``torch.Generator`` of the user's own, with ``use_reentrant=True``.

    The reentrant variant does not put it back either, and never compares the two runs.

    :restores: generator of one's own (use_reentrant=True)
    """
    function = Watched(drawn_from(torch.Generator().manual_seed(1729)))
    return function.compared(checkpoint(function, x, use_reentrant=True))


def case_python_random(x):
    """The function draws from Python's ``random``.

    Layer drop and augmentation often draw there: the recomputation takes another path.

    :restores: Python's random (use_reentrant=False)
    """
    function = Watched(drawn_by_python)
    return function.compared(checkpoint(function, x, use_reentrant=False))


def case_python_random_reentrant(x):
    """The function draws from Python's ``random``, with ``use_reentrant=True``.

    The reentrant variant does not put it back either, and never compares the two runs.

    :restores: Python's random (use_reentrant=True)
    """
    function = Watched(drawn_by_python)
    return function.compared(checkpoint(function, x, use_reentrant=True))


def case_numpy_random(x):
    """The function draws from ``numpy.random``.

    Masks and routing often draw there: the recomputation gets another mask.

    :requires: numpy.random
    :restores: NumPy's random (use_reentrant=False)
    """
    seed_numpy()
    function = Watched(drawn_by_numpy)
    return function.compared(checkpoint(function, x, use_reentrant=False))


def case_numpy_random_reentrant(x):
    """The function draws from ``numpy.random``, with ``use_reentrant=True``.

    The reentrant variant does not put it back either, and never compares the two runs.

    :requires: numpy.random
    :restores: NumPy's random (use_reentrant=True)
    """
    seed_numpy()
    function = Watched(drawn_by_numpy)
    return function.compared(checkpoint(function, x, use_reentrant=True))


def case_context_variable(x):
    """A context variable is set around the forward only.

    Libraries pass batch information to deep layers this way; the recomputation finds the variable reset.

    :report: pytorch/pytorch#84864
    :restores: context variable (use_reentrant=False)
    """
    function = Watched(LANGUAGE.get)
    with changed(LANGUAGE.set, "set", "unset"):
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_context_variable_reentrant(x):
    """A context variable is set around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put it back either, and never compares the two runs.

    :restores: context variable (use_reentrant=True)
    """
    function = Watched(LANGUAGE.get)
    with changed(LANGUAGE.set, "set", "unset"):
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_training_flag(x):
    """A module is in training mode in the forward only.

    An evaluation between forward and backward leaves the module in eval mode, and dropout is skipped.

    :restores: module training flag (use_reentrant=False)
    """
    module = torch.nn.Dropout()
    function = Watched(lambda: module.training)
    with changed(module.train, True, False):
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_training_flag_reentrant(x):
    """A module is in training mode in the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put it back either, and never compares the two runs.

    :restores: module training flag (use_reentrant=True)
    """
    module = torch.nn.Dropout()
    function = Watched(lambda: module.training)
    with changed(module.train, True, False):
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_generators_from_seed(x):
    """The function makes its generators itself, from a seed that is an argument.

    Arguments are kept for the recomputation, so that it draws the same numbers.

    :repairs: own_generator
    :repairs: python_random
    :repairs: numpy_random
    """
    function = Watched(drawn_from_seed)
    seed = random.randrange(2**32)
    return function.compared(checkpoint(function, x, seed, use_reentrant=False))


def case_generators_from_seed_reentrant(x):
    """The function makes its generators itself, from a seed that is an argument, with ``use_reentrant=True``.

    Arguments are kept for the recomputation, so that it draws the same numbers.

    :repairs: own_generator_reentrant
    :repairs: python_random_reentrant
    :repairs: numpy_random_reentrant
    """
    function = Watched(drawn_from_seed)
    seed = random.randrange(2**32)
    return function.compared(checkpoint(function, x, seed, use_reentrant=True))


def case_flag_as_argument(x):
    """The flag is passed as an argument.

    Arguments are kept for the recomputation, whatever has become of the variable or the module.

    :repairs: context_variable
    :repairs: training_flag
    """
    function = Watched(lambda language, training: [language, training])
    module = torch.nn.Dropout()
    with changed(LANGUAGE.set, "set", "unset"), changed(module.train, True, False):
        output = checkpoint(function, x, LANGUAGE.get(), module.training, use_reentrant=False)
    return function.compared(output)


def case_flag_as_argument_reentrant(x):
    """The flag is passed as an argument, with ``use_reentrant=True``.

    Arguments are kept for the recomputation, whatever has become of the variable or the module.

    :repairs: context_variable_reentrant
    :repairs: training_flag_reentrant
    """
    function = Watched(lambda language, training: [language, training])
    module = torch.nn.Dropout()
    with changed(LANGUAGE.set, "set", "unset"), changed(module.train, True, False):
        output = checkpoint(function, x, LANGUAGE.get(), module.training, use_reentrant=True)
    return function.compared(output)
