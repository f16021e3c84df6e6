"""Runs cases in a built environment: three replays side by side, each read from the events of its probes."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from recompat.mismatch import parse_mismatches
from recompat.model import CaseResult, Facts, Outcome, Replay, Trial, TroubleKind
from recompat.runner import ProbeEnd, Spawn, run_probe
from recompat.wheels import EnvironmentTrouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from recompat.runner import Event

__all__ = ["CaseAddress", "Isolation", "Job", "default_isolation", "read_facts", "run_trials"]

Isolation = Literal["fork", "process"]
PROBE_FAILED = 70  # the exit status that the wire contract names
IMPORT_LIMITS = 5  # how many times a trial's limit `import torch` may take


def default_isolation() -> Isolation:
    """A forked child per trial where the system can fork, else a process each."""
    return "fork" if hasattr(os, "fork") else "process"


class CaseAddress(msgspec.Struct, frozen=True):
    """Where a case stands, and the digest that its file must have."""

    id: str
    path: Path
    sha256: str

    @property
    def name(self) -> str:
        """The case's own name, without its file's."""
        return self.id.partition("::")[2]


class Job(msgspec.Struct, frozen=True):
    """What all trials of one environment have in common. ``timeout`` is in seconds; ``cores`` is how many may work at once."""

    python: Path
    log: Path
    timeout: float
    isolation: Isolation
    cores: int
    spawn: Spawn


def read_facts(job: Job, source: str) -> Facts:
    """Ask the environment what it holds. This first import also byte-compiles torch, which every later one profits from.

    Raises:
        EnvironmentTrouble: ``import torch`` fails, dies or hangs.
    """
    with tempfile.TemporaryDirectory(prefix="recompat-") as folder:
        out, limit = Path(folder, "facts.jsonl"), job.timeout * IMPORT_LIMITS
        end = run_probe(job.spawn, job.python, ["--facts"], out, job.log, lambda _: limit)
    events = {str(event["event"]): event for event in end.events}
    if "torch" in events and end.whole:
        known = {**events["header"], **events["torch"], "source": source}
        known["python_version"] = known["python"]
        return msgspec.convert(known, Facts)
    if "import-failed" in events:
        failed = events["import-failed"]
        why = f"raised {failed['type']}: {failed['message']}"
    elif end.stalled:
        why = f"did not end within {limit:g} s"
    else:
        why = _ending(end)
    raise EnvironmentTrouble(TroubleKind.IMPORT_FAILED, f"import torch {why}. The log is {_short(job.log)}.")


def run_trials(job: Job, cases: Sequence[CaseAddress], heard: Callable[[Replay], None]) -> tuple[CaseResult, ...]:
    """Run ``cases`` in three replays.

    Args:
        heard: told after each trial which replay it belonged to.

    Raises:
        EnvironmentTrouble: a probe died before it had begun a trial.
    """
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="recompat-") as folder, ThreadPoolExecutor(len(Replay)) as threads:
        root = Path(folder)
        try:
            replays = {
                replay: threads.submit(
                    _Replay(job, replay, root / replay, heard, stop).run, _copies(cases, replay, root)
                )
                for replay in Replay
            }
            trials = {replay: future.result() for replay, future in replays.items()}
        finally:
            stop.set()  # an interrupt, or a replay that could not begin: the others end at once
    return tuple(
        CaseResult(case.id, case.sha256, {replay: trials[replay][case.id] for replay in Replay}) for case in cases
    )


class _Replay:
    """One replay: as few probes as possible, and a new one for the rest after one has died."""

    def __init__(
        self, job: Job, replay: Replay, folder: Path, heard: Callable[[Replay], None], stop: threading.Event
    ) -> None:
        self._job = job
        self._replay = replay
        self._folder = folder
        self._heard = heard
        self._stop = stop
        # Only the cold replay imports torch._dynamo in every trial: it gets all the cores.
        self._jobs = job.cores if replay is Replay.COLD else 1
        self._probes = 0

    def run(self, cases: Sequence[CaseAddress]) -> Mapping[str, Trial]:
        self._folder.mkdir(exist_ok=True)
        digests = {case.id: case.sha256 for case in cases}
        trials: dict[str, Trial] = {}
        while (pending := [case for case in cases if case.id not in trials]) and not self._stop.is_set():
            end = self._probe(pending if self._job.isolation == "fork" else pending[:1])
            new = {str(event["case"]): _trial(event, digests) for event in end.events if event["event"] == "finished"}
            dying = [
                case for event in end.events if event["event"] == "started" and (case := str(event["case"])) not in new
            ]
            trials |= new
            if end.status == PROBE_FAILED:  # no case is to blame
                raise self._trouble("the probe itself failed")
            if len(dying) == 1:
                trials[dying[0]] = self._killed(end)
            elif dying:
                self._jobs = 1  # the next probe tells which of them it was
            elif not new:
                raise self._trouble(f"the probe {_ending(end)} before its first trial")
        return trials

    def _probe(self, cases: Sequence[CaseAddress]) -> ProbeEnd:
        self._probes += 1
        job = self._job
        arguments = ["--timeout", f"{job.timeout:g}", "--jobs", str(self._jobs)]
        arguments += ["--isolation", "fork" if job.isolation == "fork" else "none"]
        arguments += [] if self._replay is Replay.COLD else ["--warm"]
        arguments += [f"{case.path}::{case.name}" for case in cases]
        out = self._folder / f"{self._probes}.jsonl"
        return run_probe(job.spawn, job.python, arguments, out, job.log, self._patience, self._listen, self._stop)

    def _patience(self, last: Event | None) -> float:
        """How long a probe may be silent: a trial without a process of its own has only us to hold the clock."""
        alone = self._job.isolation == "process" and last is not None and last["event"] == "started"
        return self._job.timeout * (1 if alone else IMPORT_LIMITS)

    def _trouble(self, what: str) -> EnvironmentTrouble:
        reason = f"The cases were not run: {what}. The log is {_short(self._job.log)}."
        return EnvironmentTrouble(TroubleKind.PROBE_FAILED, reason)

    def _listen(self, event: Event) -> None:
        if event["event"] == "finished":
            self._heard(self._replay)

    def _killed(self, end: ProbeEnd) -> Trial:
        self._heard(self._replay)
        if end.stalled:
            limit = self._job.timeout
            return Trial(Outcome.TIMEOUT, limit, detail=f"no result within {limit:g} s")
        return Trial(Outcome.CRASH, 0.0, detail=_ending(end))


def _trial(event: Event, digests: Mapping[str, str]) -> Trial:
    """A ``finished`` event as a Trial; what it says of another file than the one we read does not count."""
    if event["sha256"] and event["sha256"] != digests.get(str(event["case"])):
        return Trial(Outcome.ERROR, 0.0, detail="The case file was changed while it was run; run it again.")
    try:
        trial = msgspec.convert(event, Trial)
    except msgspec.ValidationError as error:
        return Trial(Outcome.CRASH, 0.0, detail=f"left a result that cannot be read ({error})")
    if trial.raised is None:
        return trial
    raised = msgspec.structs.replace(trial.raised, mismatches=parse_mismatches(trial.raised.message))
    return msgspec.structs.replace(trial, raised=raised)


def _copies(cases: Sequence[CaseAddress], replay: Replay, root: Path) -> Sequence[CaseAddress]:
    """The cases themselves, or for ``warm-copied`` the same ones in copies of their files elsewhere."""
    if replay is not Replay.WARM_COPIED:
        return cases
    folder = root / "copies"
    folder.mkdir()
    for path in _distinct(case.path for case in cases):
        shutil.copyfile(path, folder / path.name)
    return [msgspec.structs.replace(case, path=folder / case.path.name) for case in cases]


def _distinct(paths: Iterable[Path]) -> list[Path]:
    return list(dict.fromkeys(paths))


def _ending(end: ProbeEnd) -> str:
    if end.stalled:
        return "ended for its silence"
    if end.status < 0:
        return f"ended by {signal.Signals(-end.status).name}"
    return f"exited with status {end.status}"


def _short(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
