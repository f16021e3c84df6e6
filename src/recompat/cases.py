"""Case files as the host sees them: read as text and never run.

The host needs names and titles where no torch is at hand: to select cases, to check expectations against them, and to
draw the cells of an environment that could not be built. Running them is the probe's work.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from pathlib import Path

import msgspec

from recompat.errors import ConfigurationError

__all__ = ["Case", "CaseFile", "read_case_file", "read_case_files"]

PREFIX = "case_"


class Case(msgspec.Struct, frozen=True):
    """A case: ``id`` is ``file::name`` without the file's ``.py``; ``title`` is its docstring's first line."""

    id: str
    title: str


class CaseFile(msgspec.Struct, frozen=True):
    """A file of ``matrix/cases``.

    ``fault`` says in a sentence why none of its cases can be run. A file whose cases are not known then stands in the
    matrix as the one case ``file::*``.
    """

    path: Path
    sha256: str
    cases: tuple[Case, ...]
    fault: str | None = None


def read_case_files(folder: Path) -> tuple[CaseFile, ...]:
    """Read every ``*.py`` of ``folder``, by name.

    Raises:
        ConfigurationError: the folder does not exist or holds no case file.
    """
    paths = sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))
    if not paths:
        raise ConfigurationError(f"There is no case file in {folder}; add one, such as {folder / 'my_pattern.py'}.")
    return tuple(read_case_file(path) for path in paths)


def read_case_file(path: Path) -> CaseFile:
    """Read one case file; what is wrong with it becomes its ``fault``."""
    source = path.read_bytes()
    sha256 = hashlib.sha256(source).hexdigest()
    unknown = (Case(f"{path.stem}::*", path.name),)
    try:
        tree = ast.parse(source, filename=path.name)
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = getattr(error, "msg", None) or str(error)
        return CaseFile(path, sha256, unknown, f"{path.name}{line} is not valid Python: {reason}.")
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith(PREFIX)]
    if not functions:
        none = f"{path.name} defines no case; a case is a function whose name starts with {PREFIX}."
        return CaseFile(path, sha256, unknown, none)
    names = Counter(node.name for node in functions)
    cases = tuple({node.name: _case(path.stem, node) for node in functions}.values())
    twice = [name for name, count in names.items() if count > 1]
    fault = f"{path.name} defines {', '.join(twice)} more than once; rename all but one." if twice else None
    return CaseFile(path, sha256, cases, fault)


def _case(stem: str, node: ast.FunctionDef) -> Case:
    name = node.name.removeprefix(PREFIX)
    title = (ast.get_docstring(node) or name.replace("_", " ")).partition("\n")[0].strip()
    return Case(f"{stem}::{name}", title)
