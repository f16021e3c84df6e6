"""Autocast, of whichever device type, differs between forward and recompute: one case a setting.

Checkpoint itself restores what was in force where it was called, so only a scope around the first run alone can differ.
"""

import contextlib

import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    return (torch.ones(2, 3, requires_grad=True),)


def reference(x):
    return finish(torch.sin(x), x)


def finish(output, x):
    """Run backward and return what is compared."""
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}


def within(scope, x):
    """Checkpoint a function within a scope around its first run alone; checkpoint itself restores some settings."""
    output = checkpoint(torch.sin, x, use_reentrant=False, context_fn=lambda: (scope, contextlib.nullcontext()))
    return finish(output, x)


@contextlib.contextmanager
def enabled(device):
    """Autocast on, and nothing else of it."""
    set_enabled(device, True)
    yield
    set_enabled(device, False)


def set_enabled(device, on):
    if hasattr(torch, "get_autocast_dtype"):  # from 2.4 on
        torch.set_autocast_enabled(device, on)
    elif device == "cuda":
        torch.set_autocast_enabled(on)
    else:
        getattr(torch, f"set_autocast_{device}_enabled")(on)


@contextlib.contextmanager
def dtype(device):
    """Another dtype than the device type's own, whether autocast is on or off."""
    own = set_dtype(device, torch.float32)
    yield
    set_dtype(device, own)


def set_dtype(device, new):
    if hasattr(torch, "get_autocast_dtype"):
        own = torch.get_autocast_dtype(device)
        torch.set_autocast_dtype(device, new)
        return own
    name = {"cuda": "gpu"}.get(device, device)
    own = getattr(torch, f"get_autocast_{name}_dtype")()
    getattr(torch, f"set_autocast_{name}_dtype")(new)
    return own


@contextlib.contextmanager
def no_cache():
    """Autocast keeps no weights."""
    torch.set_autocast_cache_enabled(False)
    yield
    torch.set_autocast_cache_enabled(True)


def case_cache(x):
    return within(no_cache(), x)


def case_cpu_enabled(x):
    return within(enabled("cpu"), x)


def case_cpu_dtype(x):
    return within(dtype("cpu"), x)


def case_cuda_enabled(x):
    return within(enabled("cuda"), x)


def case_cuda_dtype(x):
    return within(dtype("cuda"), x)


def case_ipu_enabled(x):
    return within(enabled("ipu"), x)


def case_ipu_dtype(x):
    return within(dtype("ipu"), x)


def case_xla_enabled(x):
    return within(enabled("xla"), x)


def case_xla_dtype(x):
    return within(dtype("xla"), x)


def case_xpu_enabled(x):
    """On xpu.

    :requires: torch.get_autocast_dtype
    """
    return within(enabled("xpu"), x)


def case_xpu_dtype(x):
    """On xpu.

    :requires: torch.get_autocast_dtype
    """
    return within(dtype("xpu"), x)


def case_hpu_enabled(x):
    """On hpu.

    :requires: torch.get_autocast_dtype
    """
    return within(enabled("hpu"), x)


def case_hpu_dtype(x):
    """On hpu.

    :requires: torch.get_autocast_dtype
    """
    return within(dtype("hpu"), x)


def case_mps_enabled(x):
    """On mps.

    :requires: torch.get_autocast_dtype
    """
    return within(enabled("mps"), x)


def case_mps_dtype(x):
    """On mps.

    :requires: torch.get_autocast_dtype
    """
    return within(dtype("mps"), x)


def case_mtia_enabled(x):
    """On mtia.

    :requires: torch.get_autocast_dtype
    """
    return within(enabled("mtia"), x)


def case_mtia_dtype(x):
    """On mtia.

    :requires: torch.get_autocast_dtype
    """
    return within(dtype("mtia"), x)


def case_maia_enabled(x):
    """On maia.

    :requires: torch.get_autocast_dtype
    """
    return within(enabled("maia"), x)


def case_maia_dtype(x):
    """On maia.

    :requires: torch.get_autocast_dtype
    """
    return within(dtype("maia"), x)
