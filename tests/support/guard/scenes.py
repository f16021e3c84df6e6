"""Runs under a real torch: each scene trains a step under the guard, and tells on a line of JSON what came of it."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import random
import sys
import threading
import warnings

import torch
import torch.utils.checkpoint
from torch.utils.checkpoint import checkpoint as torchs_own

from recompat.guard import SettingsChanged, SettingsChangedWarning, checkpoint, guard

HELD = functools.partial(torchs_own, use_reentrant=False)  # as transformers holds it, from before any guard
RELEASE = tuple(map(int, torch.__version__.split(".")[:2]))
SINCE_2_1 = RELEASE >= (2, 1)
WATCHED = ("_checkpoint_without_reentrant", *(f"_checkpoint_without_reentrant_generator{end}" for end in ("", "_impl")))


class Lacking(Exception):
    pass


def needs(there):
    if not there:
        raise Lacking


def math_only():
    if hasattr(torch.nn, "attention"):
        return torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
    return torch.backends.cuda.sdp_kernel(enable_flash=False, enable_mem_efficient=False)


def attend(x):
    return torch.nn.functional.scaled_dot_product_attention(x, x, x) * 2


def tensor():
    return torch.ones(2, 2, 4, 4, requires_grad=True)


def around_forward(call, *options, scope=math_only, **more):
    with scope():
        loss = call(attend, tensor(), *options, **more).sum()
    loss.backward()


def reentrant_is_told():
    with guard():
        around_forward(torchs_own, use_reentrant=True)


def other_variant_is_told():
    with guard():
        around_forward(torchs_own, use_reentrant=False)


def unchecked_is_told():
    unchecked = {"determinism_check": "none"} if SINCE_2_1 else {}
    with guard():
        around_forward(torchs_own, use_reentrant=False, **unchecked)


def held_before_is_told():
    with guard():
        around_forward(HELD)


def drop_in_is_told():
    around_forward(checkpoint, use_reentrant=False)


def drop_in_reentrant_is_told():
    around_forward(checkpoint, use_reentrant=True)


def decorated_is_told():
    decorated = checkpoint(use_reentrant=False)(attend)
    decorated(tensor()).sum().backward()
    with math_only():
        loss = decorated(tensor()).sum()
    loss.backward()


def torchs_own_decorated_is_told():
    needs(hasattr(torch.utils.checkpoint, "_CheckpointedFunction"))
    decorated = torchs_own(use_reentrant=False)(attend)
    with guard():
        decorated(tensor()).sum().backward()
        with math_only():
            loss = decorated(tensor()).sum()
        loss.backward()


def sequential_is_told():
    with guard():
        with math_only():
            layers = [attend, attend, attend]
            loss = torch.utils.checkpoint.checkpoint_sequential(layers, 2, tensor(), use_reentrant=False).sum()
        loss.backward()


def backward_after_the_scope_is_told():
    with guard(), math_only():
        loss = torchs_own(attend, tensor(), use_reentrant=False).sum()
    loss.backward()


def default_dtype_is_told():
    def scaled(x):
        return x * torch.tensor(2.0)

    with guard():
        loss = torchs_own(scaled, tensor(), use_reentrant=True).sum()
        torch.set_default_dtype(torch.float64)
        loss.backward()


def eval_is_told():
    block = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
    with guard():
        loss = torchs_own(block, tensor(), use_reentrant=True).sum()
        block.eval()
        loss.backward()


def context_is_told():
    needs(SINCE_2_1)
    linear = torch.nn.Linear(4, 4)
    contexts = {"context_fn": lambda: (torch.autocast("cpu"), contextlib.nullcontext())}
    with guard():
        torchs_own(linear, tensor(), use_reentrant=False, **contexts).sum().backward()


def nested(use_reentrant, scope):
    def outer(x):
        return torchs_own(attend, x * 2, use_reentrant=use_reentrant) + 1

    with guard():
        with scope():
            loss = torchs_own(outer, tensor(), use_reentrant=use_reentrant).sum()
        loss.backward()


def nested_is_told():
    nested(False, math_only)


def nested_reentrant_is_told():
    nested(True, math_only)


def nested_is_silent():
    nested(False, contextlib.nullcontext)


def nested_reentrant_is_silent():
    nested(True, contextlib.nullcontext)


def ordinary_is_silent():
    for use_reentrant in (False, True):
        for call in (torchs_own, checkpoint):
            with guard():
                around_forward(call, use_reentrant=use_reentrant, scope=contextlib.nullcontext)
                around_forward(call, use_reentrant=use_reentrant, scope=lambda: torch.autocast("cpu"))


def device_scope_around_forward_is_silent():
    with guard(), torch.device("cpu"):
        torchs_own(attend, tensor(), use_reentrant=False).sum().backward()


def draws_between_are_silent():
    with guard():
        loss = torchs_own(attend, tensor(), use_reentrant=False).sum()
        random.random()
        torch.rand(1)
        loss.backward()


def backward_twice_is_silent():
    with guard():
        loss = torchs_own(attend, tensor(), use_reentrant=False).sum()
        loss.backward(retain_graph=True)
        loss.backward()


def selective_is_silent():
    needs(hasattr(torch.utils.checkpoint, "create_selective_checkpoint_contexts"))
    save = [torch.ops.aten.mm.default]
    contexts = functools.partial(torch.utils.checkpoint.create_selective_checkpoint_contexts, save)
    with guard():
        torchs_own(attend, tensor(), use_reentrant=False, context_fn=contexts).sum().backward()


def no_grad_is_silent():
    with guard(), torch.no_grad():
        torchs_own(attend, tensor(), use_reentrant=False)
        torchs_own(attend, tensor(), use_reentrant=True)


def ignored_is_silent():
    with guard(ignore="sdpa."):
        around_forward(torchs_own, use_reentrant=True)


def restored_after_an_error():
    before = names()
    for use_reentrant in (False, True):
        with contextlib.suppress(ZeroDivisionError), guard(), guard():
            torchs_own(lambda x: 1 / 0, tensor(), use_reentrant=use_reentrant)
    assert names() == before
    with guard():
        assert names() != before
    assert names() == before


def names():
    held = vars(torch.utils.checkpoint)
    return [held.get(name) for name in WATCHED], "apply" in vars(torch.utils.checkpoint.CheckpointFunction)


def warns():
    with warnings.catch_warnings(record=True) as shown, guard("warn"):
        warnings.simplefilter("always")
        around_forward(torchs_own, use_reentrant=True)
    (warning,) = [one for one in shown if one.category is SettingsChangedWarning]
    raise SettingsChanged(str(warning.message), {})


def logs():
    told = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())
    logging.getLogger("recompat.guard").addHandler(handler)
    with guard("log"):
        around_forward(torchs_own, use_reentrant=True)
    (message,) = told
    raise SettingsChanged(message, {})


def threads_are_silent():
    def train():
        for _ in range(20):
            with guard():
                around_forward(torchs_own, use_reentrant=False, scope=contextlib.nullcontext)

    threads = [threading.Thread(target=train) for _ in range(4)]
    before = names()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names() == before


def compiled_with_its_scope_is_left_alone():
    needs(SINCE_2_1)

    def step(x):
        with guard():
            return torchs_own(attend, x, use_reentrant=False).sum()

    before = names()
    x = tensor()
    for backend in ("eager", "aot_eager"):
        torch.compile(step, backend=backend)(x).backward()
    assert names() == before
    assert x.grad.shape == x.shape


def compiled_within_is_silent():
    needs(RELEASE >= (2, 5))  # before, torch itself refuses this
    compiled = torch.compile(attend, backend="aot_eager")
    with guard():
        torchs_own(compiled, tensor(), use_reentrant=False).sum().backward()
        torchs_own(compiled, tensor(), use_reentrant=True).sum().backward()


def compiled_is_left_alone():
    needs(SINCE_2_1)
    for call in (torchs_own, checkpoint):
        step = torch.compile(
            lambda x, call=call: call(attend, x, use_reentrant=False).sum(), backend="aot_eager", fullgraph=True
        )
        x = tensor()
        with guard():
            step(x).backward()
        assert x.grad.shape == x.shape


def main():
    torch.manual_seed(0)
    for name, scene in list(globals().items()):
        if not name.endswith(("_told", "_silent", "_alone", "warns", "logs", "_error")) or not callable(scene):
            continue
        ended = {"scene": name, "error": None, "message": None, "changes": {}, "lacking": False}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore" if "warns" not in name else "always")
                scene()
        except Lacking:
            ended["lacking"] = True
        except Exception as error:  # noqa: BLE001  (what a scene raises is what it tells)
            ended.update(error=type(error).__name__, message=str(error), changes=getattr(error, "changes", {}))
        torch.set_default_dtype(torch.float32)
        print(json.dumps(ended), flush=True)


if __name__ == "__main__":
    sys.exit(main())
