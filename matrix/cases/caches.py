"""What a checkpointed function caches is cached twice.

Backward calls the function a second time, and that call finds what the first one left: a key cache that has grown, a
table that is already built. A changed shape or number of saved tensors is noticed; changed values are not.
"""

import torch
from torch.nn.utils import parametrize
from torch.utils.checkpoint import checkpoint

FAMILY = "state"


class GrowingCache:
    """Keys that grow by those of each call."""

    def __init__(self):
        self.keys = torch.zeros(0, 4)

    def append(self, keys):
        """Add keys and return all."""
        self.keys = torch.cat([self.keys, keys])
        return self.keys


class StaticCache:
    """Keys in a buffer of fixed length, with a position that moves on."""

    def __init__(self):
        self.keys = torch.zeros(6, 4)
        self.position = 0

    def append(self, keys):
        """Write keys at the current position and return the whole buffer."""
        self.position += len(keys)
        return self.write(keys, self.position - len(keys))

    def write(self, keys, position):
        """Write keys at a position and return the whole buffer."""
        self.keys = self.keys.index_copy(0, torch.arange(position, position + len(keys)), keys)
        return self.keys


class Table(torch.nn.Module):
    """Cosines of learned frequencies; the table is built on the first call and used again on the next."""

    def __init__(self):
        super().__init__()
        self.frequencies = torch.nn.Parameter(torch.rand(4))
        self.table = None

    def build(self, length):
        """Return a fresh table."""
        return torch.outer(torch.arange(float(length)), self.frequencies).cos()

    def forward(self, x):
        """Multiply by the table."""
        if self.table is None:
            self.table = self.build(len(x))
        return (x * self.table).sin()


class Positive(torch.nn.Module):
    """Parametrizes a weight as an exponential."""

    def forward(self, raw):
        """Return the weight."""
        return raw.exp()


def attend(x, keys):
    """Attention without a scale or values of its own."""
    return (x @ keys.T).softmax(-1) @ keys


def attend_to_itself(x):
    """Attend to this call's keys alone."""
    return attend(x, x.tanh())


def attend_and_append(x, cache):
    """Attend to all keys of a cache, to which this call's are added."""
    return attend(x, cache.append(x.tanh()))


def attend_and_write(x, cache, position):
    """Attend to all keys of a cache, into which this call's are written at a given position."""
    return attend(x, cache.write(x.tanh(), position))


def attend_and_return_keys(x, earlier):
    """Attend to earlier keys and this call's, and leave it to the caller to cache those."""
    keys = x.tanh()
    return attend(x, torch.cat([earlier, keys])), keys


def twice(layer, x):
    """Use a layer's weight two times, as a recurrent cell does."""
    return layer(layer(x).tanh())


def twice_cached(layer, x):
    """Use a layer's weight two times, but compute it once."""
    with parametrize.cached():
        return twice(layer, x)


def backward(output, x, *parameters):
    """Run backward and return what is compared."""
    output.square().sum().backward()
    return {"output": output, "x.grad": x.grad, "gradients": [parameter.grad for parameter in parameters]}


def tokens():
    """Three tokens of four features."""
    torch.manual_seed(1729)
    return torch.randn(3, 4, requires_grad=True)


def inputs():
    """Tokens and an empty cache."""
    return tokens(), GrowingCache()


def static_inputs():
    """Tokens and an empty cache of fixed length."""
    return tokens(), StaticCache()


def table_inputs():
    """Tokens and a table."""
    return tokens(), Table()


def parametrized_inputs():
    """Tokens and a linear layer with a parametrized weight."""
    x, layer = tokens(), torch.nn.Linear(4, 4)
    parametrize.register_parametrization(layer, "weight", Positive())
    return x, layer


def reference(x, cache):
    """The growing or the static cache, without checkpoint."""
    result = backward(attend_and_append(x, cache), x)
    return {**result, "cached": len(cache.keys)}


def cacheless_reference(x, cache):
    """Attention without a cache, without checkpoint."""
    return backward(attend_to_itself(x), x)


def table_reference(x, table):
    """The table, without checkpoint."""
    return backward(table(x), x, table.frequencies)


def parametrized_reference(x, layer):
    """The parametrized layer, without checkpoint."""
    return backward(twice_cached(layer, x), x, *layer.parameters())


def case_kv_cache_grows(x, cache):
    """A key cache grows inside the checkpointed function.

    Recomputation appends the same keys again and attends to twice as many. Hugging Face models met it with
    ``use_cache=True`` in training.

    :report: huggingface/transformers#28056
    :report: huggingface/transformers#30320
    :report: pytorch/pytorch#155171
    :report: pytorch/pytorch#105031
    """
    output = checkpoint(attend_and_append, x, cache, use_reentrant=False)
    result = backward(output, x)
    return {**result, "cached": len(cache.keys)}


def case_reentrant_kv_cache_grows(x, cache):
    """A key cache grows inside the checkpointed function, with ``use_reentrant=True``.

    The recomputed output has the right shape and the wrong values, and nothing compares them: training goes on with
    wrong gradients.

    :report: huggingface/transformers#28056
    """
    output = checkpoint(attend_and_append, x, cache, use_reentrant=True)
    result = backward(output, x)
    return {**result, "cached": len(cache.keys)}


def case_kv_cache_appended_outside(x, cache):
    """The checkpointed function returns its keys, and the caller appends them to the cache.

    The cache is an input of the function and is changed once, after it.

    :repairs: kv_cache_grows
    :repairs: reentrant_kv_cache_grows
    """
    output, keys = checkpoint(attend_and_return_keys, x, cache.keys, use_reentrant=False)
    cache.append(keys)
    result = backward(output, x)
    return {**result, "cached": len(cache.keys)}


def case_kv_cache_switched_off(x, cache):
    """No cache in training: the same as ``use_cache=False``.

    A training step attends to all its tokens at once and has no use for a cache.

    :report: huggingface/transformers#30320
    :reference: cacheless_reference
    :repairs: kv_cache_grows
    :repairs: reentrant_kv_cache_grows
    :repairs: static_kv_cache
    """
    output = checkpoint(attend_to_itself, x, use_reentrant=False)
    return backward(output, x)


def case_static_kv_cache(x, cache):
    """A key cache of fixed length is written at a position that moves on.

    Recomputation writes behind the first copy. Every shape is as before, so the gradients are wrong without a word.

    :report: huggingface/transformers#28056
    :inputs: static_inputs
    """
    output = checkpoint(attend_and_append, x, cache, use_reentrant=False)
    result = backward(output, x)
    return {**result, "cached": len(cache.keys)}


def case_static_kv_cache_at_given_position(x, cache):
    """A key cache of fixed length is written at a position that is an argument.

    Recomputation writes the same keys to the same place.

    :inputs: static_inputs
    :repairs: static_kv_cache
    """
    output = checkpoint(attend_and_write, x, cache, cache.position, use_reentrant=False)
    cache.position += len(x)
    result = backward(output, x)
    return {**result, "cached": len(cache.keys)}


def case_table_built_on_first_call(x, table):
    """A table is built on the first call and kept for the next ones.

    The first forward saves what building the table needs. Recomputation finds the table and saves less.

    :report: facebookresearch/sam3#530
    :inputs: table_inputs
    :reference: table_reference
    :detected: builtins.RuntimeError: without checkpoint recomputation being triggered in between
    """
    output = checkpoint(table, x, use_reentrant=False)
    return backward(output, x, table.frequencies)


def case_table_built_before(x, table):
    """A table is built before the checkpointed function is called.

    Forward and recomputation both find it.

    :inputs: table_inputs
    :reference: table_reference
    :repairs: table_built_on_first_call
    """
    table.table = table.build(len(x))
    output = checkpoint(table, x, use_reentrant=False)
    return backward(output, x, table.frequencies)


def case_parametrized_weight_cached(x, layer):
    """``parametrize.cached`` around the forward only.

    The forward computes the weight once. Recomputation happens outside of the scope and computes it at each use.

    :inputs: parametrized_inputs
    :reference: parametrized_reference
    """
    with parametrize.cached():
        output = checkpoint(twice, layer, x, use_reentrant=False)
    return backward(output, x, *layer.parameters())


def case_parametrized_weight_cached_inside(x, layer):
    """``parametrize.cached`` inside the checkpointed function.

    Recomputation opens the scope again, and with an empty cache.

    :inputs: parametrized_inputs
    :reference: parametrized_reference
    :repairs: parametrized_weight_cached
    """
    output = checkpoint(twice_cached, layer, x, use_reentrant=False)
    return backward(output, x, *layer.parameters())
