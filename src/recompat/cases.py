"""Case files as the host sees them: read as text and never run.

The host needs names and titles where no torch is at hand: to select cases, to check expectations against them, and to
draw the cells of an environment that could not be built. Running them is the probe's work.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from recompat.casedoc import About, DocFault, read_about
from recompat.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LARGEST", "Case", "CaseFile", "read_case_file", "read_case_files"]

PREFIX = "case_"
LARGEST = 1 << 19  # bytes of a file; Python's parser may take two hundred bytes of memory for each
FAMILY = re.compile(r"[^\W_]\w*(?:-\w+)*")
DEFINED = re.compile(rb"\b(?:def|class)[\s\\]+" + PREFIX.encode())
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Case(msgspec.Struct, frozen=True):
    """A case: ``id`` is ``file::name`` without the file's ``.py``; ``title`` is its docstring's first line.

    ``family`` is what its file calls the kind of trouble that it is about, or else the file's name.
    """

    id: str
    title: str
    family: str = ""
    about: About = About()


class CaseFile(msgspec.Struct, frozen=True):
    """A file of ``matrix/cases``; ``title`` is its docstring's first line.

    ``fault`` says in a sentence why none of its cases can be run. A file whose cases are not known then stands in the
    matrix as the one case ``file::*``.
    """

    path: Path
    sha256: str
    cases: tuple[Case, ...]
    fault: str | None = None
    title: str = ""

    @property
    def name(self) -> str:
        """The name of the file, for reports; bytes that are no text are written as escapes."""
        return _shown(self.path)


def read_case_files(folder: Path) -> tuple[CaseFile, ...]:
    """Read every ``*.py`` of ``folder``, by family and name.

    Raises:
        ConfigurationError: the folder does not exist or holds no case file.
    """
    paths = sorted(path for path in folder.glob("*.py") if not path.name.startswith(("_", ".")))
    if not paths:
        raise ConfigurationError(f"There is no case file in {folder}; add one, such as {folder / 'my_pattern.py'}.")
    return tuple(sorted(map(read_case_file, paths), key=_family))


def read_case_file(path: Path) -> CaseFile:
    """Read one case file; what is wrong with it becomes its ``fault``."""
    shown = _shown(path)
    stem = shown.removesuffix(".py")
    unknown = (Case(f"{stem}::*", shown, stem),)
    try:
        if not path.stem.isidentifier() or shown != path.name:
            raise _Fault(" is imported by its name, which is no Python identifier; rename it, to my_pattern.py say.")
        source = _read(path)
        sha256 = hashlib.sha256(source).hexdigest()
        tree = _parsed(path, source)
        cases = _cases(path, source, tree)
    except _Fault as error:
        return CaseFile(path, "", unknown, f"{shown}{error}")
    twice = [name for name, count in Counter(case.id for case in cases).items() if count > 1]
    if twice:
        names = ", ".join(PREFIX + name.partition("::")[2] for name in twice)
        fault = f"{shown} defines {names} more than once; rename all but one."
        return CaseFile(path, sha256, tuple({case.id: case for case in cases}.values()), fault)
    title = _words(ast.get_docstring(tree)).partition("\n")[0].strip()
    return CaseFile(path, sha256, cases, title=title)


def _shown(path: Path) -> str:
    return path.name.encode(errors="backslashreplace").decode()


def _family(file: CaseFile) -> str:
    return file.cases[0].family


class _Fault(Exception):
    """Why no case of a file can be run: what follows the file's name in the sentence."""


def _read(path: Path) -> bytes:
    if not path.is_file():  # a FIFO would wait for someone to write
        raise _Fault(" is no file, or a link to none; remove it.")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise _Fault(f" cannot be read ({error.strerror}); make it readable.") from error
    if len(content) > LARGEST:
        raise _Fault(f" has more than {LARGEST >> 10} KiB; divide it.")
    return content


def _parsed(path: Path, source: bytes) -> ast.Module:
    try:
        return ast.parse(source, filename=path.name)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise _Fault(f"{line} is not valid Python: {error.msg}.") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise _Fault(f" is not valid Python: {str(error) or 'it is nested too deeply'}.") from error


def _cases(path: Path, source: bytes, tree: ast.Module) -> tuple[Case, ...]:
    plain = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith(PREFIX)]
    if len(DEFINED.findall(source)) != len(plain):  # a walk through the whole tree takes longer than parsing it
        _check_definitions(tree, plain)
    if not plain:
        raise _Fault(f" defines no case; a case is a function whose name starts with {PREFIX}.")
    if any(node.name == PREFIX for node in plain):
        raise _Fault(f" defines a case without a name; add one after {PREFIX}.")
    family, names = _named_family(tree) or path.stem, [node.name.removeprefix(PREFIX) for node in plain]
    return tuple(_case(path.stem, family, node, names) for node in plain)


def _check_definitions(tree: ast.Module, plain: Sequence[ast.FunctionDef]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS) and node.name.startswith(PREFIX) and node not in plain:
            raise _Fault(
                f" defines {node.name} in line {node.lineno} otherwise than as a plain function at its top level."
            )


def _case(stem: str, family: str, node: ast.FunctionDef, names: list[str]) -> Case:
    name = node.name.removeprefix(PREFIX)
    docstring = _words(ast.get_docstring(node))
    title = docstring.partition("\n")[0].strip() or name.replace("_", " ")
    try:
        return Case(f"{stem}::{name}", title, family, read_about(docstring, stem, node.lineno, names))
    except DocFault as fault:
        raise _Fault(str(fault)) from None


def _words(docstring: str | None) -> str:
    return (docstring or "").encode(errors="backslashreplace").decode()


def _named_family(tree: ast.Module) -> str | None:
    """Return what the file's ``FAMILY = "..."`` says, if it has one."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "FAMILY" for t in node.targets):
            value = node.value.value if isinstance(node.value, ast.Constant) else None
            if not isinstance(value, str) or not FAMILY.fullmatch(value):
                raise _Fault(f', line {node.lineno}: FAMILY must be a word in quotes, such as FAMILY = "attention".')
            return value
    return None
