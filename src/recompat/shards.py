"""Folders of records from other machines: read, trusted with nothing, and gathered into one folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat.atomic import write_atomically
from recompat.errors import ConfigurationError
from recompat.listing import load_listing
from recompat.merge import Found, merge
from recompat.model import RECORD_SCHEMA
from recompat.private import scrub
from recompat.record import LARGEST, BadRecord, load_record, load_records, save_record
from recompat.report.formats import SITE
from recompat.report.moments import EPOCH, moment
from recompat.report.text import clean
from recompat.tracks import is_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from recompat.model import Environment, Record

__all__ = ["merge_folders", "newest_listing", "safe"]

LONGEST_ID = 200
ID = re.compile(r"torch[0-9][0-9a-z.+]*(-[a-z0-9][0-9a-z.]*)*-[a-z]+[0-9]+t?-[a-z][a-z0-9_]*")
SCHEMA, _, OURS = RECORD_SCHEMA.rpartition("/")
LISTING = "index.json"
RECORDS = "records"


def merge_folders(folders: Sequence[Path], preferred: Path | None, target: Path) -> tuple[str, ...]:
    """Gather the records of ``folders``, and of ``target`` itself, into ``target``.

    Each is written to the name that its own environment has, and only where it is not there already. Nothing of the
    folders is changed.

    Args:
        folders: with records in them, in a folder of theirs, or in ``records`` in either: as artifacts are downloaded.
        preferred: the one of them that counts most.
        target: where to; made if it does not exist.

    Returns:
        A sentence for each file that was skipped, each conflict, and whatever was left out.

    Raises:
        ConfigurationError: there is no record in any of the folders, or one is from a newer recompat.
    """
    read: list[Found] = []
    remarks: list[str] = []
    for folder in folders:
        for path in _files(folder):
            place = str(path.parent)
            try:
                read.append(Found(_trusted(path), place, _same(folder, preferred)))
            except BadRecord as error:
                remarks.append(f"{path} was skipped: {error}.")
    if not read:
        named = ", ".join(map(str, folders))
        raise ConfigurationError(f"There is no record in {clean(named)}; name folders that hold some.", _told(remarks))
    own, set_aside = load_records(target)
    merged = merge([*read, *(Found(record, str(target), _same(target, preferred)) for record in own)])
    for record in merged.records:
        if record not in own:
            save_record(target, record)
    return _told((*set_aside, *remarks, *merged.remarks))


def newest_listing(folders: Iterable[Path], target: Path) -> None:
    """Put what the index offered into ``target``, where a folder has a listing from a later time than the one there."""
    own = load_listing(target)
    newest, content = (moment(own.date) if own else EPOCH), b""
    for path in (path for folder in folders for path in _paths(folder, LISTING) if not _why_not(path)):
        listing = load_listing(path)
        if listing is not None and moment(listing.date) > newest:
            newest, content = moment(listing.date), path.read_bytes()
    if content:
        write_atomically(target, content)


def safe(environment: Environment) -> bool:
    """Whether an environment's id may name a file, on every system: no separator, no capital, no device."""
    name = environment.id
    plain = len(name) <= LONGEST_ID and ID.fullmatch(name) is not None
    return plain and _is_normal(environment.torch) and all(is_beside(*one) for one in environment.beside.items())


def _is_normal(version: str) -> bool:
    try:
        return str(Version(version)) == version
    except ValueError:
        return False


def _trusted(path: Path) -> Record:
    """Read a record that others wrote.

    Raises:
        BadRecord: it is none, or none that can be trusted.
        ConfigurationError: it is from a newer recompat.
    """
    reason = _why_not(path)
    if reason:
        raise BadRecord(reason)
    _refuse_newer(path)
    try:
        record = load_record(path)
    except OSError as error:
        raise BadRecord(f"it cannot be read ({error.strerror})") from error
    if not safe(record.environment):
        raise BadRecord("its environment cannot be the name of a file")
    return record


def _refuse_newer(path: Path) -> None:
    try:
        schema = msgspec.json.decode(path.read_bytes(), type=_Header).schema
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OSError):
        return  # what is wrong with it is said where it is read
    number = re.fullmatch(rf"{re.escape(SCHEMA)}/([0-9]{{1,9}})", schema)
    if number is not None and int(number[1]) > int(OURS):
        raise ConfigurationError(
            f"{clean(str(path))} was written by a newer recompat: its schema is {schema}, and this one reads"
            f" {RECORD_SCHEMA}. Nothing was merged; update recompat."
        )


class _Header(msgspec.Struct):
    schema: str


def _why_not(path: Path) -> str:
    """Say why a file is not even opened; nothing for one that may be."""
    if path.is_symlink():
        return "it is a link"
    if not path.is_file():
        return "it is no file"
    return f"it has more than {LARGEST >> 20} MiB" if path.stat().st_size > LARGEST else ""


def _files(folder: Path) -> Iterator[Path]:
    """What may be records: JSON, and none of the files that reports consist of."""
    return (path for path in _paths(folder, "*.json") if path.name not in {*SITE, LISTING})


def _paths(folder: Path, pattern: str) -> Iterator[Path]:
    children = _folders(folder)
    deeper = (inner for child in children for inner in _folders(child) if inner.name == RECORDS)
    return (path for place in (folder, *children, *deeper) for path in sorted(place.glob(pattern)))


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())


def _same(folder: Path, other: Path | None) -> bool:
    return other is not None and folder.resolve() == other.resolve()


def _told(remarks: Iterable[str]) -> tuple[str, ...]:
    """Put each remark on a line of its own, without what is private: notices are on the page."""
    return tuple(clean(str(scrub(remark)), 1000) for remark in remarks)
