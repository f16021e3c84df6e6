"""A case in one environment, in full, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.detection import Detection
from recompat.evidence import RETURNED, operator_diff, telling_pair
from recompat.report.notes import expected_text
from recompat.report.page import code_lines, columns, section, table, wrapped
from recompat.report.style import DETECTIONS, cell_text, ending_text, label, paint, replay_text, verified_text
from recompat.report.text import clean
from recompat.tracks import options_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.cells import Cell
    from recompat.model import Call, Evidence, Mismatch, TensorMeta
    from recompat.report.page import Paper
    from recompat.views import CaseView, Seen

__all__ = ["cell_lines", "frames", "reproduce", "why"]

NOT_RECORDED = "not recorded"
MOST_OPERATORS = 200
MOST_DIFF = 40


def cell_lines(view: CaseView, seen: Seen, paper: Paper) -> Iterator[str]:
    """Write every section of a cell; the mark of what was not recorded is as good as a fact."""
    cell, evidence = seen.cell, seen.evidence
    yield section(paper, "Outcome", _outcome(seen, paper))
    if cell.date is None:
        return
    yield section(paper, "Settings that changed", _settings(cell, evidence, paper))
    yield section(paper, "Operators, forward (-) against recomputation (+)", _operators(cell, evidence, paper))
    yield section(paper, "Saved tensors", _tensors(cell, paper))
    yield section(paper, f"Values against the reference ({view.about.tolerance})", _values(cell))
    yield section(paper, "Warnings that the reference did not give", _warnings(cell, paper))
    yield section(paper, "Exception", _exception(cell, paper))
    yield section(paper, "Last frames", frames(cell.frames, paper))
    yield section(paper, "Run it again", [reproduce(view, seen)])


def frames(known: Sequence[str], paper: Paper, most: int = 4) -> Iterator[str]:
    """The innermost frames, innermost last."""
    shown = known if paper.detail > 0 else known[-most:]
    if len(shown) < len(known):
        yield f"… {len(known) - len(shown)} before"
    yield from (clean(frame) for frame in shown)


def reproduce(view: CaseView, seen: Seen) -> str:
    """The one command that runs it again."""
    return clean(f"recompat reproduce {view.id} {options_of(seen.column)}")


def why(seen: Seen) -> str:
    """The cause in a sentence, or why there is none."""
    cell = seen.cell
    if cell.cause:
        return f"{cell.cause} {cell.watched}" if cell.watched else cell.cause
    if cell.detail:
        return cell.detail
    if seen.evidence is None:
        return "no evidence is recorded, so nothing tells why."
    if seen.evidence.detail:
        return seen.evidence.detail
    return "settings and operators were the same in forward and in recomputation."


def _outcome(seen: Seen, paper: Paper) -> list[str]:
    first, *rest = columns(paper, _facts(seen))
    text = label(seen.cell.outcome, seen.cell.exception)
    return [first.replace(text, paint(seen.cell, text), 1) if paper.colour else first, *rest]


def _facts(seen: Seen) -> Iterator[tuple[str, str]]:
    cell = seen.cell
    where = f" in {cell.phase}" if cell.phase else ""
    marks = cell_text(cell).removeprefix(ending_text(cell)).strip()
    yield "outcome", f"{ending_text(cell)}{where} {marks}".strip()
    if cell.detection not in {None, Detection.FINE}:
        yield "torch", f"{DETECTIONS[cell.detection]} ({cell.detection})"
    yield "verdict", cell.verdict.value
    claim = cell.expectation
    yield "expected", expected_text(claim) if claim else "nothing; expectations.toml has no claim for it"
    if cell.expectation and cell.expectation.link:
        yield "link", cell.expectation.link
    if cell.cause and cell.detail:
        yield "detail", cell.detail
    yield "cause", why(seen)
    yield "replays", replay_text(cell.replays) or NOT_RECORDED
    if cell.unsteady:
        yield "differ in", ", ".join(cell.unsteady)
    if cell.verified is not None:
        yield "verified", verified_text(cell)
    yield "recorded", cell.date or NOT_RECORDED


def _settings(cell: Cell, evidence: Evidence | None, paper: Paper) -> list[str]:
    if evidence is None:
        return [NOT_RECORDED]
    if not cell.changes:
        return wrapped(paper, evidence.detail or "none")
    rows = [(change.setting, change.forward or "absent", change.recompute or "absent") for change in cell.changes]
    return table(rows, ("setting", "forward", "recompute"))


def _operators(cell: Cell, evidence: Evidence | None, paper: Paper) -> Iterator[str]:
    if evidence is None:
        yield NOT_RECORDED
        return
    if cell.attention is not None:
        pairs = (("forward", cell.attention.forward), ("recompute", cell.attention.recompute))
        yield from columns(
            paper, [(f"attention in {where}", name or "no operator of its own") for where, name in pairs]
        )
    pair = telling_pair(evidence.calls)
    if pair is not None:
        most = MOST_OPERATORS if paper.detail > 0 else MOST_DIFF
        stopped = pair.recompute.ending != RETURNED
        lines = operator_diff(pair.forward.operators, pair.recompute.operators, may_stop=stopped, most=most)
        yield from (clean(line) for line in lines or ("the same",))
    if paper.detail > 0 and pair is not None:
        yield from (*_all_operators(pair.forward, paper), *_all_operators(pair.recompute, paper))
    if evidence.unwatched:
        yield f"{evidence.unwatched} further calls were not watched"


def _all_operators(call: Call, paper: Paper) -> list[str]:
    more = f" and {len(call.operators) - MOST_OPERATORS} more" if len(call.operators) > MOST_OPERATORS else ""
    text = f"{', '.join(call.operators[:MOST_OPERATORS]) or 'none'}{more} ({call.ending})"
    return wrapped(paper, text, f"all in {call.during}: ", limit=20_000)


def _tensors(cell: Cell, paper: Paper) -> Iterator[str]:
    most = len(cell.mismatches) if paper.detail > 0 else 10
    rows = [_mismatch(one) for one in cell.mismatches[:most]]
    yield from table(rows, ("position", "differs in", "saved", "recomputed"))
    if len(cell.mismatches) > most:
        yield f"and {len(cell.mismatches) - most} more; -v shows them all"
    found = cell.disagreement
    if found is not None and found.saved is not None:
        yield from columns(paper, [("saved in forward", str(found.saved)), ("in recomputation", str(found.recomputed))])


def _mismatch(mismatch: Mismatch) -> tuple[str, str, str, str]:
    saved, recomputed = _meta(mismatch.saved), _meta(mismatch.recomputed)
    return str(mismatch.position), ", ".join(mismatch.fields), saved, recomputed


def _meta(tensor: TensorMeta) -> str:
    return f"{list(tensor.shape)} {tensor.dtype.removeprefix('torch.')} {tensor.device}"


def _values(cell: Cell) -> list[str]:
    rows = [
        (
            one.name,
            "within" if one.equal else "NOT EQUAL",
            "" if one.max_abs_diff is None else f"{one.max_abs_diff:.3g}" + (" (never repeats)" if cell.varies else ""),
            one.note or "",
        )
        for one in cell.differences
    ]
    return table(rows, ("value", "tolerance", "largest difference", "note"))


def _warnings(cell: Cell, paper: Paper) -> Iterator[str]:
    for warned in cell.warnings:
        yield from wrapped(paper, warned.text, f"{clean(warned.category)}: ", limit=400 if paper.detail < 1 else 4_000)


def _exception(cell: Cell, paper: Paper) -> Iterator[str]:
    if not cell.exception:
        return
    message = cell.message or ""
    if paper.detail < 1:  # what follows the first line of a CheckpointError is told by its tensors
        message = message.partition("\n")[0] if cell.mismatches else message
        yield from wrapped(paper, message, f"{clean(cell.exception)}: ", limit=400)
        return
    yield f"{clean(cell.exception)}:"
    yield from code_lines(message)
