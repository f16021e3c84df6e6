"""Parts of the watching that stand alone: the modules that a function reaches, and context variables."""

from __future__ import annotations

import functools
from contextvars import ContextVar
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


branch: ContextVar[object] = ContextVar("branch")
twin: ContextVar[object] = ContextVar("branch")


def snapshots(*values: object) -> list[dict[str, str]]:
    """What is told of ``branch`` after each of some values was set."""
    variables, found = ContextVariables(), []
    for value in values:
        branch.set(value)
        found.append(variables.read())
    variables.leave_the_case_s_own(found)
    return [{name: text for name, text in one.items() if name.startswith("contextvar.branch")} for one in found]


@pytest.fixture(autouse=True)
def reset() -> Any:
    tokens = [(variable, variable.set("before")) for variable in (branch, twin)]
    yield
    for variable, token in tokens:
        variable.reset(token)


def test_a_value_is_told_by_number_alone() -> None:
    left, right = object(), object()
    numbers = [found["contextvar.branch"] for found in snapshots(left, right, left)]
    assert numbers == ["set #2", "set #3", "set #2"]  # the first was there before


def test_a_variable_that_stays_as_it_was_is_left_out() -> None:
    assert snapshots("before", "before") == [{}, {}]
    assert snapshots("before", "after") == [{"contextvar.branch": "set #1"}, {"contextvar.branch": "set #2"}]


def test_a_variable_of_torch_is_left_out() -> None:
    module = type(branch)("its own", default=None)
    holder = {"__name__": "torch.nn.attention", "variable": module}
    variables = ContextVariables()
    token = module.set("something")
    found = [variables.read()]
    assert "contextvar.its own" in found[0]
    variables.leave_the_case_s_own(found)
    module.reset(token)
    assert "contextvar.its own" not in found[0]
    assert holder["variable"] is module
