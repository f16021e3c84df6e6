"""Attention kernels that are not the same in forward and in recomputation.

Scaled dot product attention takes its kernel by process-wide settings, and each kernel is an operator of its own that saves
its own tensors. These are the scopes and companions of ``sdpa_policy.py`` beyond the plain one: the older spelling of the
scope, scopes around backward, selective checkpointing, torch.compile and flex_attention.
"""

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

FAMILY = "attention"


def only(backend):
    """Open a scope in which attention may use no kernel but the named one."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel(getattr(SDPBackend, backend))


def legacy_math_only():
    """Open the MATH scope in its older spelling."""
    return torch.backends.cuda.sdp_kernel(enable_flash=False, enable_math=True, enable_mem_efficient=False)


def attention(q, k, v):
    """Causal attention, by whichever kernel the settings of the moment allow."""
    return scaled_dot_product_attention(q, k, v, is_causal=True)


def attention_by_math(q, k, v):
    """Causal attention that opens the MATH scope itself."""
    with only("MATH"):
        return attention(q, k, v)


def attention_by_legacy_math(q, k, v):
    """Causal attention that opens the older MATH scope itself."""
    with legacy_math_only():
        return attention(q, k, v)


def attention_by_default_kernels(q, k, v):
    """Causal attention that names the usual kernels itself, whatever the settings of the moment."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        return attention(q, k, v)


def causal_flex(q, k, v):
    """Attention by flex_attention with a causal block mask."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask = create_block_mask(lambda batch, head, query, key: query >= key, None, None, 8, 8, device="cpu")
    return flex_attention(q, k, v, block_mask=mask)


def softcapped_flex(q, k, v):
    """Attention by flex_attention with scores that tanh keeps between -2 and 2."""
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(q, k, v, score_mod=lambda score, batch, head, query, key: 2 * torch.tanh(score / 2))


def keep_fused_attention():
    """Return the contexts of selective checkpointing that keep what the fused kernel computes."""
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    return create_selective_checkpoint_contexts([torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default])


def backward(output, q, k, v):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "q.grad": q.grad, "k.grad": k.grad, "v.grad": v.grad}


def inputs():
    """Query, key and value: batch, heads, tokens, features."""
    torch.manual_seed(1729)
    return tuple(torch.randn(1, 2, 8, 4, requires_grad=True) for _ in range(3))


def flex_inputs():
    """Query, key and value with as many features as flex_attention asks for."""
    torch.manual_seed(1729)
    return tuple(torch.randn(1, 1, 8, 16, requires_grad=True) for _ in range(3))


def reference(q, k, v):
    """MATH, without checkpoint."""
    return backward(attention_by_math(q, k, v), q, k, v)


def legacy_reference(q, k, v):
    """MATH in its older spelling, without checkpoint."""
    return backward(attention_by_legacy_math(q, k, v), q, k, v)


def default_reference(q, k, v):
    """The usual kernels, without checkpoint."""
    return backward(attention(q, k, v), q, k, v)


def causal_flex_reference(q, k, v):
    """flex_attention with a block mask, without checkpoint."""
    return backward(causal_flex(q, k, v), q, k, v)


def softcapped_flex_reference(q, k, v):
    """flex_attention with a score_mod, without checkpoint."""
    return backward(softcapped_flex(q, k, v), q, k, v)


def compiled_reference(q, k, v):
    """A compiled function that opens the MATH scope, without checkpoint."""

    @torch.compile(backend="aot_eager")
    def block(q, k, v):
        with only("MATH"):
            return attention(q, k, v)

    return backward(block(q, k, v), q, k, v)


def compiled_inside_reference(q, k, v):
    """The MATH scope around a compiled function, without checkpoint."""
    with only("MATH"):
        output = torch.compile(attention, backend="aot_eager")(q, k, v)
    return backward(output, q, k, v)


def case_legacy_math_around_forward_only(q, k, v):
    """MATH scope in its older spelling around the checkpointed forward only.

    The scope of ``torch.backends.cuda.sdp_kernel`` is closed when backward recomputes, so another kernel runs then. Training stops at the first backward.

    :reference: legacy_reference
    """
    with legacy_math_only():
        output = checkpoint(attention, q, k, v, use_reentrant=False)
    return backward(output, q, k, v)


def case_legacy_math_inside_function(q, k, v):
    """MATH scope in its older spelling inside the checkpointed function.

    :reference: legacy_reference
    :repairs: legacy_math_around_forward_only
    """
    output = checkpoint(attention_by_legacy_math, q, k, v, use_reentrant=False)
    return backward(output, q, k, v)


def case_math_around_backward_only(q, k, v):
    """MATH scope around backward only.

    A trainer that wraps the backward call, and not the forward, makes the recomputation take a kernel that the forward
    did not take.

    :report: huggingface/trl#4314
    :report: NVIDIA-NeMo/Automodel#2761
    :requires: torch.nn.attention.sdpa_kernel
    :reference: default_reference
    """
    output = checkpoint(attention, q, k, v, use_reentrant=False)
    with only("MATH"):
        return backward(output, q, k, v)


def case_no_kernel_around_backward_only(q, k, v):
    """A scope that leaves no kernel for the CPU, around backward only.

    Plain backward calls no attention, so the scope does no harm without checkpoint. The recomputation does call it.

    :requires: torch.nn.attention.sdpa_kernel
    :reference: default_reference
    :detected: builtins.RuntimeError: No viable backend for scaled_dot_product_attention was found
    """
    output = checkpoint(attention, q, k, v, use_reentrant=False)
    with only("EFFICIENT_ATTENTION"):
        return backward(output, q, k, v)


def case_kernels_named_inside_function(q, k, v):
    """A scope around backward only, and a checkpointed function that names its kernels itself.

    The inner scope outweighs whatever scope backward runs in.

    :requires: torch.nn.attention.sdpa_kernel
    :reference: default_reference
    :repairs: math_around_backward_only
    :repairs: no_kernel_around_backward_only
    """
    output = checkpoint(attention_by_default_kernels, q, k, v, use_reentrant=False)
    with only("EFFICIENT_ATTENTION"):
        return backward(output, q, k, v)


def case_fused_attention_kept_under_math(q, k, v):
    """MATH scope around the forward only, with fused attention kept by selective checkpointing.

    The forward runs no fused kernel and so keeps nothing; the recomputation runs one and looks for its result in vain.

    :requires: torch.nn.attention.sdpa_kernel
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :detected: builtins.RuntimeError: but not found in storage
    """
    with only("MATH"):
        output = checkpoint(attention, q, k, v, use_reentrant=False, context_fn=keep_fused_attention)
    return backward(output, q, k, v)


def case_fused_attention_kept_math_inside_function(q, k, v):
    """MATH scope inside the function, with fused attention kept by selective checkpointing.

    The fused kernel runs neither in forward nor in recomputation; nothing is kept, and nothing is missed.

    :requires: torch.nn.attention.sdpa_kernel
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :repairs: fused_attention_kept_under_math
    """
    output = checkpoint(attention_by_math, q, k, v, use_reentrant=False, context_fn=keep_fused_attention)
    return backward(output, q, k, v)


def case_flex_attention(q, k, v):
    """flex_attention with a block mask, not compiled.

    The mask has no gradient, so all that is saved comes from the attention itself, and recomputation repeats it.

    :report: pytorch/torchtitan#1668
    :report: pytorch/torchtitan#1631
    :requires: torch.nn.attention.flex_attention.flex_attention
    :inputs: flex_inputs
    :reference: causal_flex_reference
    """
    output = checkpoint(causal_flex, q, k, v, use_reentrant=False)
    return backward(output, q, k, v)


def case_flex_attention_with_score_mod(q, k, v):
    """flex_attention with a score_mod whose derivative needs a saved tensor, not compiled.

    Such as a soft cap by tanh. Up to 2.10 the gradients of query and key are arbitrary numbers, and nothing reports it:
    flex_attention traces the derivative in forward, asks for a saved tensor, and checkpoint recomputes in the midst of it.
    From 2.11 on, flex_attention has no backward on the CPU, with or without checkpoint; a GPU was not tried.

    :requires: torch.nn.attention.flex_attention.flex_attention
    :inputs: flex_inputs
    :reference: softcapped_flex_reference
    :numbers: vary
    """
    output = checkpoint(softcapped_flex, q, k, v, use_reentrant=False)
    return backward(output, q, k, v)


def case_reentrant_flex_attention_with_score_mod(q, k, v):
    """flex_attention with the same score_mod and ``use_reentrant=True``, which has no hooks.

    :requires: torch.nn.attention.flex_attention.flex_attention
    :inputs: flex_inputs
    :reference: softcapped_flex_reference
    :repairs: flex_attention_with_score_mod
    """
    output = checkpoint(softcapped_flex, q, k, v, use_reentrant=True)
    return backward(output, q, k, v)


def case_compiled_math_around_checkpoint(q, k, v):
    """MATH scope around checkpoint, both inside a compiled function.

    Where torch.compile does not know the scope, the function falls back to eager, and the scope is closed in backward as
    it would be without torch.compile.

    :requires: torch.nn.attention.sdpa_kernel
    :reference: compiled_reference
    """

    @torch.compile(backend="aot_eager")
    def block(q, k, v):
        with only("MATH"):
            return checkpoint(attention, q, k, v, use_reentrant=False)

    return backward(block(q, k, v), q, k, v)


def case_math_around_compiled_checkpoint(q, k, v):
    """MATH scope around the call of a compiled function that holds checkpoint.

    The kernel is chosen once, when the function is compiled; forward and recomputation are parts of that graph.

    :requires: torch.nn.attention.sdpa_kernel
    :reference: compiled_inside_reference
    :repairs: compiled_math_around_checkpoint
    """

    @torch.compile(backend="aot_eager")
    def block(q, k, v):
        return checkpoint(attention, q, k, v, use_reentrant=False)

    with only("MATH"):
        output = block(q, k, v)
    return backward(output, q, k, v)
