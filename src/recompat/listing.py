"""``reports/index.json``: what the index offered when it was last asked, so that boundaries can be judged offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec
from packaging.version import Version

from recompat.atomic import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.versions import Offered

__all__ = ["INDEX_SCHEMA", "Listing", "load_listing", "save_listing"]

INDEX_SCHEMA: Final = "recompat/index/1"


class Listing(msgspec.Struct, frozen=True):
    """What the index offered, oldest first, without yanked releases; ``date`` is in UTC, ISO 8601.

    ``previews`` are pre-releases, those of named indexes too; a file from before they were listed has none.
    """

    date: str
    releases: tuple[str, ...]
    previews: tuple[str, ...] = ()
    schema: Literal["recompat/index/1"] = INDEX_SCHEMA

    @property
    def versions(self) -> tuple[Version, ...]:
        """All of them, to be compared."""
        return tuple(Version(release) for release in (*self.releases, *self.previews))


def save_listing(path: Path, offered: Offered, date: str) -> None:
    """Write what the index offers, whole or not at all."""
    listing = Listing(date, tuple(map(str, offered.releases)), tuple(map(str, offered.previews)))
    write_atomically(path, msgspec.json.format(msgspec.json.encode(listing), indent=1) + b"\n")


def load_listing(path: Path) -> Listing | None:
    """Read it back; what is missing or cannot be read is as if the index had never been asked."""
    try:
        listing = msgspec.json.decode(path.read_bytes(), type=Listing)
        return listing if listing.versions and listing.releases else None
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return None
