"""GitHub's runners: which platform a label stands for, and which wheels an interpreter takes there."""

from __future__ import annotations

import functools
import re
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from packaging.tags import compatible_tags, cpython_tags, mac_platforms

from recompat.tables import close_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.tags import Tag

__all__ = [
    "DEFAULT_OS",
    "PYTHON",
    "RUNNERS",
    "Runner",
    "known_os",
    "known_python",
    "python_tag",
    "runner_tags",
    "running_python",
]

DEFAULT_OS: Final = "ubuntu-24.04"
PYTHON: Final = re.compile(r"3\.(1[1-9]|[2-9][0-9])(t?)")
"""Interpreters that recompat itself runs on, as actions/setup-python names them."""

OLDEST_GLIBC = 5  # of manylinux_2_5, the first
LEGACY = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}  # PEP 600


class Runner(NamedTuple):
    """A machine: ``system`` and ``machine`` as environments have them, and the newest version of the system's interface."""

    system: str
    machine: str
    version: tuple[int, int] = (0, 0)

    @property
    def platform(self) -> str:
        """The platform part of an environment's id."""
        return f"{self.system}_{self.machine}"

    @property
    def platforms(self) -> Iterator[str]:
        """The platform tags of wheels, most particular first."""
        match self.system:
            case "macosx":
                yield from mac_platforms(self.version, self.machine)
            case "linux":
                for minor in range(self.version[1], OLDEST_GLIBC - 1, -1):
                    yield f"manylinux_2_{minor}_{self.machine}"
                    if minor in LEGACY:
                        yield f"{LEGACY[minor]}_{self.machine}"
                yield self.platform
            case _:
                yield self.platform


# https://docs.github.com/en/actions/reference/runners/github-hosted-runners; the C library of an Ubuntu, the version of a macOS.
RUNNERS: Final = {
    "ubuntu-22.04": Runner("linux", "x86_64", (2, 35)),
    "ubuntu-24.04": Runner("linux", "x86_64", (2, 39)),
    "ubuntu-22.04-arm": Runner("linux", "aarch64", (2, 35)),
    "ubuntu-24.04-arm": Runner("linux", "aarch64", (2, 39)),
    "macos-14": Runner("macosx", "arm64", (14, 0)),
    "macos-15": Runner("macosx", "arm64", (15, 0)),
    "macos-15-intel": Runner("macosx", "x86_64", (15, 0)),
    "windows-2022": Runner("win", "amd64"),
    "windows-2025": Runner("win", "amd64"),
    "windows-11-arm": Runner("win", "arm64"),
}
"""Labels of runners that stay what they are: ``ubuntu-latest`` is another machine one day."""


def known_os(name: str) -> str:
    """Read the label of a runner.

    Raises:
        ValueError: it is none that is known; the message says what there is.
    """
    if name not in RUNNERS:
        raise ValueError(f"{name!r}, which is no runner that is known; {close_to(name, RUNNERS)}")
    return name


def known_python(name: str) -> str:
    """Read an interpreter.

    Raises:
        ValueError: recompat does not run on it.
    """
    if not PYTHON.fullmatch(name):
        raise ValueError(f"{name!r}, on which recompat does not run; write one such as '3.11' or '3.13t'.")
    return name


def running_python() -> str:
    """The interpreter that runs this, as ``[ci] python`` names it."""
    return f"{sys.version_info.major}.{sys.version_info.minor}{'t' if 't' in getattr(sys, 'abiflags', '') else ''}"


def python_tag(python: str) -> str:
    """The tag of an interpreter, such as ``cp311`` of ``3.11``, and ``cp313t`` of ``3.13t``."""
    return f"cp{python.replace('.', '')}"


@functools.cache
def runner_tags(os: str, python: str) -> frozenset[Tag]:
    """The wheel tags that an interpreter takes on a runner; both are known ones."""
    platforms, tag = tuple(RUNNERS[os].platforms), python_tag(python)
    version = (3, int(python.removesuffix("t").partition(".")[2]))
    abis = [tag] if tag.endswith("t") else None
    return frozenset((*cpython_tags(version, abis, platforms), *compatible_tags(version, tag, platforms)))
