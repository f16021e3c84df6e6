"""Regions inside regions, gradients inside regions, and regions whose inputs need no gradient.

Each variant of checkpoint puts its own conditions on the graph around a region. With ``use_reentrant=True`` an input
must require a gradient; with ``use_reentrant=False`` regions can be nested and, from torch 2.1 on, call autograd.
"""

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "nesting"


def layer(x, weight):
    """A small layer: its operations save tensors for backward."""
    return torch.tanh(x @ weight).sin()


def energy_and_force(x, weight):
    """An energy plus its squared gradient, which is differentiated again."""
    energy = layer(x, weight).sum()
    (force,) = torch.autograd.grad(energy, x, create_graph=True)
    return energy + force.square().sum()


def layer_on_clone(x, weight):
    """The layer on a copy of its input."""
    return layer(x.clone(), weight)


def backward(output, x, weight):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad, "weight.grad": weight.grad}


def trained(output, adapter, head):
    """Run backward through the head and return the gradients of what may be trained."""
    head(output).square().sum().backward()
    return {"adapter.weight.grad": adapter.weight.grad, "head.weight.grad": head.weight.grad}


def inputs():
    """Features and a weight."""
    torch.manual_seed(1729)
    return torch.randn(3, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)


def frozen_inputs():
    """The output of a frozen layer, an adapter, and a head; both are trained."""
    torch.manual_seed(1729)
    return torch.randn(3, 4), torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)


def frozen_head_inputs():
    """The output of a frozen layer, an adapter that is trained, and a frozen head."""
    x, adapter, head = frozen_inputs()
    return x, adapter, head.requires_grad_(False)


def inference_inputs():
    """Features made in inference mode, and a weight."""
    x, weight = inputs()
    with torch.inference_mode():
        features = x * 2
    return features, weight


def reference(x, weight):
    """Two layers, without checkpoint."""
    return backward(layer(layer(x, weight), weight), x, weight)


def force_reference(x, weight):
    """Energy and force, without checkpoint."""
    return backward(energy_and_force(x, weight), x, weight)


def twice_reference(x, weight):
    """Two backward passes through a layer, without checkpoint."""
    output = layer(x, weight)
    output.sum().backward(retain_graph=True)
    return backward(output, x, weight)


def frozen_reference(x, adapter, head):
    """Adapter and head, without checkpoint."""
    return trained(adapter(x), adapter, head)


def inference_reference(x, weight):
    """The layer on a copy of the features, without checkpoint."""
    return backward(layer_on_clone(x, weight), x, weight)


def case_nonreentrant_inside_nonreentrant(x, weight):
    """Two regions with use_reentrant=False inside a third.

    A checkpointed block of checkpointed layers keeps the inputs of the block only.

    :report: pytorch/pytorch#90105
    """

    def block(x, weight):
        x = checkpoint(layer, x, weight, use_reentrant=False)
        return checkpoint(layer, x, weight, use_reentrant=False)

    return backward(checkpoint(block, x, weight, use_reentrant=False), x, weight)


def case_reentrant_inside_nonreentrant(x, weight):
    """Two regions with use_reentrant=True inside one with use_reentrant=False.

    It happens where a model checkpoints its layers one way and a trainer wraps the blocks the other way.
    """

    def block(x, weight):
        x = checkpoint(layer, x, weight, use_reentrant=True)
        return checkpoint(layer, x, weight, use_reentrant=True)

    return backward(checkpoint(block, x, weight, use_reentrant=False), x, weight)


def case_nonreentrant_inside_reentrant(x, weight):
    """Two regions with use_reentrant=False inside one with use_reentrant=True.

    The mixture the other way round: the outer region runs without a graph first, so the inner ones do nothing then.
    """

    def block(x, weight):
        x = checkpoint(layer, x, weight, use_reentrant=False)
        return checkpoint(layer, x, weight, use_reentrant=False)

    return backward(checkpoint(block, x, weight, use_reentrant=True), x, weight)


def case_grad_inside_region(x, weight):
    """torch.autograd.grad with create_graph=True inside the region.

    Forces of an energy model and gradient penalties are computed so. Before torch 2.1 a region could not call autograd.

    :report: pytorch/pytorch#90105
    :report: pytorch/pytorch#102223
    :reference: force_reference
    :detected: builtins.RuntimeError: You are calling backwards on a tensor that is never exposed
    """
    return backward(checkpoint(energy_and_force, x, weight, use_reentrant=False), x, weight)


def case_grad_outside_region(x, weight):
    """torch.autograd.grad with create_graph=True on the output of the region.

    The region ends before the gradient is taken; its recomputation can itself be differentiated.

    :repairs: grad_inside_region
    :reference: force_reference
    """
    energy = checkpoint(layer, x, weight, use_reentrant=False).sum()
    (force,) = torch.autograd.grad(energy, x, create_graph=True)
    return backward(energy + force.square().sum(), x, weight)


def case_backward_twice(x, weight):
    """Two backward passes through a region, the first with retain_graph=True.

    Two losses share one forward: each backward recomputes the region.

    :reference: twice_reference
    """
    output = checkpoint(layer, x, weight, use_reentrant=False)
    output.sum().backward(retain_graph=True)
    return backward(output, x, weight)


def case_frozen_input_reentrant(x, adapter, head):
    """use_reentrant=True where no input of the region requires a gradient.

    The parameters inside get no gradient at all: an adapter on a frozen embedding stays as it is while the head learns.

    :report: pytorch/pytorch#7617
    :report: huggingface/transformers#42489
    :report: huggingface/transformers#26221
    :report: huggingface/peft#1142
    :report: huggingface/peft#2826
    :report: huggingface/peft#869
    :inputs: frozen_inputs
    :reference: frozen_reference
    :observes: warnings
    """
    return trained(checkpoint(adapter, x, use_reentrant=True), adapter, head)


def case_frozen_input_reentrant_frozen_head(x, adapter, head):
    """use_reentrant=True where only parameters inside the region are trained.

    Nothing outside the region requires a gradient either, so backward has no graph to start from.

    :report: huggingface/transformers#42489
    :report: huggingface/transformers#23170
    :inputs: frozen_head_inputs
    :reference: frozen_reference
    :observes: warnings
    :detected: builtins.RuntimeError: does not require grad
    """
    return trained(checkpoint(adapter, x, use_reentrant=True), adapter, head)


def case_frozen_input_requires_grad(x, adapter, head):
    """use_reentrant=True on an input that is made to require a gradient.

    Trainers do it by a hook on the frozen embedding that calls requires_grad_() on its output.

    :repairs: frozen_input_reentrant
    :repairs: frozen_input_reentrant_frozen_head
    :inputs: frozen_inputs
    :reference: frozen_reference
    """
    x.requires_grad_()
    return trained(checkpoint(adapter, x, use_reentrant=True), adapter, head)


def case_frozen_input_nonreentrant(x, adapter, head):
    """use_reentrant=False where no input of the region requires a gradient.

    This variant records the graph in forward, so the parameters inside get their gradients.

    :repairs: frozen_input_reentrant
    :repairs: frozen_input_reentrant_frozen_head
    :inputs: frozen_inputs
    :reference: frozen_reference
    """
    return trained(checkpoint(adapter, x, use_reentrant=False), adapter, head)


def case_inference_tensor_cloned_inside(x, weight):
    """A tensor from inference mode enters the region and is cloned there.

    From torch 2.1 on the inputs of a region are themselves saved for backward, which inference tensors refuse.

    :inputs: inference_inputs
    :reference: inference_reference
    :detected: builtins.RuntimeError: Inference tensors cannot be saved for backward
    """
    return backward(checkpoint(layer_on_clone, x, weight, use_reentrant=False), x, weight)


def case_inference_tensor_cloned_outside(x, weight):
    """A tensor from inference mode is cloned before it enters the region.

    The copy is an ordinary tensor, and the region may save it.

    :repairs: inference_tensor_cloned_inside
    :inputs: inference_inputs
    :reference: inference_reference
    """
    features = x.clone()
    return backward(checkpoint(layer, features, weight, use_reentrant=False), x, weight)
