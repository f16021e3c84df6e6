"""Tells which context variables are set, and whether to another value: never the value itself."""

from __future__ import annotations

import gc
from contextvars import ContextVar, copy_context
from typing import Any, Dict, List

__all__ = ["ContextVariables"]

PREFIX = "contextvar."


class ContextVariables:
    """Numbers the values of each context variable in the order in which they are seen, from what it is now."""

    def __init__(self) -> None:
        self._values: Dict[
            ContextVar[Any], List[Any]
        ] = {}  # kept, so that no other value can get an old one's identity
        self._before = self.read()

    def read(self) -> Dict[str, str]:
        """Return ``set #1`` and so on by setting, such as ``contextvar.branch``; one that is not set is absent."""
        found: Dict[str, str] = {}
        for variable, value in copy_context().items():
            values = self._values.setdefault(variable, [])
            if not any(value is known for known in values):
                values.append(value)
            number = next(at for at, known in enumerate(values, 1) if known is value)
            found[self._name(variable)] = f"set #{number}"
        return found

    def leave_the_case_s_own(self, snapshots: List[Dict[str, str]]) -> None:
        """Take out of all snapshots what was set before the case and stayed so, and what torch keeps for itself."""
        for variable in self._values:
            name = self._name(variable)
            given = [found.get(name) for found in snapshots]
            if any(given) and (set(given) == {self._before.get(name)} or _belongs_to_torch(variable)):
                for found in snapshots:
                    found.pop(name, None)

    def _name(self, variable: ContextVar[Any]) -> str:
        """Tell apart variables of the same name by the order in which they were seen."""
        same = [known for known in self._values if known.name == variable.name]
        number = same.index(variable) + 1
        return PREFIX + variable.name + (f" ({number})" if number > 1 else "")


def _belongs_to_torch(variable: ContextVar[Any]) -> bool:
    """Tell whether a module or an object of torch holds it. This looks through all objects, so it is asked rarely."""
    holders = gc.get_referrers(variable)
    namespaces = [holder for holder in holders if isinstance(holder, dict)]
    owners = [owner for space in namespaces if "__name__" not in space for owner in gc.get_referrers(space)]
    names = [space.get("__name__") for space in namespaces] + [type(owner).__module__ for owner in holders + owners]
    return any(str(name).partition(".")[0] == "torch" for name in names)
