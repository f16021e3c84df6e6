"""Whether a run would find everything as the last one left it: then nothing is planned, judged or drawn again.

What a matrix is made of is digested whole, contents and all: a copy of an older file with an older date is another file. The
table that was shown is kept beside the digest, and the summary for what is to look otherwise: as MessagePack, which, other than JSON, holds
every number and the order of all.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from recompat import __version__
from recompat.atomic import write_atomically
from recompat.clock import now
from recompat.console import wants_colour, width
from recompat.errors import ExitCode
from recompat.interpreters import platform_id, running
from recompat.project import probe_digest
from recompat.site import NAME
from recompat.versions import are_all_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.options import Options
    from recompat.project import Project
    from recompat.summary import Summary

__all__ = ["Published", "look", "remember", "unchanged"]

KEPT: Final = "published.msgpack"
OWN: Final = Path(__file__).parent


class Published(msgspec.Struct, frozen=True):
    """What a run showed: its table as it looked, its notices, how it ended, and the summary that it was drawn from."""

    look: str
    table: str
    notices: tuple[str, ...]
    exit_code: ExitCode
    encoded: msgspec.Raw

    @property
    def summary(self) -> Summary:
        """The summary itself, decoded each time."""
        from recompat.summary import Summary  # seldom needed, and nine tenths of the time

        return msgspec.msgpack.decode(self.encoded, type=Summary)


class _Kept(msgspec.Struct, frozen=True):
    digest: str
    published: Published


def look() -> str:
    """What a table depends on besides its summary: the width that it may have, and whether there are colours."""
    return f"{width()} {wants_colour()}"


def unchanged(project: Project, options: Options, today: str | None = None) -> Published | None:
    """What the last run published, if with the same options a run of ``today`` would publish the same; else None.

    The day counts since a claim may end with one; it is that of UTC.
    """
    if not _is_plain(options):
        return None
    with contextlib.suppress(OSError, msgspec.MsgspecError, RecursionError):
        kept = msgspec.msgpack.decode((project.reports / KEPT).read_bytes(), type=_Kept)
        if kept.digest == _digest(project, options, today or now()[:10]):
            return kept.published
    return None


def remember(project: Project, options: Options, summary: Summary, table: str) -> None:
    """Keep what was published, after a run that left nothing to be run."""
    if _is_plain(options):
        with contextlib.suppress(OSError):  # then the next run makes it again
            encoded = msgspec.Raw(msgspec.msgpack.encode(summary))
            published = Published(look(), table, summary.notices, summary.exit_code, encoded)
            kept = _Kept(_digest(project, options, now()[:10]), published)
            write_atomically(project.reports / KEPT, msgspec.msgpack.encode(kept))


def _is_plain(options: Options) -> bool:
    """Whether what is run depends on files alone: no index is asked, and nothing is run again or told otherwise."""
    named = options.torch is None or are_all_named(options.torch)
    return named and not (options.rerun or options.format or options.fail_on or options.index_urls)


def _digest(project: Project, options: Options, today: str) -> str:
    words = [
        __version__,
        probe_digest(),
        running(),
        platform_id(),
        today,
        repr(options),
    ]
    total = hashlib.sha256("\0".join(words).encode(errors="surrogateescape"))
    for path in _read(project):
        total.update(f"\0{path.name}\0".encode(errors="surrogateescape") + hashlib.sha256(path.read_bytes()).digest())
    for path in _seen(project):
        status = path.stat()
        total.update(f"\0{path}\0{status.st_size} {status.st_mtime_ns}".encode(errors="surrogateescape"))
    return total.hexdigest()


def _read(project: Project) -> Iterator[Path]:
    """What a matrix is made of."""
    yield from (project.matrix, project.expectations)
    yield from (path for path in (project.listing, project.lock) if path.exists())
    yield from sorted(project.cases.glob("*.py"))
    yield from sorted(project.records.glob("*.json"))


def _seen(project: Project) -> Iterator[Path]:
    """What it was made with, and what it was made into: their sizes and dates tell enough."""
    for folder in (OWN, project.reports / NAME):
        yield from sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    yield from sorted(path for path in project.reports.glob("*") if path.is_symlink())
