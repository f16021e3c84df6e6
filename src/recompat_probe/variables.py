"""Tells which context variables a case has set, and whether to another value: never the value itself."""

from __future__ import annotations

import gc
import sys
from contextvars import ContextVar, copy_context
from typing import Any, Dict, Iterable, Iterator, List

__all__ = ["ContextVariables"]

PREFIX = "contextvar."


def _held_by(modules: Iterable[Any]) -> Iterator[ContextVar[Any]]:
    """Find the context variables among what modules hold by name."""
    for module in modules:
        held = getattr(module, "__dict__", {})
        yield from (value for value in list(held.values()) if type(value) is ContextVar)


LOADED = frozenset(sys.modules)
KNOWN = frozenset(_held_by(list(sys.modules.values())))  # once, before a case file is loaded


class ContextVariables:
    """Numbers the values of each context variable that is not older than the case, in the order in which they are seen."""

    def __init__(self) -> None:
        self._values: Dict[ContextVar[Any], List[Any]] = {}  # kept, so that no other value can be taken for an old one

    def read(self) -> Dict[str, str]:
        """Return ``set #1`` and so on by setting, such as ``contextvar.branch``; one that is not set is absent."""
        found: Dict[str, str] = {}
        for variable, value in copy_context().items():
            if variable in KNOWN:
                continue
            values = self._values.setdefault(variable, [])
            if not any(value is known for known in values):
                values.append(value)
            number = next(at for at, known in enumerate(values, 1) if known is value)
            found[self._name(variable)] = f"set #{number}"
        return found

    def leave_the_case_s_own(self, snapshots: List[Dict[str, str]]) -> None:
        """Take out of all snapshots the variables of torch's modules that were imported meanwhile."""
        for variable in filter(_belongs_to_torch, self._values):
            for found in snapshots:
                found.pop(self._name(variable), None)

    def _name(self, variable: ContextVar[Any]) -> str:
        """Tell apart variables of the same name by the order in which they were seen."""
        same = [known for known in self._values if known.name == variable.name]
        number = same.index(variable) + 1
        return PREFIX + variable.name + (f" ({number})" if number > 1 else "")


def _belongs_to_torch(variable: ContextVar[Any]) -> bool:
    """Tell whether a new module of torch holds it, or any object of torch: that takes longer than a trial to find out."""
    new = [module for name, module in list(sys.modules.items()) if name not in LOADED and _is_torch_s(name)]
    if variable in _held_by(new):
        return True
    holders = gc.get_referrers(variable)
    attributes = [holder for holder in holders if isinstance(holder, dict)]
    owners = [owner for held in attributes for owner in gc.get_referrers(held)]
    return any(_is_torch_s(type(owner).__module__) for owner in holders + owners)


def _is_torch_s(module: str) -> bool:
    return str(module).partition(".")[0] == "torch"
