"""What the program changes between forward and backward is seen by recomputation.

Checkpoint calls the function again when backward gets to it. Modes, weights, context variables and arguments given by
keyword are then as the program left them, not as they were in the forward.
"""

import contextlib
import contextvars

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "state"

ACTIVATION = contextvars.ContextVar("ACTIVATION", default=torch.sin)


@contextlib.contextmanager
def activation(function):
    """Choose the activation in a scope."""
    token = ACTIVATION.set(function)
    try:
        yield
    finally:
        ACTIVATION.reset(token)


def activated(x):
    """Apply the activation that the context variable holds, and an exponential."""
    return ACTIVATION.get()(x).exp()


def activated_by_cos(x):
    """Apply the cosine, chosen through the context variable."""
    with activation(torch.cos):
        return activated(x)


def shifted(x, shift):
    """Add and apply the sine, which plain autograd differentiates without the shift."""
    return (x + shift).sin()


def backward(output, x, *parameters):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad, "gradients": [parameter.grad for parameter in parameters]}


def inputs():
    """A batch of eight rows."""
    torch.manual_seed(1729)
    return (torch.randn(8, 4, requires_grad=True),)


def shift_inputs():
    """A batch and a tensor to add to it."""
    return (*inputs(), torch.ones(4))


def dropout_inputs():
    """A batch and a model with dropout."""
    return (*inputs(), torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 4)))


def layer_inputs():
    """A batch and a linear layer."""
    return (*inputs(), torch.nn.Linear(4, 4))


def reference(x):
    """The cosine, without checkpoint."""
    return backward(activated_by_cos(x), x)


def shift_reference(x, shift):
    """The tensor is overwritten before backward, without checkpoint."""
    output = shifted(x, shift=shift)
    shift.zero_()
    return backward(output, x)


def dropout_reference(x, model):
    """The model goes to evaluation mode before backward, without checkpoint."""
    output = model(x)
    model.eval()
    return backward(output, x, *model.parameters())


def replaced_reference(x, layer):
    """The weight is replaced before backward, without checkpoint."""
    output, weight = layer(x), layer.weight
    layer.weight = torch.nn.Parameter(weight.detach() / 2)
    return backward(output, x, weight)


def frozen_reference(x, layer):
    """The weight is frozen before backward, without checkpoint."""
    output = layer(x)
    layer.weight.requires_grad_(False)
    return backward(output, x, *layer.parameters())


def case_switched_to_eval(x, model):
    """The model goes to evaluation mode between forward and backward.

    Recomputation skips dropout and saves fewer tensors. Happens where metrics are computed before backward.

    :inputs: dropout_inputs
    :reference: dropout_reference
    :detected: builtins.RuntimeError: without checkpoint recomputation being triggered in between
    """
    output = checkpoint(model, x, use_reentrant=False)
    model.eval()
    return backward(output, x, *model.parameters())


def case_reentrant_switched_to_eval(x, model):
    """The model goes to evaluation mode between forward and backward, with ``use_reentrant=True``.

    Nothing is compared: the gradients are those of a forward without dropout.

    :inputs: dropout_inputs
    :reference: dropout_reference
    """
    output = checkpoint(model, x, use_reentrant=True)
    model.eval()
    return backward(output, x, *model.parameters())


def case_switched_to_eval_and_back(x, model):
    """The model goes to evaluation mode, and back to training mode before backward.

    Recomputation runs in the mode that the forward ran in.

    :inputs: dropout_inputs
    :reference: dropout_reference
    :repairs: switched_to_eval
    :repairs: reentrant_switched_to_eval
    """
    output = checkpoint(model, x, use_reentrant=False)
    model.eval()
    model.train()
    return backward(output, x, *model.parameters())


def case_switched_to_eval_after_backward(x, model):
    """The model goes to evaluation mode after backward.

    The simplest order, and sound with both variants.

    :inputs: dropout_inputs
    :reference: dropout_reference
    :repairs: switched_to_eval
    :repairs: reentrant_switched_to_eval
    """
    output = checkpoint(model, x, use_reentrant=False)
    result = backward(output, x, *model.parameters())
    model.eval()
    return result


def case_weight_replaced(x, layer):
    """A weight is replaced between forward and backward.

    Plain autograd has kept the old weight; recomputation reads the new one. Happens where averaged weights are swapped
    in too early.

    :inputs: layer_inputs
    :reference: replaced_reference
    """
    output, weight = checkpoint(layer, x, use_reentrant=False), layer.weight
    layer.weight = torch.nn.Parameter(weight.detach() / 2)
    return backward(output, x, weight)


def case_weight_replaced_after_backward(x, layer):
    """A weight is replaced after backward.

    Recomputation reads the weight that the forward read.

    :inputs: layer_inputs
    :reference: replaced_reference
    :repairs: weight_replaced
    """
    output, weight = checkpoint(layer, x, use_reentrant=False), layer.weight
    result = backward(output, x, weight)
    layer.weight = torch.nn.Parameter(weight.detach() / 2)
    return result


def case_weight_frozen(x, layer):
    """A weight is frozen between forward and backward.

    Recomputation does not save what only that weight's gradient needs, and saves fewer tensors than the forward.

    :inputs: layer_inputs
    :reference: frozen_reference
    :detected: builtins.RuntimeError: without checkpoint recomputation being triggered in between
    """
    output = checkpoint(layer, x, use_reentrant=False)
    layer.weight.requires_grad_(False)
    return backward(output, x, *layer.parameters())


def case_weight_frozen_before_forward(x, layer):
    """A weight is frozen before the forward.

    Forward and recomputation save the same tensors.

    :inputs: layer_inputs
    :reference: frozen_reference
    :repairs: weight_frozen
    """
    layer.weight.requires_grad_(False)
    output = checkpoint(layer, x, use_reentrant=False)
    return backward(output, x, *layer.parameters())


def case_keyword_tensor_overwritten(x, shift):
    """A tensor given by keyword is overwritten between forward and backward.

    Checkpoint watches the version of tensors given by position, not of those given by keyword: recomputation uses the
    new values.

    :inputs: shift_inputs
    :reference: shift_reference
    """
    output = checkpoint(shifted, x, shift=shift, use_reentrant=False)
    shift.zero_()
    return backward(output, x)


def case_keyword_tensor_cloned(x, shift):
    """A clone of the tensor is given by keyword.

    Nobody else can overwrite it.

    :inputs: shift_inputs
    :reference: shift_reference
    :repairs: keyword_tensor_overwritten
    """
    output = checkpoint(shifted, x, shift=shift.clone(), use_reentrant=False)
    shift.zero_()
    return backward(output, x)


def case_context_variable_reset(x):
    """A context variable chooses the activation and is reset before backward.

    Recomputation applies the default activation, and nothing notices: both save one tensor of the same shape.

    :report: pytorch/pytorch#84864
    """
    with activation(torch.cos):
        output = checkpoint(activated, x, use_reentrant=False)
    return backward(output, x)


def case_context_variable_set_inside(x):
    """The context variable is set inside the checkpointed function.

    Recomputation sets it again.

    :repairs: context_variable_reset
    """
    output = checkpoint(activated_by_cos, x, use_reentrant=False)
    return backward(output, x)


def case_context_variable_through_context_fn(x):
    """The context variable is set by the two contexts that checkpoint gets through ``context_fn``.

    Leaves the function as it is.

    :report: pytorch/pytorch#84864
    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    :repairs: context_variable_reset
    """
    output = checkpoint(
        activated, x, use_reentrant=False, context_fn=lambda: (activation(torch.cos), activation(torch.cos))
    )
    return backward(output, x)
