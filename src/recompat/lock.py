"""``matrix/lock.toml``: what each environment is made of, by version and digest; it names no index and no address."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import Version

from recompat.errors import ConfigurationError
from recompat.model import TroubleKind
from recompat.private import scrub
from recompat.report.text import clean
from recompat.tables import Row, read_file
from recompat.toml import written
from recompat.tracks import is_beside, packed
from recompat.wheels import EnvironmentTrouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from recompat.tracks import Target
    from recompat.wheels import Wheel

__all__ = ["FILE", "Lock", "LockedEnvironment", "LockedPackage", "load_lock", "render_lock", "told"]

FILE: Final = "matrix/lock.toml"
FORMAT: Final = 1
SHA256: Final = re.compile(r"[0-9a-f]{64}")
HEADER: Final = """\
# What `nox -s matrix -- --require-hashes` installs, and nothing else. `recompat lock` writes it.

lock-version = 1
"""


class LockedPackage(Row, frozen=True):
    """A package at one version; ``sha256`` are the digests that its wheel may have."""

    name: str
    version: str
    sha256: tuple[str, ...]

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        """Find what could not be installed by digest, or would be read as something else than a package."""
        try:
            canonicalize_name(self.name, validate=True)
        except InvalidName:
            yield "name", f'is {clean(self.name)!r}; write the name of a package such as "numpy".'
        if _version(self.version) is None:
            yield "version", f'is {clean(self.version)!r}; write a version such as "2.11.0+cpu".'
        if not self.sha256 or not all(map(SHA256.fullmatch, self.sha256)):
            yield "sha256", "is no list of digests; write each as 64 hexadecimal digits, and at least one."


class LockedEnvironment(Row, frozen=True):
    """All that one environment holds. ``requires`` is what was asked for beside torch when it was locked."""

    torch: str
    python: str
    platform: str
    packages: tuple[LockedPackage, ...]
    requires: tuple[str, ...] = ()
    beside: dict[str, str] = msgspec.field(default_factory=dict)

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        """Find an environment of no release, without torch, or with a package twice."""
        if _version(self.torch) is None:
            yield "torch", f'is {clean(self.torch)!r}; write a release such as "2.11.0".'
        for name, version in self.beside.items():
            if not is_beside(name, version):
                yield "beside", f"has {clean(name)!r} at {clean(version)!r}, which is no package with its version."
        names = [_normal(package.name) for package in self.packages]
        if names.count("torch") != 1 or len(names) > len(set(names)):
            yield "packages", "names torch not once, or another package twice; recompat lock writes it anew."

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...], str, str]:
        """What there is one of."""
        return self.torch, packed(self.beside), self.python, self.platform

    @property
    def versions(self) -> dict[str, Version]:
        """The packages by their normal names."""
        return {_normal(package.name): Version(package.version) for package in self.packages}


class Lock(msgspec.Struct, frozen=True):
    """The environments that may be built."""

    environments: tuple[LockedEnvironment, ...] = ()

    def digest(self, release: Version) -> str:
        """What results of a release depend on: short, and another one where anything of its environments is."""
        of_release = sorted((one for one in self.environments if one.torch == str(release)), key=_place)
        return hashlib.sha256(msgspec.json.encode(of_release)).hexdigest()[:16]

    def with_environments(self, more: Sequence[LockedEnvironment]) -> Lock:
        """The same with these, in the place of what was of the same release, interpreter and platform."""
        known = {one.key: one for one in (*self.environments, *more)}
        return Lock(tuple(sorted(known.values(), key=_place)))

    def environment(self, target: Target, wheel: Wheel, platform: str, asked: Sequence[str]) -> LockedEnvironment:
        """What may be installed for ``target``, where ``wheel`` was chosen and ``asked`` stands beside it.

        Raises:
            EnvironmentTrouble: nothing is locked for it, or something else.
        """
        key = (str(target.torch), target.beside, wheel.python, platform)
        found = next((one for one in self.environments if one.key == key), None)
        mend = f"recompat lock {target.options} writes it."
        if found is None:
            raise _trouble(f"{FILE} has no torch {target} for {wheel.python} on {platform}; {mend}")
        if found.requires != told(asked):
            was, now = (", ".join(words) or "nothing" for words in (found.requires, told(asked)))
            raise _trouble(
                f"{FILE} has torch {target} with {clean(was)}, and {clean(now)} is asked for beside it; {mend}"
            )
        torch = next(package for package in found.packages if _normal(package.name) == "torch")
        if wheel.offer.version != Version(torch.version):
            raise _trouble(f"{FILE} has torch {torch.version}, and the {wheel.source} {wheel.offer.version}; {mend}")
        if wheel.digests and not {*wheel.digests} & {*torch.sha256}:
            raise _trouble(
                f"{wheel.offer.filename} of the {wheel.source} has another digest than {FILE} says; find out why"
                f" before you have it written anew: recompat lock {target.options}."
            )
        return found


class _File(Row, frozen=True, rename="kebab"):
    lock_version: int
    environment: tuple[LockedEnvironment, ...] = ()

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        if self.lock_version != FORMAT:
            yield "lock-version", f"is {self.lock_version}, and this recompat reads {FORMAT}; recompat lock writes it."
        keys = [one.key for one in self.environment]
        if len(keys) > len(set(keys)):
            yield "environment", "names a release twice for one interpreter and platform; recompat lock writes it anew."


def load_lock(path: Path) -> Lock:
    """Read the file.

    Raises:
        ConfigurationError: it is not there, or cannot be used.
    """
    if not path.exists():
        raise ConfigurationError(f"There is no file {path}; recompat lock writes it.")
    return Lock(read_file(path, _File).environment)


def render_lock(lock: Lock) -> str:
    """Write it as TOML: a line for each package."""
    return "\n".join([HEADER, *map(_table, lock.environments)])


def told(requirements: Sequence[str]) -> tuple[str, ...]:
    """Requirements as files may have them: where one is by address, without that."""
    return tuple(map(scrub, requirements))


def _table(environment: LockedEnvironment) -> str:
    lines = ["[[environment]]"]
    lines += [f"{name} = {written(getattr(environment, name))}" for name in ("torch", "python", "platform")]
    if environment.beside:
        lines.append(f"beside = {_inline(dict(sorted(environment.beside.items())))}")
    lines += [f"requires = {written(environment.requires)}", "packages = ["]
    lines += [f"    {_inline(msgspec.structs.asdict(package))}," for package in environment.packages]
    return "\n".join([*lines, "]", ""])


def _inline(values: Mapping[str, Any]) -> str:
    return f"{{ {', '.join(f'{name} = {written(value)}' for name, value in values.items())} }}"


def _place(environment: LockedEnvironment) -> tuple[Version, object, str, str]:
    return Version(environment.torch), *environment.key[1:]


def _trouble(reason: str) -> EnvironmentTrouble:
    return EnvironmentTrouble(TroubleKind.INSTALL_FAILED, reason)


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except ValueError:  # InvalidVersion, or a number of thousands of digits
        return None


def _normal(name: str) -> str:
    return str(canonicalize_name(name))
