"""From records to the summary: every selected case in every environment, judged and counted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from packaging.version import Version

from recompat import __version__
from recompat.cases import Case, CaseFile
from recompat.cells import Cell, make_cell
from recompat.detection import Detection
from recompat.expectations import Expectations
from recompat.listing import Listing
from recompat.model import Evidence, Outcome, Record, Verdict
from recompat.summary import MATRIX_SCHEMA, Column, Row, Summary, Totals
from recompat.tracks import packed, target_of
from recompat.trends import all_boundaries, all_operator_changes

__all__ = ["summarise"]


def summarise(
    records: Sequence[Record],
    files: Sequence[CaseFile],
    cases: Sequence[Case],
    expectations: Expectations,
    generated: str,
    listing: Listing | None = None,
    others: Iterable[Record] = (),
) -> Summary:
    """Judge every selected case in every selected environment.

    Args:
        records: one per environment; one with trouble may have no results, or some.
        others: further records, which have no column; where they lie between the columns, boundaries know of them.
        files: those that the cases are in.
        generated: when this is, in UTC, ISO 8601.
        listing: what the index offered when it was last asked.
    """
    ordered = sorted(records, key=_in_version_order)
    file_of = {case.id: file for file in files for case in file.cases}
    cells = tuple(_cells(ordered, file_of, cases, expectations))
    between = _between(ordered, others)
    points = (*cells, *_cells(between, file_of, cases, expectations))
    places = {record.environment.id: record.environment for record in (*ordered, *between)}
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
        boundaries=tuple(all_boundaries(points, places, None if listing is None else listing.versions)),
        operator_changes=tuple(all_operator_changes(cells, places, _evidence(ordered))),
    )


def _cells(
    records: Sequence[Record], file_of: Mapping[str, CaseFile], cases: Sequence[Case], expectations: Expectations
) -> Iterator[Cell]:
    """Judge case by case, and within a case record by record."""
    known = [(record, target_of(record.environment), {r.case: r for r in record.results}) for record in records]
    for case in cases:
        for record, target, results in known:
            claim = expectations.for_(case.id, target.torch, target.beside)
            yield make_cell(case, file_of[case.id], record, results.get(case.id), claim)


def _between(columns: Sequence[Record], others: Iterable[Record]) -> list[Record]:
    """The records of releases that lie between those of the columns, beside the same packages."""
    shown = {record.environment.id for record in columns}
    releases = [Version(record.environment.torch) for record in columns]
    besides = {packed(record.environment.beside) for record in columns}
    return [
        other
        for other in others
        if other.environment.id not in shown
        and packed(other.environment.beside) in besides
        and releases
        and min(releases) < Version(other.environment.torch) < max(releases)
    ]


def _evidence(records: Sequence[Record]) -> dict[tuple[str, str], Evidence]:
    return {
        (result.case, record.environment.id): result.evidence
        for record in records
        for result in record.results
        if result.evidence is not None
    }


def _in_version_order(record: Record) -> tuple[Version, list[tuple[str, Version]], str, int, str]:
    """Interpreters by their number, so that cp39 comes before cp311."""
    environment = record.environment
    release, beside = target_of(environment).place
    name = environment.python.rstrip("0123456789t")
    digits = "".join(character for character in environment.python if character.isdecimal())
    return release, beside, name, int(digits[:1] or 0) * 1000 + int(digits[1:] or 0), environment.id


def _column(record: Record) -> Column:
    column = Column(
        id=record.environment.id,
        torch=record.environment.torch,
        python=record.environment.python,
        platform=record.environment.platform,
        beside=record.environment.beside or msgspec.UNSET,
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
        file=file.name,
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
