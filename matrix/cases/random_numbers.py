"""Random numbers must be the same in forward and in recomputation.

checkpoint puts back the state of torch's default generators before it recomputes, and of no other source of random numbers.
Nothing compares values, so what is drawn anew gives wrong gradients in silence.
"""

import contextlib
import random

import torch
from torch.nn.functional import dropout, rrelu
from torch.utils.checkpoint import checkpoint

FAMILY = "random"


class FromState:
    """Context that starts from a remembered state of a random number generator and puts back the later one."""

    def __init__(self, get_state, set_state):
        self.get_state, self.set_state = get_state, set_state
        self.remembered = get_state()

    def __enter__(self):
        self.later = self.get_state()
        self.set_state(self.remembered)

    def __exit__(self, *exception):
        self.set_state(self.later)


def dropped(x):
    """Drop half of the input."""
    return dropout(x.sin(), 0.5).exp()


def python_scaled(x):
    """Scale by a number from Python's random module."""
    return (x * random.uniform(0.5, 2.0)).sin()


def scaled(x, scale):
    """Scale by what is passed in."""
    return (x * scale).sin()


def leaky(x):
    """Randomised leaky ReLU."""
    return rrelu(x.sin(), training=True)


def noisy(x):
    """Two draws, one after the other: uniform, then normal."""
    uniform = torch.rand_like(x)
    normal = torch.randn_like(x)
    return (x * uniform).sin() * normal


def keep(*operators):
    """Return a context_fn of selective checkpointing that keeps what the operators compute."""
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    return lambda: create_selective_checkpoint_contexts(list(operators))


def backward(output, x):
    """Run backward and return what is compared, with the number that is drawn after it."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad, "next draw": torch.rand(1), "next of Python": random.random()}


def inputs():
    """One tensor; both generators seeded."""
    random.seed(1729)
    torch.manual_seed(1729)
    return (torch.randn(16, requires_grad=True),)


def generator_inputs():
    """One tensor and a generator of one's own."""
    return (*inputs(), torch.Generator().manual_seed(1729))


def reference(x):
    """Dropout, without checkpoint."""
    return backward(dropped(x), x)


def python_reference(x):
    """A scale from Python's random module, without checkpoint."""
    return backward(python_scaled(x), x)


def generator_reference(x, generator):
    """A scale from a generator of one's own, without checkpoint."""
    return backward(scaled(x, torch.rand(16, generator=generator)), x)


def leaky_reference(x):
    """Randomised leaky ReLU, without checkpoint."""
    return backward(leaky(x), x)


def noisy_reference(x):
    """Two draws, without checkpoint."""
    return backward(noisy(x), x)


def case_dropout_without_preserved_rng(x):
    """Dropout with ``preserve_rng_state=False``.

    The recomputation draws another mask than the forward, so the gradients are those of another sample than the loss.
    Nothing reports it.

    :report: allenai/OLMo-core#828
    :report: pytorch/torchtitan#1323
    :report: ankanbhunia/PIDM#66
    """
    output = checkpoint(dropped, x, use_reentrant=False, preserve_rng_state=False)
    return backward(output, x)


def case_dropout_with_preserved_rng(x):
    """Dropout with the default ``preserve_rng_state=True``.

    :repairs: dropout_without_preserved_rng
    """
    output = checkpoint(dropped, x, use_reentrant=False)
    return backward(output, x)


def case_scale_from_python_random(x):
    """The checkpointed function draws a scale from Python's random module.

    checkpoint does not put back the state of that module; the recomputation scales by another number.

    :reference: python_reference
    """
    output = checkpoint(python_scaled, x, use_reentrant=False)
    return backward(output, x)


def case_scale_drawn_before_checkpoint(x):
    """The scale is drawn before checkpoint and passed in.

    :reference: python_reference
    :repairs: scale_from_python_random
    """
    output = checkpoint(scaled, x, random.uniform(0.5, 2.0), use_reentrant=False)
    return backward(output, x)


def case_python_random_through_context_fn(x):
    """The state of Python's random module is put back by ``context_fn``.

    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    :reference: python_reference
    :repairs: scale_from_python_random
    """

    def contexts():
        return contextlib.nullcontext(), FromState(random.getstate, random.setstate)

    output = checkpoint(python_scaled, x, use_reentrant=False, context_fn=contexts)
    return backward(output, x)


def case_own_generator(x, generator):
    """The checkpointed function draws from a ``torch.Generator`` of one's own.

    preserve_rng_state is about torch's default generators only; the recomputation draws the next numbers.

    :inputs: generator_inputs
    :reference: generator_reference
    """
    output = checkpoint(lambda x: scaled(x, torch.rand(16, generator=generator)), x, use_reentrant=False)
    return backward(output, x)


def case_own_generator_drawn_before_checkpoint(x, generator):
    """The numbers of a ``torch.Generator`` of one's own are drawn before checkpoint and passed in.

    :inputs: generator_inputs
    :reference: generator_reference
    :repairs: own_generator
    """
    output = checkpoint(scaled, x, torch.rand(16, generator=generator), use_reentrant=False)
    return backward(output, x)


def case_own_generator_through_context_fn(x, generator):
    """The state of a ``torch.Generator`` of one's own is put back by ``context_fn``.

    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    :inputs: generator_inputs
    :reference: generator_reference
    :repairs: own_generator
    """

    def contexts():
        return contextlib.nullcontext(), FromState(generator.get_state, generator.set_state)

    def function(x):
        return scaled(x, torch.rand(16, generator=generator))

    output = checkpoint(function, x, use_reentrant=False, context_fn=contexts)
    return backward(output, x)


def case_rrelu(x):
    """Randomised leaky ReLU as the last operator of the checkpointed function.

    Autograd saves the tensor of random slopes before the operator fills it. The recomputation stops as soon as the last
    tensor is saved, so backward multiplies by whatever was in that memory.

    :report: pytorch/pytorch#193671
    :reference: leaky_reference
    :numbers: vary
    """
    output = checkpoint(leaky, x, use_reentrant=False)
    return backward(output, x)


def case_rrelu_without_early_stop(x):
    """Randomised leaky ReLU as the last operator, and a recomputation that runs to its end.

    :requires: torch.utils.checkpoint.set_checkpoint_early_stop
    :reference: leaky_reference
    :repairs: rrelu
    """
    from torch.utils.checkpoint import set_checkpoint_early_stop

    with set_checkpoint_early_stop(False):
        output = checkpoint(leaky, x, use_reentrant=False)
    return backward(output, x)


def case_first_draw_kept(x):
    """Selective checkpointing keeps the first draw of a function and not the second.

    The recomputation skips what is kept, so its second draw takes the numbers that the first one took in forward. Fused
    attention with dropout that is kept, and a dropout behind it that is not, are such a pair.

    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :reference: noisy_reference
    """
    output = checkpoint(noisy, x, use_reentrant=False, context_fn=keep(torch.ops.aten.rand_like.default))
    return backward(output, x)


def case_all_draws_kept(x):
    """Selective checkpointing keeps every draw of a function.

    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :reference: noisy_reference
    :repairs: first_draw_kept
    """
    draws = (torch.ops.aten.rand_like.default, torch.ops.aten.randn_like.default)
    output = checkpoint(noisy, x, use_reentrant=False, context_fn=keep(*draws))
    return backward(output, x)


def case_no_draw_kept(x):
    """Selective checkpointing keeps no draw of a function.

    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :reference: noisy_reference
    :repairs: first_draw_kept
    """
    output = checkpoint(noisy, x, use_reentrant=False, context_fn=keep(torch.ops.aten.sin.default))
    return backward(output, x)
