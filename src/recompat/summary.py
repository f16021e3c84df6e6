"""The one view model that every renderer gets. ``matrix.json`` is this, encoded."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal, Self

import msgspec
from packaging.version import Version

from recompat import __version__
from recompat.boundary import Boundary
from recompat.casedoc import TOLERANCE, Restores
from recompat.cases import Case, CaseFile
from recompat.cells import Cell, Claim, make_cell
from recompat.detection import Detection
from recompat.errors import ExitCode
from recompat.expectations import Expectations
from recompat.listing import Listing
from recompat.model import Evidence, Outcome, Record, Trouble, Verdict
from recompat.operators import OperatorChange
from recompat.trends import all_boundaries, all_operator_changes

__all__ = ["MATRIX_SCHEMA", "Cell", "Claim", "Column", "Row", "Summary", "Totals", "summarise"]

MATRIX_SCHEMA: Final = "recompat/matrix/1"

UNEXPECTED = frozenset({Verdict.REGRESSED, Verdict.FIXED, Verdict.CHANGED, Verdict.NEW, Verdict.FLAKY})


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """An environment: what was asked for, and what was really tested.

    What the probe would have told is null where it did not run. Times are UTC, ISO 8601.
    """

    id: str
    torch: str
    python: str
    platform: str
    imported: str | None = None
    flavour: str | None = None
    source: str | None = None
    python_version: str | None = None
    distribution_sha256: str | None = None
    cpu_capability: str | None = None
    threads: int | None = None
    packages: dict[str, str] = {}
    trouble: Trouble | None = None
    started: str
    finished: str


class Row(msgspec.Struct, frozen=True):
    """A case; ``sha256`` is that of its file's bytes, and ``fault`` says why none of the file's cases can be run.

    ``family`` is the kind of trouble; ``about`` is what its docstring says, which begins in ``line``; ``reports`` are
    public ones, such as ``pytorch/pytorch#141896``; ``repairs`` are the broken cases that it repairs, ``repaired_by`` those
    that repair it, selected or not, and ``unrepaired`` says why nothing does. ``restores`` names a setting of which it
    tells whether it is restored. ``file_title`` is what its file says of itself. ``tolerance`` is what a comparison with the
    reference allows.
    """

    id: str
    title: str
    file: str
    sha256: str
    fault: str | None
    family: str = ""
    about: str = ""
    reports: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    repaired_by: tuple[str, ...] = ()
    unrepaired: str | None = None
    restores: Restores | None = None
    line: int = 0
    file_title: str = ""
    tolerance: str = TOLERANCE


class Totals(msgspec.Struct, frozen=True):
    """Counts that add up: ``cells`` is ``environments`` times ``cases``, and the sum of ``outcomes`` and of ``verdicts``.

    ``drift`` counts cells among those that pass. ``detections`` counts those of which it can be said whether torch notices.
    """

    environments: int
    cases: int
    cells: int
    outcomes: dict[Outcome, int]
    verdicts: dict[Verdict, int]
    drift: int = 0
    detections: dict[Detection, int] = {}


class Summary(msgspec.Struct, frozen=True):
    """The matrix. ``environments`` are in version order; ``cells`` go case by case, and within a case as those do.

    ``families`` has the totals of each family of cases, in the order of the cases.

    ``listed`` is when the index was last seen, in UTC; null if never, and then no boundary is known to be exact.
    ``notices`` are sentences about the run itself, such as which environment could not be run again.
    """

    schema: Literal["recompat/matrix/1"]
    recompat: str
    generated: str
    environments: tuple[Column, ...]
    cases: tuple[Row, ...]
    cells: tuple[Cell, ...]
    totals: Totals
    families: dict[str, Totals] = {}
    listed: str | None = None
    boundaries: tuple[Boundary, ...] = ()
    operator_changes: tuple[OperatorChange, ...] = ()
    notices: tuple[str, ...] = ()

    def lines(self) -> Iterator[tuple[Row, tuple[Cell, ...]]]:
        """Go through the cases, each with its cells in the order of the environments."""
        width = len(self.environments)
        for number, row in enumerate(self.cases):
            yield row, self.cells[number * width : (number + 1) * width]

    def of(self, case: str) -> Self:
        """The part of it that is about one case; totals are those of the whole."""
        return msgspec.structs.replace(
            self,
            cases=tuple(row for row in self.cases if row.id == case),
            cells=tuple(cell for cell in self.cells if cell.case == case),
            boundaries=tuple(one for one in self.boundaries if one.case == case),
            operator_changes=tuple(one for one in self.operator_changes if one.case == case),
        )

    @property
    def exit_code(self) -> ExitCode:
        """What the run says when it ends: an unexpected cell weighs more than one that is missing."""
        counts = self.totals.verdicts
        if any(counts[verdict] for verdict in UNEXPECTED):
            return ExitCode.UNEXPECTED
        return ExitCode.INCOMPLETE if counts[Verdict.MISSING] else ExitCode.OK


def summarise(
    records: Sequence[Record],
    files: Sequence[CaseFile],
    cases: Sequence[Case],
    expectations: Expectations,
    generated: str,
    listing: Listing | None = None,
) -> Summary:
    """Judge every selected case in every selected environment.

    Args:
        records: one per environment; one with trouble may have no results, or some.
        files: those that the cases are in.
        generated: when this is, in UTC, ISO 8601.
        listing: what the index offered when it was last asked.
    """
    ordered = sorted(records, key=_in_version_order)
    known = [(record, Version(record.environment.torch), {r.case: r for r in record.results}) for record in ordered]
    file_of = {case.id: file for file in files for case in file.cases}
    cells = tuple(
        make_cell(case, file_of[case.id], record, results.get(case.id), expectations.for_(case.id, release))
        for case in cases
        for record, release, results in known
    )
    places = {record.environment.id: record.environment for record in ordered}
    return Summary(
        schema=MATRIX_SCHEMA,
        recompat=__version__,
        generated=generated,
        environments=tuple(_column(record) for record in ordered),
        cases=tuple(_row(case, file_of[case.id]) for case in cases),
        cells=cells,
        totals=_totals(cells, len(ordered), len(cases)),
        families=_families(cases, cells, len(ordered)),
        listed=None if listing is None else listing.date,
        boundaries=tuple(all_boundaries(cells, places, None if listing is None else listing.versions)),
        operator_changes=tuple(all_operator_changes(cells, places, _evidence(ordered))),
    )


def _evidence(records: Sequence[Record]) -> dict[tuple[str, str], Evidence]:
    return {
        (result.case, record.environment.id): result.evidence
        for record in records
        for result in record.results
        if result.evidence is not None
    }


def _in_version_order(record: Record) -> tuple[Version, str, int, str]:
    """Interpreters by their number, so that cp39 comes before cp311."""
    environment = record.environment
    name = environment.python.rstrip("0123456789t")
    digits = "".join(character for character in environment.python if character.isdigit())
    return Version(environment.torch), name, int(digits[:1] or 0) * 1000 + int(digits[1:] or 0), environment.id


def _column(record: Record) -> Column:
    column = Column(
        id=record.environment.id,
        torch=record.environment.torch,
        python=record.environment.python,
        platform=record.environment.platform,
        trouble=record.trouble,
        started=record.run.started,
        finished=record.run.finished,
    )
    if record.facts is None:
        return column
    return msgspec.structs.replace(
        column,
        imported=record.facts.imported,
        flavour=record.facts.flavour,
        source=record.facts.source,
        python_version=record.facts.python_version,
        distribution_sha256=record.facts.distribution_sha256,
        cpu_capability=record.facts.cpu_capability,
        threads=record.facts.threads,
        packages=dict(sorted(record.facts.packages.items())),
    )


def _row(case: Case, file: CaseFile) -> Row:
    return Row(
        id=case.id,
        title=case.title,
        file=file.path.name,
        sha256=file.sha256,
        fault=file.fault,
        family=case.family,
        about=case.about.text,
        reports=case.about.reports,
        repairs=case.about.repairs,
        repaired_by=tuple(other.id for other in file.cases if case.id in other.about.repairs),
        unrepaired=case.about.unrepaired,
        restores=case.about.restores,
        line=case.about.line,
        file_title=file.title,
        tolerance=case.about.tolerance,
    )


def _families(cases: Sequence[Case], cells: Sequence[Cell], environments: int) -> dict[str, Totals]:
    family_of = {case.id: case.family for case in cases}
    members = Counter(family_of.values())
    held: dict[str, list[Cell]] = {family: [] for family in members}
    for cell in cells:
        held[family_of[cell.case]].append(cell)
    return {family: _totals(held[family], environments, count) for family, count in members.items()}


def _totals(cells: Sequence[Cell], environments: int, cases: int) -> Totals:
    outcomes = Counter(cell.outcome for cell in cells)
    verdicts = Counter(cell.verdict for cell in cells)
    detections = Counter(cell.detection for cell in cells)
    return Totals(
        environments=environments,
        cases=cases,
        cells=len(cells),
        outcomes={outcome: outcomes[outcome] for outcome in Outcome},
        verdicts={verdict: verdicts[verdict] for verdict in Verdict},
        drift=sum(cell.drift for cell in cells),
        detections={detection: detections[detection] for detection in Detection},
    )
