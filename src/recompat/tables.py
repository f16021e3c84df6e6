"""Reading a TOML file so that all of its faults are told at once.

A file is described by frozen ``Row`` types, one per table. Reading goes key by key, so that one bad key hides no other.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Annotated, TypeVar, get_args, get_origin

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from recompat.errors import ConfigurationError
from recompat.near import close_to
from recompat.toml import LARGEST, parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Faults", "Row", "close_to", "read_file", "read_row", "read_toml"]

SHOWN = 60  # characters of a bad value that a fault repeats
MOST_FAULTS = 1_000  # of a file; then it is not read on

WANTED: dict[object, str] = {
    Version: 'a release such as "2.11.0"',
    SpecifierSet: 'a version specifier such as ">=2.1,<2.2"',
    Requirement: 'a requirement such as "numpy<2"',
    str: "text in quotes",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    dt.date: "a date such as 2027-01-31",
    tuple: "a list in brackets",
}


class Row(msgspec.Struct, frozen=True):
    """A table of a TOML file; its fields are the keys that the table may have."""

    def problems(self, folder: Path) -> Iterable[tuple[str, str]]:
        """What the types cannot say: pairs of a key and what is wrong with it. ``folder`` is the file's own."""
        return ()


R = TypeVar("R", bound=Row)


class Faults:
    """All that is wrong with one file, gathered while it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: list[str] = []

    def add(self, where: str, what: str) -> None:
        """Note a fault. ``where`` names table, row and key; ``what`` ends with the mend.

        Raises:
            ConfigurationError: there are so many that the rest would tell nothing more.
        """
        self.found.append(f"{where} {what}")
        if len(self.found) == MOST_FAULTS:
            raise self.error()

    def error(self) -> ConfigurationError:
        """Make one error of all that was found."""
        count = "a fault" if len(self.found) == 1 else f"{len(self.found)} faults"
        return ConfigurationError(f"{self.path} has {count}; nothing was run:", tuple(self.found))


def read_toml(path: Path) -> dict[str, object]:
    """Parse a TOML file.

    Raises:
        ConfigurationError: the file cannot be read or is not TOML; the message names the line.
    """
    try:
        text = _read_text(path)
        return parse_toml(text)
    except FileNotFoundError:
        raise ConfigurationError(f"There is no file {path}; create it, or name another.") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read ({error.strerror}); make it a readable file.") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 text; save it as UTF-8.") from error
    except ValueError as error:
        raise ConfigurationError(f"{path}{_not_toml(str(error), text)}; mend that line.") from error


def read_file(path: Path, kind: type[R]) -> R:
    """Read a whole TOML file as ``kind``.

    Raises:
        ConfigurationError: the file cannot be used; every fault in it is listed.
    """
    faults = Faults(path)
    row = read_row(read_toml(path), kind, "", faults)
    if row is None:
        raise faults.error()
    return row


def read_row(table: object, kind: type[R], where: str, faults: Faults) -> R | None:
    """Read a table as ``kind``. Every fault in it is added to ``faults``, and then there is no row."""
    if not isinstance(table, dict):
        faults.add(where, f"is {_shown(table)}; write a table with the keys {', '.join(_keys(kind))}.")
        return None
    before = len(faults.found)
    keys = _keys(kind)
    for name in table:
        if name not in keys:
            faults.add(_under(where, name), f"is not a known key; {close_to(name, keys)}")
    values: dict[str, object] = {}
    for name, field in keys.items():
        if name in table:
            values[field.name] = _convert(table[name], field.type, _under(where, name), faults)
        elif field.required:
            faults.add(_under(where, name), f"is missing; add {name} = {_wanted(field.type)}.")
    if len(faults.found) > before:
        return None
    row = kind(**values)
    for key, what in row.problems(faults.path.parent):
        faults.add(_under(where, key), what)
    return row if len(faults.found) == before else None


def _read_text(path: Path) -> str:
    if path.exists() and not path.is_file():  # a FIFO would wait for someone to write
        raise ConfigurationError(f"{path} cannot be read (it is no file); make it a readable file.")
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ConfigurationError(f"{path} has more than {LARGEST >> 20} MiB, and is not read; make it smaller.")
    return content.decode()


def _not_toml(message: str, text: str) -> str:
    """Say where and why a text is not TOML, of what the parser says."""
    found = re.fullmatch(r"(.*) \(at (line .*)\)", message, re.DOTALL)
    if found is not None:
        return f", {found[2]}, is not valid TOML: {found[1]}"
    place = f", line {len(text.splitlines())}," if "end of document" in message else ""
    return f"{place} is not valid TOML: {message}"


def _convert(value: object, kind: object, where: str, faults: Faults) -> object:
    """Read one value. What is wrong with it is added to ``faults``; the return value then means nothing."""
    plain = _plain(kind)
    if isinstance(plain, type) and issubclass(plain, Row):
        return read_row(value, plain, where, faults)
    if get_origin(plain) is tuple and isinstance(value, list):
        item = get_args(plain)[0]
        name = f"[{where}] #" if _is_row(item) else f"{where} #"
        return tuple(_convert(one, item, f"{name}{number}", faults) for number, one in enumerate(value, start=1))
    try:
        return msgspec.convert(value, kind, dec_hook=_parse)
    except (msgspec.ValidationError, RecursionError):
        faults.add(where, f"is {_shown(value)}; write {_wanted(kind)}.")
        return None


def _parse(kind: type, value: object) -> object:
    """Read one of packaging's types; its own errors are ``ValueError``, which msgspec makes its own."""
    if not isinstance(value, str):
        raise TypeError
    return _read_text_as(kind, value)


@functools.lru_cache(1_000)  # what is the same object is compared at once
def _read_text_as(kind: type, text: str) -> object:
    read = kind(text)
    if isinstance(read, SpecifierSet):
        read.contains("1")  # it reads the versions in it no sooner
    return read


@functools.cache
def _keys(kind: type[Row]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _under(where: str, name: str) -> str:
    return f"{where} {name}" if where else f"[{name}]"


def _is_row(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Row)


def _plain(kind: object) -> object:
    """Take off ``Annotated`` and ``| None``."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if get_origin(kind) is UnionType:
        return _plain(next(part for part in get_args(kind) if part is not type(None)))
    return kind


def _wanted(kind: object) -> str:
    plain = _plain(kind)
    if isinstance(plain, type) and issubclass(plain, Enum):
        return f"one of {', '.join(str(member.value) for member in plain)}"
    wanted = WANTED.get(get_origin(plain) or plain, "a table")
    limits = next((part for part in get_args(kind) if isinstance(part, msgspec.Meta)), None)
    if limits is not None and limits.gt is not None:
        wanted += f" above {limits.gt:g}"
    if limits is not None and limits.le is not None:
        wanted += f" and at most {limits.le:g}"
    return wanted


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of very many digits"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
