"""Finding out, with uv, what an environment would be made of: for ``matrix/lock.toml``."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Final

from packaging.version import Version

from recompat.environment import Build, reason_of
from recompat.interpreters import platform_id
from recompat.lock import LockedEnvironment, LockedPackage, told
from recompat.model import TroubleKind
from recompat.requirements import requirement_lines
from recompat.toml import parse_toml
from recompat.tools import uv_binary
from recompat.wheels import EnvironmentTrouble, choose_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.sources import Sources
    from recompat.tracks import Target

__all__ = ["lock_target"]

RESOLVE_SECONDS: Final = 1800.0  # where an index tells no metadata, whole wheels are read for it


def lock_target(target: Target, sources: Sources, packages: Sequence[str]) -> LockedEnvironment:
    """Resolve ``target`` with ``packages`` beside it, as an installation would today; nothing is installed.

    Raises:
        EnvironmentTrouble: there is no wheel of it here, or uv cannot resolve it, or no digest is known of a package.
    """
    wheel = choose_wheel(target.torch, sources)
    build = Build(str(target.torch), wheel, (*packages, *target.requirements))
    locked = tuple(sorted(_packages(target, _resolved(target, build)), key=lambda package: package.name))
    return LockedEnvironment(
        torch=str(target.torch),
        python=wheel.python,
        platform=platform_id(),
        packages=locked,
        requires=told(build.packages),
        beside=dict(target.beside),
    )


def _resolved(target: Target, build: Build) -> str:
    """What uv writes, as PEP 751 has it: of each package, the wheels that fit this interpreter and platform."""
    compiled = ["pip", "compile", "--quiet", "--no-header", "--format", "pylock.toml", "--only-binary", ":all:"]
    try:
        done = subprocess.run(
            [uv_binary(), "--color=never", *compiled, "--python", build.wheel.executable, "-"],
            input="\n".join(requirement_lines(build)),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=RESOLVE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise _trouble(target, f"it was not resolved within {RESOLVE_SECONDS:.0f} s.") from None
    if done.returncode:
        raise _trouble(target, reason_of(done.stderr))
    return done.stdout


def _packages(target: Target, resolved: str) -> Iterator[LockedPackage]:
    for package in parse_toml(resolved).get("packages", ()):
        name, version = package["name"], package.get("version", "")
        digests = tuple(sorted(_digests(package)))
        if not digests or not version:
            raise _trouble(target, f"the index tells no version or no digest of {name}.")
        yield LockedPackage(name, str(Version(version)), digests)


def _digests(package: dict[str, Any]) -> set[str]:
    files = [*package.get("wheels", ()), *([package["archive"]] if "archive" in package else ())]
    return {file["hashes"]["sha256"] for file in files if "sha256" in file.get("hashes", {})}


def _trouble(target: Target, why: str) -> EnvironmentTrouble:
    return EnvironmentTrouble(TroubleKind.INSTALL_FAILED, f"torch {target} was not locked: {why}")
