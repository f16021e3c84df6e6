"""One replay: as few probes as possible, and a new one for the rest after one has died."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

import msgspec

from recompat.events import ending, evidence_of, from_outside, log_name, trial_of, unwatched, was_killed
from recompat.model import Outcome, Replay, Trial, TroubleKind
from recompat.runner import run_probe
from recompat.wheels import EnvironmentTrouble

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from recompat.model import Evidence
    from recompat.runner import Event, ProbeEnd
    from recompat.trials import CaseAddress, Job

__all__ = ["IMPORT_LIMITS", "ReplayRun"]

PROBE_FAILED = 70  # the exit status that the wire contract names
BEGINNING, WATCHING = "", "watching"  # what may be ended besides a case, whose id has colons
IMPORT_LIMITS = 5  # how many times a trial's limit `import torch` may take


class ReplayRun:
    """A replay of some cases. The warm one also watches them, in trials of their own after all others."""

    def __init__(
        self,
        job: Job,
        replay: Replay,
        folder: Path,
        cases: Sequence[CaseAddress],
        heard: Callable[[Replay], None],
        stop: threading.Event,
    ) -> None:
        self._job = job
        self._replay = replay
        self._folder = folder
        self._cases = cases
        self._heard = heard
        self._stop = stop
        self._watching = job.evidence and replay is Replay.WARM
        # Only the cold replay imports torch._dynamo in every trial: it gets all the cores.
        self._jobs = job.cores if replay is Replay.COLD else 1
        self._probes = 0
        self._digests = {case.id: case.sha256 for case in cases}
        self._evidence: dict[str, Evidence] = {}
        self._watched = False  # whether the last probe brought any
        self._suspects: set[str] = set()
        self._begun: dict[str, float] = {}
        self._turned: dict[str, float] = {}

    def run(self) -> tuple[Mapping[str, Trial], Mapping[str, Evidence]]:
        """Try every case, and watch it.

        Raises:
            EnvironmentTrouble: a probe died before it had begun a trial.
        """
        self._folder.mkdir(exist_ok=True)
        trials = self._try()
        if not self._watching:
            return trials, {}
        self._watch()
        return trials, self._evidence

    def _try(self) -> Mapping[str, Trial]:
        trials: dict[str, Trial] = {}
        while (pending := [case for case in self._cases if case.id not in trials]) and not self._stop.is_set():
            given = self._share(pending)
            end = self._probe(given, self._listen)
            told = {
                str(event["case"]): self._timed(str(event["case"]), trial_of(event, self._digests))
                for event in end.events
                if event["event"] == "finished"
            }
            dying = [
                case for event in end.events if event["event"] == "started" and (case := str(event["case"])) not in told
            ]
            trials |= {case: trial for case, trial in told.items() if not self._spared(was_killed(trial.detail), case)}
            if end.status == PROBE_FAILED and self._forks(given):  # no case is to blame
                raise self._trouble("the probe itself failed")
            if len(dying) == 1:
                if not self._spared(from_outside(end), dying[0]):
                    trials[dying[0]] = self._killed(end)
                    self._evidence[dying[0]] = unwatched("It was not watched: its trial ended the probe.")
            elif dying:
                self._jobs = 1  # the next probe tells which of them it was
            elif not told:
                if not self._spared(from_outside(end), BEGINNING):
                    raise self._trouble(f"the probe {ending(end)} before its first trial")
            elif all(case.id in told for case in given):
                self._give_up(given, end)
        return trials

    def _spared(self, killed: bool, what: str) -> bool:
        """Whether what another process has ended is to be tried again: it is to blame no sooner than the second time."""
        if not killed or what in self._suspects:
            return False
        self._suspects.add(what)
        return True

    def _trouble(self, what: str) -> EnvironmentTrouble:
        reason = f"The cases were not run: {what}. The log is {log_name(self._job.log)}."
        return EnvironmentTrouble(TroubleKind.PROBE_FAILED, reason)

    def _watch(self) -> None:
        """Watch what no probe came to watch, because it died of another case; each round settles one case at least."""
        while (pending := [case for case in self._cases if case.id not in self._evidence]) and not self._stop.is_set():
            given = self._share(pending)
            self._give_up(given, self._probe(given, lambda _: None))

    def _give_up(self, given: Sequence[CaseAddress], end: ProbeEnd) -> None:
        """Settle cases of which a probe that was to watch them brought no evidence at all."""
        if not self._watched and not self._spared(from_outside(end), WATCHING):
            why = "The probe ended without watching it." if end.whole else f"The probe {ending(end)} while it watched."
            self._evidence |= {case.id: unwatched(why) for case in given if case.id not in self._evidence}

    def _share(self, pending: Sequence[CaseAddress]) -> Sequence[CaseAddress]:
        """The cases for the next probe: all that may be forked from one, and then one at a time."""
        together = [case for case in pending if self._forks([case])]
        return together or pending[:1]

    def _forks(self, cases: Sequence[CaseAddress]) -> bool:
        return self._job.isolation == "fork" and not any(case.alone for case in cases)

    def _probe(self, cases: Sequence[CaseAddress], heard: Callable[[Event], None]) -> ProbeEnd:
        self._probes += 1
        self._begun = {BEGINNING: time.monotonic()}
        job = self._job
        arguments = ["--timeout", f"{job.timeout:g}", "--jobs", str(self._jobs)]
        forks = self._forks(cases)
        arguments += ["--isolation", "fork" if forks else "none"]
        arguments += [] if self._replay is Replay.COLD else ["--warm"]
        arguments += ["--evidence"] if self._watching else []
        arguments += [f"{case.path}::{case.name}" for case in cases]
        out = self._folder / f"{self._probes}.jsonl"
        patience = functools.partial(self._patience, forks=forks)
        end = run_probe(job.spawn, job.python, arguments, out, job.log, patience, heard, self._stop, job.memory)
        self._watched = False
        for event in end.events:
            if event["event"] == "evidence" and (case := str(event.get("case"))) in self._digests:
                evidence = evidence_of(event, self._digests)
                self._watched = True
                if not self._spared(was_killed(evidence.detail), f"{WATCHING} {case}"):
                    self._evidence.setdefault(case, evidence)
        return end

    def _patience(self, last: Event | None, *, forks: bool) -> float:
        """How long a probe may be silent: a trial without a process of its own has only us to hold the clock."""
        trying = last is not None and last["event"] in {"started", "finished"}  # after that, the watched one
        return self._job.timeout * (1 if trying and not forks else IMPORT_LIMITS)

    def _listen(self, event: Event) -> None:
        case, now = str(event.get("case")), time.monotonic()
        if event["event"] == "started":
            self._begun[case] = now
        if event["event"] == "finished":
            self._heard(self._replay)
            seconds = event.get("seconds")
            if isinstance(seconds, float) and not 0 <= seconds <= now - self._begun[BEGINNING]:
                self._turned[case] = round(now - self._begun.get(case, now), 4)

    def _timed(self, case: str, trial: Trial) -> Trial:
        """Without a process of its own, a case can turn the clock that its trial is timed by: then ours counts."""
        seconds = self._turned.pop(case, None)
        return trial if seconds is None else msgspec.structs.replace(trial, seconds=seconds)

    def _killed(self, end: ProbeEnd) -> Trial:
        self._heard(self._replay)
        if end.stalled:
            limit = self._job.timeout
            return Trial(Outcome.TIMEOUT, limit, detail=f"no result within {limit:g} s")
        return Trial(Outcome.CRASH, 0.0, detail=ending(end))
