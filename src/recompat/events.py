"""What the events of a probe say, as the model's types; nothing in them is taken as it comes."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

import msgspec

from recompat.bound import OUTSIDE, is_from_outside
from recompat.evidence import changes
from recompat.mismatch import parse_disagreement, parse_mismatches
from recompat.model import Evidence, Outcome, Trial

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from recompat.runner import Event, ProbeEnd

__all__ = ["ending", "evidence_of", "from_outside", "log_name", "trial_of", "unwatched", "was_killed"]

KILLED = re.compile(r"(?:The watched trial )?ended by (SIG[A-Z0-9]+)\.?")
OTHER_FILE = "The case file was changed while it was run; run it again."


def trial_of(event: Event, digests: Mapping[str, str]) -> Trial:
    """Read a ``finished`` event; what it says of another file than the one we read says nothing of ours: ``not-run``."""
    if event["sha256"] and event["sha256"] != digests.get(str(event["case"])):
        return Trial(Outcome.NOT_RUN, 0.0, detail=OTHER_FILE)
    try:
        trial = msgspec.convert(event, Trial)
    except msgspec.ValidationError as error:
        return Trial(Outcome.CRASH, 0.0, detail=f"left a result that cannot be read ({error})")
    if trial.raised is None:
        return trial
    message = trial.raised.message
    raised = msgspec.structs.replace(
        trial.raised, mismatches=parse_mismatches(message), disagreement=parse_disagreement(message)
    )
    return msgspec.structs.replace(trial, raised=raised)


def evidence_of(event: Event, digests: Mapping[str, str]) -> Evidence:
    """Read an ``evidence`` event, and derive which settings changed."""
    if event.get("sha256") and event["sha256"] != digests.get(str(event["case"])):
        return unwatched(OTHER_FILE)
    try:
        evidence = msgspec.convert(event, Evidence)
    except msgspec.ValidationError as error:
        return unwatched(f"The probe left evidence that cannot be read ({error}).")
    return msgspec.structs.replace(evidence, changes=changes(evidence.calls))


def unwatched(detail: str) -> Evidence:
    """Say why there is no evidence of a case."""
    return Evidence(Outcome.NOT_RUN, None, detail=detail)


def ending(end: ProbeEnd) -> str:
    """Say how a probe ended."""
    if end.stalled:
        return "ended for its silence"
    if end.status >= 0:
        return f"exited with status {end.status}"
    try:
        return f"ended by {signal.Signals(-end.status).name}"
    except ValueError:  # a real-time signal
        return f"ended by signal {-end.status}"


def from_outside(end: ProbeEnd) -> bool:
    """Whether a probe was ended by another process than its host."""
    return not end.stalled and is_from_outside(end.status)


def was_killed(detail: str | None) -> bool:
    """Whether a trial, or a watched one, was ended by another process, so far as the probe's words for its ending tell."""
    found = KILLED.fullmatch(detail or "")
    return found is not None and found[1] in OUTSIDE


def log_name(path: Path) -> str:
    """Name a log as a report may: without the folders above its environment's."""
    return f"{path.parent.name}/{path.name}"
