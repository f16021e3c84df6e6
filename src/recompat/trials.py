"""Runs cases in a built environment: three replays side by side, each read from the events of its probes."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from recompat.choices import Isolation
from recompat.events import ending, from_outside, log_name
from recompat.memory import memory_text
from recompat.model import CaseResult, Facts, Outcome, Replay, TroubleKind
from recompat.private import scrub
from recompat.replay import IMPORT_LIMITS, ReplayRun
from recompat.runner import Spawn, run_probe
from recompat.temporary import TemporaryFolder
from recompat.wheels import EnvironmentTrouble

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CaseAddress", "Job", "read_facts", "run_trials"]


class CaseAddress(msgspec.Struct, frozen=True):
    """Where a case stands, and the digest that its file must have; ``alone`` if no other may run in its interpreter."""

    id: str
    path: Path
    sha256: str
    alone: bool = False

    @property
    def name(self) -> str:
        """The case's own name, without its file's."""
        return self.id.partition("::")[2]


class Job(msgspec.Struct, frozen=True):
    """What all trials of one environment have in common.

    ``timeout`` is in seconds; ``cores`` is how many may work at once; with ``evidence``, each case is also watched. ``memory`` is
    the limit of each process, in bytes.
    """

    python: Path
    log: Path
    timeout: float
    isolation: Isolation
    cores: int
    spawn: Spawn
    evidence: bool = True
    memory: int | None = None


def read_facts(job: Job, source: str) -> Facts:
    """Ask the environment what it holds. This first import also byte-compiles torch, which every later one profits from.

    Raises:
        EnvironmentTrouble: ``import torch`` fails, dies or hangs.
    """
    with TemporaryFolder() as folder:
        limit = job.timeout * IMPORT_LIMITS
        for name in ("facts.jsonl", "again.jsonl"):
            out = folder / name
            end = run_probe(job.spawn, job.python, ["--facts"], out, job.log, lambda _: limit, memory=job.memory)
            if not from_outside(end):
                break
    events = {str(event["event"]): event for event in end.events}
    if "torch" in events and end.whole:
        known = {**events["header"], **events["torch"], "source": source}
        known["python_version"] = known["python"]
        try:
            return msgspec.convert(scrub(known), Facts)  # as records have it, with which it will be compared
        except msgspec.ValidationError as error:
            said = f"torch says of itself what cannot be read ({error})"
        raise EnvironmentTrouble(TroubleKind.IMPORT_FAILED, f"{said}. The log is {log_name(job.log)}.")
    if "import-failed" in events:
        failed = events["import-failed"]
        why = f"raised {failed['type']}: {failed['message']}"
    elif end.stalled:
        why = f"did not end within {limit:g} s"
    else:
        why = ending(end)
    kind = TroubleKind.PROBE_FAILED if from_outside(end) else TroubleKind.IMPORT_FAILED
    limited = f" in {memory_text(job.memory)} of memory" if job.memory else ""
    raise EnvironmentTrouble(kind, f"import torch{limited} {why}. The log is {log_name(job.log)}.")


def run_trials(job: Job, cases: Sequence[CaseAddress], heard: Callable[[Replay], None]) -> tuple[CaseResult, ...]:
    """Run ``cases`` in three replays, and watch them in one of them.

    Args:
        heard: told after each trial which replay it belonged to.

    Raises:
        EnvironmentTrouble: a probe died before it had begun a trial.
    """
    stop = threading.Event()
    with TemporaryFolder() as root, ThreadPoolExecutor(len(Replay)) as threads:
        try:
            futures = {
                replay: threads.submit(
                    ReplayRun(job, replay, root / replay, _copies(cases, replay, root), heard, stop).run
                )
                for replay in Replay
            }
            done = {replay: future.result() for replay, future in futures.items()}
        finally:
            stop.set()  # an interrupt, or a replay that could not begin: the others end at once
    _, evidence = done[Replay.WARM]
    results = (
        CaseResult(case.id, case.sha256, {replay: done[replay][0][case.id] for replay in Replay}, evidence.get(case.id))
        for case in cases
    )
    # A file that was changed meanwhile leaves no result: its cases are pending, and not at fault.
    return tuple(r for r in results if all(trial.outcome is not Outcome.NOT_RUN for trial in r.trials.values()))


def _copies(cases: Sequence[CaseAddress], replay: Replay, root: Path) -> Sequence[CaseAddress]:
    """The cases themselves, or for ``warm-copied`` the same ones in copies of their files elsewhere."""
    if replay is not Replay.WARM_COPIED:
        return cases
    folder = root / "copies"
    folder.mkdir()
    for path in dict.fromkeys(case.path for case in cases):
        try:
            shutil.copyfile(path, folder / path.name)
        except FileNotFoundError:
            reason = f"{path.name} was removed while it was to be run; put it back, or run it again without."
            raise EnvironmentTrouble(TroubleKind.PROBE_FAILED, reason) from None
    return [msgspec.structs.replace(case, path=folder / case.path.name) for case in cases]
