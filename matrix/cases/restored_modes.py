"""Which modes are in force again when checkpoint recomputes?

Checkpoint opens autocast again as the forward had it, and no mode of the user's own. Each case opens one mode around
the forward only; the checkpointed function notes what it sees, first in the forward and then in the recomputation.
"""

from contextlib import contextmanager

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

FAMILY = "settings"

RESTORED = {"recomputation saw": "what forward saw"}


class Watched:
    """A function to checkpoint, which notes a setting whenever it is called."""

    def __init__(self, read):
        self.read = read
        self.outside = read()
        self.seen = []

    def __call__(self, x):
        """Note first, so that early stop cannot cut it, and compute."""
        self.seen.append(self.read())
        return x.sin()

    def compared(self, output):
        """Run backward and return what is compared."""
        output.backward(torch.ones_like(output))
        forward, recomputation = self.seen
        if forward == self.outside:
            return {"recomputation saw": f"{recomputation}; the scope changed nothing for the forward"}
        return RESTORED if recomputation == forward else {"recomputation saw": f"{recomputation} instead of {forward}"}


class OnesDoubled(TorchFunctionMode):
    """Doubles what ``torch.ones`` returns."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """Call the function, and double its result if it is that one."""
        result = function(*args, **(kwargs or {}))
        return result * 2 if function is torch.ones else result


class OnesTripled(TorchDispatchMode):
    """Triples what the operator below ``torch.ones`` returns."""

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        """Call the operator, and triple its result if it is that one."""
        result = operator(*args, **(kwargs or {}))
        return result * 3 if operator is torch.ops.aten.ones.default else result


class CountedHooks(torch.autograd.graph.saved_tensors_hooks):
    """Saved-tensors hooks that leave a tensor as it is, and count how often they are called."""

    def __init__(self):
        self.calls = 0
        super().__init__(self.pack, lambda tensor: tensor)

    def pack(self, tensor):
        """Count."""
        self.calls += 1
        return tensor

    def called_here(self):
        """Return whether a tensor that autograd saves now goes through these hooks."""
        before = self.calls
        with torch.enable_grad():
            torch.ones(1, requires_grad=True).exp()
        return self.calls > before


def product_dtype():
    """Return the dtype of a matrix product, which autocast changes."""
    return torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype


def autocast_dtype():
    """Return the dtype that autocast takes on the CPU."""
    if hasattr(torch, "get_autocast_dtype"):  # from 2.4 on
        return torch.get_autocast_dtype("cpu")
    return torch.get_autocast_cpu_dtype()


@contextmanager
def both_modes():
    """Open a scope with both kinds of mode."""
    with OnesDoubled(), OnesTripled():
        yield


def ones():
    """Return the number that the modes of this file change."""
    return torch.ones(()).item()


def inputs():
    """One tensor that requires grad."""
    torch.manual_seed(1729)
    return (torch.randn(4, requires_grad=True),)


def reference(x):
    """What recomputation should see."""
    return RESTORED


def float16_reference(x):
    """What recomputation should see, on a release that has autocast to float16 on the CPU."""
    with torch.autocast("cpu", dtype=torch.float16):
        return RESTORED


def case_autocast(x):
    """Autocast is changed around the forward only.

    The loss and backward stand outside the scope, as torch advises; the dtype of a product shows whether it is on.

    :restores: CPU autocast (use_reentrant=False)
    """
    function = Watched(product_dtype)
    with torch.autocast("cpu"):
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_autocast_reentrant(x):
    """Autocast is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant opens autocast again as well.

    :restores: CPU autocast (use_reentrant=True)
    """
    function = Watched(product_dtype)
    with torch.autocast("cpu"):
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_autocast_dtype(x):
    """The dtype of autocast is changed around the forward only.

    The dtype on the CPU is bfloat16 unless told otherwise; a recomputation in another dtype rounds differently.

    :reference: float16_reference
    :restores: CPU autocast dtype (use_reentrant=False)
    """
    function = Watched(autocast_dtype)
    with torch.autocast("cpu", dtype=torch.float16):
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_autocast_dtype_reentrant(x):
    """The dtype of autocast is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant puts the dtype back as well.

    :reference: float16_reference
    :restores: CPU autocast dtype (use_reentrant=True)
    """
    function = Watched(autocast_dtype)
    with torch.autocast("cpu", dtype=torch.float16):
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_autocast_weight_cache(x):
    """The weight cache of autocast is changed around the forward only.

    Autocast keeps the weights that it has cast. Switched off in the forward, it must be off in the recomputation.

    :restores: CPU autocast weight cache (use_reentrant=False)
    """
    function = Watched(torch.is_autocast_cache_enabled)
    with torch.autocast("cpu", cache_enabled=False):
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_autocast_weight_cache_reentrant(x):
    """The weight cache of autocast is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant puts the switch back as well.

    :restores: CPU autocast weight cache (use_reentrant=True)
    """
    function = Watched(torch.is_autocast_cache_enabled)
    with torch.autocast("cpu", cache_enabled=False):
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_grad_mode(x):
    """Grad mode is on in the forward, and off where backward is called.

    Checkpoint needs the graph of the recomputation, and switches grad mode on wherever backward is called.

    :repairs: grad_mode_reentrant
    :restores: grad mode (use_reentrant=False)
    """
    with torch.no_grad():
        function = Watched(torch.is_grad_enabled)
        with torch.enable_grad():
            output = checkpoint(function, x, use_reentrant=False)
        return function.compared(output)


def case_grad_mode_reentrant(x):
    """Grad mode is on all the time, with ``use_reentrant=True``.

    This variant runs the forward without grad, by design; a function that asks for grad mode takes two paths.

    :restores: grad mode (use_reentrant=True)
    """
    function = Watched(torch.is_grad_enabled)
    output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_function_mode(x):
    """A torch-function mode is changed around the forward only.

    Modes of this kind are how default devices and many wrappers work; the recomputation runs without.

    :report: pytorch/pytorch#147995
    :restores: torch-function mode (use_reentrant=False)
    """
    function = Watched(ones)
    with OnesDoubled():
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_function_mode_reentrant(x):
    """A torch-function mode is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put the setting back either, and never compares the two runs.

    :restores: torch-function mode (use_reentrant=True)
    """
    function = Watched(ones)
    with OnesDoubled():
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_dispatch_mode(x):
    """A torch-dispatch mode is changed around the forward only.

    Modes of this kind count, log or replace operators; the recomputation runs without.

    :report: pytorch/pytorch#84864
    :restores: torch-dispatch mode (use_reentrant=False)
    """
    function = Watched(ones)
    with OnesTripled():
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_dispatch_mode_reentrant(x):
    """A torch-dispatch mode is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put the setting back either, and never compares the two runs.

    :restores: torch-dispatch mode (use_reentrant=True)
    """
    function = Watched(ones)
    with OnesTripled():
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_saved_tensors_hooks_reentrant(x):
    """Saved-tensors hooks are around the forward only, with ``use_reentrant=True``.

    Offloading or compressing hooks see no tensor of the recomputation. (Otherwise checkpoint's own hooks lie on top.)

    :restores: saved-tensors hooks (use_reentrant=True)
    """
    hooks = CountedHooks()
    function = Watched(hooks.called_here)
    with hooks:
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_modes_inside_function(x):
    """Both kinds of mode are opened by the checkpointed function itself.

    What is recomputed is the function, so whatever it opens is open again.

    :repairs: function_mode
    :repairs: dispatch_mode
    """
    watched = Watched(ones)

    def function(x):
        with both_modes():
            return watched(x)

    output = checkpoint(function, x, use_reentrant=False)
    return watched.compared(output)


def case_modes_inside_function_reentrant(x):
    """Both kinds of mode are opened by the checkpointed function itself, with ``use_reentrant=True``.

    What is recomputed is the function, so whatever it opens is open again.

    :repairs: function_mode_reentrant
    :repairs: dispatch_mode_reentrant
    """
    watched = Watched(ones)

    def function(x):
        with both_modes():
            return watched(x)

    output = checkpoint(function, x, use_reentrant=True)
    return watched.compared(output)


def case_modes_through_context_fn(x):
    """Both kinds of mode are given to checkpoint, once for the forward and once for the recomputation.

    This is the way where the function itself cannot be changed.

    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    :repairs: function_mode
    :repairs: dispatch_mode
    """
    function = Watched(ones)
    output = checkpoint(function, x, use_reentrant=False, context_fn=lambda: (both_modes(), both_modes()))
    return function.compared(output)


def case_saved_tensors_hooks_inside_function_reentrant(x):
    """Saved-tensors hooks are opened by the checkpointed function itself, with ``use_reentrant=True``.

    The recomputation then saves its tensors through the hooks, as the forward would without checkpoint.

    :repairs: saved_tensors_hooks_reentrant
    """
    hooks = CountedHooks()
    watched = Watched(hooks.called_here)

    def function(x):
        with hooks:
            return watched(x)

    output = checkpoint(function, x, use_reentrant=True)
    return watched.compared(output)
