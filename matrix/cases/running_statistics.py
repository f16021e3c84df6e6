"""What a checkpointed function counts is counted twice.

Running statistics and load counters are updated in the forward, and once more when backward calls the function again.
Outputs and gradients are right, so a comparison of losses does not show it.
"""

import contextlib

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "state"


class Gate(torch.nn.Module):
    """Scores two experts for each token and counts the tokens that prefer each."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 2))
        self.load = None

    def count(self, scores):
        """Add to the counter, which is None at first."""
        load = (scores > 0.5).sum(0)
        if self.load is None:
            self.load = load
        else:
            self.load += load

    def score(self, x):
        """Return the result and the scores that it is made of."""
        scores = (x @ self.weight).sigmoid()
        return scores.sin(), scores

    def forward(self, x):
        """Score, count, and return the result."""
        scores = (x @ self.weight).sigmoid()
        self.count(scores)
        return scores.sin()


@contextlib.contextmanager
def frozen_statistics(norm):
    """Let a batch norm leave its running statistics alone."""
    momentum, batches = norm.momentum, norm.num_batches_tracked
    norm.momentum, norm.num_batches_tracked = 0.0, None
    try:
        yield
    finally:
        norm.momentum, norm.num_batches_tracked = momentum, batches


def keep_matmuls():
    """Make the contexts of selective checkpointing that keep the results of matrix products."""
    return torch.utils.checkpoint.create_selective_checkpoint_contexts([torch.ops.aten.mm.default])


def backward(output, x, module):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad, "gradients": [parameter.grad for parameter in module.parameters()]}


def statistics(norm):
    """Return a copy of what a batch norm has recorded."""
    return {name: buffer.clone() for name, buffer in norm.named_buffers()}


def tokens():
    """Three tokens of four features."""
    torch.manual_seed(1729)
    return torch.randn(3, 4, requires_grad=True)


def inputs():
    """Tokens and a batch norm with a nonlinearity behind it."""
    return tokens(), torch.nn.Sequential(torch.nn.BatchNorm1d(4), torch.nn.Tanh())


def gate_inputs():
    """Tokens and a gate."""
    return tokens(), Gate()


def reference(x, block):
    """The batch norm, without checkpoint."""
    result = backward(block(x), x, block)
    return {**result, "statistics": statistics(block[0])}


def gate_reference(x, gate):
    """The gate, without checkpoint."""
    result = backward(gate(x), x, gate)
    return {**result, "load": gate.load}


def case_batch_norm_statistics(x, block):
    """Batch norm inside a checkpointed function.

    Recomputation updates the running statistics a second time with the same batch. Gradients are right; evaluation
    uses other statistics than without checkpoint.

    :report: pytorch/pytorch#96136
    :report: pytorch/pytorch#62471
    """
    output = checkpoint(block, x, use_reentrant=False)
    result = backward(output, x, block)
    return {**result, "statistics": statistics(block[0])}


def case_reentrant_batch_norm_statistics(x, block):
    """Batch norm inside a checkpointed function, with ``use_reentrant=True``.

    The running statistics are updated twice with this variant too.

    :report: pytorch/pytorch#96136
    :report: pytorch/pytorch#62471
    """
    output = checkpoint(block, x, use_reentrant=True)
    result = backward(output, x, block)
    return {**result, "statistics": statistics(block[0])}


def case_batch_norm_statistics_put_back(x, block):
    """Batch norm whose running statistics are put back after backward.

    Works with both variants and on every release, at the price of a copy of the statistics.

    :repairs: batch_norm_statistics
    :repairs: reentrant_batch_norm_statistics
    """
    output = checkpoint(block, x, use_reentrant=False)
    recorded = statistics(block[0])
    result = backward(output, x, block)
    block[0].load_state_dict(recorded, strict=False)
    return {**result, "statistics": statistics(block[0])}


def case_batch_norm_frozen_in_recomputation(x, block):
    """Batch norm that recomputation runs with a momentum of 0 and without a batch counter.

    The second context of ``context_fn`` is open while checkpoint recomputes, and only then.

    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    :repairs: batch_norm_statistics
    """
    output = checkpoint(
        block,
        x,
        use_reentrant=False,
        context_fn=lambda: (contextlib.nullcontext(), frozen_statistics(block[0])),
    )
    result = backward(output, x, block)
    return {**result, "statistics": statistics(block[0])}


def case_load_counter(x, gate):
    """A gate counts its experts' tokens inside the checkpointed function.

    Recomputation counts them again, and load balancing sees twice the load. From 2.1 on, recomputation stops at the
    last saved tensor, so a counter behind it is spared.

    :report: NVIDIA-NeMo/Automodel#3247
    :inputs: gate_inputs
    :reference: gate_reference
    """
    output = checkpoint(gate, x, use_reentrant=False)
    result = backward(output, x, gate)
    return {**result, "load": gate.load}


def case_selective_load_counter(x, gate):
    """A gate counts its experts' tokens under selective checkpointing.

    The counter is None in the forward and is added to in place by recomputation: an operator that the forward never
    ran.

    :report: NVIDIA-NeMo/Automodel#3247
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :inputs: gate_inputs
    :reference: gate_reference
    :detected: builtins.RuntimeError: encountered during backward but not found in storage
    """
    output = checkpoint(gate, x, use_reentrant=False, context_fn=keep_matmuls)
    result = backward(output, x, gate)
    return {**result, "load": gate.load}


def case_load_counted_outside(x, gate):
    """The checkpointed function returns its scores, and the caller counts.

    The counter is changed once, after the function.

    :inputs: gate_inputs
    :reference: gate_reference
    :repairs: load_counter
    """
    output, scores = checkpoint(gate.score, x, use_reentrant=False)
    gate.count(scores)
    result = backward(output, x, gate)
    return {**result, "load": gate.load}


def case_selective_load_counted_outside(x, gate):
    """The checkpointed function returns its scores, and the caller counts, under selective checkpointing.

    Forward and recomputation run the same operators.

    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    :inputs: gate_inputs
    :reference: gate_reference
    :repairs: selective_load_counter
    """
    output, scores = checkpoint(gate.score, x, use_reentrant=False, context_fn=keep_matmuls)
    gate.count(scores)
    result = backward(output, x, gate)
    return {**result, "load": gate.load}
