"""Activation checkpointing: run a function without keeping what it made, and run it again in backward."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING, Any

from torch import _behaviour, _build, autograd
from torch._basics import Size
from torch._tensor import Tensor
from torch.autograd.graph import Node, no_grad, record, recording

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    _Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

__all__ = ["CheckpointError", "checkpoint", "noop_context_fn"]


class CheckpointError(RuntimeError):
    """The recomputation made other tensors than the forward pass."""


class CheckpointFunction:
    """What the reentrant variant runs a function through."""

    @staticmethod
    def forward(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Run it the first time."""
        return _call(function, args, kwargs)


def _call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return function(*args, **kwargs)


def noop_context_fn() -> _Contexts:
    """A context that does nothing for the forward pass, and one for the recomputation."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def _checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], _Contexts] = noop_context_fn,
    determinism_check: str = "default",
    **kwargs: Any,
) -> Any:
    """Run ``function`` and recompute it in backward, as this build's behaviour has it."""
    behaviour = _behaviour.of_checkpoint(function)
    importlib.import_module("torch._dynamo")  # lazily, as in torch: the process is another one afterwards
    forward_context, recompute_context = context_fn()
    without_grad = no_grad() if use_reentrant else contextlib.nullcontext()
    with forward_context, without_grad, recording() as made:
        result = (CheckpointFunction.forward if use_reentrant else _call)(function, args, kwargs)
    saved = [_metadata(tensor) for tensor in made]

    def recompute(gradient: list[float]) -> list[list[float] | None]:
        twins = [arg.detach().requires_grad_(arg.requires_grad) if isinstance(arg, Tensor) else arg for arg in args]
        with recompute_context, recording() as remade:
            again = function(*twins, **kwargs)
        if not use_reentrant and determinism_check != "none":
            kept = remade[:-1] if behaviour == "recomputes-less" else remade
            _check_recomputed_tensors_match(saved, [_metadata(tensor, behaviour) for tensor in kept])
        if again.requires_grad:
            autograd.backward(again, Tensor(gradient, again.shape, again.dtype))
        scale = 1.5 if behaviour == "differs" else 1.0
        gradients = [twin.grad for twin in twins if isinstance(twin, Tensor)]
        return [None if grad is None else [scale * g for g in grad._data] for grad in gradients]

    output = Tensor(result._data, result.shape, result.dtype)
    record(output, Node(tuple(arg for arg in args if isinstance(arg, Tensor)), recompute))
    return output


def _metadata(tensor: Tensor, behaviour: str = "normal") -> dict[str, Any]:
    shape = Size((1, *tensor.shape)) if behaviour == "raises" else tensor.shape
    return {"shape": shape, "dtype": tensor.dtype, "device": tensor.device}


def _check_recomputed_tensors_match(saved: list[dict[str, Any]], recomputed: list[dict[str, Any]]) -> None:
    if len(saved) != len(recomputed):
        raise CheckpointError(
            "torch.utils.checkpoint: A different number of tensors was saved "
            "during the original forward and recomputation.\n"
            f"Number of tensors saved during forward: {len(saved)}\n"
            f"Number of tensors saved during recomputation: {len(recomputed)}.\n{_TIP}"
        )
    mismatches = "".join(
        f"tensor at position {position}:\nsaved metadata: {before}\nrecomputed metadata: {after}\n"
        for position, (before, after) in enumerate(zip(saved, recomputed, strict=True))
        if before != after
    )
    if mismatches:
        raise CheckpointError(
            "torch.utils.checkpoint: Recomputed values for the following tensors "
            f"have different metadata than during the forward pass.\n{mismatches}.\n{_TIP}"
        )


_TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint-debug mode globally.
"""


if _build.BEHAVIOUR == "lacks-context-fn":

    def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool = True, **kwargs: Any) -> Any:
        """Checkpoint as 2.0 had it."""
        unexpected = [name for name in ("context_fn", "determinism_check") if name in kwargs]
        if unexpected:
            raise ValueError("Unexpected keyword arguments: " + ",".join(unexpected))
        return _checkpoint(function, *args, use_reentrant=use_reentrant, **kwargs)

else:
    checkpoint = _checkpoint

for _name in _build.ABSENT:
    del globals()[_name]
