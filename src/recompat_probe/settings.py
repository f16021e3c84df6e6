"""Reads the execution settings that are in force: by name, so that one which a release lacks is simply not there.

Reading changes nothing. A setting that cannot be read is left out.
"""

from __future__ import annotations

import ctypes
import hashlib
import random
import sys
import warnings
from contextlib import suppress
from functools import partial
from typing import Any, Callable, Dict, Iterator, Tuple

import torch

__all__ = ["settings"]

Setting = Tuple[str, Callable[[], Any]]

NAMED = {
    "sdpa.flash": "backends.cuda.flash_sdp_enabled",
    "sdpa.mem_efficient": "backends.cuda.mem_efficient_sdp_enabled",
    "sdpa.math": "backends.cuda.math_sdp_enabled",
    "sdpa.cudnn": "backends.cuda.cudnn_sdp_enabled",
    "autocast.cache": "is_autocast_cache_enabled",
    "grad.enabled": "is_grad_enabled",
    "grad.inference": "is_inference_mode_enabled",
    "default.dtype": "get_default_dtype",
    "matmul.float32_precision": "get_float32_matmul_precision",
    "deterministic.enabled": "are_deterministic_algorithms_enabled",
    "deterministic.warn_only": "is_deterministic_algorithms_warn_only_enabled",
    "deterministic.fill": "utils.deterministic.fill_uninitialized_memory",
    "threads.intraop": "get_num_threads",
}
DEVICES = ("cpu", "cuda", "xpu", "hpu", "ipu", "xla", "mps", "mtia", "maia")
NO_MODES_OF_THE_CASE = ("recompat_probe.operators", "torch.utils.checkpoint")
FP32_PARTS = ("matmul", "conv", "rnn")


def settings() -> Dict[str, str]:
    """Return every setting that this release has, by name: switches as ``on`` or ``off``, the rest as torch prints it."""
    found = {}
    with warnings.catch_warnings(), torch._C.DisableTorchFunction():
        warnings.simplefilter("ignore")
        for name, read in _readers():
            try:
                found[name] = _text(read())
            except Exception:  # noqa: BLE001, PERF203, S112  (it is not there, or cannot be told: either way absent)
                continue
    return dict(sorted(found.items()))


def _readers() -> Iterator[Setting]:
    for name, path in NAMED.items():
        yield name, partial(_value, path)
    yield "sdpa.priority", _sdpa_priority
    yield "default.device", _default_device
    for group in (_autocast, _mkldnn):
        with suppress(Exception):  # this release has none of it
            yield from group()
    yield "modes.function", lambda: _modes(_function_modes())
    yield "modes.dispatch", lambda: _modes(_dispatch_modes())
    yield "rng.cpu", _cpu_generator
    yield "rng.python", lambda: _digest(repr(random.getstate()).encode())
    yield "rng.numpy", _numpy_generator


def _value(path: str) -> Any:
    """Follow a dotted name from torch, and call what is found if it is a function."""
    found: Any = torch
    for part in path.split("."):
        found = getattr(found, part)
    return found() if callable(found) else found


def _text(value: Any) -> str:
    if value is None:
        raise ValueError("torch itself cannot tell")
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def _sdpa_priority() -> str:
    return ", ".join(torch._C._SDPBackend(number).name for number in torch._C._get_sdp_priority_order())


def _autocast() -> Iterator[Setting]:
    """Ask by device type where torch can be asked so (from 2.4 on, the other functions warn), else by function."""
    if hasattr(torch, "get_autocast_dtype"):
        for device in filter(torch.amp.is_autocast_available, DEVICES):
            yield f"autocast.{device}.enabled", partial(torch.is_autocast_enabled, device)
            yield f"autocast.{device}.dtype", partial(torch.get_autocast_dtype, device)
        return
    for device in DEVICES:
        enabled = "is_autocast_enabled" if device == "cuda" else f"is_autocast_{device}_enabled"
        dtype = f"get_autocast_{'gpu' if device == 'cuda' else device}_dtype"
        yield f"autocast.{device}.enabled", getattr(torch, enabled, _absent)
        yield f"autocast.{device}.dtype", getattr(torch, dtype, _absent)


def _absent() -> Any:
    raise AttributeError


def _mkldnn() -> Iterator[Setting]:
    """Read the flags of the backend by the names that the release gives them."""
    backend = torch.backends.mkldnn
    for name, flag in vars(type(backend)).items():
        if isinstance(flag, torch.backends.ContextProp):
            yield f"mkldnn.{name}", partial(getattr, backend, name)
        elif name in FP32_PARTS:
            yield f"mkldnn.{name}.fp32_precision", partial(getattr, flag, "fp32_precision")


def _function_modes() -> list[Any]:
    return [torch._C._get_function_stack_at(at) for at in range(torch._C._len_torch_function_stack())]


def _dispatch_modes() -> list[Any]:
    """Return the stack without the probe's own modes, and without checkpoint's, which differ by design when it selects."""
    stack = [torch._C._get_dispatch_stack_at(at) for at in range(torch._C._len_torch_dispatch_stack())]
    return [mode for mode in stack if type(mode).__module__ not in NO_MODES_OF_THE_CASE]


def _modes(stack: list[Any]) -> str:
    return ", ".join(type(mode).__name__ for mode in stack) or "none"


def _default_device() -> str:
    """Return the device of the innermost mode that sets one, as ``torch.device`` scopes and the global default do."""
    devices = [mode.device for mode in _function_modes() if type(mode).__name__ == "DeviceContext"]
    return str(devices[-1]) if devices else "cpu"


def _cpu_generator() -> str:
    """Digest the state where it lies: no operator runs that a mode of the case could see."""
    state = torch.default_generator.get_state()
    return _digest(ctypes.string_at(state.data_ptr(), state.numel()))


def _numpy_generator() -> str:
    return _digest(repr([*_numpy_state()]).encode())


def _numpy_state() -> Any:
    kind, keys, *rest = sys.modules["numpy"].random.get_state()
    return kind, keys.tobytes(), *rest


def _digest(state: bytes) -> str:
    return hashlib.sha256(state).hexdigest()[:12]
