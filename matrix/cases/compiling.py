"""Regions and torch.compile: a region in compiled code, and compiled code in a region.

A compiler that sees the region decides itself what to recompute. Compiled code inside a region is run twice by
checkpoint, and must save the same tensors both times. References are compiled as well, without checkpoint.
"""

import functools

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "compile"


def layer(x, weight):
    """A small layer."""
    return torch.tanh(x @ weight).sin()


def averaged(x, weight):
    """A layer that averages over the rows; compiled for one length or for any, it saves tensors of different shapes."""
    return (torch.tanh(x @ weight).mean(0, keepdim=True) * x).sin()


def checkpointed(x, weight):
    """The layer as a region."""
    return checkpoint(layer, x, weight, use_reentrant=False)


def checkpointed_average(x, weight):
    """The averaging layer as a region."""
    return checkpoint(averaged, x, weight, use_reentrant=False)


def checkpointed_selectively(x, weight):
    """The layer as a region that keeps the results of matrix products."""
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    contexts = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    return checkpoint(layer, x, weight, use_reentrant=False, context_fn=contexts)


class Block(torch.nn.Module):
    """A module around one of these functions."""

    def __init__(self, function, weight):
        super().__init__()
        self.function = function
        self.weight = torch.nn.Parameter(weight.detach())

    def forward(self, x):
        """Call the function with the module's weight."""
        return self.function(x, self.weight)


def compiled(function, backend="aot_eager", dynamic=None):
    """Compile a function; what was compiled before is forgotten, because code is compiled once in a process."""
    torch._dynamo.reset()
    return torch.compile(function, backend=backend, dynamic=dynamic)


def backward(output, x, weight):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad, "weight.grad": weight.grad}


def both_lengths(function, x, weight):
    """Run a function on three rows and on five, then backward through both."""
    return backward(torch.cat([function(x[:3], weight), function(x, weight)]), x, weight)


def exported(function, x, weight):
    """Export a module and run the result forward and backward."""
    output = torch.export.export(Block(function, weight), (x,)).module()(x)
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad}


def inputs():
    """Features and a weight."""
    torch.manual_seed(1729)
    return torch.randn(5, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)


def reference(x, weight):
    """The layer compiled by aot_eager, without checkpoint."""
    return backward(compiled(layer)(x, weight), x, weight)


def eager_reference(x, weight):
    """The layer compiled by the eager backend, without checkpoint."""
    return backward(compiled(layer, backend="eager")(x, weight), x, weight)


def lengths_reference(x, weight):
    """The averaging layer on both lengths, compiled by aot_eager, without checkpoint."""
    return both_lengths(compiled(averaged), x, weight)


def export_reference(x, weight):
    """The layer exported without checkpoint."""
    return exported(layer, x, weight)


def case_region_compiled_by_eager(x, weight):
    """torch.compile around a region, with the eager backend.

    The graph is captured and run as it is: whatever fails here is the capture, and no backend.

    :report: pytorch/pytorch#97436
    :report: pytorch/pytorch#95846
    :reference: eager_reference
    """
    return backward(compiled(checkpointed, backend="eager")(x, weight), x, weight)


def case_region_compiled_by_aot_eager(x, weight):
    """torch.compile around a region, with the aot_eager backend.

    The compiler sees the region and plans the recomputation in its own backward.

    :report: pytorch/pytorch#97436
    :repairs: first_call_inside_region
    """
    return backward(compiled(checkpointed)(x, weight), x, weight)


def case_selective_region_compiled(x, weight):
    """torch.compile around a selectively checkpointed region, with the aot_eager backend.

    The policy marks operators in the compiler's graph; what is kept is decided there.

    :report: pytorch/torchtitan#1668
    :report: pytorch/torchtitan#1631
    :requires: torch.utils.checkpoint.create_selective_checkpoint_contexts
    """
    return backward(compiled(checkpointed_selectively)(x, weight), x, weight)


def case_first_call_inside_region(x, weight):
    """A compiled function is called for the first time inside a region.

    It is compiled there: before torch 2.5, tracing goes through the hooks with which the region drops what it saves.

    :report: pytorch/pytorch#97436
    :report: pytorch/pytorch#121966
    :report: pytorch/pytorch#113263
    """
    return backward(checkpoint(compiled(layer), x, weight, use_reentrant=False), x, weight)


def case_first_call_before_region(x, weight):
    """A compiled function is called once before it is called inside a region.

    Inside the region it only runs. A first step without checkpoint does it.

    :repairs: first_call_inside_region
    """
    function = compiled(layer)
    function(x, weight)
    return backward(checkpoint(function, x, weight, use_reentrant=False), x, weight)


def case_recompiled_between_regions(x, weight):
    """A compiled function is called in two regions, with other lengths, and is recompiled for the second.

    Recomputation of the first then takes the newer graph, which saves other tensors than the graph that forward took.

    :report: pytorch/pytorch#166926
    :report: pytorch/torchtitan#1991
    :report: ecmwf/anemoi-core#1344
    :reference: lengths_reference
    """
    function = compiled(averaged)
    return both_lengths(functools.partial(checkpoint, function, use_reentrant=False), x, weight)


def case_compiled_for_any_length_before(x, weight):
    """A function compiled with dynamic=True and called once before its regions.

    There is one graph for all lengths, in forward and in recomputation.

    :repairs: recompiled_between_regions
    :reference: lengths_reference
    """
    function = compiled(averaged, dynamic=True)
    function(x, weight)
    return both_lengths(functools.partial(checkpoint, function, use_reentrant=False), x, weight)


def case_recompiled_around_regions(x, weight):
    """torch.compile around the region, which is recompiled for the second length.

    Each graph holds its own recomputation, so forward and backward belong together.

    :repairs: recompiled_between_regions
    :reference: lengths_reference
    """
    return both_lengths(compiled(checkpointed_average), x, weight)


def case_recompiled_between_regions_oldest_first(x, weight):
    """A function that is recompiled between its regions, with graphs tried oldest first.

    Graphs are tried in the order in which they were compiled, so recomputation finds the one that forward took.

    :report: pytorch/torchtitan#1991
    :requires: torch._C._dynamo.eval_frame._set_lru_cache
    :repairs: recompiled_between_regions
    :reference: lengths_reference
    """
    torch._C._dynamo.eval_frame._set_lru_cache(False)
    try:
        function = compiled(averaged)
        return both_lengths(functools.partial(checkpoint, function, use_reentrant=False), x, weight)
    finally:
        torch._C._dynamo.eval_frame._set_lru_cache(True)


def case_exported_region(x, weight):
    """torch.export of a module that holds a region.

    The exported program holds the operators and no region: it runs, and it recomputes nothing.

    :requires: torch.export.export
    :reference: export_reference
    """
    return exported(checkpointed, x, weight)
