"""The guard's logic, on the stand-in torch: what differs, how it is told, what is covered and what is put back."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

SRC = Path(__file__).parents[1] / "src"
STANDIN = Path(__file__).parent / "support" / "standin"
FILES = ("recompat/__init__.py", "recompat/guard.py", "recompat/guard_settings.py")
FORWARD_ONLY = {"sdpa.math": "on", "sdpa.flash": "off", "sdpa.mem_efficient": "off"}
DEFAULT = {"sdpa.math": "on", "sdpa.flash": "on", "sdpa.mem_efficient": "on"}


@pytest.fixture
def guarding(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module on the stand-in torch; neither is left behind."""
    ours = ("torch", "recompat.guard", "recompat.guard_settings", "recompat_probe.settings")
    before = {name for name in sys.modules if _is_of(name, ours)}
    assert not before
    monkeypatch.syspath_prepend(STANDIN)
    import recompat.guard

    yield recompat.guard
    for name in [name for name in sys.modules if _is_of(name, ours)]:
        parent, _, own = name.rpartition(".")
        vars(sys.modules.get(parent, sys)).pop(own, None)  # where "from package import module" looks first
        del sys.modules[name]


def _is_of(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def twice(x: Any) -> Any:
    """What is checkpointed."""
    return x * 2


def step(checkpoint: Any, threads: int = 1, **options: Any) -> None:
    """Train a step whose backward runs with another number of threads than its forward, unless that is 1."""
    import torch

    torch.set_num_threads(1)
    loss = checkpoint(twice, torch.ones(2).requires_grad_(True), **options)
    torch.set_num_threads(threads)
    loss.sum().backward()


def told(module: ModuleType, forward: dict[str, str], recompute: dict[str, str]) -> list[str]:
    """The lines for two sets of settings."""
    return list(module.lines(list(module.differing(forward, recompute)), forward, recompute))


@pytest.mark.parametrize(
    ("forward", "recompute", "lines"),
    [
        (FORWARD_ONLY, DEFAULT, ["SDPA policy: forward MATH, recompute MATH+FLASH+EFFICIENT"]),
        (DEFAULT, dict.fromkeys(DEFAULT, "off"), ["SDPA policy: forward MATH+FLASH+EFFICIENT, recompute none"]),
        (
            {"autocast.cpu.enabled": "on", "autocast.cpu.dtype": "torch.bfloat16"},
            {"autocast.cpu.enabled": "off", "autocast.cpu.dtype": "torch.bfloat16"},
            ["autocast cpu: forward bfloat16, recompute off"],
        ),
        (
            {"autocast.cpu.enabled": "off", "autocast.cpu.dtype": "torch.bfloat16"},
            {"autocast.cpu.enabled": "off", "autocast.cpu.dtype": "torch.float16"},
            ["autocast cpu dtype: forward torch.bfloat16, recompute torch.float16"],
        ),
        ({"default.dtype": "a"}, {"default.dtype": "b"}, ["default dtype: forward a, recompute b"]),
        ({"grad.inference": "on"}, {"grad.inference": "off"}, ["inference mode: forward on, recompute off"]),
        ({"mkldnn.enabled": "on"}, {}, ["mkldnn enabled: forward on, recompute absent"]),
        ({"grad.enabled": "off"}, {"grad.enabled": "on"}, []),  # a reentrant checkpoint does that
        ({"grad.enabled": "on"}, {"grad.enabled": "off"}, ["grad mode: forward on, recompute off"]),
        ({"training.m": "train"}, {"training.m": "eval"}, ["module m: forward train, recompute eval"]),
        ({"training.m": "train"}, {}, []),
        ({"modes.dispatch": "none"}, {"modes.dispatch": "FakeTensorMode, ProxyTorchDispatchMode"}, []),  # compilation
        ({"modes.dispatch": "none"}, {"modes.dispatch": "Own"}, ["torch-dispatch modes: forward none, recompute Own"]),
        (
            {"training.m": "train"},
            {"training.m": "train", "training.m.drop": "eval"},
            ["module m.drop: forward train, recompute eval"],
        ),
    ],
)
def test_each_setting_that_differs_has_a_line(
    guarding: ModuleType, forward: dict[str, str], recompute: dict[str, str], lines: list[str]
) -> None:
    assert told(guarding, dict(forward), dict(recompute)) == lines


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_the_drop_in_raises_at_the_recompute(guarding: ModuleType, use_reentrant: bool) -> None:
    step(guarding.checkpoint, use_reentrant=use_reentrant)
    with pytest.raises(guarding.SettingsChanged, match="number of threads: forward 1, recompute 3") as raised:
        step(guarding.checkpoint, 3, use_reentrant=use_reentrant)
    assert raised.value.changes == {"threads.intraop": ("1", "3")}
    assert f"The recompute of twice ({__file__}:" in str(raised.value)


def test_the_drop_in_decorates_and_each_call_is_of_its_own(guarding: ModuleType) -> None:
    decorated = guarding.checkpoint(use_reentrant=False)(twice)
    assert decorated.__name__ == "twice"
    for threads in (1, 2):
        step(lambda _, x: decorated(x), threads=1)
        with pytest.raises(guarding.SettingsChanged):
            step(lambda _, x: decorated(x), threads=threads + 1)


def test_other_actions_and_what_may_differ(
    guarding: ModuleType, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    cover(monkeypatch)
    with guarding.guard("warn"), pytest.warns(guarding.SettingsChangedWarning, match="number of threads"):
        step(guarding.checkpoint, 2)
    with guarding.guard("log"):
        step(guarding.checkpoint, 2)
    assert "number of threads: forward 1, recompute 2" in caplog.text
    with guarding.guard(ignore="threads."):
        step(guarding.checkpoint, 2)
    with pytest.raises(ValueError, match="raise, warn, log"):
        guarding.guard("shout")


def cover(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Any]]:
    """Give the stand-in the functions that a real checkpoint calls; return a checkpoint of its kind, and what it threw in."""
    import torch.utils.checkpoint as module

    thrown: list[Any] = []

    def steps(function: Any, again: list[Any]) -> Iterator[None]:
        again.append(function)
        try:
            yield
        except ValueError as error:
            thrown.append(error)
            raise

    def checkpoint(function: Any, again: list[Any]) -> Any:
        running: Any = module._checkpoint_without_reentrant_generator(function, again)
        next(running)
        try:
            result = function(1)
        except ValueError as error:
            running.throw(error)
        assert next(running, None) is None
        return result

    monkeypatch.setattr(module, "_checkpoint_without_reentrant_generator", steps, raising=False)
    monkeypatch.setattr(module.CheckpointFunction, "apply", classmethod(lambda _, function: function(1)), raising=False)
    return checkpoint, thrown


def test_a_scope_covers_the_calls_of_others_and_what_they_recompute_after_it(
    guarding: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    checkpoint, _ = cover(monkeypatch)
    again: list[Any] = []
    torch.set_num_threads(1)
    with guarding.guard():
        assert checkpoint(twice, again) == 2
    (recompute,) = again
    assert recompute(2) == 4
    torch.set_num_threads(2)
    with pytest.raises(guarding.SettingsChanged):
        recompute(2)


def test_an_error_in_forward_reaches_the_steps_and_the_caller(
    guarding: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint, thrown = cover(monkeypatch)
    with pytest.raises(ValueError, match="invalid literal") as raised, guarding.guard():
        checkpoint(lambda _: int("x"), [])
    assert thrown == [raised.value]


def test_scopes_nest_and_put_back_what_was_there(guarding: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch.utils.checkpoint as module

    cover(monkeypatch)
    before = module._checkpoint_without_reentrant_generator, vars(module.CheckpointFunction)["apply"]
    scope = guarding.guard()
    with scope, scope, guarding.guard("log"):
        covered = module._checkpoint_without_reentrant_generator
        assert covered is not before[0]
    assert (module._checkpoint_without_reentrant_generator, vars(module.CheckpointFunction)["apply"]) == before

    with guarding.guard():
        monkeypatch.setattr(module, "_checkpoint_without_reentrant_generator", covered)
    assert module._checkpoint_without_reentrant_generator is covered  # what another put there stays


def test_a_release_with_another_checkpoint_is_refused_in_a_sentence(guarding: ModuleType) -> None:
    with pytest.raises(RuntimeError, match=r"torch 9\.0\.0 has another checkpoint than recompat\.guard knows"):
        guarding.guard().__enter__()
    with pytest.raises(RuntimeError, match="another checkpoint"):  # nothing of the first is left in force
        guarding.guard().__enter__()


def test_torch_and_the_standard_library_are_enough() -> None:
    program = f"import sys; sys.path[:0] = {[str(SRC), str(STANDIN)]!r}; import recompat.guard"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)


@pytest.mark.parametrize("file", FILES)
def test_it_is_python_3_8(file: str) -> None:
    ast.parse((SRC / file).read_text("utf-8"), feature_version=(3, 8))
