"""Selective checkpointing keeps the results of some operators, and recomputes the others.

A policy is asked, operator by operator, what to keep. What was kept is handed out again in the order of the operators,
so forward and recomputation must run the same ones, and the policy must not change its mind in between.
"""

import functools

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "selective"

MATMUL = torch.ops.aten.mm.default
FLAGS = {"sine": False, "shift": False}


def keep_matmuls():
    """A pair of contexts, for forward and recomputation, that keep the results of matrix products."""
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    return create_selective_checkpoint_contexts([MATMUL])


def decision(keep):
    """What a policy answers."""
    from torch.utils.checkpoint import CheckpointPolicy

    return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE


def two_layers(x, w):
    """Two products with one weight, each followed by a nonlinear function."""
    return torch.mm(torch.mm(x, w).tanh(), w).tanh()


def three_layers(x, w):
    """Three products: an odd number."""
    return torch.mm(two_layers(x, w), w).tanh()


def layer(x, w, sine, shift):
    """A layer that may be preceded by a sine, for which backward needs ``x``, or by a shift, which needs nothing."""
    x = x.sin() if sine else x
    x = x + 1 if shift else x
    return torch.mm(x, w).tanh()


def layer_by_flags(x, w):
    """The same, as the global flags say."""
    return layer(x, w, **FLAGS)


def backward(output, x, w):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad, "w.grad": w.grad}


def inputs():
    """Three rows of activations, and a weight."""
    torch.manual_seed(1729)
    FLAGS.update(sine=False, shift=False)
    return torch.randn(3, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)


def reference(x, w):
    """Two layers, without checkpoint."""
    return backward(two_layers(x, w), x, w)


def three_layers_reference(x, w):
    """Three layers, without checkpoint."""
    return backward(three_layers(x, w), x, w)


def plain_layer_reference(x, w):
    """A layer and no more, without checkpoint."""
    return backward(layer(x, w, sine=False, shift=False), x, w)


def shifted_layer_reference(x, w):
    """A shifted layer, without checkpoint."""
    return backward(layer(x, w, sine=False, shift=True), x, w)


def case_matmul_results_kept(x, w):
    """The results of matrix products are kept, all else is recomputed.

    The public function for it came with 2.5. Code that imports it does not start on older releases.

    :report: pytorch/torchtitan#439
    :report: ChenyangQiQi/FateZero#37
    :report: kylesargent/ZeroNVS#25
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    """
    output = checkpoint(two_layers, x, w, use_reentrant=False, context_fn=keep_matmuls)
    return backward(output, x, w)


def case_matmul_results_kept_by_private_helper(x, w):
    """The results of matrix products are kept, through the private helper of 2.2 to 2.4.

    The helper was removed when the public function came. Its policy gets a string where that of the latter gets a
    context.

    :report: pytorch/torchtitan#439
    :requires: torch.utils.checkpoint._pt2_selective_checkpoint_context_fn_gen
    """
    from torch.utils.checkpoint import _pt2_selective_checkpoint_context_fn_gen

    def contexts():
        return _pt2_selective_checkpoint_context_fn_gen(lambda mode, op, *args, **kwargs: op is MATMUL)

    output = checkpoint(two_layers, x, w, use_reentrant=False, context_fn=contexts)
    return backward(output, x, w)


def case_global_flag_adds_operator(x, w):
    """A global flag is set after forward, and adds an operator to the recomputation.

    Kept results make it no safer to depend on global state, such as a switch between training and evaluation.

    :detected: builtins.RuntimeError: not found in storage
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :reference: plain_layer_reference
    """
    output = checkpoint(layer_by_flags, x, w, use_reentrant=False, context_fn=keep_matmuls)
    FLAGS["sine"] = True
    return backward(output, x, w)


def case_global_flag_removes_operator(x, w):
    """A global flag is cleared after forward, and removes an operator that saves nothing.

    Shapes and number of the saved tensors are the same, and no kept result is missing: the gradient of the weight is
    wrong, and nothing is said.

    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :reference: shifted_layer_reference
    """
    FLAGS["shift"] = True
    output = checkpoint(layer_by_flags, x, w, use_reentrant=False, context_fn=keep_matmuls)
    FLAGS["shift"] = False
    return backward(output, x, w)


def case_flags_as_arguments(x, w):
    """The flags are read once, and given to the checkpointed function.

    :repairs: global_flag_adds_operator
    :repairs: global_flag_removes_operator
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :reference: shifted_layer_reference
    """
    FLAGS["shift"] = True
    output = checkpoint(layer, x, w, **FLAGS, use_reentrant=False, context_fn=keep_matmuls)
    FLAGS.update(sine=True, shift=False)
    return backward(output, x, w)


def case_policy_counts_calls(x, w):
    """A policy keeps every second product by one counter, and the function has an odd number of products.

    Where the policy is asked again in recomputation, the counter goes on from where forward left it: kept results are
    handed out for the wrong products, and nothing is said.

    :report: pytorch/pytorch#176455
    :report: NVIDIA-NeMo/Automodel#2389
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :reference: three_layers_reference
    """
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    products = []

    def every_second(context, op, *args, **kwargs):
        products.extend([op] if op is MATMUL else [])
        return decision(op is MATMUL and len(products) % 2 == 1)

    contexts = functools.partial(create_selective_checkpoint_contexts, every_second)
    output = checkpoint(three_layers, x, w, use_reentrant=False, context_fn=contexts)
    return backward(output, x, w)


def case_policy_counts_forward_and_recomputation_apart(x, w):
    """The policy has one counter for forward and another for recomputation.

    :repairs: policy_counts_calls
    :report: NVIDIA-NeMo/Automodel#2389
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :reference: three_layers_reference
    """
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    products = {False: [], True: []}

    def every_second(context, op, *args, **kwargs):
        counted = products[context.is_recompute]
        counted.extend([op] if op is MATMUL else [])
        return decision(op is MATMUL and len(counted) % 2 == 1)

    contexts = functools.partial(create_selective_checkpoint_contexts, every_second)
    output = checkpoint(three_layers, x, w, use_reentrant=False, context_fn=contexts)
    return backward(output, x, w)
