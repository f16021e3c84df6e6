"""The short Markdown, for a comment on GitHub: what a reader has to look at, and where the rest is."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from recompat.model import Outcome
from recompat.news import news
from recompat.replays import bare_name
from recompat.report.entries import environment_names, grouped, releases, told_once
from recompat.report.findings import item_text
from recompat.report.markdown import code, escape, families_table
from recompat.report.notes import GRAVEST_FIRST, conclusion, counted, totals
from recompat.report.style import cell_text, legend, plain_cell_text
from recompat.report.text import shorten
from recompat.summary import UNEXPECTED, Cell, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recompat.report.entries import Entry
    from recompat.summary import Summary

__all__ = ["MOST", "render_markdown_short"]

MOST: Final = 20_000
"""How many characters it never exceeds; GitHub takes 65,536 in a comment."""

ROOM: Final = 4_000  # characters of one part
LITTLE: Final = 2_000  # of a part that matters less
OPEN: Final = 10  # rows that need no folding
LONGEST_NAME: Final = 100
TABLE: Final = ("| case | how it ends, by the releases on which it was run |", "|---|---|")

_Line: TypeAlias = tuple[Row, tuple[Cell, ...]]


def render_markdown_short(summary: Summary) -> str:
    """Write the conclusion, the rows that are unexpected or change along the releases, and why, in ``MOST`` characters.

    What does not fit is counted, and ``matrix.md`` has it. Nothing that comes from a record can act as markup.
    """
    unexpected = sorted((line for line in summary.lines() if _unexpected(line)), key=_gravity)
    changing = [line for line in summary.lines() if not _unexpected(line) and _changes(line)]
    listed = [_drawn(summary, line) for line in changing]
    short = _fitting(listed, LITTLE) == listed
    parts = (
        f"## Compatibility matrix\n\n**{conclusion(summary)}**",
        _body([*TABLE, *(_drawn(summary, line) for line in unexpected)], ROOM, "row") if unexpected else "",
        _causes(summary, unexpected),
        _newest(summary),
        _changing(listed, short=short),
        _families(summary, unfolded=not unexpected),
        _not_run(summary),
        _foot(summary, [*unexpected, *(changing if short else ())]),
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _unexpected(line: _Line) -> bool:
    return any(cell.verdict in UNEXPECTED for cell in line[1])


def _changes(line: _Line) -> bool:
    return len({plain_cell_text(cell) for cell in _run(line[1])}) > 1


def _gravity(line: _Line) -> int:
    return min(GRAVEST_FIRST.index(cell.verdict) for cell in _run(line[1]))


def _run(cells: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.outcome is not Outcome.NOT_RUN]


def _drawn(summary: Summary, line: _Line) -> str:
    """Draw a row: how the case ends, each ending once with its releases; those on which it was not run are passed over."""
    row, cells = line
    names = environment_names(summary)
    known = {cell.environment: names[cell.environment] for cell in _run(cells)}
    alike: dict[str, list[Cell]] = {}
    for cell in _run(cells):
        alike.setdefault(plain_cell_text(cell), []).append(cell)
    ends = "; ".join(escape(f"{_widest(held)} on {releases(known, held)}") for held in alike.values())
    return f"| {code(shorten(row.id, LONGEST_NAME))} | {ends} |"


def _widest(alike: Sequence[Cell]) -> str:
    """Write the cell with the largest difference, of cells that are the same but for that."""
    return cell_text(max(alike, key=lambda cell: inf if cell.max_abs_diff is None else cell.max_abs_diff))


def _body(lines: Sequence[str], room: int, noun: str) -> str:
    """Join the lines that fit into ``room`` characters, and count the others."""
    kept = _fitting(lines, room)
    more = len(lines) - len(kept)
    left = f"\n\nAnd {counted(more, noun)} more; the full matrix is in matrix.md." if more else ""
    return "\n".join(kept) + left


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    kept = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _causes(summary: Summary, lines: Sequence[_Line]) -> str:
    cells = (cell for _, cells in lines for cell in cells if cell.verdict in UNEXPECTED)
    entries = told_once(summary, ((text, cell) for cell in cells if (text := _why(cell))))
    return f"### Why\n\n{_body([*map(_entry, entries)], ROOM, 'cause')}" if entries else ""


def _why(cell: Cell) -> str:
    """The cause; where none is known, what was raised or went wrong."""
    if cell.cause:
        return " ".join(filter(None, (cell.cause, cell.watched)))
    said = (cell.message or cell.detail or "").strip().partition("\n")[0]
    return f"{bare_name(cell.exception)}: {said}" if cell.exception else said


def _entry(entry: Entry) -> str:
    """Write a sentence and where it holds on one line."""
    where = (" on ".join(filter(None, (code(place.case), escape(place.where)))) for place in entry.places)
    more = [f"and {entry.more} more"] if entry.more else []
    return f"- {escape(entry.text)} ({'; '.join([*where, *more])})"


def _newest(summary: Summary) -> str:
    """Tell what the newest release changed."""
    told = news(summary)
    if not told:
        return ""
    newest = told[0]
    places = {column.id for column in summary.environments if column.torch == newest.torch}
    cases = {cell.case for cell in _run(summary.cells) if cell.environment in places}
    title = f"### New in {escape(newest.torch)}\n\n"
    if not cases:
        return f"{title}It was not run."
    if not newest.items:
        return f"{title}No case of {len(cases)} ends otherwise, or by other operators, than on the release before it."
    return title + _body(
        [*map(_entry, grouped((item_text(item, summary), item.case) for item in newest.items))], LITTLE, "change"
    )


def _changing(rows: Sequence[str], *, short: bool) -> str:
    """Show the rows that change along the releases, or only count them where they are too many to be read."""
    if not rows:
        return ""
    title = f"As expected, and not the same on every release: {counted(len(rows), 'case')}"
    if not short:
        return f"{title}; matrix.md has the rows."
    return _folded(title, "\n".join((*TABLE, *rows)), unfolded=len(rows) <= OPEN)


def _families(summary: Summary, *, unfolded: bool) -> str:
    text = families_table(summary)
    if len(text) > LITTLE:
        return f"{counted(len(summary.families), 'family', 'families')}; matrix.md counts the cells of each."
    return text and _folded("Families", text, unfolded=unfolded)


def _folded(title: str, text: str, *, unfolded: bool) -> str:
    """Fold a part whose title is ours."""
    return f"<details{' open' * unfolded}><summary>{title}</summary>\n\n{text}\n\n</details>"


def _not_run(summary: Summary) -> str:
    """Count what was not run by its reason."""
    names = environment_names(summary)
    missing: dict[str, list[Cell]] = {}
    for cell in summary.cells:
        if cell.outcome is Outcome.NOT_RUN:
            missing.setdefault(cell.detail or "", []).append(cell)
    lines = [
        f"- {counted(len(cells), 'cell')} on {escape(releases(names, cells))}: {escape(reason)}"
        for reason, cells in missing.items()
    ]
    return f"### Not run\n\n{_body(lines, LITTLE, 'reason')}" if lines else ""


def _foot(summary: Summary, shown: Sequence[_Line]) -> str:
    """Explain the marks of the rows that are shown, and give the totals, each in a line."""
    marks = [f"**{escape(name)}** {escape(text)}" for name, text in legend(_part(summary, shown))]
    counts = "; ".join(f"{name}: {escape(text)}" for name, text in totals(summary))
    lines = [f"Legend: {'; '.join(_fitting(marks, LITTLE))}."] if marks else []
    lines += [
        f"Totals: {counts}.",
        f"Written by recompat {escape(summary.recompat)}; the full matrix is in matrix.md.",
    ]
    return "\n\n".join(lines)


def _part(summary: Summary, lines: Sequence[_Line]) -> Summary:
    """The summary of these rows alone, as far as a legend reads it."""
    cells = tuple(cell for _, cells in lines for cell in _run(cells))
    counts = msgspec.structs.replace(
        summary.totals,
        outcomes=Counter(cell.outcome for cell in cells),
        verdicts=Counter(cell.verdict for cell in cells),
        drift=sum(cell.drift for cell in cells),
    )
    return msgspec.structs.replace(summary, cells=cells, totals=counts)
