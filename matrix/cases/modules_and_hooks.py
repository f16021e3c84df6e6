"""Recomputation calls modules and hooks again, and modules choose their way anew.

A forward hook inside a checkpointed function fires twice in a training step. Gradient hooks see the graph that the
variant builds. A module that picks a fast path looks at its weights at each call.
"""

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "modules"


class Block(torch.nn.Module):
    """A linear layer and the sine."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        """Apply both."""
        return self.layer(x).sin()


class CheckpointedBlock(Block):
    """A block that calls checkpoint itself."""

    def forward(self, x):
        """Apply both under checkpoint."""
        return checkpoint(super().forward, x, use_reentrant=False)


def count_calls(module):
    """Put a forward hook on a module; return its handle and the list that grows with each call."""
    calls = []
    return module.register_forward_hook(lambda *_: calls.append("forward")), calls


def count_gradients(tensor):
    """Put a gradient hook on a tensor and return the list that grows with each gradient."""
    gradients = []
    tensor.register_hook(gradients.append)
    return gradients


def backward(output, *leaves):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "gradients": [leaf.grad for leaf in leaves]}


def inputs():
    """A batch and a block."""
    torch.manual_seed(1729)
    return torch.randn(3, 4, requires_grad=True), Block()


def checkpointed_inputs():
    """A batch and a block that calls checkpoint itself; the same numbers."""
    torch.manual_seed(1729)
    return torch.randn(3, 4, requires_grad=True), CheckpointedBlock()


def encoder_inputs():
    """A batch without gradient, a head, and an encoder layer in evaluation mode."""
    torch.manual_seed(1729)
    encoder = torch.nn.TransformerEncoderLayer(4, nhead=2, dim_feedforward=8, batch_first=True)
    return torch.randn(1, 3, 4), torch.randn(4, requires_grad=True), encoder.eval()


def reference(x, block):
    """A forward hook on the layer, without checkpoint."""
    _, calls = count_calls(block.layer)
    return {**backward(block(x), x, *block.parameters()), "calls": len(calls)}


def plain_block_reference(x, block):
    """A forward hook on a block that does not call checkpoint."""
    plain = Block()
    plain.load_state_dict(block.state_dict())
    _, calls = count_calls(plain)
    return {**backward(plain(x), x, *plain.parameters()), "calls": len(calls)}


def shared_reference(x, block):
    """A block used twice, without checkpoint."""
    seen = count_gradients(block.layer.weight)
    return {**backward(block(block(x)), x, *block.parameters()), "gradients seen": len(seen)}


def encoder_reference(x, head, encoder):
    """The encoder layer is frozen before backward, without checkpoint."""
    output = encoder(x)
    encoder.requires_grad_(False)
    return backward(output * head, head, *encoder.parameters())


def case_forward_hook_inside(x, block):
    """A forward hook on a module inside the checkpointed function.

    It fires in the forward and again in recomputation: counters, statistics and logged activations come twice.
    """
    _, calls = count_calls(block.layer)
    output = checkpoint(block, x, use_reentrant=False)
    return {**backward(output, x, *block.parameters()), "calls": len(calls)}


def case_forward_hook_removed_before_backward(x, block):
    """A forward hook inside the checkpointed function is removed before backward.

    It fires once, in the forward.

    :repairs: forward_hook_inside
    """
    hook, calls = count_calls(block.layer)
    output = checkpoint(block, x, use_reentrant=False)
    hook.remove()
    return {**backward(output, x, *block.parameters()), "calls": len(calls)}


def case_forward_hook_on_checkpointing_module(x, block):
    """A forward hook on the module that calls checkpoint.

    Recomputation calls only what is inside, so the hook fires once.

    :inputs: checkpointed_inputs
    :reference: plain_block_reference
    :repairs: forward_hook_inside
    """
    _, calls = count_calls(block)
    return {**backward(block(x), x, *block.parameters()), "calls": len(calls)}


def case_reentrant_shared_weight(x, block):
    """A gradient hook on a weight of two checkpointed functions, with ``use_reentrant=True``.

    Each function has a backward of its own, so the hook sees two parts of the gradient and never the sum. Matters to
    gradient clipping and to data parallelism, which build on such hooks.

    :report: pytorch/pytorch#81296
    :reference: shared_reference
    """
    seen = count_gradients(block.layer.weight)
    output = checkpoint(block, checkpoint(block, x, use_reentrant=True), use_reentrant=True)
    return {**backward(output, x, *block.parameters()), "gradients seen": len(seen)}


def case_shared_weight(x, block):
    """A gradient hook on a weight of two checkpointed functions, with ``use_reentrant=False``.

    There is one backward, and the hook sees the sum once.

    :report: pytorch/pytorch#81296
    :reference: shared_reference
    :repairs: reentrant_shared_weight
    """
    seen = count_gradients(block.layer.weight)
    output = checkpoint(block, checkpoint(block, x, use_reentrant=False), use_reentrant=False)
    return {**backward(output, x, *block.parameters()), "gradients seen": len(seen)}


def case_encoder_layer_frozen(x, head, encoder):
    """An encoder layer in evaluation mode is frozen between forward and backward.

    With nothing left to differentiate, ``TransformerEncoderLayer`` recomputes on its fast path, which saves nothing.

    :inputs: encoder_inputs
    :reference: encoder_reference
    :detected: builtins.RuntimeError: without checkpoint recomputation being triggered in between
    """
    output = checkpoint(encoder, x, use_reentrant=False)
    encoder.requires_grad_(False)
    return backward(output * head, head, *encoder.parameters())


def case_encoder_layer_frozen_before_forward(x, head, encoder):
    """An encoder layer in evaluation mode is frozen before the forward.

    The forward is on the fast path already, and backward has nothing to recompute.

    :inputs: encoder_inputs
    :reference: encoder_reference
    :tolerance: atol=1e-5, rtol=1e-4
    :repairs: encoder_layer_frozen
    """
    encoder.requires_grad_(False)
    output = checkpoint(encoder, x, use_reentrant=False)
    return backward(output * head, head, *encoder.parameters())
