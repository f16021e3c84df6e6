"""Interpreters that can run a wheel: the running one, others that really run, and those that uv can fetch."""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.tags import compatible_tags, cpython_tags, sys_tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.tags import Tag

__all__ = ["find_interpreter", "platform_id", "running", "supported_tags", "tags_newest_first"]

NEWEST_MINOR = 20  # of CPython 3: far enough ahead to see wheels for interpreters that do not exist yet


def running() -> str:
    """The tag of the interpreter that runs this, such as ``cp311``; free-threaded builds end in ``t``."""
    name = "cp" if sys.implementation.name == "cpython" else sys.implementation.name
    threading = "t" if "t" in sys.abiflags else ""
    return f"{name}{sys.version_info.major}{sys.version_info.minor}{threading}"


def platform_id() -> str:
    """The platform part of an environment's id, such as ``linux_x86_64`` or ``macosx_arm64``."""
    parts = re.split(r"[-.]", sysconfig.get_platform())
    return "_".join(part for part in parts if not part.isdigit())


def tags_newest_first() -> list[str]:
    """``cp320`` down to ``cp38``, with the running interpreter in front."""
    others = [f"cp3{minor}" for minor in range(NEWEST_MINOR, 7, -1)]
    return [running(), *(tag for tag in others if tag != running())]


@functools.cache
def supported_tags(tag: str) -> frozenset[Tag]:
    """The wheel tags that the interpreter ``tag`` takes on this platform."""
    if tag == running():
        return frozenset(sys_tags())
    version = (3, int(tag.removeprefix("cp3")))
    return frozenset((*cpython_tags(version), *compatible_tags(version, tag)))


def find_interpreter(tag: str) -> str | None:
    """The path of an interpreter ``tag`` that was run and answered, or None."""
    if tag == running():
        return sys.executable
    from python_discovery import get_interpreter

    found = get_interpreter(f"cpython3.{tag.removeprefix('cp3')}", env=_environment_with_all_of_pyenv())
    return found.executable if found else None


def _environment_with_all_of_pyenv() -> dict[str, str]:
    """The environment in which pyenv's shims resolve to every version it has, not to the selected ones alone."""
    return {**os.environ, "PYENV_VERSION": ":".join(_pyenv_versions())}


def _pyenv_versions() -> Iterator[str]:
    root = os.environ.get("PYENV_ROOT")
    if root and (versions := Path(root, "versions")).is_dir():
        yield from sorted(entry.name for entry in versions.iterdir())
