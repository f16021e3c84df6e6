"""A stand-in for torch: a few kilobytes with just enough for recompat's probe and for small case files."""

from __future__ import annotations

from torch import _behaviour

_behaviour.on_import()

from torch import _C, __config__, autograd, backends, random, utils, version
from torch._basics import (
    Size,
    bool_,
    device,
    dtype,
    float32,
    float64,
    int64,
    layout,
    strided,
)
from torch._tensor import (
    Tensor,
    allclose,
    equal,
    full,
    ones,
    rand,
    tensor,
    zeros,
)
from torch.autograd.graph import is_grad_enabled, no_grad
from torch.random import get_num_threads, manual_seed, set_num_threads
from torch.version import __version__

__all__ = [
    "_C",
    "Size",
    "Tensor",
    "__config__",
    "__version__",
    "allclose",
    "autograd",
    "backends",
    "bool_",
    "device",
    "dtype",
    "equal",
    "float32",
    "float64",
    "full",
    "get_num_threads",
    "int64",
    "is_grad_enabled",
    "layout",
    "manual_seed",
    "no_grad",
    "ones",
    "rand",
    "random",
    "set_num_threads",
    "strided",
    "tensor",
    "utils",
    "version",
    "zeros",
]
