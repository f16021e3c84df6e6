"""What ``recompat.guard`` reads and compares: the settings of the evidence, read quickly, and a line for each that differs."""

from __future__ import annotations

import functools
import warnings
from contextlib import suppress
from typing import Any, Callable, Dict, Iterator, Sequence, Tuple

import torch

from recompat_probe import settings as snapshot
from recompat_probe.modules import PREFIX, inherited, training

__all__ = ["Settings", "differing", "lines", "read", "value"]

Settings = Dict[str, str]

ABSENT = "absent"
STATE = "rng."  # no setting: checkpoint restores torch's generators, and each draw of a program moves the others
TRACING = "ProxyTorchDispatchMode"  # torch.compile traces backward: no recompute of anything
DEVICE_MODE = "DeviceContext"  # sets the default device, which is a setting of its own
BACKENDS = {"sdpa.math": "MATH", "sdpa.flash": "FLASH", "sdpa.mem_efficient": "EFFICIENT", "sdpa.cudnn": "CUDNN"}
LABELS = {
    "sdpa.priority": "SDPA priority order",
    "grad.enabled": "grad mode",
    "grad.inference": "inference mode",
    "matmul.float32_precision": "float32 matmul precision",
    "deterministic.enabled": "deterministic algorithms",
    "deterministic.warn_only": "warn-only determinism",
    "deterministic.fill": "filling of uninitialized memory",
    "threads.intraop": "number of threads",
    "modes.function": "torch-function modes",
    "modes.dispatch": "torch-dispatch modes",
}


@functools.lru_cache(maxsize=None)
def _readers() -> Tuple[Tuple[str, Callable[[], Any]], ...]:
    """List what reads each setting that this release has, once: that takes longer than the reading.

    One that warns is left out, since silencing it would reset, at each checkpoint, which warnings were shown.
    """
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, read in snapshot._readers():
            if name.startswith(STATE):
                continue
            try:
                read()
            except (AttributeError, Warning):
                continue
            except Exception:  # noqa: BLE001, S110  (it cannot be told now, and may be later)
                pass
            found.append((name, read))
    return tuple(found)


def read(function: Callable[..., Any]) -> Settings:
    """Read the settings in force, and which of the modules that the function reaches are training."""
    found = {}
    with torch._C.DisableTorchFunction():
        for name, read in _readers():
            try:
                found[name] = snapshot._text(read())
            except Exception:  # noqa: BLE001, PERF203, S112  (it cannot be told now: it is absent)
                continue
    modes = found.get("modes.function", "").split(", ")
    found["modes.function"] = ", ".join(mode for mode in modes if mode != DEVICE_MODE) or "none"
    with suppress(Exception):  # the attributes of foreign objects may do anything
        found.update(training(function, (), {}))
    return found


def differing(forward: Settings, recompute: Settings) -> Iterator[str]:
    """Name the settings that differ; not the grad mode that a reentrant checkpoint turns on in recompute."""
    if forward == recompute or TRACING in value(recompute, "modes.dispatch").split(", "):
        return
    inherited([forward, recompute])
    for name in sorted(forward.keys() | recompute.keys()):
        one, other = value(forward, name), value(recompute, name)
        by_itself = (name, one, other) == ("grad.enabled", "off", "on")
        elsewhere = name.startswith(PREFIX) and ABSENT in (one, other)  # a module that was reached but once
        if one != other and not by_itself and not elsewhere:
            yield name


def lines(names: Sequence[str], forward: Settings, recompute: Settings) -> Iterator[str]:
    """Write a line for each setting; one for all SDPA backends, and one for a device's autocast."""
    told = set()
    for name in names:
        label, tell = _told(name)
        one, other = tell(forward), tell(recompute)
        if label not in told and one != other:
            yield f"{label}: forward {one}, recompute {other}"
        told.add(label)


def _told(name: str) -> Tuple[str, Callable[[Settings], str]]:
    """Return what a setting is called, and what tells its value."""
    if name in BACKENDS:
        return "SDPA policy", _policy
    of_autocast, _, what = name.rpartition(".")
    if what == "enabled" and of_autocast.startswith("autocast."):
        return of_autocast.replace(".", " "), lambda settings: _autocast(of_autocast, settings)
    if name.startswith(PREFIX):
        return f"module {name[len(PREFIX) :]}", lambda settings: value(settings, name)
    return LABELS.get(name, name.replace(".", " ")), lambda settings: value(settings, name)


def _policy(settings: Settings) -> str:
    return "+".join(label for name, label in BACKENDS.items() if settings.get(name) == "on") or "none"


def _autocast(name: str, settings: Settings) -> str:
    enabled = value(settings, f"{name}.enabled")
    return settings.get(f"{name}.dtype", enabled).replace("torch.", "") if enabled == "on" else enabled


def value(settings: Settings, name: str) -> str:
    """Return the value of a setting, or that it was not there."""
    return settings.get(name, ABSENT)
