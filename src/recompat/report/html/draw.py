"""Draws the page's data from the summary; the template decides nothing."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeVar

import msgspec
from markupsafe import Markup

from recompat.boundary import Boundary
from recompat.cells import Cell
from recompat.detection import Detection
from recompat.model import Outcome
from recompat.news import News, news
from recompat.operators import OperatorChange
from recompat.platforms import axes, platforms, tracks
from recompat.report.entries import Entry, environment_names, releases, span
from recompat.report.faces import FACES, FaceKind, face
from recompat.report.findings import change_text, disagreements, disagreements_title, item_text
from recompat.report.html.details import Detail, Part, detail, frames, parts
from recompat.report.html.view import (
    CaseView,
    ColumnView,
    Disagreement,
    Frames,
    GridCell,
    Group,
    Link,
    NewsView,
    Page,
    Run,
    Told,
)
from recompat.report.notes import conclusion, families, totals
from recompat.report.style import (
    DETECTIONS,
    NEWS,
    UNRELATED,
    VERDICTS,
    cell_text,
    ending_text,
    legend,
    plain_cell_text,
    report_link,
)
from recompat.report.text import clean
from recompat.summary import UNEXPECTED, Row, Summary

__all__ = ["page"]

T = TypeVar("T", Boundary, OperatorChange)

FEW = 10  # columns up to which a wide screen has room for words in the cells


def page(summary: Summary) -> Page:
    """Draw the page's data."""
    made = _Maker(summary)
    groups = tuple(made.groups())
    counts = Counter(face(cell) for cell in summary.cells)
    told = {*(one.label for one in FACES.values()), UNRELATED.label}
    return Page(
        summary=summary,
        state={0: "ok", 6: "incomplete"}.get(summary.exit_code, "unexpected"),
        conclusion=conclusion(summary),
        columns=tuple(made.columns()),
        releases=tuple(dict.fromkeys(column.torch for column in summary.environments)),
        tracks=tuple(tracks(summary.environments).names.values()),
        tracks_title=_tracks_title(summary),
        groups=groups,
        faces={kind: look for kind, look in FACES.items() if counts[kind]},
        all_faces=FACES,
        counts=dict(counts),
        marks=(*(pair for pair in legend(summary) if pair[0] not in told), *_detections()),
        verdicts={
            verdict: (VERDICTS[verdict].meaning, count)
            for verdict, count in summary.totals.verdicts.items()
            if count and verdict in UNEXPECTED
        },
        family_counts={family: counts.cases for family, counts in summary.families.items()},
        totals=tuple(totals(summary)),
        families=families(summary),
        news=tuple(made.news(one) for one in news(summary)),
        news_kinds=tuple(NEWS.values()),
        disagreements_title=disagreements_title(summary),
        disagreements=tuple(map(made.disagreement, disagreements(summary))),
        parts=made.parts,
        few=len(summary.environments) <= FEW,
    )


class _Maker:
    """Numbers what is linked to: cases by their place, details and parts by when they were first needed."""

    def __init__(self, summary: Summary) -> None:
        self._summary = summary
        self._names = environment_names(summary)
        known = tracks(summary.environments)
        self._tracks = {column.id: known.name(column) for column in summary.environments}
        self._columns = {column.id: (number, column) for number, column in enumerate(summary.environments)}
        self._cases = {row.id: f"c{number}" for number, row in enumerate(summary.cases)}
        self._parts: dict[Part, int] = {}
        self._details = 0
        self._boundaries = _by_case(summary.boundaries)
        self._operators = _by_case(summary.operator_changes)

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts, in the order of their numbers."""
        return tuple(self._parts)

    def columns(self) -> Iterator[ColumnView]:
        width = len(self._columns)
        for number, column in self._columns.values():
            counts = Counter(clean(ending_text(cell)) for cell in self._summary.cells[number::width])
            text = ", ".join(f"{name} {count}" for name, count in counts.most_common())
            track = self._tracks[column.id] or column.platform
            yield ColumnView(f"e{number}", self._names[column.id], column, track, text)

    def groups(self) -> Iterator[Group]:
        for (family, file), lines in groupby(self._summary.lines(), key=lambda line: (line[0].family, line[0].file)):
            known = list(lines)
            cases = tuple(self._case(row, cells) for row, cells in known)
            yield Group(family, file, known[0][0].file_title, cases)

    def news(self, one: News) -> NewsView:
        kinds = (
            (look, tuple((self._link(item.case), clean(item_text(item, self._summary))) for item in one.of(kind)))
            for kind, look in NEWS.items()
        )
        return NewsView(one.torch, one.before, tuple((look, items) for look, items in kinds if items))

    def disagreement(self, one: Entry) -> Disagreement:
        cases = tuple((self._link(place.case), clean(place.where)) for place in one.places)
        return Disagreement(clean(one.text), cases, one.more)

    def _case(self, row: Row, cells: Sequence[Cell]) -> CaseView:
        details = list(self._details_of(row, cells))
        first = self._details
        order = {known: first + place for place, known in enumerate(dict.fromkeys(filter(None, details)))}
        self._details += len(order)
        targets = [
            f"d{order[known]}" if known else self._environment(cell) for known, cell in zip(details, cells, strict=True)
        ]
        return CaseView(
            anchor=self._cases[row.id],
            row=row,
            name=row.id.partition("::")[2] or row.id,
            file=self._number(_file(row)),
            cells=tuple(self._cell(cell, target) for cell, target in zip(cells, targets, strict=True)),
            history=tuple(self._history(cells, targets)),
            told=tuple(
                self._told(f"d{number}", known, [c for c, d in zip(cells, details, strict=True) if d == known])
                for known, number in order.items()
            ),
            boundaries=tuple(clean(change_text(one, self._summary)) for one in self._boundaries.get(row.id, ())),
            operators=tuple(clean(change_text(one, self._summary)) for one in self._operators.get(row.id, ())),
            repairs=tuple(map(self._link, row.repairs)),
            repaired_by=tuple(map(self._link, row.repaired_by)),
            reports=tuple((report, report_link(report)) for report in row.reports),
        )

    def _details_of(self, row: Row, cells: Sequence[Cell]) -> Iterator[Detail | None]:
        """Tell each cell; one that says what its neighbour says, as most do, is not written again."""
        before, told = None, None
        for cell in cells:
            said = msgspec.structs.replace(cell, environment="", date=None, frames=())
            if said != before or cell.outcome is Outcome.NOT_RUN:
                before, told = said, self._detail(row, cell)
            yield told

    def _detail(self, row: Row, cell: Cell) -> Detail | None:
        """None for a cell that its environment explains."""
        if cell.outcome is Outcome.NOT_RUN and self._columns[cell.environment][1].trouble:
            return None
        numbers = tuple(map(self._number, parts(cell, row)))
        return detail(cell, numbers, unexpected=cell.verdict in UNEXPECTED)

    def _told(self, anchor: str, known: Detail, cells: Sequence[Cell]) -> Told:
        older: dict[str, list[Cell]] = {}
        for cell in cells:
            day = (cell.date or "")[:10]
            if day != self._columns[cell.environment][1].finished[:10]:
                older.setdefault(day, []).append(cell)
        days = clean(", ".join(f"{day} ({releases(self._names, held)})" for day, held in older.items() if day))
        where = clean(releases(self._names, cells))
        look = _classes(known.face.value, "bad" if known.unexpected else "")
        return Told(anchor, look, known, where, days, tuple(self._frames(cells)))

    def _frames(self, cells: Sequence[Cell]) -> Iterator[Frames]:
        alike: dict[int, list[Cell]] = {}
        for cell in cells:
            part = frames(cell)
            if part is not None:
                alike.setdefault(self._number(part), []).append(cell)
        for number, held in alike.items():
            yield Frames(number, clean(releases(self._names, held)), tuple(map(self._environment, held)))

    def _number(self, part: Part) -> int:
        return self._parts.setdefault(part, len(self._parts))

    def _history(self, cells: Sequence[Cell], targets: Sequence[str]) -> Iterator[Run]:
        """Tell runs of releases, track by track."""
        order = {environment: place for place, environment in enumerate(self._names)}
        pairs = sorted(zip(cells, targets, strict=True), key=lambda pair: order[pair[0].environment])
        for (_, kind, text), group in groupby(pairs, key=lambda pair: self._alike(pair[0])):
            held = list(group)
            where = span(self._names[held[0][0].environment], self._names[held[-1][0].environment])
            yield Run(clean(where), text, kind, held[0][1])

    def _alike(self, cell: Cell) -> tuple[str, FaceKind, str]:
        return self._tracks[cell.environment], face(cell), clean(plain_cell_text(cell))

    def _cell(self, cell: Cell, target: str) -> GridCell:
        old = cell.date is not None and self._columns[cell.environment][1].trouble is not None
        look = _classes(face(cell).value, "bad" if cell.verdict in UNEXPECTED else "", "old" if old else "")
        return GridCell(look, target, clean(cell_text(cell)))

    def _environment(self, cell: Cell) -> str:
        return f"e{self._columns[cell.environment][0]}"

    def _link(self, case: str) -> Link:
        return Link(case, self._cases.get(case, ""))


def _tracks_title(summary: Summary) -> str:
    """Name the filter of tracks by what tells them apart."""
    packages = " and ".join(axes(summary))
    return packages[:1].upper() + packages[1:] if packages and len(platforms(summary)) == 1 else "Platform"


def _detections() -> Iterator[tuple[str, str]]:
    return (
        (f"detection {one}", f"torch {meaning}") for one, meaning in DETECTIONS.items() if one is not Detection.FINE
    )


def _classes(*names: str) -> Markup:
    """Write an attribute's value, without the quotes that a single word can do without: there are 40,000 of these."""
    text = " ".join(filter(None, names))
    return Markup(f'"{text}"' if " " in text else text)


def _file(row: Row) -> Part:
    return Part("digest", clean(row.file), lines=(f"SHA-256 {clean(row.sha256)}",))


def _by_case(found: Sequence[T]) -> dict[str, list[T]]:
    held: dict[str, list[T]] = {}
    for one in found:
        held.setdefault(one.case, []).append(one)
    return held
