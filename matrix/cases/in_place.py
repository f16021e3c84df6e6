"""Recomputation starts from the inputs, so nobody may have changed them in place.

Non-reentrant checkpoint keeps references to its inputs, not copies. From 2.1 on it also keeps the version of those
given by position, and raises in backward where a version has moved on.
"""

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "in-place"


def doubled_in_place(hidden):
    """Double the input in place."""
    return hidden.mul_(2).sin()


def doubled(hidden):
    """Double the input out of place."""
    return (hidden * 2).sin()


def shifted(x, batch):
    """Add and apply the sine, which plain autograd differentiates without the batch."""
    return (x + batch).sin()


def masked_in_place(x, mask):
    """Invert a mask in place and apply it."""
    mask.neg_().add_(1)
    return x.exp().masked_fill(mask.bool(), 0.0)


def masked(x, mask):
    """Invert a mask out of place and apply it."""
    return x.exp().masked_fill((1 - mask).bool(), 0.0)


def product_in_place(x, weight):
    """Add a residual to a matrix product in place."""
    return (x @ weight).add_(x).sin()


def product(x, weight):
    """Add a residual to a matrix product out of place."""
    return (x @ weight + x).sin()


def keep_matmuls():
    """Make the contexts of selective checkpointing that keep the results of matrix products."""
    return torch.utils.checkpoint.create_selective_checkpoint_contexts([torch.ops.aten.mm.default])


def keep_mutable_matmuls():
    """The same, without the check that what is kept has not been changed."""
    return torch.utils.checkpoint.create_selective_checkpoint_contexts(
        [torch.ops.aten.mm.default], allow_cache_entry_mutation=True
    )


def backward(output, *leaves):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "gradients": [leaf.grad for leaf in leaves]}


def inputs():
    """A batch."""
    torch.manual_seed(1729)
    return (torch.randn(4, 4, requires_grad=True),)


def buffer_inputs():
    """A leaf and a buffer that holds a batch."""
    return (*inputs(), torch.randn(4, 4))


def mask_inputs():
    """A batch and an integer mask."""
    return (*inputs(), torch.tensor([1, 1, 0, 1]))


def weight_inputs():
    """A batch and a weight."""
    return (*inputs(), torch.randn(4, 4, requires_grad=True))


def reference(x):
    """Doubled in place, without checkpoint."""
    return backward(doubled_in_place(x + 1), x)


def buffer_reference(x, batch):
    """The buffer is refilled before backward, without checkpoint."""
    output = shifted(x, batch)
    batch.zero_()
    return backward(output, x)


def mask_reference(x, mask):
    """The mask is inverted in place, without checkpoint."""
    return backward(masked_in_place(x, mask), x)


def weight_reference(x, weight):
    """The residual is added in place, without checkpoint."""
    return backward(product_in_place(x, weight), x, weight)


def case_first_operation_in_place(x):
    """The first operation of the checkpointed function changes its input in place.

    Recomputation would start from the changed input.

    :detected: builtins.RuntimeError: has been modified by an inplace operation
    """
    output = checkpoint(doubled_in_place, x + 1, use_reentrant=False)
    return backward(output, x)


def case_reentrant_first_operation_in_place(x):
    """The first operation changes the input in place, with ``use_reentrant=True``.

    This variant recomputes from detached inputs. They are leaves, which autograd refuses to change in place.

    :detected: builtins.RuntimeError: is being used in an in-place operation
    """
    output = checkpoint(doubled_in_place, x + 1, use_reentrant=True)
    return backward(output, x)


def case_first_operation_out_of_place(x):
    """The first operation of the checkpointed function leaves its input alone.

    In-place operations on what the function itself has made are sound, unless selective checkpointing keeps it.

    :repairs: first_operation_in_place
    :repairs: reentrant_first_operation_in_place
    """
    output = checkpoint(doubled, x + 1, use_reentrant=False)
    return backward(output, x)


def case_input_buffer_refilled(x, batch):
    """An input is overwritten between forward and backward.

    Plain autograd does not need it any more, recomputation does. Happens where one buffer takes every micro-batch.

    :inputs: buffer_inputs
    :reference: buffer_reference
    :detected: builtins.RuntimeError: has been modified by an inplace operation
    """
    output = checkpoint(shifted, x, batch, use_reentrant=False)
    batch.zero_()
    return backward(output, x)


def case_input_buffer_cloned(x, batch):
    """The checkpointed function gets a clone of the buffer.

    The buffer is free for the next micro-batch.

    :inputs: buffer_inputs
    :reference: buffer_reference
    :repairs: input_buffer_refilled
    """
    output = checkpoint(shifted, x, batch.clone(), use_reentrant=False)
    batch.zero_()
    return backward(output, x)


def case_mask_inverted_in_place(x, mask):
    """An integer mask that is an argument is inverted in place.

    Recomputation would invert it back. Tensors without gradients are inputs like others.

    :report: huggingface/transformers#29026
    :inputs: mask_inputs
    :reference: mask_reference
    :detected: builtins.RuntimeError: has been modified by an inplace operation
    """
    output = checkpoint(masked_in_place, x, mask, use_reentrant=False)
    return backward(output, x)


def case_reentrant_mask_inverted_in_place(x, mask):
    """An integer mask that is an argument is inverted in place, with ``use_reentrant=True``.

    This variant keeps the mask as the forward left it. Recomputation inverts it back, and nothing notices.

    :report: huggingface/transformers#29026
    :inputs: mask_inputs
    :reference: mask_reference
    """
    output = checkpoint(masked_in_place, x, mask, use_reentrant=True)
    return backward(output, x)


def case_mask_inverted_out_of_place(x, mask):
    """An integer mask that is an argument is inverted out of place.

    Every call starts from the same mask.

    :report: huggingface/transformers#29026
    :inputs: mask_inputs
    :reference: mask_reference
    :repairs: mask_inverted_in_place
    :repairs: reentrant_mask_inverted_in_place
    """
    output = checkpoint(masked, x, mask, use_reentrant=False)
    return backward(output, x)


def case_kept_product_changed_in_place(x, weight):
    """A matrix product that selective checkpointing keeps is changed in place afterwards.

    What is kept is the tensor itself, so recomputation would get the changed one and change it again.

    :report: pytorch/pytorch#119590
    :report: NVIDIA-NeMo/Automodel#3274
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :inputs: weight_inputs
    :reference: weight_reference
    :detected: builtins.RuntimeError: Tensor cached during selective activation checkpoint has been mutated
    """
    output = checkpoint(product_in_place, x, weight, use_reentrant=False, context_fn=keep_matmuls)
    return backward(output, x, weight)


def case_kept_product_mutation_allowed(x, weight):
    """A kept matrix product is changed in place, with ``allow_cache_entry_mutation=True``.

    The flag takes the check away and leaves its cause: recomputation finds the product as it was changed, adds the
    residual a second time, and the gradients are wrong.

    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :inputs: weight_inputs
    :reference: weight_reference
    """
    output = checkpoint(product_in_place, x, weight, use_reentrant=False, context_fn=keep_mutable_matmuls)
    return backward(output, x, weight)


def case_kept_product_left_alone(x, weight):
    """A matrix product that selective checkpointing keeps is used out of place.

    What is kept is what the forward computed.

    :report: NVIDIA-NeMo/Automodel#3274
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :inputs: weight_inputs
    :reference: weight_reference
    :repairs: kept_product_changed_in_place
    :repairs: kept_product_mutation_allowed
    """
    output = checkpoint(product, x, weight, use_reentrant=False, context_fn=keep_matmuls)
    return backward(output, x, weight)
