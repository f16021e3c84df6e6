"""What uv is told to install, as a file of requirements has it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from recompat.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recompat.environment import Build

__all__ = ["requirement_lines"]

OBEYED: Final = re.compile(r"[^!-~]|[${}\\]")
"""What may not stand in an address: the end of one, and ``${NAME}``, in whose place uv puts the user's variable."""


def requirement_lines(build: Build) -> list[str]:
    """Name what goes into an environment, with its digests as far as they are known.

    The default index is resolved by uv itself; a torch from elsewhere is named by its address.
    """
    if not build.locked:
        return [_pinned("torch", build.release, build, build.wheel.digests), *build.packages]
    return [_pinned(one.name, one.version, build, one.sha256) for one in build.locked]


def _pinned(name: str, version: str, build: Build, digests: Iterable[str]) -> str:
    addresses = {canonicalize_name(one.name): one.url for one in map(Requirement, build.packages) if one.url}
    if build.wheel.source is not Source.DEFAULT:
        addresses[canonicalize_name("torch")] = OBEYED.sub(lambda sign: quote(sign[0], safe=""), build.wheel.offer.url)
    address = addresses.get(canonicalize_name(name))
    wanted = f"{name} @ {address}" if address else f"{name}=={version}"
    return " ".join((wanted, *(f"--hash=sha256:{digest}" for digest in digests)))
