"""Which releases a run is about: selectors such as ``2.11.0,2.15.0``, ``>=2.9,<2.12``, ``latest-minors`` and ``new``. Pure."""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from typing import TYPE_CHECKING

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from recompat.errors import ConfigurationError, NothingSelected

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

__all__ = ["OLDEST", "Offered", "are_all_named", "covers", "latest_minors", "new_releases", "select_releases"]

OLDEST = Version("2.0")  # where ranges and latest-minors begin; an older release has to be named
WORDS = ("latest", "latest-minors", "newest-3", "new", "pre")
NEWEST = re.compile(r"newest-([1-9]\d{0,3})")
MOST_LISTED = 10  # pre-releases that a message names: a nightly index has one for every day


class Offered(msgspec.Struct, frozen=True):
    """What there is to select from, each oldest first; what is yanked is selected by its own name alone."""

    releases: tuple[Version, ...] = ()
    previews: tuple[Version, ...] = ()
    yanked: tuple[Version, ...] = ()

    @classmethod
    def of(cls, versions: Iterable[Version], yanked: Iterable[Version] = ()) -> Offered:
        """Sort versions into releases and pre-releases; one that is in ``versions`` is not yanked."""
        known = sorted(set(versions))
        return cls(
            releases=tuple(version for version in known if not version.is_prerelease),
            previews=tuple(version for version in known if version.is_prerelease),
            yanked=tuple(sorted(set(yanked) - set(known))),
        )

    @property
    def named(self) -> tuple[Version, ...]:
        """All that can be selected by name."""
        return (*self.releases, *self.previews, *self.yanked)


def select_releases(
    selector: str,
    local: Sequence[Version],
    offered: Callable[[], Offered],
    seen: Callable[[], Collection[Version]] = tuple,
) -> tuple[Version, ...]:
    """The releases that ``selector`` names, oldest first.

    Args:
        selector: parts joined by commas; the result is their union, but operators side by side form one range.
        local: releases that are known without asking anyone; named alone, they need no index.
        offered: asked for what the index has, and only if the selector needs it.
        seen: asked for the releases that are no news, and only by ``new``.

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
            found = _match(part, exact, offered(), seen)
        if not found:
            raise _nothing(part, offered())
        chosen.update(found)
    return tuple(sorted(chosen))


def are_all_named(selector: str) -> bool:
    """Whether a selector names releases one by one, so that it stands for the same ones whatever there is.

    Raises:
        ConfigurationError: a part that cannot be read.
    """
    return all(_version(part) is not None for part in _parts(selector))


def latest_minors(releases: Iterable[Version]) -> list[Version]:
    """The newest patch of every minor from ``OLDEST`` on."""
    ordered = sorted(v for v in releases if v >= OLDEST)
    return [max(group) for _, group in itertools.groupby(ordered, key=lambda v: v.release[:2])]


def new_releases(releases: Iterable[Version], seen: Collection[Version]) -> list[Version]:
    """What a watcher of releases has not seen: the newest patch of each minor that is newer than all that was seen.

    A later patch of a minor that was seen is news too, although a newer minor was seen. A patch that was replaced before
    anybody looked is none, and neither is a release that was left out on the way: ranges and ``latest-minors`` find those.
    """
    finished = [release for release in seen if not release.is_prerelease]
    newest = max(finished, default=OLDEST)

    def is_new(release: Version) -> bool:
        patches = [one for one in finished if one.release[:2] == release.release[:2]]
        return release > max(patches, default=newest)

    return [release for release in latest_minors(releases) if release not in finished and is_new(release)]


@functools.lru_cache(10_000)
def covers(specifier: SpecifierSet, version: Version) -> bool:
    """Whether a range of releases speaks of ``version``, as matrix.toml and expectations.toml mean it.

    A pre-release counts as the release that it leads to: PEP 440 has ``2.16.0rc1`` neither in ``<2.16`` nor in ``>=2.16``.
    A range that itself names a pre-release is taken at its word.
    """
    if version.is_prerelease and not specifier.prereleases:
        version = Version(version.base_version)
    return specifier.contains(version, prereleases=True)


def _match(
    part: str, exact: Version | None, offered: Offered, seen: Callable[[], Collection[Version]]
) -> Sequence[Version]:
    match part:
        case "latest":
            return offered.releases[-1:]
        case "latest-minors":
            return latest_minors(offered.releases)
        case "new":
            return new_releases(offered.releases, seen())
        case "pre":
            return _newest_previews(offered.previews)
        case _ if newest := NEWEST.fullmatch(part):
            return offered.releases[-int(newest[1]) :]
        case _ if exact is not None:
            return [v for v in offered.named if v == exact]
        case _:
            return _in_range(_specifier(part), offered)


def _newest_previews(previews: Sequence[Version]) -> list[Version]:
    """The newest candidate, and the newest of the builds of a day."""
    candidates = [version for version in previews if not version.is_devrelease]
    return [*candidates[-1:], *[version for version in previews if version.is_devrelease][-1:]]


def _in_range(specifier: SpecifierSet, offered: Offered) -> list[Version]:
    pool = (*offered.releases, *(offered.previews if specifier.prereleases else ()))
    return [v for v in pool if v >= OLDEST and specifier.contains(v, prereleases=True)]


def _nothing(part: str, offered: Offered) -> NothingSelected:
    """Say what there is."""
    there = [release for release in offered.releases if release >= OLDEST]
    said = [f"No release matches --torch {part}. There are: {_listed(there)}."]
    if part == "new":
        run = "were run here (where nothing was, those of matrix.toml count)"
        why = f"all that there are {run}, left out on the way, or replaced by a later patch"
        said[0] = f"No release is new: the newest is {_listed(there[-1:])}, and {why}."
    if offered.previews:
        said.append(f"Pre-releases: {_listed(offered.previews[-MOST_LISTED:])}.")
    if offered.yanked:
        said.append(f"Yanked: {_listed(offered.yanked)}.")
    exact = _version(part)
    if part == "pre" or (exact is not None and exact.is_prerelease):
        said.append("Pre-releases may be on another index; name it with --index-url.")
    return NothingSelected(" ".join(said))


def _listed(releases: Iterable[Version]) -> str:
    return ", ".join(map(str, releases)) or "none"


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
        close = difflib.get_close_matches(part, WORDS, n=1)
        meant = f"did you mean {close[0]}? Write" if close else "write"
        raise ConfigurationError(
            f"--torch {part} cannot be read; {meant} a release (2.11.0), a range (>=2.9), latest, latest-minors, newest-3,"
            " new or pre."
        ) from None
    return specifier
