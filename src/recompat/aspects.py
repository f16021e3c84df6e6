"""What `recompat bisect` follows along the releases: an aspect of a cell, as an answer that can be compared. Pure."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

import msgspec

from recompat.evidence import attention, telling_pair
from recompat.model import Outcome, Pass
from recompat.report.style import OUTCOMES, label, replay_text, warned_text
from recompat.search import Answer, Found, Skipped
from recompat.trends import ending_of, is_steady
from recompat.wording import clauses, joined

if TYPE_CHECKING:
    from recompat.cells import Cell
    from recompat.model import Evidence

__all__ = ["Aspect", "answer_of"]

ADDRESS = re.compile(r"\[[0-9]{6,}\]|\b0x[0-9a-fA-F]+")


class Aspect(StrEnum):
    """What is compared; ``exception`` is what boundaries are about, ``api`` whether the APIs are there that a case needs."""

    OUTCOME = "outcome"
    EXCEPTION = "exception"
    MISMATCH = "mismatch"
    SETTINGS = "settings"
    OPERATORS = "operators"
    API = "api"


def answer_of(cell: Cell, evidence: Evidence | None, aspect: Aspect) -> Found:
    """What a cell answers, or why it says nothing; ``evidence`` is its own."""
    absent = cell.outcome is Outcome.UNSUPPORTED
    if cell.outcome is Outcome.NOT_RUN:
        return Skipped(cell.detail or "It was not run.", trouble=True)
    if aspect is Aspect.API:
        return _answer("absent" if absent else "there", absent)
    if absent or cell.outcome is Outcome.MOOT:
        look = OUTCOMES[cell.outcome]
        return Skipped(f"{look.label}: {cell.detail or look.meaning}")
    if not is_steady(cell):
        return Skipped(f"flaky: {replay_text(cell.replays)}")
    match aspect:
        case Aspect.OUTCOME:
            return _answer(OUTCOMES[cell.outcome].label, cell.outcome)
        case Aspect.EXCEPTION:
            ending = ending_of(cell)
            shown = label(ending.outcome, ending.exception), *map(warned_text, ending.warned)
            return _answer(" ".join(shown), ending)
        case Aspect.MISMATCH:
            return _answer(_mismatch(cell), (cell.mismatches, cell.disagreement))
        case Aspect.SETTINGS | Aspect.OPERATORS:
            return _watched(cell, evidence, aspect)
        case _:
            assert_never(aspect)


def _answer(text: str, compared: object) -> Answer:
    return Answer(text, msgspec.json.encode(compared, order="deterministic").decode())


def _mismatch(cell: Cell) -> str:
    fields = sorted({field for mismatch in cell.mismatches for field in mismatch.fields})
    count = len(cell.mismatches)
    tensors = f"{count} tensor{'s' * (count != 1)} with another {', '.join(fields)}" if fields else ""
    return tensors or (f"disagreement in {cell.disagreement.kind}" if cell.disagreement else "no mismatch")


def _watched(cell: Cell, evidence: Evidence | None, aspect: Aspect) -> Found:
    if evidence is None:
        return Skipped("no evidence is recorded")
    if (evidence.outcome, evidence.exception) != (cell.outcome, cell.exception) or not evidence.calls:
        return Skipped(cell.watched or evidence.detail or "the watched trial ended otherwise")
    return _settings(cell, evidence) if aspect is Aspect.SETTINGS else _operators(evidence)


def _settings(cell: Cell, evidence: Evidence) -> Answer:
    pair = telling_pair(evidence.calls)
    said = clauses(cell.changes, pair.forward.settings, pair.recompute.settings) if pair else ()
    text = ADDRESS.sub("…", joined(said)) if said else "the same in forward and recompute"
    return _answer(text, text)


def _operators(evidence: Evidence) -> Answer:
    """All operators of all calls; where attention is among them, that is what is shown."""
    ran = [(call.region, call.during, call.operators) for call in evidence.calls]
    texts = []
    for during in Pass:
        operators = [name for _, pass_, names in ran if pass_ is during for name in names]
        texts.append(f"{attention(operators) or f'{len(operators)} operators'} in {during}")
    return _answer(", ".join(texts), ran)
