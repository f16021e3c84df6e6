"""Parts of the watching that stand alone: the modules that a function reaches, and context variables."""

from __future__ import annotations

import functools
import sys
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import pytest

from recompat_probe.modules import inherited, training
from recompat_probe.variables import ContextVariables


class Module:
    """What is known of a module by its look."""

    def __init__(self, training: bool = True, **children: Module) -> None:
        self.training = training
        self._children = children

    def named_children(self) -> Any:
        return self._children.items()

    def forward(self) -> None:
        """What is called."""

    def __call__(self) -> None:
        """What is called."""


GLOBAL = Module()


def helper() -> object:
    return GLOBAL


class Holder:
    """An object that is no module."""

    def __init__(self) -> None:
        self.layer = Module()

    def run(self) -> None:
        """What is called."""


def closing_over(layer: Module) -> Any:
    return lambda: layer


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (Module(), {"training.Module": "train"}),
        (Module(training=False).forward, {"training.self": "eval"}),
        (closing_over(Module()), {"training.layer": "train"}),
        (lambda: GLOBAL, {"training.GLOBAL": "train"}),
        (lambda: [GLOBAL for _ in ()], {"training.GLOBAL": "train"}),  # named in code within the code
        (lambda: helper(), {"training.GLOBAL": "train"}),
        (functools.partial(print, Module(), layer=Module(training=False)), {"training.args[0]": "train", "training.layer": "eval"}),
        (Holder().run, {"training.self.layer": "train"}),
        (print, {}),
    ],
)  # fmt: skip
def test_where_modules_are_found(function: Any, found: dict[str, str]) -> None:
    assert training(function, (), {}) == found


def test_arguments() -> None:
    found = training(print, ([Module()], 3), {"head": Module(training=False), "by_name": {"k": Module()}})
    assert found == {"training.args[0][0]": "train", "training.head": "eval", "training.by_name['k']": "train"}


def test_a_child_is_listed_where_it_differs_from_its_parent() -> None:
    deep = Module(block=Module(training=False, drop=Module(training=False), norm=Module()))
    assert training(deep, (), {}) == {
        "training.Module": "train",
        "training.Module.block": "eval",
        "training.Module.block.norm": "train",
    }


def test_modules_of_the_same_name_are_told_apart_and_each_is_listed_once() -> None:
    one, other = Module(), Module(training=False)
    nested = closing_over(one)
    found = training(functools.partial(nested, layer=other), (), {"layer": one})
    assert found == {"training.layer": "train", "training.layer (2)": "eval"}


def test_the_list_is_bounded() -> None:
    assert len(training(print, [Module() for _ in range(500)], {})) == 64


def test_a_function_that_refers_to_itself() -> None:
    def recursive() -> Any:
        return recursive, recursive()

    assert training(recursive, (), {}) == {}


def test_a_child_that_was_like_its_parent_is_completed() -> None:
    before = {"training.layer": "train"}
    after = {"training.layer": "train", "training.layer.0.drop": "eval", "training.other": "eval"}
    inherited([before, after])
    assert before == {"training.layer": "train", "training.layer.0.drop": "train"}


def told(*values: object) -> list[str]:
    """What is told of a new variable after each of some values was set; nothing is left out."""
    branch: ContextVar[object] = ContextVar("branch")
    variables, found = ContextVariables(), []
    for value in values:
        branch.set(value)
        found.append(variables.read())
    variables.leave_the_case_s_own(found)
    return [one["contextvar.branch"] for one in found]


def test_a_value_is_told_by_number_alone() -> None:
    left, right = object(), object()
    assert told(left, right, left) == ["set #1", "set #2", "set #1"]


def test_variables_of_the_same_name_are_told_apart() -> None:
    twins: list[ContextVar[object]] = [ContextVar("twin"), ContextVar("twin")]
    for twin in twins:
        twin.set(None)
    found = ContextVariables().read()
    assert {name for name in found if "twin" in name} == {"contextvar.twin", "contextvar.twin (2)"}


OLD: ContextVar[object] = ContextVar("old")


def test_a_variable_that_is_older_than_the_case_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompat_probe.variables.KNOWN", frozenset([OLD]))
    OLD.set("something")
    assert "contextvar.old" not in ContextVariables().read()


@pytest.mark.parametrize("how", ["module", "object"])
def test_a_variable_of_torch_is_left_out(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own: ContextVar[object] = ContextVar(f"own by {how}")
    own.set("something")
    entry = type("Entry", (), {"__module__": "torch.utils"})()
    entry.held = own
    module = ModuleType("torch.nn.attention")
    vars(module)["variable"] = own if how == "module" else entry
    monkeypatch.setitem(sys.modules, "torch.nn.attention", module)
    variables = ContextVariables()
    found = [variables.read()]
    assert f"contextvar.{own.name}" in found[0]
    variables.leave_the_case_s_own(found)
    assert f"contextvar.{own.name}" not in found[0]
