"""``recompat accept``: what is recorded becomes what is claimed, for someone to review."""

from __future__ import annotations

import difflib
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from recompat.atomic import write_atomically
from recompat.axes import products
from recompat.cases import CaseFile, read_case_files
from recompat.claim_remarks import few, to_be_written
from recompat.editor import Editor, Terms
from recompat.errors import NothingSelected
from recompat.expectations import Expectations, is_unwritten
from recompat.judging import claims
from recompat.listing import load_listing
from recompat.matrix import Matrix, load_matrix
from recompat.model import Record
from recompat.observed import Why, observe
from recompat.record import load_records, releases_of
from recompat.selection import select_cases
from recompat.tracks import ALONE, packed
from recompat.versions import Offered, covers, select_releases

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from recompat.boundary import Ending
    from recompat.cases import Case
    from recompat.observed import Observed
    from recompat.project import Project
    from recompat.tracks import Beside

__all__ = ["Acceptance", "Asked", "accept", "recorded_releases"]


class Asked(msgspec.Struct, frozen=True):
    """What is to be accepted, and what is said of it; ``reason`` and ``link`` are for claims that are new."""

    torch: str | None = None
    keyword: str | None = None
    reason: str | None = None
    link: str | None = None
    even_errors: bool = False


class Acceptance(msgspec.Struct, frozen=True):
    """The file as it is and as it is to be, a sentence for each case that changes, and remarks about the rest."""

    path: Path
    before: str
    after: str
    changes: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def diff(self) -> str:
        """What changes, as a unified diff; empty if nothing does."""
        name = f"{self.path.parent.name}/{self.path.name}"
        before, after = self.before.splitlines(), self.after.splitlines()
        lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="")
        return "".join(f"{line}\n" for line in lines)

    def write(self) -> None:
        """Write the file, if it changes."""
        if self.before != self.after:
            write_atomically(self.path.resolve(), self.after.encode())


def accept(project: Project, asked: Asked, today: dt.date) -> Acceptance:
    """Find out what ``expectations.toml`` is to say of what is recorded; nothing is written yet.

    Raises:
        ConfigurationError: a file that cannot be used.
        NothingSelected: nothing is recorded, or nothing of what was asked for.
    """
    ground = _Ground.read(project)
    file_of = {case.id: file for file in ground.files for case in file.cases}
    cases = select_cases([case for file in ground.files for case in file.cases], asked.keyword)
    accepted = frozenset(recorded_releases(ground.records, ground.matrix, asked.torch))
    observed = observe(ground.records, ground.files, cases, ground.claims, even_errors=asked.even_errors)
    apart = _apart(ground, cases, observed, asked)
    terms = Terms(ground.releases, accepted, today, asked.reason, asked.link)
    endings = [*observed.endings.values(), *(track for tracks in apart.values() for track in tracks.values())]
    if not any(release in accepted for track in endings for release in track):
        raise NothingSelected("\n  - ".join(("Nothing is recorded that could be claimed.", *_left(observed, accepted))))
    editor = Editor(ground.text, ground.name, ground.claims, terms)
    for case in cases:
        if case.id in apart:
            editor.settle_apart(case, file_of[case.id], apart[case.id])
        else:
            editor.settle(case, file_of[case.id], observed.endings[case.id])
    after = editor.text
    remarks = (
        *ground.set_aside,
        *_left(observed, accepted, apart),
        *_gone(ground.records, ground.files),
        *_unnamed(after, ground.matrix, accepted),
        *to_be_written([case for case, row in _rows(after) if is_unwritten(row["reason"])]),
    )
    return Acceptance(project.expectations, ground.text, after, tuple(editor.changes), remarks)


def recorded_releases(records: Iterable[Record], matrix: Matrix, torch: str | None) -> set[Version]:
    """The releases that are recorded, or those of them that ``torch`` names; no index is asked.

    Raises:
        NothingSelected: there are none.
    """
    recorded = {Version(release.public) for release in releases_of(records)}
    if not recorded:
        raise NothingSelected("Nothing is recorded yet; nox -s matrix runs the cases.")
    if torch is None:
        return recorded
    offered = Offered.of(recorded)
    return set(select_releases(torch, sorted(recorded), lambda: offered, lambda: matrix.releases))


class _Ground(msgspec.Struct, frozen=True):
    """All that acceptance rests on; ``releases`` are those that matrix.toml, the records or the index name."""

    matrix: Matrix
    files: tuple[CaseFile, ...]
    records: tuple[Record, ...]
    set_aside: tuple[str, ...]
    releases: frozenset[Version]
    claims: Expectations
    text: str
    name: str

    @classmethod
    def read(cls, project: Project) -> _Ground:
        """Read it; a project may have no claims yet."""
        matrix, files, path = load_matrix(project.matrix), read_case_files(project.cases), project.expectations
        records, set_aside = load_records(project.records)
        recorded, listing = releases_of(records), load_listing(project.listing)
        listed = () if listing is None else map(Version, listing.releases)
        known = frozenset(Version(release.public) for release in (*matrix.releases, *recorded, *listed))
        there = path.exists()
        held = claims(project, matrix, files, records) if there else Expectations({})
        text = path.read_bytes().decode() if there else ""
        return cls(matrix, files, records, set_aside, known, held, text, path.relative_to(project.root).as_posix())


def _left(observed: Observed, accepted: Collection[Version], apart: Collection[str] = ()) -> Iterator[str]:
    """Name the cells that were left out; of those without a result, how many there are."""
    told = (cell for cell in observed.left if cell.why is not Why.SPLIT or cell.case not in apart)
    cells = [cell for cell in told if cell.release in accepted]
    for why in Why:
        named = [f"{cell.case} on {cell.release}" for cell in cells if cell.why is why]
        if named and why is not Why.MISSING:
            yield f"Left out, since it {why}: {few(named)}."
    missing: dict[int, list[str]] = defaultdict(list)
    for release in sorted(accepted):
        count = sum(cell.why is Why.MISSING and cell.release == release for cell in cells)
        missing[count].append(str(release))
    for count, releases in missing.items():
        if count:
            yield f"{count} {'case has' if count == 1 else 'cases have'} no result that counts on {', '.join(releases)}."


def _apart(
    ground: _Ground, cases: Sequence[Case], observed: Observed, asked: Asked
) -> dict[str, dict[Beside, dict[Version, Ending]]]:
    """How cases ended with each that may stand beside torch, for those whose claims are told apart by that.

    These are the cases that have such claims, and those that do not end the same with all.
    """
    recorded = {packed(record.environment.beside) for record in ground.records}
    besides = sorted({*products(ground.matrix.axes), *recorded} - {ALONE})
    tracks = {
        beside: observe(
            [record for record in ground.records if packed(record.environment.beside) == beside],
            ground.files,
            cases,
            ground.claims,
            even_errors=asked.even_errors,
            beside=beside,
        )
        for beside in besides
    }
    split = {cell.case for cell in observed.left if cell.why is Why.SPLIT}
    claimed = {case for case, claims in ground.claims.by_case.items() if any(claim.beside for claim in claims)}
    return {
        case.id: {beside: track.endings[case.id] for beside, track in tracks.items()}
        for case in cases
        if besides and case.id in split | claimed
    }


def _gone(records: Iterable[Record], files: Iterable[CaseFile]) -> Iterator[str]:
    """Name cases that have results and that no file has any more."""
    known = {case.id for file in files for case in file.cases}
    stems = {file.path.stem for file in files if file.fault is not None}
    results = {result.case for record in records for result in record.results}
    gone = sorted(case for case in results - known if case.partition("::")[0] not in stems)
    if gone:
        yield f"Recorded, and in no case file any more, so nothing is claimed: {few(gone)}."


def _unnamed(text: str, matrix: Matrix, accepted: Iterable[Version]) -> Iterator[str]:
    """Name releases that a claim needs and matrix.toml does not name: where they are not recorded, the file is at fault."""
    ranges = {SpecifierSet(row["torch"]) for _, row in _rows(text)}
    alone = [one for one in ranges if not any(covers(one, release) for release in matrix.releases)]
    names = [str(release) for release in sorted(accepted) if any(covers(one, release) for one in alone)]
    if names:
        yield f"Claims speak of {few(names)} alone, which matrix.toml does not name; add that to known under [torch]."


def _rows(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The claims of a file, each with its case."""
    for stem, cases in tomllib.loads(text).items():
        for name, rows in cases.items():
            for row in rows:
                yield f"{stem}::{name}", row
