"""A block of a model, checkpointed: put your own in the place of ``Block``, and what you do around it into the cases.

Here an attention policy is set around the forward. It is gone when backward runs the block again.
"""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

# On a release without it, the cases count as unsupported.
REQUIRES = ("torch.nn.attention.sdpa_kernel",)


class Block(nn.Module):
    """Causal self-attention with two heads."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        """Attend, and add what was there."""
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        attended = scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(attended.transpose(1, 2).flatten(2))


def math_only():
    """Open a scope in which attention may use no kernel but MATH."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel(SDPBackend.MATH)


def backward(block, output):
    """Run backward and return what is compared, by name."""
    output.square().mean().backward()
    gradients = {name: weight.grad for name, weight in block.named_parameters()}
    return {"output": output, "gradients": gradients}


def inputs():
    """Make what every case gets anew: small, and the same each time."""
    torch.manual_seed(1729)
    return Block(), torch.randn(1, 6, 8)


def reference(block, x):
    """Compute the same without checkpoint."""
    with math_only():
        return backward(block, block(x))


def case_policy_around_forward(block, x):
    """Attention policy around the forward alone.

    Where the model is called under a policy and loss.backward() comes later, recomputation takes another kernel.
    """
    with math_only():
        output = checkpoint(block, x, use_reentrant=False)
    return backward(block, output)


def case_policy_around_step(block, x):
    """Attention policy around forward and backward.

    :repairs: policy_around_forward
    """
    with math_only():
        output = checkpoint(block, x, use_reentrant=False)
        return backward(block, output)
