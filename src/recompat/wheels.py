"""Which wheel, on which interpreter, for a release."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import msgspec

from recompat.index import Offer
from recompat.interpreters import find_interpreter, supported_tags, tags_newest_first
from recompat.model import Trouble, TroubleKind
from recompat.sources import Source, Sources, origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from packaging.version import Version

__all__ = ["EnvironmentTrouble", "Wheel", "choose_wheel"]


class EnvironmentTrouble(Exception):
    """An environment cannot be built or trusted; carries the ``Trouble`` that its record will hold."""

    def __init__(self, kind: TroubleKind, reason: str) -> None:
        self.trouble = Trouble(kind, reason)
        super().__init__(reason)


class Wheel(msgspec.Struct, frozen=True):
    """A wheel and the interpreter for it: ``python`` is its tag; ``executable`` is a path, or a version for uv to fetch.

    ``digests`` are those that what is installed may have; without any, the source tells none.
    """

    offer: Offer
    source: Source
    python: str
    executable: str
    digests: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """Where it came from, as records say it."""
        return origin(self.source, self.offer)


def choose_wheel(release: Version, sources: Sources) -> Wheel:
    """Choose the interpreter (the running one if it has a wheel, else the newest there is), then the first source.

    Raises:
        EnvironmentTrouble: no source has the release, or none has a wheel of it for this platform.
    """
    fetchable: Wheel | None = None
    for python, source, offer in _matches(release, sources):
        executable = find_interpreter(python)
        if executable:
            return Wheel(offer, source, python, executable, _digests(source, offer, sources))
        version = f"3.{python.removeprefix('cp3')}"
        fetchable = fetchable or Wheel(offer, source, python, version, _digests(source, offer, sources))
    if fetchable:
        return fetchable
    raise _trouble(release, sources)


def _matches(release: Version, sources: Sources) -> Iterator[tuple[str, Source, Offer]]:
    """The wheel of each interpreter, if it has one: a yanked one only where no interpreter has another."""
    offered = [(s, o) for s in Source for o in _plain_first(sources.offers.get(s, ())) if o.release == release]
    for yanked, python in itertools.product((False, True), tags_newest_first()):
        tags = supported_tags(python)
        fitting = ((s, o) for s, o in offered if o.yanked is yanked and not tags.isdisjoint(o.tags))
        for source, offer in itertools.islice(fitting, 1):
            yield python, source, offer


def _digests(source: Source, offer: Offer, sources: Sources) -> tuple[str, ...]:
    """Of a wheel that is named, its own; from the default index uv chooses one of the release's."""
    offers = [offer]
    if source is Source.DEFAULT:
        offers = [one for one in sources.offers[source] if one.release == offer.release]
    known = sorted({one.sha256 for one in offers if one.sha256})
    return tuple(known) if all(one.sha256 for one in offers) else ()


def _plain_first(offers: Iterable[Offer]) -> list[Offer]:
    """``2.3.0+cpu`` before ``2.3.0+cpu.cxx11.abi``, which stands beside it on the same index."""
    return sorted(offers, key=lambda offer: len(offer.version.local or ""))


def _trouble(release: Version, sources: Sources) -> EnvironmentTrouble:
    if release in {offer.release for offers in sources.offers.values() for offer in offers}:
        return EnvironmentTrouble(
            TroubleKind.NO_WHEEL, f"torch {release} has no wheel for this platform; run it on another one."
        )
    if not sources.reached or Source.NAMED in sources.silent:
        why = "; ".join(sources.silent.values())
        return EnvironmentTrouble(
            TroubleKind.UNREACHABLE,
            f"torch {release} could not be looked up: {why}. Check the network and run it again.",
        )
    newest = ", ".join(map(str, sources.releases[-3:]))
    hint = ", or an index that has it with --index-url" if release.is_prerelease else ""
    return EnvironmentTrouble(
        TroubleKind.NO_RELEASE,
        f"There is no torch {release}; the newest are {newest}. Name another one with --torch{hint}.",
    )
