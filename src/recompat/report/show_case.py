"""A case along the releases, as text."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from recompat.model import Outcome
from recompat.platforms import tracks
from recompat.report.findings import boundary_text, operator_change_text
from recompat.report.notes import claimed_text
from recompat.report.page import code_lines, columns, heading, section, wrapped
from recompat.report.repairs import NO_REPAIR
from recompat.report.show_cell import cell_lines, frames, reproduce, why
from recompat.report.style import cell_text, paint, report_link
from recompat.report.text import clean
from recompat.tracks import beside_text, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from recompat.boundary import Boundary
    from recompat.operators import OperatorChange
    from recompat.report.page import Paper
    from recompat.summary import Column
    from recompat.views import CaseView, Seen

    Run = tuple[str, Sequence[Seen]]

__all__ = ["render_case"]


def render_case(view: CaseView, paper: Paper) -> str:
    """Draw a case; ``paper.detail`` below 0 leaves all but its outcomes and boundaries out."""
    parts = [f"{heading(paper, view.id)}\n{clean(view.title)}"]
    if paper.detail >= 0:
        parts.append(section(paper, "About", _about(view, paper)))
        parts.append(_source(view, paper))
    parts.append(section(paper, "Outcomes", _outcomes(view, paper)))
    parts.append(section(paper, "Boundaries", _boundaries(view.boundaries, paper)))
    parts.append(section(paper, "Repairs, and where they pass", _repairs(view, paper)))
    if paper.detail >= 0:
        if not view.chosen:
            parts.append(section(paper, "Why", _causes(view, paper)))
            parts.append(section(paper, "Expectations, and their reasons", _claims(view, paper)))
        parts.append(section(paper, "Operators changed, the outcome did not", _operators(view.operator_changes, paper)))
        parts += _chosen(view, paper)
    return "\n\n".join(filter(None, parts)) + "\n"


def _about(view: CaseView, paper: Paper) -> Iterator[str]:
    about = view.about
    if about.text:
        yield from wrapped(paper, about.text)
    facts = [("family", view.family)]
    facts += [("reports", " ".join(map(report_link, about.reports)))] if about.reports else []
    facts += [("repairs", ", ".join(about.repairs))] if about.repairs else []
    yield from columns(paper, facts)


def _repairs(view: CaseView, paper: Paper) -> Iterator[str]:
    for repair in view.repairs:
        yield from wrapped(paper, f"{repair.title} ({repair.where})", f"{clean(repair.case)}: ")
    if view.about.unrepaired:
        yield from wrapped(paper, f"{NO_REPAIR}: {view.about.unrepaired}")


def _source(view: CaseView, paper: Paper) -> str:
    source = view.source
    lines = [*columns(paper, [("file", source.file), ("SHA-256", source.sha256)])]
    if source.fault is not None:
        lines += wrapped(paper, source.fault)
    if source.code is not None:
        lines += ["", *code_lines(source.code)]
    return section(paper, "Source", lines)


def _outcomes(view: CaseView, paper: Paper) -> Iterator[str]:
    if not view.seen:
        yield "Nothing is recorded yet; nox -s matrix runs it."
    for track, seen in _by_track(view.seen):
        runs = [
            f"{releases} {_painted(paper, run[0], cell_text(run[0].cell))}" for releases, run in _runs(seen, _as_shown)
        ]
        start = f"{track}: " if track else ""
        yield from _flowing(paper, start, runs)


def _flowing(paper: Paper, start: str, runs: Sequence[str]) -> Iterator[str]:
    """Put as many runs on a line as fit; colours take no room."""
    line, used = start, len(start)
    for number, run in enumerate(runs):
        size = len(run) if not paper.colour else len(run.replace("\x1b[0m", "").partition("\x1b[")[0]) + 16
        text = f"{' | ' if number else ''}{run}"
        if number and used + size + 3 > paper.width - 2:
            yield line
            line, used, text = " " * len(start) + "| ", len(start) + 2, run
        line, used = line + text, used + size + 3
    yield line


def _boundaries(found: Sequence[Boundary], paper: Paper) -> Iterator[str]:
    several = len({boundary.platform for boundary in found}) > 1
    for boundary in found:
        where = f" on {boundary.platform}" if several else ""
        yield from wrapped(paper, f"{_beside(boundary, '{}: ')}{boundary_text(boundary)}{where}")


def _causes(view: CaseView, paper: Paper) -> Iterator[str]:
    """Each distinct outcome with its cause, in the order of the releases."""
    for track, seen in _by_track(view.seen):
        told = [one for one in seen if one.cell.outcome is not Outcome.NOT_RUN or one.cell.detail]
        for releases, run in _runs(told, lambda one: (_as_shown(one), why(one))):
            first = run[0]
            where = clean(" ".join(filter(None, (track, releases))))
            yield from wrapped(paper, why(first), f"{where} {cell_text(first.cell)}: ")


def _claims(view: CaseView, paper: Paper) -> Iterator[str]:
    """What a person knows of the cause, which the evidence may not tell."""
    for claim in dict.fromkeys(one.cell.expectation for one in view.seen):
        if claim is not None:
            yield from wrapped(paper, claim.reason, f"{clean(claimed_text(claim))}: ")


def _operators(changes: Sequence[OperatorChange], paper: Paper) -> Iterator[str]:
    for change in changes:
        yield from wrapped(paper, f"{_beside(change, '{}: ')}{operator_change_text(change)}")


def _chosen(view: CaseView, paper: Paper) -> Iterator[str]:
    """What was asked for in full; else the last frames of the telling one, and how to run it again."""
    for seen in view.chosen:
        yield heading(paper, _title(seen))
        yield from cell_lines(view, seen, paper)
    telling = view.telling
    if view.chosen or telling is None:
        return
    if telling.cell.frames:
        yield section(paper, f"Last frames on {telling.column.torch}", frames(telling.cell.frames, paper))
    yield section(paper, "Run it again", [reproduce(view, telling)])


def _title(seen: Seen) -> str:
    column = seen.column
    build = f" ({column.imported}, {column.source})" if column.imported else ""
    return f"torch {column.torch}{_beside(column, ' with {}')} on {column.python}, {column.platform}{build}"


def _beside(one: Column | Boundary | OperatorChange, form: str) -> str:
    """Name what stands beside torch, if anything does."""
    return form.format(beside_text(packed(one.beside))) if one.beside else ""


def _by_track(seen: Iterable[Seen]) -> Iterator[tuple[str, list[Seen]]]:
    """What is on each track, with its name; where there is one alone, that is empty."""
    known = list(seen)
    names = tracks(tuple(one.column for one in known))
    held: dict[str, list[Seen]] = {}
    for one in known:
        held.setdefault(names.name(one.column), []).append(one)
    return ((clean(track), group) for track, group in held.items())


def _runs(seen: Sequence[Seen], key: Callable[[Seen], Hashable]) -> Iterator[Run]:
    """Neighbours that are alike, by the first and the last of their releases."""
    for _, group in groupby(seen, key):
        run = list(group)
        ends = list(dict.fromkeys((_name(run[0], seen), _name(run[-1], seen))))
        yield "-".join(ends), run


def _name(one: Seen, seen: Sequence[Seen]) -> str:
    alike = sum(other.column.torch == one.column.torch for other in seen)
    return clean(one.column.torch if alike == 1 else f"{one.column.torch} ({one.column.python})")


def _as_shown(seen: Seen) -> str:
    return cell_text(seen.cell)


def _painted(paper: Paper, seen: Seen, text: str) -> str:
    return paint(seen.cell, text) if paper.colour else text
