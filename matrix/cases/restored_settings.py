"""Which of torch's process-wide settings are in force again when checkpoint recomputes?

Checkpoint puts back few of the settings that the forward had. Each case changes one setting around the forward only;
the checkpointed function notes the value that it sees, first in the forward and then in the recomputation.
"""

from contextlib import ExitStack, contextmanager

import torch
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


@contextmanager
def changed(set_value, inside, outside):
    """Open a scope in which a setting has another value."""
    set_value(inside)
    try:
        yield
    finally:
        set_value(outside)


def float64_default():
    """Open a scope in which new tensors are float64."""
    return changed(torch.set_default_dtype, torch.float64, torch.float32)


def no_flash():
    """Open a scope in which attention may not take the flash kernel."""
    return changed(torch.backends.cuda.enable_flash_sdp, False, True)


def high_precision():
    """Open a scope in which float32 products may round their factors to fewer bits."""
    return changed(torch.set_float32_matmul_precision, "high", "highest")


def deterministic():
    """Open a scope in which only deterministic algorithms are allowed."""
    return changed(torch.use_deterministic_algorithms, True, False)


def one_thread_more():
    """Open a scope with one more thread."""
    return changed(torch.set_num_threads, torch.get_num_threads() + 1, torch.get_num_threads())


def anomaly_mode():
    """Open a scope in which autograd notes where each operator was called."""
    return torch.autograd.set_detect_anomaly(True)


@contextmanager
def all_scopes():
    """Open all these scopes, and one with another default device."""
    scopes = float64_default, no_flash, high_precision, deterministic, one_thread_more, anomaly_mode
    with ExitStack() as stack, torch.device("meta"):
        for scope in scopes:
            stack.enter_context(scope())
        yield


def factory_device():
    """Return the device of a new tensor."""
    return torch.empty(0).device


def all_settings():
    """Return all settings that ``all_scopes`` changes."""
    values = [
        torch.get_default_dtype(),
        torch.get_float32_matmul_precision(),
        torch.get_num_threads(),
        factory_device(),
    ]
    flash, only_deterministic = torch.backends.cuda.flash_sdp_enabled(), torch.are_deterministic_algorithms_enabled()
    return [*values, flash, only_deterministic, torch.is_anomaly_enabled()]


def inputs():
    """One tensor that requires grad."""
    torch.manual_seed(1729)
    return (torch.randn(4, requires_grad=True),)


def reference(x):
    """What recomputation should see."""
    return RESTORED


def case_default_dtype(x):
    """The default dtype is changed around the forward only.

    Masks, tables and constants that the function makes are float64 in the forward and float32 in the recomputation.

    :restores: default dtype (use_reentrant=False)
    """
    function = Watched(torch.get_default_dtype)
    with float64_default():
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_default_dtype_reentrant(x):
    """The default dtype is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put the setting back either, and never compares the two runs.

    :restores: default dtype (use_reentrant=True)
    """
    function = Watched(torch.get_default_dtype)
    with float64_default():
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_default_device(x):
    """The default device is changed around the forward only.

    Tensors that the function makes are on one device in the forward and on another in the recomputation.

    :report: pytorch/pytorch#124788
    :report: pytorch/pytorch#172802
    :restores: default device (use_reentrant=False)
    """
    function = Watched(factory_device)
    with torch.device("meta"):
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_default_device_reentrant(x):
    """The default device is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put the setting back either, and never compares the two runs.

    :report: pytorch/pytorch#124788
    :report: pytorch/pytorch#193922
    :restores: default device (use_reentrant=True)
    """
    function = Watched(factory_device)
    with torch.device("meta"):
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_sdpa_flash_kernel(x):
    """The policy of attention kernels is changed around the forward only.

    The recomputation may take the kernel that the forward was forbidden to take; it saves other tensors.

    :report: huggingface/trl#4314
    :report: NVIDIA-NeMo/Automodel#2761
    :restores: SDPA flash kernel (use_reentrant=False)
    """
    function = Watched(torch.backends.cuda.flash_sdp_enabled)
    with no_flash():
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_sdpa_flash_kernel_reentrant(x):
    """The policy of attention kernels is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put the setting back either, and never compares the two runs.

    :restores: SDPA flash kernel (use_reentrant=True)
    """
    function = Watched(torch.backends.cuda.flash_sdp_enabled)
    with no_flash():
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_float32_matmul_precision(x):
    """The precision of float32 products is changed around the forward only.

    On hardware with shorter products the recomputation rounds differently; no shape or dtype tells.

    :restores: float32 matmul precision (use_reentrant=False)
    """
    function = Watched(torch.get_float32_matmul_precision)
    with high_precision():
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_float32_matmul_precision_reentrant(x):
    """The precision of float32 products is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put the setting back either, and never compares the two runs.

    :restores: float32 matmul precision (use_reentrant=True)
    """
    function = Watched(torch.get_float32_matmul_precision)
    with high_precision():
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_deterministic_algorithms(x):
    """The switch for deterministic algorithms is changed around the forward only.

    The recomputation may take an algorithm that the forward was forbidden to take: runs do not repeat.

    :restores: deterministic algorithms (use_reentrant=False)
    """
    function = Watched(torch.are_deterministic_algorithms_enabled)
    with deterministic():
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_deterministic_algorithms_reentrant(x):
    """The switch for deterministic algorithms is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put the setting back either, and never compares the two runs.

    :restores: deterministic algorithms (use_reentrant=True)
    """
    function = Watched(torch.are_deterministic_algorithms_enabled)
    with deterministic():
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_number_of_threads(x):
    """The number of threads is changed around the forward only.

    Threads split sums, so that another number of them changes the last bits of the recomputed values.

    :restores: number of threads (use_reentrant=False)
    """
    function = Watched(torch.get_num_threads)
    with one_thread_more():
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_number_of_threads_reentrant(x):
    """The number of threads is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put the setting back either, and never compares the two runs.

    :restores: number of threads (use_reentrant=True)
    """
    function = Watched(torch.get_num_threads)
    with one_thread_more():
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_anomaly_mode(x):
    """Anomaly mode is changed around the forward only.

    An error in backward does not tell which line of the function it belongs to: the recomputed operators note none.

    :restores: anomaly mode (use_reentrant=False)
    """
    function = Watched(torch.is_anomaly_enabled)
    with anomaly_mode():
        output = checkpoint(function, x, use_reentrant=False)
    return function.compared(output)


def case_anomaly_mode_reentrant(x):
    """Anomaly mode is changed around the forward only, with ``use_reentrant=True``.

    The reentrant variant does not put the setting back either, and never compares the two runs.

    :restores: anomaly mode (use_reentrant=True)
    """
    function = Watched(torch.is_anomaly_enabled)
    with anomaly_mode():
        output = checkpoint(function, x, use_reentrant=True)
    return function.compared(output)


def case_scopes_inside_function(x):
    """All scopes are opened by the checkpointed function itself.

    What is recomputed is the function, so whatever it opens is open again.

    :repairs: default_dtype
    :repairs: default_device
    :repairs: sdpa_flash_kernel
    :repairs: float32_matmul_precision
    :repairs: deterministic_algorithms
    :repairs: number_of_threads
    :repairs: anomaly_mode
    """
    watched = Watched(all_settings)

    def function(x):
        with all_scopes():
            return watched(x)

    output = checkpoint(function, x, use_reentrant=False)
    return watched.compared(output)


def case_scopes_inside_function_reentrant(x):
    """All scopes are opened by the checkpointed function itself, with ``use_reentrant=True``.

    What is recomputed is the function, so whatever it opens is open again.

    :repairs: default_dtype_reentrant
    :repairs: default_device_reentrant
    :repairs: sdpa_flash_kernel_reentrant
    :repairs: float32_matmul_precision_reentrant
    :repairs: deterministic_algorithms_reentrant
    :repairs: number_of_threads_reentrant
    :repairs: anomaly_mode_reentrant
    """
    watched = Watched(all_settings)

    def function(x):
        with all_scopes():
            return watched(x)

    output = checkpoint(function, x, use_reentrant=True)
    return watched.compared(output)


def case_scopes_through_context_fn(x):
    """All scopes are given to checkpoint, once for the forward and once for the recomputation.

    This is the way where the function itself cannot be changed.

    :requires: torch.utils.checkpoint.checkpoint(context_fn)
    :repairs: default_dtype
    :repairs: default_device
    :repairs: sdpa_flash_kernel
    :repairs: float32_matmul_precision
    :repairs: deterministic_algorithms
    :repairs: number_of_threads
    :repairs: anomaly_mode
    """
    function = Watched(all_settings)
    output = checkpoint(function, x, use_reentrant=False, context_fn=lambda: (all_scopes(), all_scopes()))
    return function.compared(output)
