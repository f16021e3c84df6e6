"""Recomputation stops early, and what it recomputed can be read once.

From torch 2.1 on, recomputation with ``use_reentrant=False`` ends by an exception once it has saved as many tensors as
the forward did: what follows in the function does not run again. Each tensor is given out once and then dropped.
"""

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "nesting"

SCOPES = []
FINISHED = []


class SquareReadingTwice(torch.autograd.Function):
    """A square whose backward first counts ``ctx.saved_tensors`` and then reads it."""

    @staticmethod
    def forward(ctx, x):
        """Save the input and square it."""
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        """Read what was saved twice."""
        if len(ctx.saved_tensors) != 1:
            raise ValueError("one tensor was saved")
        (x,) = ctx.saved_tensors
        return 2 * x * grad


class SquareReadingOnce(torch.autograd.Function):
    """The same square; its backward reads ``ctx.saved_tensors`` once."""

    @staticmethod
    def forward(ctx, x):
        """Save the input and square it."""
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        """Read what was saved once."""
        saved = ctx.saved_tensors
        if len(saved) != 1:
            raise ValueError("one tensor was saved")
        return 2 * saved[0] * grad


def layer(x):
    """Two operations that save tensors for backward."""
    return torch.tanh(x).sin()


def layer_in_scope(x):
    """The layer between the opening and the closing of a scope."""
    SCOPES.append("scope")
    output = layer(x)
    SCOPES.pop()
    return output


def layer_in_scope_with_finally(x):
    """The layer in a scope that is closed however the layer ends."""
    SCOPES.append("scope")
    try:
        return layer(x)
    finally:
        SCOPES.pop()


def layer_and_note(x):
    """The layer, and then a note that it has finished."""
    output = layer(x)
    FINISHED.append("layer")
    return output


def squared_reading_twice(x):
    """The layer and a square that reads its saved tensors twice."""
    return SquareReadingTwice.apply(layer(x))


def squared_reading_once(x):
    """The layer and a square that reads its saved tensors once."""
    return SquareReadingOnce.apply(layer(x))


def backward(output, x):
    """Run backward and return what is compared, with the scopes left open and the notes taken."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad, "open scopes": list(SCOPES), "finished": list(FINISHED)}


def inputs():
    """Features; no scope is open and no note is taken."""
    torch.manual_seed(1729)
    SCOPES.clear()
    FINISHED.clear()
    return (torch.randn(4, requires_grad=True),)


def reference(x):
    """The layer in a scope, without checkpoint."""
    return backward(layer_in_scope(x), x)


def note_reference(x):
    """The layer and its note, without checkpoint."""
    return backward(layer_and_note(x), x)


def squared_reference(x):
    """The layer and the square, without checkpoint."""
    return backward(squared_reading_twice(x), x)


def case_scope_closed_at_end(x):
    """A scope that the region opens at its start and closes in its last line.

    Recomputation stops before that line, so what was pushed is never popped: a profiler range, a setting, a swapped
    weight. The gradients are right, the state stays changed. A ``with`` block is sound, as ``finally`` is.

    :report: ByteDance-Seed/VeOmni#926
    """
    return backward(checkpoint(layer_in_scope, x, use_reentrant=False), x)


def case_scope_closed_in_finally(x):
    """A scope that the region closes in a finally clause.

    Early stop is an exception that passes through the function: finally clauses and context managers see it.

    :repairs: scope_closed_at_end
    """
    return backward(checkpoint(layer_in_scope_with_finally, x, use_reentrant=False), x)


def case_early_stop_off_by_argument(x):
    """early_stop=False given to checkpoint.

    The whole function runs again, as it did in torch 2.0.

    :requires: torch.utils.checkpoint.checkpoint(early_stop)
    :repairs: scope_closed_at_end
    """
    return backward(checkpoint(layer_in_scope, x, use_reentrant=False, early_stop=False), x)


def case_early_stop_off_by_context(x):
    """A region called under set_checkpoint_early_stop(False).

    The setting counts when the region is called; backward need not be under it.

    :requires: torch.utils.checkpoint.set_checkpoint_early_stop
    :repairs: scope_closed_at_end
    """
    from torch.utils.checkpoint import set_checkpoint_early_stop

    with set_checkpoint_early_stop(False):
        output = checkpoint(layer_in_scope, x, use_reentrant=False)
    return backward(output, x)


def case_note_taken_at_end(x):
    """A side effect in the last line of the region.

    Whether it happens once or twice depends on early stop: counters and logs of the same model differ between releases.

    :report: pytorch/pytorch#90105
    :reference: note_reference
    """
    return backward(checkpoint(layer_and_note, x, use_reentrant=False), x)


def case_note_taken_outside(x):
    """The side effect is taken out of the region.

    What is not recomputed happens once.

    :repairs: note_taken_at_end
    :reference: note_reference
    """
    output = checkpoint(layer, x, use_reentrant=False)
    FINISHED.append("layer")
    return backward(output, x)


def case_saved_tensors_read_twice(x):
    """A custom autograd function whose backward reads ctx.saved_tensors twice.

    The first reading uses up what was recomputed. Without checkpoint, reading it twice is harmless.

    :report: pytorch/pytorch#90105
    :report: state-spaces/mamba#909
    :report: state-spaces/mamba#1021
    :report: stanford-futuredata/stk#7
    :reference: squared_reference
    """
    return backward(checkpoint(squared_reading_twice, x, use_reentrant=False), x)


def case_saved_tensors_read_once(x):
    """A custom autograd function whose backward reads ctx.saved_tensors once.

    Keep what it gives in a local variable.

    :repairs: saved_tensors_read_twice
    :reference: squared_reference
    """
    return backward(checkpoint(squared_reading_once, x, use_reentrant=False), x)
