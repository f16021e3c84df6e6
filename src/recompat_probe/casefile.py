"""Loads case files and finds what a case needs.

A case file is read once: the bytes that were digested are the bytes that are compiled.
"""

from __future__ import annotations

import hashlib
import importlib.util
import linecache
import math
import os
import re
import sys
import traceback
from functools import lru_cache
from typing import Any, Callable, NamedTuple

from recompat_probe.compare import Tolerance
from recompat_probe.raised import sentence
from recompat_probe.requires import TOOLS

__all__ = ["Case", "CaseError", "Source", "find_case", "line_in", "read_source"]

FIELD = re.compile(r"^\s*:([\w-]+):(?:\s+(.*?))?\s*$", re.MULTILINE)
REQUIREMENT = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:\([^\W\d]\w*\))?")


class CaseError(Exception):
    """The case file is itself broken; the message is one sentence that names the file and, where known, the line."""


class Source(NamedTuple):
    """The bytes of a case file; ``fault`` says why there are none."""

    path: str
    content: bytes
    sha256: str
    fault: str = ""

    @property
    def stem(self) -> str:
        """The name under which the file is a module."""
        return os.path.splitext(os.path.basename(self.path))[0]

    def error(self, fault: str, line: int | None = None) -> CaseError:
        """Make an error that begins with the file's name and the line."""
        where = os.path.basename(self.path)
        return CaseError(f"{where}, line {line}: {fault}." if line else f"{where}: {fault}.")


class Case(NamedTuple):
    """What a trial calls. Without the APIs that ``requires`` names and the tools that ``needs`` names, it cannot.

    With ``varies``, the numbers that it computes never repeat.
    """

    inputs: Callable[[], Any]
    reference: Callable[..., Any]
    function: Callable[..., Any]
    requires: tuple[str, ...]
    needs: tuple[str, ...]
    tolerance: Tolerance
    varies: bool


@lru_cache(maxsize=None)
def read_source(path: str) -> Source:
    """Read a case file once for all trials of this replay."""
    path = os.path.abspath(path)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        return Source(path, b"", "", f"cannot be read: {error.strerror}")
    return Source(path, content, hashlib.sha256(content).hexdigest())


def find_case(source: Source, name: str) -> Case:
    """Load the file and look up a case and what its docstring's fields name; CaseError if something is not there."""
    module = _load(source)
    function = _function(source, module, f"case_{name}", "")
    fields = _Fields(source, function)
    return Case(
        _function(source, module, fields.one("inputs", "inputs"), f"case_{name} needs it"),
        _function(source, module, fields.one("reference", "reference"), f"case_{name} needs it"),
        function,
        (*_file_requirements(source, module), *fields.requirements()),
        fields.needs(),
        fields.tolerance(),
        fields.varies(),
    )


def line_in(source: Source, error: BaseException) -> int | None:
    """Return the innermost line of the case file that an exception passed."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == source.path]
    return lines[-1] if lines else None


def _load(source: Source) -> Any:
    """Run the file as the module that an ``import`` beside it would give, so that pickling and tracebacks work."""
    if source.fault:
        raise source.error(source.fault)
    taken = sys.modules.get(source.stem)
    if taken is not None and getattr(taken, "__file__", None) != source.path:
        raise source.error(f"a module named {source.stem} is already imported, so a case file cannot have that name")
    spec = importlib.util.spec_from_file_location(source.stem, source.path)
    if spec is None:
        raise source.error("is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[source.stem] = module
    try:
        _execute(source, module)
    except BaseException as error:
        if isinstance(error, SyntaxError) and error.filename == source.path:
            raise source.error(f"this is not valid Python: {error.msg}", error.lineno) from error
        raise source.error(f"loading it raised {sentence(error)}", line_in(source, error)) from error
    return module


def _execute(source: Source, module: Any) -> None:
    code = compile(source.content, source.path, "exec", dont_inherit=True)
    text = importlib.util.decode_source(source.content)
    linecache.cache[source.path] = (len(text), None, text.splitlines(keepends=True), source.path)
    exec(code, module.__dict__)  # noqa: S102  (running it is the point)


def _function(source: Source, module: Any, name: str, why: str) -> Any:
    found = getattr(module, name, None)
    if not callable(found):
        raise source.error(f"there is no function {name}" + (f"; {why}" if why else ""))
    return found


def _file_requirements(source: Source, module: Any) -> tuple[str, ...]:
    requires = getattr(module, "REQUIRES", ())
    if not isinstance(requires, (tuple, list)):
        raise source.error("REQUIRES must be a tuple of names, such as REQUIRES = ('torch.nn.attention.sdpa_kernel',)")
    for requirement in requires:
        if not isinstance(requirement, str) or not REQUIREMENT.fullmatch(requirement):
            raise source.error(f"REQUIRES must hold dotted names, not {requirement!r}")
    return tuple(requires)


class _Fields:
    """The field lines of a case's docstring, such as ``:reference: default_reference``."""

    def __init__(self, source: Source, function: Callable[..., Any]) -> None:
        self._source = source
        self._line = getattr(getattr(function, "__code__", None), "co_firstlineno", None)
        self._found = FIELD.findall(function.__doc__ or "")

    def one(self, name: str, default: str) -> str:
        """Return the value of a field that may stand once."""
        values = [value for key, value in self._found if key == name]
        if len(values) > 1:
            raise self._error(f":{name}: stands {len(values)} times; keep one")
        if values == [""]:
            raise self._error(f":{name}: is empty")
        return values[0] if values else default

    def requirements(self) -> list[str]:
        values = [value for key, value in self._found if key == "requires"]
        for value in values:
            if not REQUIREMENT.fullmatch(value):
                raise self._error(f":requires: needs a dotted name, not {value!r}")
        return values

    def needs(self) -> tuple[str, ...]:
        values = tuple(value for key, value in self._found if key == "needs")
        for value in values:
            if value not in TOOLS:
                raise self._error(f":needs: knows {', '.join(TOOLS)}, not {value!r}")
        return values

    def varies(self) -> bool:
        value = self.one("numbers", "")
        if value not in ("", "vary"):
            raise self._error(f":numbers: says vary, or nothing, not {value!r}")
        return value == "vary"

    def tolerance(self) -> Tolerance:
        numbers: dict[str, float] = {}
        text = self.one("tolerance", "")
        for part in text.split(",") if text else ():
            name, _, number = (piece.strip() for piece in part.partition("="))
            try:
                numbers[name] = float(number)
            except ValueError:
                numbers[name] = math.nan
            if name not in Tolerance._fields or not 0 <= numbers[name] < math.inf:
                raise self._error(f":tolerance: reads as in 'atol=1e-6, rtol=1e-5', not {text!r}")
        return Tolerance(**numbers)

    def _error(self, fault: str) -> CaseError:
        return self._source.error(fault, self._line)
