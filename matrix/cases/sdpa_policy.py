"""An attention-backend policy must still hold when checkpoint recomputes.

Scaled dot product attention picks its kernel when it is called, by process-wide settings. A scope that is left before
backward therefore holds for the first run of a checkpointed function and not for its recomputation.
"""

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

FAMILY = "attention"


def math_only():
    """Open a scope in which attention may use no kernel but MATH."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:  # before 2.3
        return torch.backends.cuda.sdp_kernel(enable_flash=False, enable_math=True, enable_mem_efficient=False)
    return sdpa_kernel(SDPBackend.MATH)


def attention(q, k, v):
    """Causal attention, by whichever kernel the settings of the moment allow."""
    return scaled_dot_product_attention(q, k, v, is_causal=True)


def attention_by_math(q, k, v):
    """Causal attention, by the MATH kernel."""
    with math_only():
        return attention(q, k, v)


def backward(output, q, k, v):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "q.grad": q.grad, "k.grad": k.grad, "v.grad": v.grad}


def inputs():
    """Query, key and value: batch, heads, tokens, features."""
    torch.manual_seed(1729)
    return tuple(torch.randn(1, 2, 8, 4, requires_grad=True) for _ in range(3))


def reference(q, k, v):
    """MATH, without checkpoint."""
    return backward(attention_by_math(q, k, v), q, k, v)


def default_reference(q, k, v):
    """The default policy, without checkpoint."""
    return backward(attention(q, k, v), q, k, v)


def rank3_reference(q, k, v):
    """MATH on inputs without a batch dimension, without checkpoint."""
    return backward(attention_by_math(q[0], k[0], v[0]), q, k, v)


def case_math_around_forward_only(q, k, v):
    """MATH scope around the checkpointed forward only.

    The policy ends with the scope, so recomputation takes another kernel, which saves other tensors. It meets whoever wraps
    a model's forward in sdpa_kernel(), and leaves loss.backward() outside.

    :report: huggingface/trl#4314
    :report: NVIDIA-NeMo/Automodel#2761
    :report: NVIDIA-NeMo/RL#1676
    """
    with math_only():
        output = checkpoint(attention, q, k, v, use_reentrant=False)
    return backward(output, q, k, v)


def case_math_around_forward_and_backward(q, k, v):
    """MATH scope around forward and backward.

    The whole training step stands in the scope, so recomputation finds the policy that forward had.

    :repairs: math_around_forward_only
    """
    with math_only():
        output = checkpoint(attention, q, k, v, use_reentrant=False)
        return backward(output, q, k, v)


def case_math_through_context_fn(q, k, v):
    """MATH scope given to checkpoint, for forward and for recomputation.

    Two fresh contexts: checkpoint enters one around forward, and the other around recomputation.

    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    :repairs: math_around_forward_only
    """
    output = checkpoint(attention, q, k, v, use_reentrant=False, context_fn=lambda: (math_only(), math_only()))
    return backward(output, q, k, v)


def case_math_inside_function(q, k, v):
    """MATH scope inside the checkpointed function.

    What is recomputed opens the scope again, whatever holds outside; it works with every kind of checkpoint.

    :repairs: math_around_forward_only
    :repairs: unchecked_math_around_forward_only
    :repairs: rank3_math_around_forward_only
    """
    output = checkpoint(attention_by_math, q, k, v, use_reentrant=False)
    return backward(output, q, k, v)


def case_default_policy(q, k, v):
    """No scope at all.

    The default policy holds in forward and in recomputation: the control of this file.

    :reference: default_reference
    """
    output = checkpoint(attention, q, k, v, use_reentrant=False)
    return backward(output, q, k, v)


def case_reentrant_math_around_forward_only(q, k, v):
    """MATH scope around the forward only, with ``use_reentrant=True``.

    The reentrant kind compares nothing: it recomputes with the other kernel, and gradients are off by rounding.
    """
    with math_only():
        output = checkpoint(attention, q, k, v, use_reentrant=True)
    return backward(output, q, k, v)


def case_unchecked_math_around_forward_only(q, k, v):
    """MATH scope around the forward only, with ``determinism_check="none"``.

    Without the check, backward gets tensors of the wrong shapes, and fails with a message that tells nothing of the policy.

    :requires: torch.utils.checkpoint.checkpoint(determinism_check)
    """
    with math_only():
        output = checkpoint(attention, q, k, v, use_reentrant=False, determinism_check="none")
    return backward(output, q, k, v)


def case_rank3_math_around_forward_only(q, k, v):
    """MATH scope around the forward only, on inputs without a batch dimension.

    Up to 2.13, inputs of three dimensions take the math kernel on the CPU under any policy, so nothing was lost.

    :reference: rank3_reference
    """
    with math_only():
        output = checkpoint(attention, q[0], k[0], v[0], use_reentrant=False)
    return backward(output, q, k, v)
