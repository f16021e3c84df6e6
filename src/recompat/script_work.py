"""One release of a try: an environment from wheels alone, and for a plain script a single run instead of replays."""

from __future__ import annotations

import functools
import math
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from recompat.events import ending, log_name
from recompat.mismatch import parse_disagreement, parse_mismatches
from recompat.model import CaseResult, Outcome, Phase, Raised, Replay, Trial, TroubleKind, Warned
from recompat.runner import probe_folder, run_probe
from recompat.wheels import EnvironmentTrouble
from recompat.work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.environment import Build
    from recompat.runner import Event, ProbeEnd, Spawn
    from recompat.trials import CaseAddress, Job
    from recompat.wheels import Wheel

__all__ = ["CaseTry", "ScriptTry", "run_script", "trial_of"]

T = TypeVar("T")


class CaseTry(Work):
    """A case file from elsewhere: as in the matrix, but that no package of its choice is built here."""

    def _build(self, wheel: Wheel) -> Build:
        return msgspec.structs.replace(super()._build(wheel), wheels_only=True)


class ScriptTry(CaseTry):
    """A plain script: it runs once, in a process of its own. ``start`` starts it, and is set before ``run``."""

    start: Spawn

    def _trials(self, job: Job, cases: Sequence[CaseAddress]) -> tuple[CaseResult, ...]:
        (script,) = cases
        with self._progress.step("running", "the script"):
            trial = run_script(job, script.path, self.start)
        return (CaseResult(script.id, script.sha256, {Replay.COLD: trial}),)


def run_script(job: Job, script: Path, start: Spawn) -> Trial:
    """Run a copy of a script in a folder of its own, and tell how it ended.

    Raises:
        EnvironmentTrouble: it could not be started.
    """
    log = job.log.with_name("output.log")
    with tempfile.TemporaryDirectory(prefix="recompat-", ignore_cleanup_errors=True) as folder:
        out, place = Path(folder, "events.jsonl"), Path(folder, "work")
        place.mkdir()
        copy = Path(shutil.copyfile(script, place / script.name))
        begun = time.monotonic()
        patience = functools.partial(_patience, begun + job.timeout)
        end = run_probe(start, job.python, [str(probe_folder()), str(copy)], out, log, lambda _: patience())
        seconds = round(time.monotonic() - begun, 2)
    if not any(event.get("event") == "started" for event in end.events):
        reason = f"The script was not run: its process {ending(end)} before. The log is {log_name(log)}."
        raise EnvironmentTrouble(TroubleKind.PROBE_FAILED, reason)
    return trial_of(end, seconds, job.timeout)


def _patience(deadline: float) -> float:
    """Until the deadline any silence is borne, and afterwards none: the limit is on the whole run."""
    return -1.0 if time.monotonic() > deadline else math.inf


def trial_of(end: ProbeEnd, seconds: float, limit: float) -> Trial:
    """Tell how a script ended, as a person would who ran it: by what left it, or else by its exit status."""
    warned = tuple(_read(event, Warned) for event in _named(end, "warned"))
    return msgspec.structs.replace(_ending(end, limit), seconds=seconds, warnings=tuple(filter(None, warned)))


def _ending(end: ProbeEnd, limit: float) -> Trial:
    left, hooks = _exceptions(end)
    after = f", after it raised {left.type}" if left else ", after its last line" if _named(end, "end") else ""
    if end.stalled:
        return Trial(Outcome.TIMEOUT, 0.0, detail=f"did not end within {limit:g} s{after}")
    if end.status < 0 and not (left and left.type == "builtins.KeyboardInterrupt"):
        return Trial(Outcome.CRASH, 0.0, detail=f"{ending(end)}{after}")
    if left:
        return Trial(Outcome.RAISES, 0.0, left)
    if end.status:
        said = next((str(event.get("message")) for event in _named(end, "exit")), None)
        if said is None:
            return Trial(
                Outcome.CRASH, 0.0, detail=f"exited with status {end.status}{after or ', without an exception'}"
            )
        raised = Raised("builtins.SystemExit", Phase.FORWARD, said)
        return Trial(Outcome.RAISES, 0.0, raised, detail=f"exited with status {end.status}")
    if hooks:
        return Trial(Outcome.RAISES, 0.0, hooks, detail="raised in an exit hook; the exit status is 0")
    return Trial(Outcome.PASS, 0.0)


def _exceptions(end: ProbeEnd) -> tuple[Raised | None, Raised | None]:
    """What left the script, and what the last exit hook that failed raised."""
    found: dict[bool, Raised | None] = {}
    for event in _named(end, "raised"):
        found[bool(event.get("at_exit"))] = _raised(event)
    return found.get(False), found.get(True)


def _raised(event: Event) -> Raised | None:
    raised = _read(event.get("raised"), Raised)
    if raised is None:
        return None
    mismatches, disagreement = parse_mismatches(raised.message), parse_disagreement(raised.message)
    return msgspec.structs.replace(raised, mismatches=mismatches, disagreement=disagreement)


def _read(content: object, kind: type[T]) -> T | None:
    """Read what a script may have written into our file; nothing in it is taken as it comes."""
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError:
        return None


def _named(end: ProbeEnd, name: str) -> list[Event]:
    return [event for event in end.events if event.get("event") == name]
