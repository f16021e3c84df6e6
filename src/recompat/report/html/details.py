"""A cell in full, as data: short facts, and parts such as an exception that many cells have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.detection import Detection
from recompat.model import Verdict
from recompat.report.faces import FaceKind, face
from recompat.report.notes import expected_text
from recompat.report.page import code_lines
from recompat.report.style import VERDICTS, cell_text, replay_text, verified_text
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.cells import Cell
    from recompat.model import TensorMeta
    from recompat.summary import Row

__all__ = ["Detail", "Fact", "Part", "detail", "frames", "parts"]

LONGEST = 4_000  # characters of a message
MOST_LINES = 60  # of a message, or of frames
MOST_ROWS = 40  # of a table


class Fact(msgspec.Struct, frozen=True):
    """A caption and what there is to say."""

    caption: str
    text: str
    link: str | None = None


class Part(msgspec.Struct, frozen=True):
    """What may be long, and is the same for many cells: a table, lines that keep their blanks, or a sentence.

    ``name`` is what links to it say; ``more`` says what was left out, which the record has.
    """

    name: str
    title: str
    text: str = ""
    link: str | None = None
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    lines: tuple[str, ...] = ()
    more: str = ""


class Detail(msgspec.Struct, frozen=True):
    """What is told of a cell; cells of a case that say the same share one. ``parts`` are numbers of ``Part``."""

    face: FaceKind
    heading: str
    unexpected: bool
    facts: tuple[Fact, ...]
    parts: tuple[int, ...]


def detail(cell: Cell, numbers: tuple[int, ...], *, unexpected: bool) -> Detail:
    """Tell a cell, but for what its parts tell."""
    phase = f" in {cell.phase}" if cell.phase else ""
    return Detail(face(cell), clean(cell_text(cell)) + phase, unexpected, tuple(_facts(cell)), numbers)


def _facts(cell: Cell) -> Iterator[Fact]:
    if cell.cause or cell.watched:
        yield Fact("cause", clean(" ".join(filter(None, (cell.cause, cell.watched)))))
    if cell.detail:
        yield Fact("detail", clean(cell.detail))
    if cell.detection is not None and cell.detection is not Detection.FINE:
        yield Fact("detection", cell.detection.value)
    if cell.verdict is not Verdict.EXPECTED:
        yield Fact("verdict", f"{cell.verdict}: {VERDICTS[cell.verdict].meaning}")
    if cell.replays:
        alike = len(set(cell.replays.values())) == 1 and not cell.flaky
        yield Fact("replays", "alike" if alike else replay_text(cell.replays))
    if cell.unsteady:
        yield Fact("differ in", ", ".join(cell.unsteady))
    if cell.verified is not None:
        yield Fact("verified", verified_text(cell))


def parts(cell: Cell, row: Row) -> Iterator[Part]:
    """What of a cell may be long, in the order in which it is read."""
    if cell.changes:
        rows = tuple((c.setting, c.forward or "absent", c.recompute or "absent") for c in cell.changes)
        yield _table("settings", "settings that differed", ("setting", "forward", "recompute"), rows)
    yield from _operators(cell)
    yield from _tensors(cell)
    if cell.differences:
        yield _values(cell, row)
    if cell.exception:
        yield _exception(cell)
    if cell.warnings:
        given = tuple((one.category, one.text) for one in cell.warnings)
        yield _table("warnings", "warnings that the reference did not give", ("category", "text"), given)
    claim = cell.expectation
    if claim is None:
        yield Part("expectation", "expectation", "Nothing; add a claim to expectations.toml.")
    else:
        yield Part("expectation", "expectation", clean(expected_text(claim), LONGEST), claim.link)


def _table(name: str, title: str, heads: tuple[str, ...], rows: tuple[tuple[str, ...], ...], text: str = "") -> Part:
    shown = tuple(tuple(clean(word) for word in row) for row in rows[:MOST_ROWS])
    more = f"and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return Part(name, title, text, heads=heads, rows=shown, more=more)


def _operators(cell: Cell) -> Iterator[Part]:
    if cell.attention is None and not cell.operator_diff:
        return
    text = ""
    if cell.attention is not None:
        forward, recompute = cell.attention.forward, cell.attention.recompute
        text = f"Attention: {forward or 'no operator of its own'} in forward, {recompute or 'none'} in recompute."
    lines = tuple(clean(line) for line in cell.operator_diff[:MOST_LINES])
    yield Part("operators", "operators, forward (-) against recompute (+)", clean(text), lines=lines or ("the same",))


def _tensors(cell: Cell) -> Iterator[Part]:
    found = cell.disagreement
    counts = ""
    if found is not None and found.saved is not None:
        counts = f"{found.saved} tensors saved in forward, {found.recomputed} in recomputation."
    if not cell.mismatches and not counts:
        return
    heads = ("position", "differs in", "saved", "recomputed")
    rows = tuple(
        (str(one.position), ", ".join(one.fields), _meta(one.saved), _meta(one.recomputed)) for one in cell.mismatches
    )
    yield _table("tensors", "saved tensors", heads if rows else (), rows, counts)


def _meta(tensor: TensorMeta) -> str:
    return f"{list(tensor.shape)} {tensor.dtype.removeprefix('torch.')} {tensor.device}"


def _values(cell: Cell, row: Row) -> Part:
    rows = tuple(
        (
            one.name,
            "within" if one.equal else "NOT EQUAL",
            "" if one.max_abs_diff is None else f"{one.max_abs_diff:.3g}" + (" (never repeats)" if cell.varies else ""),
            one.note or "",
        )
        for one in cell.differences
    )
    heads = ("value", f"tolerance ({clean(row.tolerance)})", "largest difference", "note")
    return _table("values", "values against the reference", heads, rows)


def _exception(cell: Cell) -> Part:
    message = cell.message or ""
    lines = code_lines(message[:LONGEST], MOST_LINES)
    cut = len(message) > LONGEST or len(message.split("\n", MOST_LINES)) > MOST_LINES
    more = f"message cut at {LONGEST:,} characters or {MOST_LINES} lines, of {len(message):,} characters" if cut else ""
    return Part("exception", "exception", clean(cell.exception or ""), lines=tuple(lines), more=more)


def frames(cell: Cell) -> Part | None:
    """The last frames, which are others on each release where all else is the same."""
    lines = tuple(clean(frame) for frame in cell.frames[-MOST_LINES:])
    return Part("frames", "last frames, innermost last", lines=lines) if lines else None
