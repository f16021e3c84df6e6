"""Words for settings that were not the same in forward and in recomputation: a clause for each group of them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recompat.model import Change

__all__ = ["clauses", "joined"]

BACKENDS: Final = {  # as torch.nn.attention.SDPBackend names them
    "sdpa.flash": "FLASH_ATTENTION",
    "sdpa.mem_efficient": "EFFICIENT_ATTENTION",
    "sdpa.math": "MATH",
    "sdpa.cudnn": "CUDNN_ATTENTION",
}
CUDNN: Final = "sdpa.cudnn"
SUBJECTS: Final = {
    "sdpa.priority": "the SDPA priority order was",
    "autocast.cache": "the autocast cache was",
    "grad.enabled": "grad mode was",
    "grad.inference": "inference mode was",
    "default.dtype": "the default dtype was",
    "default.device": "the default device was",
    "matmul.float32_precision": "the float32 matmul precision was",
    "deterministic.enabled": "deterministic algorithms were",
    "deterministic.warn_only": "warn-only determinism was",
    "deterministic.fill": "filling uninitialised memory was",
    "threads.intraop": "the number of threads was",
    "threads.interop": "the number of interop threads was",
    "modes.function": "the stack of torch-function modes was",
    "modes.dispatch": "the stack of torch-dispatch modes was",
}
FAMILIES: Final = {  # settings whose names end in what they are of
    "mkldnn.": "the mkldnn setting {} was",
    "contextvar.": "the context variable {} was",
}
GENERATORS: Final = {"rng.cpu": "torch (CPU)", "rng.python": "Python", "rng.numpy": "NumPy"}
DEVICE_MODE: Final = "DeviceContext"  # the mode by which a default device is set
TRAINING: Final = "training."
MOST_MODULES: Final = 3
MOST: Final = 6  # clauses


def clauses(changes: Sequence[Change], forward: Mapping[str, str], recompute: Mapping[str, str]) -> tuple[str, ...]:
    """Say what changed, group by group; ``forward`` and ``recompute`` are all settings that were in force."""
    left = {change.setting: change for change in changes}
    found = [
        *_sdpa(left, forward, recompute),
        *_autocast(left, forward, recompute),
        *_device(left),
        *_random(left),
        *_modules(left),
        *(_clause(change) for change in left.values()),
    ]
    return tuple(found) if len(found) <= MOST else (*found[:MOST], f"{len(found) - MOST} more settings differed")


def joined(parts: Sequence[str]) -> str:
    """Join by commas and a last "and"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _sdpa(left: dict[str, Change], forward: Mapping[str, str], recompute: Mapping[str, str]) -> Iterator[str]:
    changed = [left.pop(name) for name in BACKENDS if name in left]
    if not changed:
        return
    before, after = _enabled(forward), _enabled(recompute)
    if before and len(before) < len(after) and _all_enabled(recompute):
        yield f"the SDPA policy {joined(before)} was in force in forward and gone in recompute"
    elif after and len(after) < len(before) and _all_enabled(forward):
        yield f"the SDPA policy {joined(after)} was in force in recompute and not yet in forward"
    else:
        one, other = (joined(names) if names else "none" for names in (before, after))
        yield f"the SDPA policy allowed {one} in forward and {other} in recompute"


def _enabled(settings: Mapping[str, str]) -> list[str]:
    return [backend for name, backend in BACKENDS.items() if settings.get(name) == "on"]


def _all_enabled(settings: Mapping[str, str]) -> bool:
    """Whether no policy restricts the choice; by default cuDNN is off in some releases (2.4) and on in others."""
    return all(settings[name] == "on" for name in BACKENDS if name in settings and name != CUDNN)


def _autocast(left: dict[str, Change], forward: Mapping[str, str], recompute: Mapping[str, str]) -> Iterator[str]:
    for name in [name for name in left if name.startswith("autocast.") and name.endswith((".enabled", ".dtype"))]:
        if name not in left:
            continue
        device = name.removeprefix("autocast.").rpartition(".")[0]
        enabled = left.pop(f"autocast.{device}.enabled", None)
        dtype = left.pop(f"autocast.{device}.dtype", None)
        if enabled is None:
            assert dtype is not None
            yield f"the autocast dtype for {device} was {_values(dtype)}"
        else:
            states = [_cast(settings, device) for settings in (forward, recompute)]
            yield f"autocast for {device} was {states[0]} in forward and {states[1]} in recompute"


def _cast(settings: Mapping[str, str], device: str) -> str:
    """The state of autocast, with its dtype where it is on."""
    state = settings.get(f"autocast.{device}.enabled", "absent")
    dtype = settings.get(f"autocast.{device}.dtype")
    return f"on ({dtype})" if state == "on" and dtype else state


def _device(left: dict[str, Change]) -> Iterator[str]:
    """A default device is set by a mode: the mode itself need not be told."""
    device, modes = left.pop("default.device", None), left.get("modes.function")
    if device is None:
        return
    if modes is not None:
        rest = msgspec.structs.replace(modes, forward=_without(modes.forward), recompute=_without(modes.recompute))
        left["modes.function"] = rest
        if rest.forward == rest.recompute:
            del left["modes.function"]
    yield _clause(device)


def _without(stack: str | None) -> str | None:
    if stack is None:
        return None
    return ", ".join(mode for mode in stack.split(", ") if mode != DEVICE_MODE) or "none"


def _random(left: dict[str, Change]) -> Iterator[str]:
    names = [(left.pop(name), GENERATORS.get(name, name.removeprefix("rng.")))[1] for name in _of_rng(left)]
    if names:
        yield f"the random state of {joined(names)} was not the same when recompute began"


def _of_rng(left: Mapping[str, Change]) -> list[str]:
    return [name for name in left if name.startswith("rng.")]


def _modules(left: dict[str, Change]) -> Iterator[str]:
    """Tell the modules together that went the same way, as those of a model do."""
    ways: dict[tuple[str | None, str | None], list[str]] = {}
    for name in [name for name in left if name.startswith(TRAINING)]:
        change = left.pop(name)
        ways.setdefault((change.forward, change.recompute), []).append(name.removeprefix(TRAINING))
    for (before, after), names in ways.items():
        shown = names if len(names) <= MOST_MODULES else [*names[:MOST_MODULES], f"{len(names) - MOST_MODULES} more"]
        subject = "the mode of module" if len(names) == 1 else "the mode of modules"
        yield f"{subject} {joined(shown)} was {before or 'absent'} in forward and {after or 'absent'} in recompute"


def _clause(change: Change) -> str:
    subject = SUBJECTS.get(change.setting) or _of_family(change.setting) or f"the setting {change.setting} was"
    return f"{subject} {_values(change)}"


def _of_family(name: str) -> str | None:
    found = (text.format(name.removeprefix(family)) for family, text in FAMILIES.items() if name.startswith(family))
    return next(found, None)


def _values(change: Change) -> str:
    one, other = (value or "absent" for value in (change.forward, change.recompute))
    return f"{one} in forward and {other} in recompute"
