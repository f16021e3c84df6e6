"""Which wheel, on which interpreter, for a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.index import Offer
from recompat.interpreters import find_interpreter, supported_tags, tags_newest_first
from recompat.model import Trouble, TroubleKind
from recompat.sources import Source, Sources

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
    """A wheel and the interpreter for it: ``python`` is its tag; ``executable`` is a path, or a version for uv to fetch."""

    offer: Offer
    source: Source
    python: str
    executable: str


def choose_wheel(release: Version, sources: Sources) -> Wheel:
    """Choose the interpreter (the running one if it has a wheel, else the newest there is), then the first source.

    Raises:
        EnvironmentTrouble: no source has the release, or none has a wheel of it for this platform.
    """
    fetchable: Wheel | None = None
    for python, source, offer in _matches(release, sources):
        executable = find_interpreter(python)
        if executable:
            return Wheel(offer, source, python, executable)
        fetchable = fetchable or Wheel(offer, source, python, f"3.{python.removeprefix('cp3')}")
    if fetchable:
        return fetchable
    raise _trouble(release, sources)


def _matches(release: Version, sources: Sources) -> Iterator[tuple[str, Source, Offer]]:
    offered = [(s, o) for s in Source for o in _plain_first(sources.offers.get(s, ())) if o.release == release]
    for python in tags_newest_first():
        tags = supported_tags(python)
        for source, offer in offered:
            if not tags.isdisjoint(offer.tags):
                yield python, source, offer
                break


def _plain_first(offers: Iterable[Offer]) -> list[Offer]:
    """``2.3.0+cpu`` before ``2.3.0+cpu.cxx11.abi``, which stands beside it on the same index."""
    return sorted(offers, key=lambda offer: len(offer.version.local or ""))


def _trouble(release: Version, sources: Sources) -> EnvironmentTrouble:
    if release in {offer.release for offers in sources.offers.values() for offer in offers}:
        return EnvironmentTrouble(
            TroubleKind.NO_WHEEL, f"torch {release} has no wheel for this platform; run it on another one."
        )
    if not sources.reached:
        why = "; ".join(sources.silent.values())
        return EnvironmentTrouble(
            TroubleKind.UNREACHABLE,
            f"torch {release} could not be looked up: {why}. Check the network and run it again.",
        )
    newest = ", ".join(map(str, sources.releases[-3:]))
    return EnvironmentTrouble(
        TroubleKind.NO_RELEASE, f"There is no torch {release}; the newest are {newest}. Name another one with --torch."
    )
