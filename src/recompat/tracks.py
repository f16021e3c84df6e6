"""What stands beside torch: a target is a release with it, a track is what releases are compared along."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

import msgspec
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recompat.changes import ReleaseChanges
    from recompat.model import Environment, Record
    from recompat.summary import Column

__all__ = [
    "ALONE",
    "Beside",
    "Target",
    "Track",
    "Written",
    "beside_text",
    "besides_of",
    "is_beside",
    "is_plain",
    "options_of",
    "packed",
    "target_of",
    "track_of",
]

NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")  # of a package, as PEP 503 has it

Beside = tuple[tuple[str, str], ...]
"""Packages that were chosen to stand beside torch, by name, each with its version."""

Written = dict[str, str] | msgspec.UnsetType
"""The same as JSON has it, which leaves it out where there is none."""

ALONE: Beside = ()


class Target(msgspec.Struct, frozen=True):
    """A release of torch, and what stands beside it: what a run plans by."""

    torch: Version
    beside: Beside = ALONE

    def __str__(self) -> str:
        """What sentences call it: ``2.11.0``, or ``2.11.0 with transformers 4.57.1``."""
        return f"{self.torch} with {beside_text(self.beside)}" if self.beside else str(self.torch)

    @property
    def place(self) -> tuple[Version, list[tuple[str, Version]]]:
        """What targets are sorted by: the release, then the versions beside it."""
        return self.torch, [(name, Version(version)) for name, version in self.beside]

    @property
    def session(self) -> str:
        """The session that runs it: ``probe(torch='2.11.0', transformers='4.57.1')``."""
        return f"probe({self.parameters})"

    @property
    def parameters(self) -> str:
        """What stands between the brackets of its session."""
        return ", ".join(f"{name}='{version}'" for name, version in (("torch", str(self.torch)), *self.beside))

    @property
    def requirements(self) -> tuple[str, ...]:
        """What is installed beside torch for it."""
        return tuple(f"{name}=={version}" for name, version in self.beside)

    @property
    def options(self) -> str:
        """What selects it alone: ``--torch 2.11.0 --axis transformers==4.57.1``."""
        return " ".join((f"--torch {self.torch}", *(f"--axis {one}" for one in self.requirements)))


class Track(msgspec.Struct, frozen=True):
    """Environments that differ in torch and in the interpreter alone; what is on another track is not compared."""

    platform: str
    beside: Beside = ALONE

    @property
    def written(self) -> Written:
        """What stands beside torch, for JSON."""
        return dict(self.beside) or msgspec.UNSET

    @property
    def place(self) -> tuple[str, list[tuple[str, Version]]]:
        """What tracks are sorted by: the platform, then the versions."""
        return self.platform, [(name, Version(version)) for name, version in self.beside]


class _Placed(Protocol):
    @property
    def platform(self) -> str: ...
    @property
    def beside(self) -> Written: ...


def is_beside(name: str, version: str) -> bool:
    """Whether an axis could have chosen this: a normal name, and a plain version of it, so that both may be in a file's name."""
    return NAME.fullmatch(name) is not None and name != "torch" and is_plain(version)


def is_plain(version: str) -> bool:
    """Whether a version is written as it is compared, and has no epoch and no build."""
    try:
        known = Version(version)
    except ValueError:
        return False
    return str(known) == version and not known.epoch and known.local is None


def packed(beside: Mapping[str, str] | msgspec.UnsetType) -> Beside:
    """What stands beside torch, as it can be compared."""
    return tuple(sorted(beside.items())) if beside else ALONE


def options_of(one: Column | ReleaseChanges) -> str:
    """What selects a release, and what stands beside it there, on the command line."""
    axes = (f"--axis {name}=={version}" for name, version in packed(one.beside))
    return " ".join((f"--torch {one.torch}", *axes))


def target_of(environment: Environment) -> Target:
    """What an environment was to be of."""
    return Target(Version(environment.torch), packed(environment.beside))


def track_of(one: _Placed) -> Track:
    """The track of an environment, a column, or of a change along the releases."""
    return Track(one.platform, packed(one.beside))


def besides_of(records: Iterable[Record]) -> dict[str, set[Version]]:
    """The packages beside torch that are recorded, each with its versions."""
    found: dict[str, set[Version]] = {}
    for record in records:
        for name, version in record.environment.beside.items():
            found.setdefault(name, set()).add(Version(version))
    return found


def beside_text(beside: Beside) -> str:
    """Name the packages with their versions: ``transformers 4.57.1``."""
    return ", ".join(f"{name} {version}" for name, version in beside)
