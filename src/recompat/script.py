"""A file to be tried: a case file, or any plain script as it would stand in a bug report. Read as text, never run."""

from __future__ import annotations

import ast
import hashlib
import re
import stat
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from recompat.cases import PREFIX, Case, CaseFile, read_case_file
from recompat.errors import ConfigurationError
from recompat.lookup import find_case
from recompat.record import write_atomically
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Script", "read_script", "requirements"]

BLOCK = re.compile(r"(?m)^# /// script\s*$\s(?P<content>(?:^#(?:| .*)$\s)+)^# ///$")  # PEP 723
LARGEST = 10_000_000  # bytes
FROM_STDIN = "script.py"
HIDES = ("torch.py", "numpy.py")  # its folder is the first place of imports


class Block(msgspec.Struct, frozen=True, rename="kebab"):
    """What a script says of itself (PEP 723), as far as it matters here."""

    dependencies: list[str] = []
    requires_python: str = ""


class Script(msgspec.Struct, frozen=True):
    """What is tried: ``file`` is a copy of it, in ``folder``, where all that is made of it goes.

    A ``plain`` script is the one case ``name::script``. ``requires`` are the packages that its own block names (PEP 723),
    without torch, and ``python`` the interpreters.
    """

    folder: Path
    file: CaseFile
    cases: tuple[Case, ...]
    plain: bool
    requires: tuple[Requirement, ...] = ()
    python: SpecifierSet = SpecifierSet()


def read_script(name: str, reports: Path) -> Script:
    """Read what a user names: a file, ``FILE::case``, or ``-`` for what comes from stdin; keep a copy of it.

    Args:
        reports: the folder of reports; the copy goes to ``try/<digest>/`` in it.

    Raises:
        ConfigurationError: it cannot be read, or is a case file that cannot be run.
        NothingSelected: there is no such case.
    """
    path, _, case = (name, "", "") if _is_file(name) else name.partition("::")
    content = _content(path)
    sha256 = hashlib.sha256(content).hexdigest()
    folder = reports / "try" / sha256[:16]
    copy = folder / (FROM_STDIN if path == "-" else Path(path).name)
    write_atomically(copy, content)
    requires, python = _required(content)
    if _has_cases(content):
        file = read_case_file(copy)
        if file.fault is not None:
            raise ConfigurationError(f"{file.name} has cases and cannot be run: {clean(file.fault)}")
        chosen = find_case(case, [one.id for one in file.cases]) if case else None
        cases = tuple(one for one in file.cases if chosen in {None, one.id})
        return Script(folder, file, cases, False, requires, python)
    if case:
        raise ConfigurationError(f"{clean(path)} has no case; a case is a function whose name starts with {PREFIX}.")
    shown = clean(copy.name)
    only = Case(f"{shown}::script", shown, shown)
    return Script(folder, CaseFile(copy, sha256, (only,), title=shown), (only,), True, requires, python)


def requirements(texts: Iterable[str], where: str) -> tuple[Requirement, ...]:
    """Read requirements; torch is left out, since its releases are what is tried.

    Raises:
        ConfigurationError: one cannot be read.
    """
    found = []
    for text in texts:
        try:
            found.append(Requirement(text))
        except InvalidRequirement:
            raise ConfigurationError(
                f'{clean(text)}, in {where}, is no requirement; write one such as "transformers==4.57.*".'
            ) from None
    return tuple(one for one in found if canonicalize_name(one.name) != "torch")


def _is_file(path: str) -> bool:
    """Whether there is such a file.

    Raises:
        ConfigurationError: that cannot be told.
    """
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unreadable(path, error) from None


def _content(path: str) -> bytes:
    try:
        if path == "-":
            content = sys.stdin.buffer.read(LARGEST + 1)
        elif not _is_file(path):
            raise ConfigurationError(f"{clean(path)} is no file; name a Python file, or - for stdin.")
        else:
            with Path(path).open("rb") as file:
                content = file.read(LARGEST + 1)
    except OSError as error:
        raise _unreadable(path, error) from None
    fault = _fault(Path(path).name, content)
    if fault:
        raise ConfigurationError(f"{clean(path)} {fault}")
    return content


def _unreadable(path: str, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"{clean(path)} cannot be read ({error.strerror}); make it readable, or name another.")


def _fault(name: str, content: bytes) -> str | None:
    """Say what is wrong with a file that no release would run as it is meant, and what mends it."""
    if len(content) > LARGEST:
        return f"has more than {LARGEST:,} bytes; cut it down to what matters."
    if not content.strip():
        return "is empty; there is nothing to run."
    if b"\0" in content:
        return "is no Python source, since it has NUL bytes; name a Python file, in UTF-8."
    if name.endswith(".ipynb"):
        return "is a notebook; save it as a script (jupyter nbconvert --to script), and try that."
    if name in HIDES:
        return f"would be imported in the place of {name.removesuffix('.py')}; give it another name."
    return None


def _has_cases(content: bytes) -> bool:
    """Whether it is a case file; what is not Python is a script, and will say so."""
    try:
        body = ast.parse(content).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(node, ast.FunctionDef) and node.name.startswith(PREFIX) for node in body)


def _required(content: bytes) -> tuple[tuple[Requirement, ...], SpecifierSet]:
    """The packages and the interpreters that a PEP 723 block asks for.

    Raises:
        ConfigurationError: the block cannot be read, or there are several.
    """
    blocks = list(BLOCK.finditer(content.decode("utf-8-sig", "replace").replace("\r\n", "\n")))
    if len(blocks) > 1:
        raise ConfigurationError("The script has several blocks of metadata (PEP 723); keep one.")
    lines = [line[2:] if line.startswith("# ") else line[1:] for block in blocks for line in _lines(block)]
    try:
        block = msgspec.convert(tomllib.loads("\n".join(lines)), Block)
        python = SpecifierSet(block.requires_python)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, InvalidSpecifier) as error:
        raise ConfigurationError(
            f"The script's block of metadata (PEP 723) cannot be read: {clean(str(error))}"
        ) from None
    return requirements(block.dependencies, "the script's own block"), python


def _lines(block: re.Match[str]) -> list[str]:
    return block["content"].splitlines()
