"""A file to be tried: a case file, or any plain script as it would stand in a bug report. Read as text, never run."""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
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


class Script(msgspec.Struct, frozen=True):
    """What is tried: ``file`` is a copy of it, in ``folder``, where all that is made of it goes.

    A ``plain`` script is the one case ``name::script``. ``requires`` are the packages that its own block names (PEP 723),
    without torch.
    """

    folder: Path
    file: CaseFile
    cases: tuple[Case, ...]
    plain: bool
    requires: tuple[Requirement, ...] = ()


def read_script(name: str, reports: Path) -> Script:
    """Read what a user names: a file, ``FILE::case``, or ``-`` for what comes from stdin; keep a copy of it.

    Args:
        reports: the folder of reports; the copy goes to ``try/<digest>/`` in it.

    Raises:
        ConfigurationError: it cannot be read, or is a case file that cannot be run.
        NothingSelected: there is no such case.
    """
    path, _, case = (name, "", "") if Path(name).is_file() else name.partition("::")
    content = _content(path)
    sha256 = hashlib.sha256(content).hexdigest()
    folder = reports / "try" / sha256[:16]
    copy = folder / (FROM_STDIN if path == "-" else Path(path).name)
    write_atomically(copy, content)
    requires = requirements(_required(content), "the script's own block")
    if _has_cases(content):
        file = read_case_file(copy)
        if file.fault is not None:
            raise ConfigurationError(f"{file.name} has cases and cannot be run: {clean(file.fault)}")
        chosen = find_case(case, [one.id for one in file.cases]) if case else None
        return Script(folder, file, tuple(one for one in file.cases if chosen in {None, one.id}), False, requires)
    if case:
        raise ConfigurationError(f"{clean(path)} has no case; a case is a function whose name starts with {PREFIX}.")
    shown = clean(copy.name)
    only = Case(f"{shown}::script", shown, shown)
    return Script(folder, CaseFile(copy, sha256, (only,), title=shown), (only,), True, requires)


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


def _content(path: str) -> bytes:
    try:
        if path == "-":
            content = sys.stdin.buffer.read(LARGEST + 1)
        elif not Path(path).is_file():
            raise ConfigurationError(f"{clean(path)} is no file; name a Python file, or - for stdin.")
        else:
            with Path(path).open("rb") as file:
                content = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigurationError(f"{clean(path)} cannot be read ({error.strerror}); make it readable.") from None
    if len(content) > LARGEST:
        raise ConfigurationError(f"{clean(path)} has more than {LARGEST:,} bytes; cut it down to what matters.")
    if not content.strip():
        raise ConfigurationError(f"{clean(path)} is empty; there is nothing to run.")
    return content


def _has_cases(content: bytes) -> bool:
    """Whether it is a case file; what is not Python is a script, and will say so."""
    try:
        body = ast.parse(content).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(node, ast.FunctionDef) and node.name.startswith(PREFIX) for node in body)


def _required(content: bytes) -> list[str]:
    """The ``dependencies`` of a PEP 723 block.

    Raises:
        ConfigurationError: the block cannot be read, or there are several.
    """
    blocks = list(BLOCK.finditer(content.decode("utf-8", "replace").replace("\r\n", "\n")))
    if len(blocks) > 1:
        raise ConfigurationError("The script has several blocks of metadata (PEP 723); keep one.")
    if not blocks:
        return []
    lines = [line[2:] if line.startswith("# ") else line[1:] for line in blocks[0]["content"].splitlines()]
    try:
        return msgspec.convert(tomllib.loads("\n".join(lines)).get("dependencies", []), list[str])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigurationError(
            f"The script's block of metadata (PEP 723) cannot be read: {clean(str(error))}"
        ) from None
