"""What the two arguments of ``recompat diff`` name: a file, a folder, an environment of a folder, or one that is known here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from recompat.cases import Case
from recompat.compare import Side
from recompat.errors import ConfigurationError, NothingSelected
from recompat.lookup import no_such
from recompat.record import BadRecord, load_record
from recompat.selection import select_cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.model import Record
    from recompat.project import Project

__all__ = ["Sides", "read_sides", "selected"]

NUMBERS = re.compile(r"[0-9.]+")


class Sides(msgspec.Struct, frozen=True):
    """The two, and sentences about where they were found and what could not be read."""

    a: Side
    b: Side
    remarks: tuple[str, ...] = ()


class _Place(msgspec.Struct, frozen=True):
    """Files of records; ``chosen`` where they are one environment that was named."""

    name: str
    paths: tuple[Path, ...]
    chosen: bool = True


def read_sides(project: Project, a: str, b: str) -> Sides:
    """Read what both names stand for. Nothing is renamed, since a folder may be another's.

    A name of an environment is looked for in the project's records, and where these have not all that is named, in the
    accepted ones.

    Raises:
        ConfigurationError: a name is that of no file or folder, or may be several environments, or a record cannot be read.
        NothingSelected: there is no such environment; the message says what there is.
    """
    named = [(name, _somewhere(name)) for name in (a, b)]
    wanted = [name for name, place in named if place is None]
    folders = [project.records] if project.elsewhere else [project.records, project.baseline]
    folder = next((one for one in folders if all(_matching(one, name) for name in wanted)), None)
    remarks: list[str] = []
    places = [place or _known(project, folder, folders, name, remarks) for name, place in named]
    one, other = (Side(place.name, tuple(_read(place, remarks)), place.chosen) for place in places)
    return Sides(one, other, tuple(remarks))


def selected(sides: Sides, known: Sequence[Case], expression: str | None) -> set[str] | None:
    """The cases that ``-k`` selects, of those that have a file here and those that are only recorded; None for all.

    Raises:
        ConfigurationError: the expression cannot be read.
        NothingSelected: no case matches.
    """
    if not expression:
        return None
    there = {case.id for case in known}
    results = (result.case for side in (sides.a, sides.b) for record in side.records for result in record.results)
    gone = [Case(name, name) for name in dict.fromkeys(results) if name not in there]
    return {case.id for case in select_cases((*known, *gone), expression)}


def _somewhere(name: str) -> _Place | None:
    """The files that a path names, with or without an environment behind a colon; None if it is no path."""
    path = Path(name)
    if path.is_file():
        return _Place(name, (path,))
    if path.is_dir():
        return _Place(name, tuple(_files(path)), chosen=False)
    folder, colon, part = name.rpartition(":")
    if colon and part and Path(folder).is_dir():
        return _Place(name, (_one(Path(folder), part, folder),))
    if colon or "/" in name or "\\" in name or name.endswith(".json"):
        missing = folder if part and colon else name
        raise ConfigurationError(f"There is no file or folder {missing}; name a release, a record or a folder of them.")
    return None


def _known(project: Project, folder: Path | None, folders: Sequence[Path], name: str, remarks: list[str]) -> _Place:
    """The record of an environment that was recorded here, or accepted."""
    place = folder or next((one for one in folders if _matching(one, name)), None)
    if place is None:
        there = [path.stem for one in folders for path in _files(one)]
        raise no_such("record of", name, list(dict.fromkeys(word for stem in there for word in (_release(stem), stem))))
    where = "the records here" if place == project.records else place.relative_to(project.root).as_posix()
    path = _one(place, name, where)
    if place != project.records:
        remarks.append(f"{name} is taken from {where}.")
    return _Place(name, (path,))


def _one(folder: Path, part: str, called: str) -> Path:
    found = _matching(folder, part)
    if len(found) > 1:
        names = tuple(path.stem for path in found)
        raise ConfigurationError(f"{part} may be {len(found)} environments of {called}; name one of them:", names)
    if not found:
        raise no_such(f"record in {called} of", part, [path.stem for path in _files(folder)])
    return found[0]


def _matching(folder: Path, part: str) -> list[Path]:
    """Those with this release or id; else those of its patches, as 2.11 has 2.11.0, or whose id has it as a part."""
    files = list(_files(folder))
    release = part.removeprefix("torch")
    exact = [path for path in files if part == path.stem or release == _release(path.stem)]
    if exact or not NUMBERS.fullmatch(release):
        return exact or [path for path in files if part.lower() in path.stem.lower()]
    return [path for path in files if _release(path.stem).startswith(f"{release.rstrip('.')}.")]


def _files(folder: Path) -> Iterator[Path]:
    """The records of a folder, or of the ``records`` in it, as a folder of reports has them; nothing of it is read yet."""
    for one in (folder, folder / "records"):
        found = [path for path in sorted(one.glob("torch*.json")) if path.is_file()]
        if found:
            yield from found
            return


def _release(stem: str) -> str:
    return stem.removeprefix("torch").partition("-")[0]


def _read(place: _Place, remarks: list[str]) -> Iterator[Record]:
    for path in place.paths:
        try:
            yield load_record(path)
        except (BadRecord, OSError) as error:
            if place.chosen:
                raise ConfigurationError(f"{path} is no valid record ({error}); name another.") from error
            remarks.append(f"{path} is no valid record ({error}); it is left out.")
    if not place.paths:
        raise NothingSelected(f"There is no record in {place.name}; name a folder that has torch….json.")
