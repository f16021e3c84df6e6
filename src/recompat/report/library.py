"""``docs/library.md``: every case, what it is about, and how it ends along the releases."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Final

from tabulate import tabulate

from recompat.detection import Detection
from recompat.model import Outcome
from recompat.platforms import by_track, tracks
from recompat.report.entries import span
from recompat.report.links import case_link, file_link
from recompat.report.markdown import code, escape, plain
from recompat.report.notes import DETECTED, counted, detected
from recompat.report.repairs import NO_REPAIR
from recompat.report.style import DETECTIONS, DRIFT, OUTCOMES, UNRELATED, ending_text, report_link
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.cells import Cell
    from recompat.summary import Row, Summary

    Line = tuple[Row, Sequence[Cell]]

__all__ = ["render_library"]

LEGEND: Final = (Outcome.PASS, Outcome.RAISES, Outcome.DIFFERS, Outcome.MOOT, Outcome.UNSUPPORTED)
LONGEST_MESSAGE: Final = 120
FOOT: Final = "Made from the accepted records; do not edit. `recompat library --records matrix/baseline` prints it."


def render_library(summary: Summary) -> str:
    """Write a chapter for each family, and in it a section for each case."""
    parts = ["# The case library", _introduction(summary), _overview(summary)]
    for family, lines in groupby(summary.lines(), key=lambda line: line[0].family):
        parts.append(f"## {escape(family)}")
        for file, group in groupby(lines, key=lambda line: line[0].file):
            of_file = list(group)
            parts.append(f"### {file_link(file)}\n\n{_prose(of_file[0][0].file_title)}")
            parts += [_case(summary, line) for line in of_file]
    return "\n\n".join((*parts, FOOT)) + "\n"


def _introduction(summary: Summary) -> str:
    first, last = summary.environments[0].torch, summary.environments[-1].torch
    counts = summary.totals
    releases = ", ".join(dict.fromkeys(column.torch for column in summary.environments))
    what = (
        f"{counted(counts.cases, 'case')} in {counted(len(summary.families), 'family', 'families')}, run on "
        f"{counted(counts.environments, 'release')} of torch from {escape(first)} to {escape(last)}. All run on the CPU, with "
        "CUDA builds too. A case is compared with its reference: the same computation without checkpoint."
    )
    how = (
        "Below each case stands how it ended, from the first to the last release that was run with that ending and for the same "
        f"reason. Releases: {escape(releases)}; some of them for the cases whose ending changes near them."
    )
    return "\n\n".join((what, how, _legend(), f"What torch makes of the cases on {escape(last)}:"))


def _legend() -> str:
    rows = [(OUTCOMES[outcome].label, OUTCOMES[outcome].meaning) for outcome in LEGEND]
    rows += [(look.label, look.meaning) for look in (UNRELATED, DRIFT)]
    rows += [
        (detection, f"torch {DETECTIONS[detection]}") for detection in Detection if detection is not Detection.FINE
    ]
    rows += [("no answer", "an API that is needed is not in this release, or the reference fails too")]
    return "\n".join(f"- **{escape(word)}**: {escape(meaning)}" for word, meaning in rows)


def _overview(summary: Summary) -> str:
    heading = ["family", "cases", *DETECTED]
    newest = [(row, cells[-1]) for row, cells in summary.lines()]
    rows = []
    for family in summary.families:
        cells = [cell for row, cell in newest if row.family == family]
        counts = Counter(cell.detection for cell in cells if cell.detection)
        link = f"[{escape(family)}](#{family.lower()})"
        rows.append([link, len(cells), *detected(counts, len(cells))])
    return tabulate(rows, heading, tablefmt="github")


def _case(summary: Summary, line: Line) -> str:
    row, cells = line
    name = row.id.partition("::")[2]
    title = f'<a id="{_anchor(row.id)}"></a>\n\n#### {case_link(escape(name), row)}'
    facts = [*_endings(summary, cells), *_beside(row)]
    if row.reports:
        facts.append(f"see {', '.join(f'[{plain(one)}]({report_link(one)})' for one in row.reports)}")
    about = f"{_prose(row.title)} {_prose(row.about)}".strip()
    return "\n\n".join((title, about, "\n".join(f"- {fact}" for fact in facts)))


def _endings(summary: Summary, cells: Sequence[Cell]) -> Iterator[str]:
    """Neighbouring releases of a track with the same ending and the same claim, by the first and the last of them."""
    known = tracks(summary.environments)
    names = {column.id: known.named(column) for column in summary.environments}
    for numbers in by_track(summary).values():
        seen = [cells[number] for number in numbers if cells[number].outcome is not Outcome.NOT_RUN]
        for _, group in groupby(seen, key=lambda cell: (_ending(cell), cell.expectation)):
            run = list(group)
            where = span(names[run[0].environment], names[run[-1].environment])
            claim = run[0].expectation
            reason = f": {escape(claim.reason)}" if claim else ""
            link = f" [more]({claim.link})" if claim and claim.link else ""
            yield f"{escape(where)}: **{escape(_ending(run[0]))}**{_message(run[-1])}{reason}{link}"


def _message(cell: Cell) -> str:
    """Quote the first line of what was raised, which is what people search for."""
    first = (cell.message or "").strip().partition("\n")[0]
    quoted = clean(first)[:LONGEST_MESSAGE].rstrip()
    return f" {code(quoted)}" if first and cell.outcome is Outcome.RAISES else ""


def _ending(cell: Cell) -> str:
    return f"{ending_text(cell)} {DRIFT.label if cell.drift else ''}".strip()


def _beside(row: Row) -> Iterator[str]:
    for caption, cases in (("repaired by", row.repaired_by), ("repairs", row.repairs)):
        if cases:
            links = (f"[{escape(case.partition('::')[2])}](#{_anchor(case)})" for case in cases)
            yield f"{caption}: {', '.join(links)}"
    if row.unrepaired:
        yield f"{NO_REPAIR}: {_prose(row.unrepaired)}"


def _anchor(case: str) -> str:
    return case.replace("::", "-")


def _prose(text: str) -> str:
    """Write the words of a docstring, in which code stands between double backticks."""
    parts = clean(text, len(text)).split("``")
    return "".join(code(part) if number % 2 else _plain(part) for number, part in enumerate(parts))


def _plain(part: str) -> str:
    """Escape what stands beside code, and keep the blanks between."""
    start, end = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
    return f"{start}{escape(part)}{end}" if part.strip() else part
