"""The claims of one case along the releases, so that they say what was observed, in as few ranges as that takes. Pure."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import msgspec
from packaging.specifiers import SpecifierSet

from recompat.boundary import Ending
from recompat.errors import ConfigurationError
from recompat.expectations import shared
from recompat.versions import covers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from packaging.version import Version

    from recompat.expectations import Expectation

__all__ = ["Range", "settle"]

LOWER, UPPER = {">=", ">"}, {"<", "<="}


class Range(msgspec.Struct, frozen=True):
    """A range of releases, and who speaks of it: a claim, by its number, or a new one with this ending.

    Without ``torch``, the claim's own range stays as it is. A claim that another splits is there more than once.
    """

    torch: str | None
    by: int | Ending


_Owner = int | Ending | None
"""Who speaks of a release: a claim, by its number; a new one; nobody."""


def settle(
    claims: Sequence[Expectation],
    seen: Mapping[Version, Ending],
    accepted: Collection[Version],
    releases: Iterable[Version],
) -> tuple[Range, ...]:
    """Find the ranges that say what was observed, oldest first; where the claims do already, theirs.

    A claim keeps the releases where it holds, and grows over neighbours that ended the same; if it then meets one that says
    the same for the same reason, they are one. A release that nobody observed belongs to its neighbours where these agree.
    The newest range is open.

    Args:
        claims: those of the case as they stand.
        seen: how the case ended on each release that is recorded.
        accepted: the releases whose ending is to be claimed; elsewhere the claims stay.
        releases: all that are known.

    Raises:
        ConfigurationError: a range cannot be told apart from another claim's.
    """
    line = _Line(claims, seen, accepted, releases)
    if all(line.after[release] == line.before[release] for release in seen if release in accepted):
        return tuple(Range(None, number) for number in range(len(claims)))
    line.spread()
    return tuple(_Writer(line).ranges())


class _Line:
    """The releases in order, and who speaks of each, before and after; at first of those alone that were observed."""

    def __init__(
        self,
        claims: Sequence[Expectation],
        seen: Mapping[Version, Ending],
        accepted: Collection[Version],
        releases: Iterable[Version],
    ) -> None:
        self.claims = claims
        self.releases = sorted({*releases, *seen})
        self.before = {release: self._claim(release) for release in self.releases}
        self.after: dict[Version, _Owner] = {
            release: self._owner(release, ending) if release in accepted else self.before[release]
            for release, ending in seen.items()
        }

    def spread(self) -> None:
        """Find out who speaks of the others."""
        self.after |= self._undisturbed()
        for order in (self.releases, self.releases[::-1]):
            self._join(order)
        self._merge()
        self.after |= self._between()

    def _claim(self, release: Version) -> int | None:
        return next((number for number, claim in enumerate(self.claims) if claim.covers(release)), None)

    def _owner(self, release: Version, ending: Ending) -> _Owner:
        number = self.before[release]
        return number if number is not None and self._allows(number, ending) else ending

    def _allows(self, number: int, ending: Ending) -> bool:
        return self.claims[number].allows(ending.outcome, ending.exception, ending.warned)

    def _undisturbed(self) -> dict[Version, _Owner]:
        """What nobody observed stays with its claim, unless that has just lost the release before."""
        found: dict[Version, _Owner] = {}
        lost = None
        for release in self.releases:
            number = self.before[release]
            if release in self.after:
                lost = number if self.after[release] != number else None
            elif number is not None and number != lost:
                found[release] = number
        return found

    def _join(self, order: Iterable[Version]) -> None:
        """Let claims grow over releases that ended as they say."""
        neighbour: _Owner = None
        for release in order:
            if release in self.after:
                here = self.after[release]
                if isinstance(here, Ending) and isinstance(neighbour, int) and self._allows(neighbour, here):
                    self.after[release] = neighbour
                neighbour = self.after[release]

    def _merge(self) -> None:
        """Let a claim that grows take in a neighbour that says the same in every word."""
        known = [release for release in self.releases if release in self.after]
        for one, other in itertools.pairwise(known):
            left, right = self.after[one], self.after[other]
            if isinstance(left, int) and isinstance(right, int) and left != right and self._are_one(left, right):
                self.after |= {release: left for release in known if self.after[release] == right}

    def _are_one(self, one: int, other: int) -> bool:
        grown = {owner for release, owner in self.after.items() if owner != self.before[release]}
        return bool(grown & {one, other}) and self.claims[one].says_as(self.claims[other])

    def _between(self) -> dict[Version, _Owner]:
        known = [release for release in self.releases if release in self.after]
        found: dict[Version, _Owner] = {}
        for release in self.releases:
            if release not in self.after:
                left = max((one for one in known if one < release), default=None)
                right = min((one for one in known if one > release), default=None)
                found[release] = self._agreed(release, left, right)
        return found

    def _agreed(self, release: Version, left: Version | None, right: Version | None) -> _Owner:
        """Who speaks of a release between two others: who speaks of both, or else whoever did before."""
        ends = [end for end in (left, right) if end is not None]
        owners = {self.after[end] for end in ends}
        owner = owners.pop() if len(owners) == 1 else None
        if left is None:  # a range begins with a minor, as people write it, and not with a patch
            same_minor = right is not None and right.release[:2] == release.release[:2]
            return owner if same_minor and isinstance(owner, Ending) else self.before[release]
        grown = isinstance(owner, Ending) or any(self.before[end] != owner for end in ends)
        return owner if owner is not None and grown else self.before[release]


class _Writer:
    """Writes the ranges one by one, each apart from those that are settled."""

    def __init__(self, line: _Line) -> None:
        self._line = line
        everyone = range(len(line.claims))
        self._owned = {number: [v for v in line.releases if line.after[v] == number] for number in everyone}
        covered = {number: [v for v in line.releases if line.before[v] == number] for number in everyone}
        self._untouched = {
            number for number in everyone if self._owned[number] and self._owned[number] == covered[number]
        }
        self._settled = [line.claims[number].torch for number in sorted(self._untouched)]

    def ranges(self) -> Iterator[Range]:
        """Go along the releases, from one range to the next."""
        done: set[int] = set()
        for owner, group in itertools.groupby(self._line.releases, key=self._line.after.__getitem__):
            run = list(group)
            if isinstance(owner, Ending):
                yield Range(self._write(run, owner), owner)
            elif owner is not None and owner not in done:
                torch = None if owner in self._untouched else self._write_whole(owner)
                if torch is not None or owner in self._untouched:
                    done.add(owner)
                yield Range(torch, owner) if owner in done else Range(self._write(run, owner), owner)

    def _write_whole(self, number: int) -> str | None:
        """Write all releases of a claim as one range, if it had gaps before and they are still the same."""
        gaps = [str(one) for one in self._line.claims[number].torch if one.operator not in LOWER | UPPER]
        return self._fitting(self._owned[number], number, gaps) if gaps else None

    def _write(self, run: Sequence[Version], owner: _Owner) -> str:
        torch = self._fitting(run, owner)
        if torch is None:
            raise ConfigurationError(
                f"the range from torch {run[0]} to {run[-1]} cannot be told apart from another claim's; write it by hand."
            )
        return torch

    def _fitting(self, wanted: Sequence[Version], owner: _Owner, gaps: Sequence[str] = ()) -> str | None:
        """The first form that says what is wanted, and nothing that is settled."""
        for torch in self._forms(wanted, owner, gaps):
            specifier = SpecifierSet(torch)
            said = [release for release in self._line.releases if covers(specifier, release)]
            apart = all(shared(specifier, other, self._line.releases) is None for other in self._settled)
            if said == wanted and apart:
                self._settled.append(specifier)
                return torch
        return None

    def _forms(self, wanted: Sequence[Version], owner: _Owner, gaps: Sequence[str]) -> Iterator[str]:
        """Ways to write a range, the best first: by the bounds that are there, by minors, patches, exactly."""
        first, last = wanted[0], wanted[-1]
        place = self._line.releases.index(last) + 1
        following = next(iter(self._line.releases[place:]), None)
        lower = [*self._bounds(first, LOWER), *(f">={version}" for version in _short(first))]
        upper = [f"<{version}" for version in _short(following)] if following else [""]
        if following or self._line.before[last] == owner:
            upper = [*self._bounds(last, UPPER), *upper]
        preceding = self._line.releases[: self._line.releases.index(first)]
        lower += [f">{version.public}" for version in preceding[-1:] if version.is_prerelease]
        yield from (",".join(filter(None, (one, other, *gaps))) for one, other in itertools.product(lower, upper))
        if len(wanted) == 1:
            yield f"=={first.public}"
        yield from (",".join((one, f"<={last.public}", *gaps)) for one in lower)

    def _bounds(self, release: Version, operators: Collection[str]) -> Iterator[str]:
        """The bounds of the claim that spoke of a release before."""
        number = self._line.before[release]
        if number is not None:
            for one in self._line.claims[number].torch:
                if one.operator in operators:
                    yield str(one)


def _short(version: Version) -> Iterator[str]:
    """Names for where a range begins: the minor, the patch, and the version itself."""
    for length in (2, 3):
        yield ".".join(map(str, version.release[:length]))
    yield version.public
