"""Which of the APIs and tools that a case cannot do without are absent: found by name, never by comparing versions."""

from __future__ import annotations

import importlib
import inspect
import os
import shutil
from typing import Any, Iterable

from recompat_probe.raised import sentence

__all__ = ["TOOLS", "absent", "absent_tools"]

TOOLS = {"compiler": ("C++ compiler", ("c++", "g++", "clang++", "cl"))}


class _AbsentError(Exception):
    """What is absent, as a sentence."""


def absent(requirements: Iterable[str]) -> list[str]:
    """Return a sentence for each requirement that is not met.

    A requirement is a dotted name, ``torch.nn.attention.sdpa_kernel``, or that of a callable with one of its
    parameters, ``torch.utils.checkpoint.checkpoint(context_fn)``.
    """
    sentences = []
    for requirement in dict.fromkeys(requirements):
        name, _, parameter = requirement.rstrip(")").partition("(")
        try:
            _check(name, parameter)
        except _AbsentError as fault:
            sentences.append(str(fault))
    return sentences


def absent_tools(needs: Iterable[str]) -> list[str]:
    """Return a sentence for each tool, of those in ``TOOLS``, that is not on this machine."""
    sentences = []
    for need in dict.fromkeys(needs):
        what, commands = TOOLS[need]
        named = os.environ.get("CXX", "")
        if not any(map(shutil.which, filter(None, (named, *commands)))):
            sentences.append(f"There is no {what} on PATH ({', '.join(commands)}).")
    return sentences


def _check(name: str, parameter: str) -> None:
    found = _resolve(name)
    if not parameter:
        return
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):
        raise _AbsentError(f"{name} has no signature that could name {parameter}.") from None
    if parameter not in parameters or parameters[parameter].kind is inspect.Parameter.VAR_KEYWORD:
        raise _AbsentError(f"{name} has no parameter {parameter}.")


def _resolve(dotted: str) -> Any:
    """Follow a dotted name, importing a module only where its package does not hold it yet."""
    name, *rest = dotted.split(".")
    found = _import(name, dotted)
    for part in rest:
        name = f"{name}.{part}"
        if hasattr(found, part):
            found = getattr(found, part)
        elif inspect.ismodule(found):
            found = _import(name, dotted)
        else:
            raise _no(name, dotted)
    return found


def _import(name: str, dotted: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == name:
            raise _no(name, dotted) from None
        raise _AbsentError(f"{name} cannot be imported ({sentence(error)}).") from error


def _no(name: str, dotted: str) -> _AbsentError:
    return _AbsentError(f"There is no {dotted}." if name == dotted else f"There is no {name}, so no {dotted}.")
