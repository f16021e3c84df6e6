"""Which releases a run is about: selectors such as ``2.11.0,2.15.0``, ``>=2.9,<2.12`` and ``latest-minors``."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from recompat.errors import ConfigurationError, NothingSelected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["OLDEST", "latest_minors", "select_releases"]

OLDEST = Version("2.0")  # where ranges and latest-minors begin; an older release has to be named


def select_releases(
    selector: str, local: Sequence[Version], listing: Callable[[], Sequence[Version]]
) -> tuple[Version, ...]:
    """The releases that ``selector`` names, oldest first.

    Args:
        selector: parts joined by commas; the result is their union, but operators side by side form one range.
        local: releases that are known without asking anyone; named alone, they need no index.
        listing: asked for the releases on the index, and only if the selector needs it.

    Raises:
        ConfigurationError: a part that cannot be read.
        NothingSelected: a part that matches no release; the message says what there is.
    """
    chosen: set[Version] = set()
    for part in _parts(selector):
        exact = _version(part)
        if exact is not None and exact in local:
            found: Iterable[Version] = [next(release for release in local if release == exact)]
        else:
            found = _match(part, exact, listing())
        if not found:
            there = ", ".join(str(release) for release in listing() if release >= OLDEST)
            raise NothingSelected(f"No release matches --torch {part}. There are: {there or 'none'}.")
        chosen.update(found)
    return tuple(sorted(chosen))


def latest_minors(releases: Iterable[Version]) -> list[Version]:
    """The newest patch of every minor from ``OLDEST`` on."""
    ordered = sorted(v for v in releases if v >= OLDEST)
    return [max(group) for _, group in itertools.groupby(ordered, key=lambda v: v.release[:2])]


def _match(part: str, exact: Version | None, releases: Sequence[Version]) -> list[Version]:
    match part:
        case "latest":
            return [max(releases)] if releases else []
        case "latest-minors":
            return latest_minors(releases)
        case _ if exact is not None:
            return [v for v in releases if v == exact]
        case _:
            specifier = _specifier(part)
            return [v for v in releases if v >= OLDEST and specifier.contains(v, prereleases=True)]


def _parts(selector: str) -> list[str]:
    parts: list[str] = []
    for piece in filter(None, (piece.strip() for piece in selector.split(","))):
        if parts and _is_clause(piece) and _is_clause(parts[-1]):
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
    if not parts:
        raise ConfigurationError("--torch is empty; give a release, a range or latest-minors.")
    return parts


def _is_clause(piece: str) -> bool:
    return piece[0] in "<>=!~"


def _version(part: str) -> Version | None:
    try:
        return Version(part)
    except ValueError:  # InvalidVersion, or a number of thousands of digits
        return None


def _specifier(part: str) -> SpecifierSet:
    try:
        specifier = SpecifierSet(part)
        specifier.contains(OLDEST)  # reads the versions in it
    except ValueError:
        raise ConfigurationError(
            f"--torch {part} cannot be read; write a release (2.11.0), a range (>=2.9), latest or latest-minors."
        ) from None
    return specifier
