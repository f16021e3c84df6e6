"""Finds the modules that a checkpointed function reaches, and tells which of them are in training."""

from __future__ import annotations

import functools
import types
from typing import Any, Dict, Iterator, List, Sequence, Set, Tuple

__all__ = ["inherited", "training"]

PREFIX = "training."
ENTRIES = 64  # in a snapshot
VISITS = 2_000  # things that are looked at for one
DEPTH = 4  # of functions, containers and objects around a module

Named = Tuple[str, Any]


def training(function: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> Dict[str, str]:
    """Return ``train`` or ``eval`` by setting, such as ``training.layer``.

    A module is found as the function itself, the object it is bound to, what it closes over, a global that its code
    names, or an argument, also through partials, plain functions and containers. One that belongs to another module is
    listed only where it differs from that one, under its path: ``training.layer.0.dropout``.
    """
    search = _Search()
    search.visit(getattr(type(function), "__name__", "function"), function)
    search.visit_all([*((f"args[{at}]", value) for at, value in enumerate(args)), *kwargs.items()], 0)
    return search.found


def inherited(snapshots: Sequence[Dict[str, str]]) -> None:
    """Complete the snapshots of one region: a module that any of them lists is like its parent where it is not listed."""
    names = [name for name in dict.fromkeys(name for found in snapshots for name in found) if name.startswith(PREFIX)]
    for found in snapshots:
        for name in sorted(names, key=len):
            parent = name.rpartition(".")[0]
            while name not in found and len(parent) > len(PREFIX):
                if parent in found:
                    found[name] = found[parent]
                parent = parent.rpartition(".")[0]


class _Search:
    def __init__(self) -> None:
        self.found: Dict[str, str] = {}
        self._seen: Set[int] = set()

    def visit(self, name: str, thing: Any, depth: int = 0) -> None:
        if depth > DEPTH or not self._is_new(thing):
            return
        if _is_module(thing):
            self._module(name, thing)
        else:
            self.visit_all(_within(name, thing, depth), depth + 1)

    def visit_all(self, things: Sequence[Named], depth: int) -> None:
        for name, thing in things:
            self.visit(name, thing, depth)

    def _module(self, name: str, module: Any, parent: Any = None) -> None:
        if len(self.found) == ENTRIES:
            return
        if parent is None or parent.training is not module.training:
            self.found[self._free(PREFIX + name)] = "train" if module.training else "eval"
        for child_name, child in module.named_children():
            if self._is_new(child):
                self._module(f"{name}.{child_name}", child, module)

    def _is_new(self, thing: Any) -> bool:
        """Tell whether this was not looked at before, and note that it was."""
        if id(thing) in self._seen or len(self._seen) == VISITS:
            return False
        self._seen.add(id(thing))
        return True

    def _free(self, name: str) -> str:
        """Tell apart modules that have the same name in different functions."""
        number, free = 1, name
        while free in self.found:
            number += 1
            free = f"{name} ({number})"
        return free


def _is_module(thing: Any) -> bool:
    return isinstance(getattr(thing, "training", None), bool) and hasattr(thing, "named_children")


def _within(name: str, thing: Any, depth: int) -> List[Named]:
    """Return what a module may be found in: by the names that a reader of the case knows."""
    if isinstance(thing, types.MethodType):
        return [("self", thing.__self__), (name, thing.__func__)]
    if isinstance(thing, functools.partial):
        items = [(f"args[{at}]", value) for at, value in enumerate(thing.args)]
        return [(name, thing.func), *items, *thing.keywords.items()]
    if isinstance(thing, types.FunctionType):
        ours = depth == 0 or thing.__module__.partition(".")[0] != "torch"
        return [*_closed_over(thing), *_globals(thing)] if ours else []
    if isinstance(thing, (list, tuple)):
        return [(f"{name}[{at}]", value) for at, value in enumerate(thing)]
    if isinstance(thing, dict):
        return [(f"{name}[{key!r}]", value) for key, value in thing.items()]
    is_object = depth <= 1 and hasattr(thing, "__dict__") and not isinstance(thing, (type, types.ModuleType))
    return [(f"{name}.{key}", value) for key, value in vars(thing).items()] if is_object else []


def _closed_over(function: types.FunctionType) -> Iterator[Named]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:  # noqa: PERF203  (the variable has no value yet)
            continue


def _globals(function: types.FunctionType) -> Iterator[Named]:
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
