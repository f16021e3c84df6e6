"""A file to be tried: a case file, or any plain script as it would stand in a bug report. Read as text, never run."""

from __future__ import annotations

import ast
import hashlib
import itertools
import re
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from recompat.atomic import write_atomically
from recompat.cases import LARGEST, PREFIX, Case, CaseFile, read_case_file
from recompat.errors import ConfigurationError
from recompat.lookup import find_case
from recompat.report.text import clean
from recompat.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Script", "read_script", "requirements"]

BEGIN, END = "# /// script", "# ///"  # of a block of metadata (PEP 723)
COMMENT = re.compile("#(?: |$)")
NAMELESS = "script.py"  # what comes from stdin, or has a name with line ends, escapes or bytes that are no text
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
    copy = folder / _name(path)
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
        except (ValueError, RecursionError):  # InvalidRequirement, or a marker within ten thousand brackets
            raise ConfigurationError(
                f'{clean(text)}, in {where}, is no requirement; write one such as "transformers==4.57.*".'
            ) from None
    return tuple(one for one in found if canonicalize_name(one.name) != "torch")


def _name(path: str) -> str:
    """What the copy is called: as the file is, unless that cannot be typed."""
    name = Path(path).name
    return name if path != "-" and name.isprintable() else NAMELESS


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
    blocks = list(_blocks(content.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")))
    if len(blocks) > 1:
        raise ConfigurationError("The script has several blocks of metadata (PEP 723); keep one.")
    lines = [line.removeprefix("#").removeprefix(" ") for block in blocks for line in block]
    try:
        block = msgspec.convert(parse_toml("\n".join(lines)), Block)
        python = SpecifierSet(block.requires_python)
        python.contains("3")  # it reads the versions in it no sooner
    except (msgspec.ValidationError, ValueError) as error:
        raise ConfigurationError(
            f"The script's block of metadata (PEP 723) cannot be read: {clean(str(error))}"
        ) from None
    return requirements(block.dependencies, "the script's own block"), python


def _blocks(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """The lines of each block, in linear time; it ends with the last end before a line that is no comment."""
    place = 0
    while place < len(lines):
        place += 1
        if lines[place - 1].rstrip() == BEGIN:
            comments = list(itertools.takewhile(COMMENT.match, lines[place:]))
            place += len(comments)
            if END in comments[1:]:
                yield comments[: len(comments) - 1 - comments[::-1].index(END)]
