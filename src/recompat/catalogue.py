"""What there is of torch: what the sources offer for this platform, what is recorded, and what ``matrix.toml`` names. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, Self, TypedDict

import msgspec
from packaging.tags import sys_tags
from packaging.version import Version

from recompat.interpreters import platform_id, running
from recompat.record import releases_of
from recompat.sources import Source, Sources, origin
from recompat.tracks import Written
from recompat.versions import OLDEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from packaging.tags import Tag

    from recompat.index import Offer
    from recompat.listing import Listing
    from recompat.matrix import Matrix
    from recompat.model import Record

__all__ = ["VERSIONS_SCHEMA", "Build", "Ground", "Recorded", "Release", "Versions", "catalogue"]

VERSIONS_SCHEMA: Final = "recompat/versions/1"


class Build(msgspec.Struct, frozen=True):
    """Wheels of one build for this platform.

    ``build`` is the local part of the version, as in ``cpu``; ``interpreters`` are wheel tags, such as ``cp311``.
    """

    source: str
    build: str | None
    interpreters: tuple[str, ...]
    uploaded: str | None
    yanked: bool


class Recorded(msgspec.Struct, frozen=True):
    """A record; ``trouble`` is its kind, where the environment could not be built or trusted.

    ``beside`` are the packages that an axis of the matrix chose; JSON has it only where there are any.
    """

    environment: str
    python: str
    platform: str
    finished: str
    cases: int
    trouble: str | None
    beside: Written = msgspec.UNSET


class Release(msgspec.Struct, frozen=True):
    """A release; ``offered`` is null where no index told. Without ``builds`` it has no wheel for this platform.

    ``uploaded`` is when its first wheel was, where the index tells; ``matrix`` is the list of ``matrix.toml`` that names it.
    """

    torch: str
    prerelease: bool
    offered: bool | None
    yanked: bool
    uploaded: str | None
    builds: tuple[Build, ...]
    recorded: tuple[Recorded, ...]
    matrix: Literal["default", "known"] | None


class Versions(msgspec.Struct, frozen=True):
    """Releases, newest first; ``older`` counts those that are left out since they are older than 2.0.

    ``indexes`` are those that gave a list, ``silent`` says why others did not. Where none did, ``listed`` is when the index
    listed what is told of it. Times are UTC, ISO 8601.
    """

    generated: str
    platform: str
    python: str
    indexes: tuple[str, ...]
    silent: tuple[str, ...]
    listed: str | None
    older: int
    releases: tuple[Release, ...]
    schema: Literal["recompat/versions/1"] = VERSIONS_SCHEMA


class Ground(msgspec.Struct, frozen=True):
    """Where this runs: ``tags`` are the platforms of wheels that it takes, such as ``manylinux_2_28_x86_64``."""

    platform: str
    python: str
    tags: frozenset[str]

    @classmethod
    def here(cls) -> Self:
        """This machine, and the interpreter that runs this."""
        return cls(platform_id(), running(), frozenset(tag.platform for tag in sys_tags()))


def catalogue(
    sources: Sources,
    matrix: Matrix,
    records: Sequence[Record],
    listing: Listing | None,
    wanted: Sequence[Version] | None,
    *,
    ground: Ground,
    generated: str,
) -> Versions:
    """Put together what is known of each release.

    Args:
        sources: what they offer, as they were asked.
        matrix: what ``matrix.toml`` says.
        records: all there are.
        listing: what the index offered when it was last asked; it counts where none answers.
        wanted: the releases to tell of; None for all from 2.0 on, and those that are recorded or in ``matrix.toml``.
        ground: this platform and interpreter.
        generated: the time of now.
    """
    kept = None if sources.reached else listing
    ours = {*matrix.releases, *releases_of(records)}
    there = {*sources.offered.named, *(kept.versions if kept else ()), *ours}
    shown = {version for version in there if version >= OLDEST or version in ours} if wanted is None else {*wanted}
    names = dict.fromkeys(origin(source, offer) for source, held in sources.offers.items() for offer in held)
    return Versions(
        generated=generated,
        platform=ground.platform,
        python=ground.python,
        indexes=tuple(name for name in names if name != Source.FOLDER),
        silent=tuple(sources.silent.values()),
        listed=kept.date if kept else None,
        older=len(there - shown) if wanted is None else 0,
        releases=tuple(
            Release(
                torch=str(version),
                prerelease=version.is_prerelease,
                recorded=tuple(_recorded(records, version, ground)),
                matrix="default" if version in matrix.default else "known" if version in matrix.known else None,
                **_offered(version, sources, kept, ground),
            )
            for version in sorted(shown, reverse=True)
        ),
    )


class _Offers(TypedDict):
    offered: bool | None
    yanked: bool
    uploaded: str | None
    builds: tuple[Build, ...]


def _offered(version: Version, sources: Sources, kept: Listing | None, ground: Ground) -> _Offers:
    """What the sources tell of a release, or else the kept listing."""
    found = [
        (origin(source, o), o) for source in Source for o in sources.offers.get(source, ()) if o.release == version
    ]
    known = bool(found) or (kept is not None and version in kept.versions)
    return _Offers(
        offered=known or (False if sources.reached else None),
        yanked=bool(found) and all(offer.yanked for _, offer in found),
        uploaded=_first_time(offer for _, offer in found),
        builds=tuple(_builds(found, ground)),
    )


def _builds(found: Iterable[tuple[str, Offer]], ground: Ground) -> Iterator[Build]:
    """Join the wheels of a build that this platform takes."""
    builds: dict[tuple[str, str | None], list[Offer]] = {}
    for source, offer in found:
        if any(tag.platform in ground.tags for tag in offer.tags):
            builds.setdefault((source, offer.version.local), []).append(offer)
    for (source, build), offers in builds.items():
        fitting = {tag for offer in offers for tag in offer.tags if tag.platform in ground.tags}
        yield Build(
            source=source,
            build=build,
            interpreters=tuple(sorted({_interpreter(tag) for tag in fitting}, key=_by_number)),
            uploaded=_first_time(offers),
            yanked=all(offer.yanked for offer in offers),
        )


def _interpreter(tag: Tag) -> str:
    """What a wheel tag calls its interpreter: ``cp311``, free-threaded ``cp313t``, ``cp38-abi3`` and newer, ``py3``."""
    if tag.abi in {tag.interpreter, f"{tag.interpreter}m", "none"}:
        return tag.interpreter
    return tag.abi if tag.abi == f"{tag.interpreter}t" else f"{tag.interpreter}-{tag.abi}"


def _by_number(name: str) -> tuple[bool, int, str]:
    """``cp39`` before ``cp310``, and free-threaded ones last."""
    digits = re.sub(r"\D", "", name.partition("-")[0])
    return name.endswith("t"), int(digits[1:] or 0), name


def _first_time(offers: Iterable[Offer]) -> str | None:
    return min((offer.uploaded for offer in offers if offer.uploaded), default=None)


def _recorded(records: Sequence[Record], version: Version, ground: Ground) -> Iterator[Recorded]:
    """The records of a release: this platform's first, then the newest."""
    own = [record for record in records if Version(record.environment.torch) == version]
    newest = sorted(own, key=lambda record: record.run.finished, reverse=True)
    for record in sorted(newest, key=lambda record: record.environment.platform != ground.platform):
        environment = record.environment
        yield Recorded(
            environment=environment.id,
            python=environment.python,
            platform=environment.platform,
            finished=record.run.finished,
            cases=len(record.results),
            trouble=record.trouble.kind.value if record.trouble else None,
            beside=environment.beside or msgspec.UNSET,
        )
