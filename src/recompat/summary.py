"""The one view model that every renderer gets. ``matrix.json`` is this, encoded."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec
from packaging.version import Version

from recompat import __version__
from recompat.boundary import Boundary
from recompat.cases import Case, CaseFile
from recompat.cells import Cell, Claim, make_cell
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
    """A case; ``sha256`` is that of its file's bytes, and ``fault`` says why none of the file's cases can be run."""

    id: str
    title: str
    file: str
    sha256: str
    fault: str | None


class Totals(msgspec.Struct, frozen=True):
    """Counts that add up: ``cells`` is ``environments`` times ``cases``, and the sum of ``outcomes`` and of ``verdicts``.

    ``drift`` counts cells among those that pass.
    """

    environments: int
    cases: int
    cells: int
    outcomes: dict[Outcome, int]
    verdicts: dict[Verdict, int]
    drift: int = 0


class Summary(msgspec.Struct, frozen=True):
    """The matrix. ``environments`` are in version order; ``cells`` go case by case, and within a case as those do.

    ``listed`` is when the index was last seen, in UTC; null if never, and then no boundary is known to be exact.
    """

    schema: Literal["recompat/matrix/1"]
    recompat: str
    generated: str
    environments: tuple[Column, ...]
    cases: tuple[Row, ...]
    cells: tuple[Cell, ...]
    totals: Totals
    listed: str | None = None
    boundaries: tuple[Boundary, ...] = ()
    operator_changes: tuple[OperatorChange, ...] = ()

    def lines(self) -> Iterator[tuple[Row, tuple[Cell, ...]]]:
        """Go through the cases, each with its cells in the order of the environments."""
        width = len(self.environments)
        for number, row in enumerate(self.cases):
            yield row, self.cells[number * width : (number + 1) * width]

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
    return Row(id=case.id, title=case.title, file=file.path.name, sha256=file.sha256, fault=file.fault)


def _totals(cells: Sequence[Cell], environments: int, cases: int) -> Totals:
    outcomes = Counter(cell.outcome for cell in cells)
    verdicts = Counter(cell.verdict for cell in cells)
    return Totals(
        environments=environments,
        cases=cases,
        cells=len(cells),
        outcomes={outcome: outcomes[outcome] for outcome in Outcome},
        verdicts={verdict: verdicts[verdict] for verdict in Verdict},
        drift=sum(cell.drift for cell in cells),
    )
