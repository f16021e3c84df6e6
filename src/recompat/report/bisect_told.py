"""What a bisection says, block by block, for text and for Markdown. All of it is text from records: formats escape it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import msgspec

from recompat.report.diff_told import chapters, fact_rows, same_facts
from recompat.report.notes import counted
from recompat.report.page import code_lines
from recompat.report.style import ending_text
from recompat.tracks import beside_text, options_of, packed
from recompat.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.bisection import Bisection, Side, Tried, Turn
    from recompat.model import Mismatch, TensorMeta

__all__ = ["Block", "conclusion", "headline", "says_nothing", "shared", "turn_blocks", "turn_title"]

MOST_MISMATCHES = 10
MOST_LINES = 12  # of a message
MOST_FRAMES = 4
LONGEST_REASON = 100


class Block(msgspec.Struct, frozen=True):
    """Something under a heading: sentences, then a table, then what is typed or was printed."""

    title: str
    lines: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    code: tuple[str, ...] = ()


def headline(found: Bisection) -> str:
    """Say where the case changes."""
    if len(found.turns) == 1:
        return f"{found.case} changes between {_releases(found.turns[0])}"
    return f"{found.case} changes {len(found.turns)} times between {found.start} and {found.end}"


def conclusion(found: Bisection) -> Iterator[str]:
    """Say what changes, how exactly that is known, and what it cost."""
    for turn in found.turns:
        yield f"{turn.old} until {turn.last.column.torch}, {turn.new} from {turn.first.column.torch}; {_exact(turn)}."
    recorded = sum(one.recorded for one in found.tried)
    yield (
        f"By its {found.aspect}, along {counted(found.releases, 'release')} from {found.start} to {found.end} on"
        f" {found.platform}{_beside(found)}: {found.installed} installed, {recorded} recorded before. Between two that do the same nothing was"
        " tried: what changed there and changed back is not seen."
    )
    if found.listed:
        yield f"No index was in reach; the releases are those of {found.listed}."


def _beside(found: Bisection) -> str:
    return f" with {beside_text(packed(found.beside))}" if found.beside else ""


def says_nothing(reason: str) -> str:
    """Say that a release has no answer, in a line; the whole reason stands elsewhere."""
    return f"says nothing: {textwrap.shorten(reason, LONGEST_REASON, placeholder=' …')}"


def turn_title(turn: Turn) -> str:
    """Name a change by its releases."""
    return f"{turn.last.column.torch} → {turn.first.column.torch}"


def turn_blocks(turn: Turn) -> Iterator[Block]:
    """Tell all that is known of a change."""
    sides = (turn.last, turn.first)
    yield Block("Between, without an answer", tuple(f"{one.torch}: {one.reason}" for one in turn.between))
    yield Block("How it ends, and why", tuple(map(_ends, sides)))
    heads = ("", *(side.column.torch for side in sides))
    yield Block("The two wheels", tuple(_wheels(turn)), heads, tuple(fact_rows(turn.diff)))
    for side in sides:
        yield _exception(side)
        yield _tensors(side)
    for chapter in chapters(turn.diff):
        yield Block(chapter.title, tuple(told.text for told in chapter.told if not told.lines))
        for told in chapter.told:
            yield Block(f"{chapter.title} {told.text}", code=told.lines)


def shared(found: Bisection) -> Iterator[Block]:
    """Tell how it can be run again, what was tried, and what else the records know."""
    yield Block("Case file", (found.file, f"SHA-256 {found.sha256}"))
    told: set[str] = set()
    for side in (side for turn in reversed(found.turns) for side in (turn.last, turn.first)):
        if side.commands and side.column.id not in told:
            told.add(side.column.id)
            write = f"recompat reproduce {found.case} {options_of(side.column)}"
            yield Block(f"Run it on {side.column.torch}: {_ending(side)}", code=(write, *side.commands))
    rows = tuple((one.torch, _answer(one), _how(one)) for one in found.tried)
    yield Block("What is known of the releases", (), ("torch", found.aspect, ""), rows)
    pairs = tuple(f"between {last} and {first}" for last, first in found.elsewhere)
    yield Block("Further changes that the records know, outside of this range", pairs)


def _releases(turn: Turn) -> str:
    return f"{turn.last.column.torch} and {turn.first.column.torch}"


def _exact(turn: Turn) -> str:
    if not turn.between:
        return "exact, no release lies between"
    return f"{joined([one.torch for one in turn.between])} between {'say' if len(turn.between) > 1 else 'says'} nothing"


def _ends(side: Side) -> str:
    cell = side.cell
    wrong = [one.name for one in cell.differences if not one.equal]
    values = f"{joined(wrong)} not equal" if wrong else ""
    why = " ".join(filter(None, (cell.cause, cell.watched))) or cell.detail
    return ". ".join(filter(None, (f"{side.column.torch}: {_ending(side)}", values, why)))


def _ending(side: Side) -> str:
    where = f" in {side.cell.phase}" if side.cell.phase else ""
    return f"{ending_text(side.cell)}{where}"


def _exception(side: Side) -> Block:
    """The message, of which a table tells the rest where tensors do not match, and the last frames."""
    cell = side.cell
    if cell.exception is None:
        return Block("")
    message = cell.message or ""
    said = code_lines(message.partition("\n")[0] if cell.mismatches else message, MOST_LINES)
    frames = ("", *cell.frames[-MOST_FRAMES:]) if cell.frames else ()
    return Block(f"Exception on {side.column.torch}", (cell.exception,), code=(*said, *frames))


def _tensors(side: Side) -> Block:
    found, cell = side.cell.disagreement, side.cell
    lines = []
    if found is not None and found.saved is not None:
        lines.append(f"{found.saved} saved in forward, {found.recomputed} in recomputation")
    if len(cell.mismatches) > MOST_MISMATCHES:
        lines.append(f"the first {MOST_MISMATCHES} of {len(cell.mismatches)}")
    rows = tuple(map(_mismatch, cell.mismatches[:MOST_MISMATCHES]))
    heads = ("position", "differs in", "saved", "recomputed")
    return Block(f"Saved tensors on {side.column.torch}", tuple(lines), heads, rows)


def _mismatch(mismatch: Mismatch) -> tuple[str, ...]:
    saved, recomputed = _meta(mismatch.saved), _meta(mismatch.recomputed)
    return str(mismatch.position), ", ".join(mismatch.fields), saved, recomputed


def _meta(tensor: TensorMeta) -> str:
    return f"{list(tensor.shape)} {tensor.dtype.removeprefix('torch.')} {tensor.device}"


def _wheels(turn: Turn) -> Iterator[str]:
    for side in (turn.last, turn.first):
        if side.wheel is not None:
            yield side.wheel + (f", SHA-256 {side.wheel_sha256}" if side.wheel_sha256 else "")
    builds = [side.column.flavour for side in (turn.last, turn.first)]
    if len({*builds}) > 1:
        yield f"They are other builds, {joined([build or 'unknown' for build in builds])}: that may be what changed."
    same = same_facts(turn.diff)
    if same:
        yield f"The same: {same}."


def _answer(tried: Tried) -> str:
    return tried.answer if tried.answer is not None else says_nothing(tried.skipped or "")


def _how(tried: Tried) -> str:
    if tried.recorded:
        return "recorded before"
    return "installed" if tried.installed else "tried"
