"""Autocast and the default dtype between forward and recomputation.

checkpoint enters autocast again as it was in forward, so an autocast scope may close before backward. It brings back neither
autocast's cache of casted weights nor the default dtype.
"""

import contextlib

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

FAMILY = "precision"


def autocast(**settings):
    """Open an autocast scope to bfloat16 on the CPU."""
    return torch.autocast("cpu", dtype=torch.bfloat16, **settings)


@contextlib.contextmanager
def default_dtype(dtype):
    """Open a scope in which new tensors have another dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class Block(nn.Module):
    """A linear layer behind another one; notes the dtypes in which it computes."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.dtypes = set()

    def forward(self, x):
        """Compute, and note the dtype."""
        hidden = self.first(x)
        self.dtypes.add(str(hidden.dtype))
        return self.second(hidden.relu()).relu()


class AutocastBlock(Block):
    """The block that opens the autocast scope itself."""

    def forward(self, x):
        """Compute under autocast."""
        with autocast():
            return super().forward(x)


def scaled(x):
    """Scale by a tensor of the default dtype."""
    return (x * torch.full((4,), 1.5)).sin()


def scaled_in_float64(x):
    """Scale by a float64 tensor, whatever the default dtype."""
    return (x * torch.full((4,), 1.5, dtype=torch.float64)).sin()


def backward(block, output, x):
    """Run backward and return what is compared."""
    output.float().square().sum().backward()
    grads = {f"{name}.grad": parameter.grad for name, parameter in block.named_parameters()}
    return {"output": output, "x.grad": x.grad, "dtypes": sorted(block.dtypes), **grads}


def inputs():
    """A block and its input."""
    torch.manual_seed(1729)
    return Block(), torch.randn(3, 4, requires_grad=True)


def inside_inputs():
    """A block that opens autocast itself, and its input."""
    torch.manual_seed(1729)
    return AutocastBlock(), torch.randn(3, 4, requires_grad=True)


def tensor_inputs():
    """One tensor."""
    torch.manual_seed(1729)
    return (torch.randn(4, requires_grad=True),)


def reference(block, x):
    """Autocast around the forward, without checkpoint."""
    with autocast():
        output = block(x)
    return backward(block, output, x)


def inside_reference(block, x):
    """A block that opens autocast itself, without checkpoint."""
    return backward(block, block(x), x)


def backward_scope_reference(block, x):
    """Autocast around backward only, without checkpoint."""
    output = block(x)
    with autocast():
        return backward(block, output, x)


def both_scopes_reference(block, x):
    """Autocast around forward and backward, without checkpoint."""
    with autocast():
        return backward(block, block(x), x)


def default_dtype_reference(x):
    """Default dtype float64 around the forward, without checkpoint."""
    with default_dtype(torch.float64):
        output = scaled(x)
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}


def case_autocast_around_forward_only(block, x):
    """Autocast scope around the checkpointed forward only.

    This is how torch recommends to use autocast; checkpoint enters it again for the recomputation.
    """
    with autocast():
        output = checkpoint(block, x, use_reentrant=False)
    return backward(block, output, x)


def case_autocast_around_forward_and_backward(block, x):
    """Autocast scope around forward and backward.

    torch advises against it, but the recomputation sees the same autocast as the forward.

    :reference: both_scopes_reference
    """
    with autocast():
        output = checkpoint(block, x, use_reentrant=False)
        return backward(block, output, x)


def case_autocast_around_backward_only(block, x):
    """Autocast scope around backward only.

    checkpoint turns autocast off again for the recomputation, as it was in forward.

    :reference: backward_scope_reference
    """
    output = checkpoint(block, x, use_reentrant=False)
    with autocast():
        return backward(block, output, x)


def case_autocast_inside_function(block, x):
    """Autocast scope inside the checkpointed function.

    What recomputes is the function itself, and it opens the scope again.

    :inputs: inside_inputs
    :reference: inside_reference
    """
    output = checkpoint(block, x, use_reentrant=False)
    return backward(block, output, x)


def case_weight_first_used_without_grad(block, x):
    """A layer is used under no_grad and then checkpointed, in one autocast scope.

    The pass under no_grad leaves a casted weight without gradient history in autocast's cache. The forward takes it from
    there, the recomputation casts anew. So do models that run a part twice, as recycling and self-conditioning do.

    :report: pytorch/pytorch#141896
    :report: pytorch/pytorch#112583
    """
    with autocast():
        with torch.no_grad():
            block.second(x)
        output = checkpoint(block, x, use_reentrant=False)
    return backward(block, output, x)


def case_autocast_without_weight_cache(block, x):
    """A layer is used under no_grad and then checkpointed, in one autocast scope without a cache.

    :repairs: weight_first_used_without_grad
    """
    with autocast(cache_enabled=False):
        with torch.no_grad():
            block.second(x)
        output = checkpoint(block, x, use_reentrant=False)
    return backward(block, output, x)


def case_autocast_scope_of_its_own(block, x):
    """A layer is used under no_grad in one autocast scope, and checkpointed in the next.

    The cache is emptied when the outermost autocast scope closes.

    :repairs: weight_first_used_without_grad
    """
    with autocast(), torch.no_grad():
        block.second(x)
    with autocast():
        output = checkpoint(block, x, use_reentrant=False)
    return backward(block, output, x)


def case_default_dtype_around_forward_only(x):
    """Default dtype float64 around the checkpointed forward only.

    A tensor that the function makes without a dtype is float32 when backward recomputes.

    :inputs: tensor_inputs
    :reference: default_dtype_reference
    """
    with default_dtype(torch.float64):
        output = checkpoint(scaled, x, use_reentrant=False)
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}


def case_dtype_named_inside_function(x):
    """Default dtype float64 around the forward only, and a function that names its dtypes.

    :inputs: tensor_inputs
    :reference: default_dtype_reference
    :repairs: default_dtype_around_forward_only
    """
    with default_dtype(torch.float64):
        output = checkpoint(scaled_in_float64, x, use_reentrant=False)
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}
