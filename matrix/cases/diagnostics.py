"""What checkpoint compares, and what it says when recomputation goes another way.

From torch 2.1 on, the variant with ``use_reentrant=False`` compares the number, shapes, dtypes and devices of what
recomputation saves. The check can be switched off, and a trace of the operators can be switched on.
"""

import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

FAMILY = "diagnostics"

SETTINGS = {}


def cropped(x, length):
    """A layer on the first features; the length shows in the shapes of what is saved."""
    return torch.tanh(x[:length]).sin()


def cropped_by_setting(x):
    """The same, with the length read from a global setting."""
    return cropped(x, SETTINGS["length"])


def activated(x, twice):
    """A layer that runs one operator more if it is told to."""
    output = torch.tanh(x).sin()
    return output.cos() if twice else output


def activated_by_setting(x):
    """The same, told by a global setting."""
    return activated(x, SETTINGS["twice"])


def layer(x):
    """Two operations that save tensors for backward."""
    return torch.tanh(x).sin()


def labelled(x):
    """The layer under a label for the profiler."""
    with torch.autograd.profiler.record_function("layer"):
        return layer(x)


def labels():
    """A label for forward and one for recomputation."""
    return torch.autograd.profiler.record_function("forward"), torch.autograd.profiler.record_function("recomputation")


def backward(output, x):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad}


def inputs():
    """Features; the settings are those of forward."""
    torch.manual_seed(1729)
    SETTINGS.update(length=4, twice=True)
    return (torch.randn(6, requires_grad=True),)


def reference(x):
    """The layer, without checkpoint."""
    return backward(layer(x), x)


def cropped_reference(x):
    """The layer on four features, without checkpoint."""
    return backward(cropped(x, 4), x)


def activated_reference(x):
    """The layer with its additional operator, without checkpoint."""
    return backward(activated(x, True), x)


def case_shape_changes(x):
    """A global setting that changes the shape of saved tensors is changed before backward.

    The default check compares shapes: one CheckpointError names each tensor, with its shape then and now.

    :report: pytorch/pytorch#105031
    :reference: cropped_reference
    """
    output = checkpoint(cropped_by_setting, x, use_reentrant=False)
    SETTINGS["length"] = 3
    return backward(output, x)


def case_shape_changes_unchecked(x):
    """The same with determinism_check="none".

    Tensors of the wrong shape reach backward, which fails in an operator that has nothing to do with the cause.

    :report: pytorch/pytorch#105031
    :requires: torch.utils.checkpoint.checkpoint(determinism_check)
    :reference: cropped_reference
    """
    output = checkpoint(cropped_by_setting, x, use_reentrant=False, determinism_check="none")
    SETTINGS["length"] = 3
    return backward(output, x)


def case_shape_changes_unchecked_to_one(x):
    """The same with determinism_check="none", where the new shape can be broadcast.

    Backward broadcasts the one recomputed value over all features: nothing fails, and the gradient is wrong.

    :report: pytorch/pytorch#105031
    :requires: torch.utils.checkpoint.checkpoint(determinism_check)
    :reference: cropped_reference
    """
    output = checkpoint(cropped_by_setting, x, use_reentrant=False, determinism_check="none")
    SETTINGS["length"] = 1
    return backward(output, x)


def case_shape_given_as_argument(x):
    """The setting is read once and given to the region as an argument.

    Recomputation is called with the arguments of forward, whatever the setting is by then.

    :repairs: shape_changes
    :repairs: shape_changes_unchecked
    :repairs: shape_changes_unchecked_to_one
    :reference: cropped_reference
    """
    output = checkpoint(cropped, x, SETTINGS["length"], use_reentrant=False)
    SETTINGS["length"] = 3
    return backward(output, x)


def case_debug_operator_missing(x):
    """debug=True where recomputation runs one operator less.

    The CheckpointError carries a trace of the operators of both runs, and of the lines that called them.

    :report: pytorch/pytorch#105031
    :requires: torch.utils.checkpoint.checkpoint(debug)
    :reference: activated_reference
    """
    output = checkpoint(activated_by_setting, x, use_reentrant=False, debug=True)
    SETTINGS["twice"] = False
    return backward(output, x)


def case_debug_operator_given_as_argument(x):
    """debug=True where an argument decides which operators run.

    Both runs are alike; the traces are recorded and not shown.

    :requires: torch.utils.checkpoint.checkpoint(debug)
    :repairs: debug_operator_missing
    :reference: activated_reference
    """
    output = checkpoint(activated, x, SETTINGS["twice"], use_reentrant=False, debug=True)
    SETTINGS["twice"] = False
    return backward(output, x)


def case_debug_with_context_fn(x):
    """debug=True together with a context_fn.

    A region that has a context_fn, as selective checkpointing does, cannot be debugged this way.

    :report: pytorch/pytorch#105031
    :requires: torch.utils.checkpoint.checkpoint(debug)
    :detected: builtins.ValueError: debug=True is incompatible with non-default context_fn
    """
    return backward(checkpoint(layer, x, use_reentrant=False, debug=True, context_fn=labels), x)


def case_debug_with_context_inside(x):
    """debug=True where the function opens its context itself.

    It holds for forward and for recomputation, and leaves context_fn to the debug mode.

    :requires: torch.utils.checkpoint.checkpoint(debug)
    :repairs: debug_with_context_fn
    """
    return backward(checkpoint(labelled, x, use_reentrant=False, debug=True), x)


def case_use_reentrant_omitted(x):
    """use_reentrant is not given to checkpoint.

    The default is still True. Since torch 2.1 it warns; most releases from 2.3 on name one in which it would raise, and none
    has done so.

    :report: pytorch/pytorch#160534
    :report: pytorch/pytorch#116710
    :report: pytorch/pytorch#139380
    :report: InternLM/xtuner#637
    :report: open-mmlab/mmengine#1539
    :observes: warnings
    """
    return backward(checkpoint(layer, x), x)


def case_use_reentrant_omitted_in_sequential(x):
    """use_reentrant is not given to checkpoint_sequential.

    It runs its segments with True as well, and warns one release later than checkpoint does.

    :report: pytorch/pytorch#114158
    :observes: warnings
    """
    return backward(checkpoint_sequential([torch.tanh, torch.sin], 2, x), x)
