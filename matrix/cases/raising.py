"""What is left behind when a checkpointed function raises, and what its caller gets to see.

Running out of memory, a bad batch, the end of an iterator: the exception of a first run leaves checkpoint while its
hooks are installed. They must be gone before the next run, and the exception must arrive as it was raised.
"""

import torch
from torch.utils.checkpoint import checkpoint

FAMILY = "exceptions"


def fails_once():
    """A function that raises in its first call, after it has saved a tensor."""
    calls = []

    def function(x):
        calls.append(x)
        hidden = x.sin()
        if len(calls) == 1:
            raise MemoryError
        return hidden.cos()

    return function


def scaled_by_next(x, scales):
    """Scale by what an iterator gives next."""
    return (x * next(scales)).sin()


def scaled(x, scale):
    """Scale by a number."""
    return (x * scale).sin()


def backward(output, x):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}


def inputs():
    """Four numbers."""
    torch.manual_seed(1729)
    return (torch.randn(4, requires_grad=True),)


def reference(x):
    """The second try, without checkpoint."""
    return backward(x.sin().cos(), x)


def smaller_batch_reference(x):
    """The second try, of half the batch, without checkpoint."""
    return backward(x[:2].sin().cos(), x)


def iterator_reference(x):
    """Run until the iterator ends, without checkpoint."""
    scales, outputs = iter([1.0]), []
    try:
        while True:
            outputs.append(scaled_by_next(x, scales))
    except StopIteration:
        return {"outputs": outputs}


def case_retry_while_exception_is_handled(x):
    """A checkpointed function raises, and is tried again in the ``except`` block.

    Python keeps the exception, its frames, and in them checkpoint's hooks for saved tensors, until the ``except`` block
    ends. The second call runs inside those hooks: backward raises, or takes another tensor for the one that was saved.

    :report: pytorch/pytorch#184018
    :report: pytorch/pytorch#105101
    """
    function = fails_once()
    try:
        output = checkpoint(function, x, use_reentrant=False)
    except MemoryError:
        output = checkpoint(function, x, use_reentrant=False)
    return backward(output, x)


def case_smaller_batch_while_exception_is_handled(x):
    """A checkpointed function raises, and is tried with a smaller batch in the ``except`` block.

    Loops that answer an out-of-memory error with fewer samples do so. The shapes give the trouble away.

    :report: pytorch/pytorch#184018
    :report: pytorch/pytorch#105101
    :reference: smaller_batch_reference
    """
    function = fails_once()
    try:
        output = checkpoint(function, x, use_reentrant=False)
    except MemoryError:
        output = checkpoint(function, x[:2], use_reentrant=False)
    return backward(output, x)


def case_exception_is_kept(x):
    """A checkpointed function raises, and its exception is kept while the function is tried again.

    A log, a result or a debugger that holds on to an exception holds on to the frames of its traceback as well, and so
    to the hooks of the first call.

    :report: pytorch/pytorch#184018
    :report: pytorch/pytorch#105101
    """
    function, failures = fails_once(), []
    try:
        output = checkpoint(function, x, use_reentrant=False)
    except MemoryError as failure:
        failures.append(failure)
    if failures:
        output = checkpoint(function, x, use_reentrant=False)
    return backward(output, x)


def case_retry_after_exception_was_handled(x):
    """A checkpointed function raises, and is tried again after the ``except`` block.

    The exception is gone by then, and with it the first call.

    :repairs: retry_while_exception_is_handled
    """
    function, failed = fails_once(), False
    try:
        output = checkpoint(function, x, use_reentrant=False)
    except MemoryError:
        failed = True
    if failed:
        output = checkpoint(function, x, use_reentrant=False)
    return backward(output, x)


def case_smaller_batch_after_exception_was_handled(x):
    """A checkpointed function raises, and is tried with a smaller batch after the ``except`` block.

    :repairs: smaller_batch_while_exception_is_handled
    :reference: smaller_batch_reference
    """
    function, failed = fails_once(), False
    try:
        output = checkpoint(function, x, use_reentrant=False)
    except MemoryError:
        failed = True
    if failed:
        output = checkpoint(function, x[:2], use_reentrant=False)
    return backward(output, x)


def case_exception_is_kept_without_traceback(x):
    """A checkpointed function raises, and its exception is kept without its traceback.

    :repairs: exception_is_kept
    """
    function, failures = fails_once(), []
    try:
        output = checkpoint(function, x, use_reentrant=False)
    except MemoryError as failure:
        failures.append(failure.with_traceback(None))
    if failures:
        output = checkpoint(function, x, use_reentrant=False)
    return backward(output, x)


def case_stop_iteration(x):
    """A checkpointed function raises ``StopIteration``, for which its caller waits.

    Checkpoint passes an exception through a generator of its own, and a generator turns this one into a
    ``RuntimeError``.

    :report: pytorch/pytorch#184018
    :reference: iterator_reference
    """
    scales, outputs = iter([1.0]), []
    try:
        while True:
            outputs.append(checkpoint(scaled_by_next, x, scales, use_reentrant=False))
    except StopIteration:
        return {"outputs": outputs}


def case_iterator_advanced_by_caller(x):
    """The caller advances the iterator, and gives the checkpointed function what it got.

    :repairs: stop_iteration
    :reference: iterator_reference
    """
    scales, outputs = iter([1.0]), []
    try:
        while True:
            outputs.append(checkpoint(scaled, x, next(scales), use_reentrant=False))
    except StopIteration:
        return {"outputs": outputs}
