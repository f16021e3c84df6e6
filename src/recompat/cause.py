"""The cause of a cell in a sentence or two, made from its evidence and never guessed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recompat.evidence import attention, drifts, pairs, telling_pair
from recompat.model import DisagreementKind, Outcome
from recompat.once import MANY, once_per_object
from recompat.replays import bare_name
from recompat.wording import clauses, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.evidence import Pair
    from recompat.model import Evidence, Mismatch, Trial

__all__ = ["cause", "watched_otherwise"]

TOLD: Final = frozenset({Outcome.RAISES, Outcome.DIFFERS, Outcome.CRASH, Outcome.TIMEOUT})
MOST_PLACES: Final = 5
UNKNOWN: Final = "The evidence does not tell why"
MESSAGES: Final = {
    DisagreementKind.MORE_TENSORS: "recompute went on to save more tensors than forward had",
    DisagreementKind.UNPACKED_AGAIN: "backward asked a second time for a tensor that it had unpacked",
}


def cause(trial: Trial, evidence: Evidence | None) -> str | None:
    """Say why a trial ended as it did; None where there is nothing to explain, or no evidence.

    Args:
        trial: the one that gives the verdict.
        evidence: of the one that was watched. Whether that ended otherwise is told by ``watched_otherwise``.
    """
    if evidence is None or not (trial.outcome in TOLD or drifts(trial, evidence)):
        return None
    pair = telling_pair(evidence.calls)
    if pair is None:
        return _without_recompute(evidence)
    told = " ".join(_sentences(trial, pair))
    if told:
        return told
    same = f"settings and operators were the same in forward and recompute{_reservation(evidence)}"
    mismatches = trial.raised.mismatches if trial.raised else ()
    if mismatches and not evidence.unwatched:
        return f"{_capital(same)}, yet {_saved(mismatches)}: what the function reads was not the same."
    return f"{UNKNOWN}: {same}."


def watched_otherwise(trial: Trial, evidence: Evidence | None, warm: Trial | None = None) -> str | None:
    """Say that the watched trial ended otherwise than the one that gives the verdict; None if it did not.

    Args:
        trial: the one that gives the verdict.
        evidence: of the one that was watched, in a warm process.
        warm: the one of a warm process that was not watched: where that ended as the watched one did, it was not the
            watching that made the difference.
    """
    if evidence is None or evidence.outcome is Outcome.NOT_RUN or _ended(trial) == _seen(evidence):
        return None
    ends = f"from {_words(*_ended(trial))} to {_words(*_seen(evidence))}"
    if warm is not None and _ended(warm) == _seen(evidence):
        return f"A warm process changed the outcome {ends}; this evidence is of one."
    return f"Watching changed the outcome {ends}; this evidence is of the watched run."


def _sentences(trial: Trial, pair: Pair) -> Iterator[str]:
    differing = _differing(pair)
    if differing:
        yield differing
    rest = [*_recompute_raised(pair), *_message(trial)]
    if rest:
        same = "" if differing else "Settings and operators were the same; "
        yield _capital(f"{same}{joined(rest)}.")


@once_per_object(MANY)  # the pairs of evidence that many releases share
def _differing(pair: Pair) -> str:
    """Say which settings and operators were not the same; nothing where all were."""
    settings = clauses(pair.changes, pair.forward.settings, pair.recompute.settings)
    operators = _operators(pair)
    if settings:
        return f"{_capital(joined(settings))}; {operators or 'the operators were the same'}."
    if not operators:
        return ""
    regraded = " but for grad mode, which reentrant checkpoint turns on" * pair.regraded
    return f"The settings were the same{regraded}, and the function ran other operators: {operators}."


def _operators(pair: Pair) -> str:
    if not pair.operator_diff:
        return ""
    before, after = attention(pair.forward.operators), attention(pair.recompute.operators)
    if before and after and before != after:
        return f"attention ran as {before} and was recomputed as {after}"
    gone = next((line[2:] for line in pair.operator_diff if line.startswith("- ")), None)
    new = next((line[2:] for line in pair.operator_diff if line.startswith("+ ")), None)
    if gone and new:
        return f"where forward ran {gone}, recompute ran {new}"
    return f"recompute ran {new}, which forward did not" if new else f"forward ran {gone}, which recompute did not"


def _saved(mismatches: Sequence[Mismatch]) -> str:
    """Say which saved tensors came out otherwise, and how the first of them did."""
    first, many = mismatches[0], len(mismatches)
    places = [f"{one.position}" for one in mismatches[:MOST_PLACES]] + [f"{many - MOST_PLACES} more"] * (
        many > MOST_PLACES
    )
    which = f"the saved tensor{'s' * (many > 1)} at position{'s' * (many > 1)} {joined(places)}"
    if not first.fields:
        return f"{which} came out otherwise"
    name = first.fields[0]
    before, after = (_value(getattr(tensor, name)) for tensor in (first.saved, first.recomputed))
    return f"{which} came out with another {name} ({'the first ' * (many > 1)}{before}, then {after})"


def _value(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _recompute_raised(pair: Pair) -> Iterator[str]:
    beginning, _, type_ = pair.recompute.ending.partition("raised ")
    if not beginning and type_ and bare_name(type_) != "CheckpointError":
        yield f"recompute itself raised {type_}"


def _message(trial: Trial) -> Iterator[str]:
    said = trial.raised and trial.raised.disagreement
    if not said:
        return
    if said.kind is DisagreementKind.COUNT and said.saved is not None and said.recomputed is not None:
        yield f"forward saved {_tensors(said.saved)} and recompute {_tensors(said.recomputed)}"
    elif said.kind in MESSAGES:
        yield MESSAGES[said.kind]


def _without_recompute(evidence: Evidence) -> str:
    """Say why there is nothing to compare."""
    if evidence.calls:
        last = evidence.calls[-1].ending
        how = f"; the last call {last}" if last.startswith("raised ") else ""
        return f"{UNKNOWN}: no checkpointed function was recomputed{how}{_reservation(evidence)}."
    detail = evidence.detail or "No call of a checkpointed function was seen."
    return f"{UNKNOWN}. {detail}"


def _reservation(evidence: Evidence) -> str:
    """Say how far the watching went, if not to the end."""
    shown = len(list(pairs(evidence.calls)))
    calls = f"{evidence.unwatched} more call{'s' * (evidence.unwatched != 1)}"
    return f", in the {shown} that were watched ({calls} were not)" if evidence.unwatched else ""


def _ended(trial: Trial) -> tuple[Outcome, str | None]:
    return trial.outcome, None if trial.raised is None else trial.raised.type


def _seen(evidence: Evidence) -> tuple[Outcome, str | None]:
    return evidence.outcome, evidence.exception


def _words(outcome: Outcome, exception: str | None) -> str:
    return exception if exception and outcome is Outcome.RAISES else outcome.value


def _tensors(count: int) -> str:
    return f"{count} tensor{'s' * (count != 1)}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
