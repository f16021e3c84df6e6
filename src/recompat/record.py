"""JSON to Record and back: the border that nothing crosses unless it can be trusted."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from packaging.version import Version

from recompat.atomic import write_atomically
from recompat.collection import without_collection
from recompat.model import RECORD_SCHEMA, Record
from recompat.private import may_be_private, scrub, scrubber_here
from recompat.report.text import clean
from recompat.tracks import is_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from recompat.model import Evidence

__all__ = [
    "LARGEST",
    "BadRecord",
    "encode_record",
    "load_record",
    "load_records",
    "releases_of",
    "save_record",
]


LARGEST: Final = 32 << 20  # bytes of a record; the library's have less than 2 MiB
MOST_VALUES: Final = 1_000_000  # of a record; each takes some hundred bytes of memory, however short it is written

_ENCODER = msgspec.json.Encoder(order="sorted")


class BadRecord(Exception):
    """A record that cannot be trusted; the message says why."""


def save_record(folder: Path, record: Record) -> Path:
    """Write ``record`` to ``<folder>/<environment id>.json``, whole or not at all, and without what is private."""
    path = folder / f"{record.environment.id}.json"
    here = scrubber_here(*folder.absolute().parents[:2])
    write_atomically(path, encode_record(_scrubbed(record, here.data)))
    return path


def encode_record(record: Record) -> bytes:
    """Write a record's JSON, with its digest."""
    content = msgspec.to_builtins(record)
    content["digest"] = _digest(content)
    return _lines(content)


def load_record(path: Path) -> Record:
    """Read a record, without what is private: it may be from before, or from elsewhere.

    Raises:
        BadRecord: it is truncated, of another schema, not what was written, or larger than any record.
        FileNotFoundError: there is none.
    """
    content = _read(path)
    try:
        record = _as_written(content) or _checked(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(clean(str(error))) from error
    try:
        Version(record.environment.torch)
    except ValueError:
        raise BadRecord(f"{record.environment.torch[:40]!r} is no release of torch") from None
    for name, version in record.environment.beside.items():
        if not is_beside(name, version):
            raise BadRecord(f"{name[:40]!r} {version[:40]!r} is no package with its version")
    if path.stem != record.environment.id:
        raise BadRecord(f"it is the record of {clean(record.environment.id)}")
    return _scrubbed(record, scrub) if may_be_private(content) else record


def _as_written(content: bytes) -> Record | None:
    """Read a record that this version may have written itself: in one step, and nothing where its digest is another.

    What a record says in fields of its own, and in no others, has the same digest however it is read.
    """
    try:
        record = msgspec.json.decode(content, type=Record)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    rest = _ENCODER.encode(msgspec.structs.replace(record, digest=""))
    found = hashlib.sha256(rest.replace(b'"digest":"",', b"", 1)).hexdigest()
    return record if found == record.digest else None


def _checked(content: bytes) -> Record:
    """Read a record that another version may have written; what is wrong with it is told."""
    found = msgspec.json.decode(content)
    schema = msgspec.convert(found, _Header).schema
    if schema != RECORD_SCHEMA:
        raise BadRecord(f"its schema is {clean(schema)}, and this recompat reads {RECORD_SCHEMA}")
    record = msgspec.convert(found, Record)
    if record.digest != _digest(found):
        raise BadRecord("its content does not match its digest: it was changed after it was written")
    return record


def load_records(folder: Path, release: Version | None = None) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """Read every record of ``folder``, or those of one release; those that cannot be trusted are set aside.

    Returns:
        The records, and a sentence for each file that was set aside.
    """
    records, sentences = [], []
    seen: dict[bytes, Evidence] = {}
    with without_collection():
        for path in sorted(path for path in folder.glob("*.json") if path.is_file()):
            if release is not None and _release_named(path) != release:
                continue
            try:
                records.append(_sharing(load_record(path), seen))
            except BadRecord as error:
                aside = _set_aside(path)
                sentences.append(f"{path.name} is no valid record ({error}); it was renamed to {aside.name}.")
    return tuple(records), tuple(sentences)


def _release_named(path: Path) -> Version | None:
    """The release in a record's name, which is its environment's id."""
    try:
        return Version(path.stem.removeprefix("torch").partition("-")[0])
    except ValueError:
        return None


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadRecord(f"it has more than {LARGEST >> 20} MiB")
    if len(content) > 2 * MOST_VALUES and sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise BadRecord(f"it has more than {MOST_VALUES:,} values")
    return content


def _lines(content: dict[str, object]) -> bytes:
    """Write a key a line, and a case's result a line: small, and a difference between two records tells the case."""
    encode = msgspec.json.encode
    results = cast("Sequence[object]", content["results"])
    parts = [
        encode(key)
        + b": "
        + (b"[\n" + b",\n".join(map(encode, results)) + b"\n]" if value is results else encode(value))
        for key, value in content.items()
    ]
    return b"{\n" + b",\n".join(parts) + b"\n}\n"


def releases_of(records: Iterable[Record]) -> set[Version]:
    """The releases of torch that are recorded."""
    return {Version(record.environment.torch) for record in records}


def _scrubbed(record: Record, scrub: Callable[[Any], Any]) -> Record:
    return msgspec.convert(scrub(msgspec.to_builtins(record)), Record)


def _sharing(record: Record, seen: dict[bytes, Evidence]) -> Record:
    """Have evidence that equals what was seen before in memory once: from release to release, most of it does."""
    results = (
        result
        if result.evidence is None
        else msgspec.structs.replace(
            result, evidence=seen.setdefault(_ENCODER.encode(result.evidence), result.evidence)
        )
        for result in record.results
    )
    return msgspec.structs.replace(record, results=tuple(results))


class _Header(msgspec.Struct):
    schema: str


def _digest(content: dict[str, object]) -> str:
    """The digest of all else that a record holds, as it was written: fields that we do not know yet count as well."""
    rest = {key: value for key, value in content.items() if key != "digest"}
    return hashlib.sha256(_ENCODER.encode(rest)).hexdigest()


def _set_aside(path: Path) -> Path:
    aside = next(name for name in _names_aside(path) if not name.exists())
    return path.rename(aside)


def _names_aside(path: Path) -> Iterator[Path]:
    number = 1
    while True:
        yield path.with_suffix(f".json.bad{number}")
        number += 1
