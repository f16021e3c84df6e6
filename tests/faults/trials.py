"""Cases that misbehave, each between two that do not: it ends as what it is, in time, and harms nothing else.

Once with ``--isolation fork`` and once with ``process``, in an order that is drawn; ``--times`` is the number of such cases.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faults.misbehaviours import MEMORY, MISBEHAVIOURS
from faults.promises import leftovers
from faults.strike import end_all, of_run
from faults.tally import Tally
from recompat.runner import LOG_BYTES
from support.index import Index
from support.project import Project
from support.wheels import build_package, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faults.misbehaviours import Misbehaviour

__all__ = ["TIMES", "Run", "run"]

ISOLATIONS = ("fork", "process")
TIMES = 2 * len(ISOLATIONS) * len(MISBEHAVIOURS)
MARGIN = 5.0  # seconds that a trial may take beyond its limit, on a machine that has much else to do
PATIENCE = 900.0
MOST_LOG = LOG_BYTES * 1.1  # three replays write to it at once
MOST_MIB = 250.0  # of the host: a message has 100
WRITTEN = {"reports", ".nox", "__pycache__"}
NAMES = ("before", "misbehaves", "after")


def run(times: int, seed: int) -> Tally:
    """Run so many cases that misbehave."""
    tally, number = Tally(), 0
    with tempfile.TemporaryDirectory(prefix="faults-trials-") as folder:
        wheels = Path(folder) / "wheels"
        build_torch(wheels, "9.0.0")
        build_package(wheels, "numpy", "1.26.4")
        with Index(wheels) as index:
            while tally.injected < times:
                drawn = random.Random(f"{seed} {number}").sample(MISBEHAVIOURS, len(MISBEHAVIOURS))
                chosen = drawn[: times - tally.injected]
                for limit in sorted({one.limit for one in chosen}):
                    project = Project(Path(folder) / f"project-{number}-{limit}", index)
                    alike = [one for one in chosen if one.limit == limit]
                    Run(project, alike, tally).run(ISOLATIONS[number % len(ISOLATIONS)])
                number += 1
    return tally


class Run:
    """One run of some cases that misbehave."""

    def __init__(self, project: Project, chosen: Sequence[Misbehaviour], tally: Tally) -> None:
        self._project = project
        self._chosen = {f"file{number:02}_{one.name}": one for number, one in enumerate(chosen)}
        self._tally = tally
        self._limit = max(one.limit for one in chosen)
        for path in project.cases.iterdir():
            path.unlink()
        for stem, one in self._chosen.items():
            (project.cases / f"{stem}.py").write_text(one.source, "utf-8")
        project.write_matrix(["9.0.0"], timeout=self._limit)
        project.expectations.write_text("", "utf-8")

    def run(self, isolation: str) -> None:
        """Run them, and look at what came of it."""
        before = self._files()
        peak = self._nox(isolation)
        results = self._results()
        for stem, one in self._chosen.items():
            self._tally.injected += 1
            for name in NAMES:
                wrong = self._wrong(one, name, results.get(f"{stem}::{name}"))
                self._tally.wrong += [f"{isolation}: {one.name}::{name} {what}" for what in wrong]
        self._left(isolation, before)
        if peak > MOST_MIB:
            self._tally.wrong.append(f"{isolation}: the host took {peak:.0f} MiB")

    def _nox(self, isolation: str) -> float:
        """Run nox to its end; return how many MiB it took at most."""
        project = self._project
        command = [sys.executable, "-m", "nox", "-s", "matrix", "--", "--isolation", isolation, "--memory", MEMORY]
        said = project.root.with_name(f"{project.root.name}-said")
        peak, begun = 0.0, time.monotonic()
        with said.open("wb") as out:
            process = subprocess.Popen(
                command,
                cwd=project.root,
                env=project.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
            while process.poll() is None and time.monotonic() - begun < PATIENCE:
                peak = max(peak, _mib(process.pid))
                time.sleep(0.1)
        if process.returncode not in (0, 1):
            self._tally.lost.append(f"{isolation}: nox ended with {process.poll()}: {said.read_text('utf-8')[-800:]}")
            end_all(project.env["HOME"])
            process.wait()
        return peak

    def _results(self) -> dict[str, Any]:
        """The recorded results by case."""
        return {result["case"]: result for record in self._project.records().values() for result in record["results"]}

    def _wrong(self, one: Misbehaviour, name: str, result: Any) -> Iterator[str]:
        """What is told otherwise than it is, of a case in a file of the three."""
        if result is None:
            yield "has no result"
            return
        outcome, told, raised = (one.outcome, one.told, one.raised) if name == "misbehaves" else ("pass", "", None)
        for replay, trial in result["trials"].items():
            found = trial.get("raised") or {}
            if trial["outcome"] != outcome or told not in f"{trial.get('detail')} {found.get('message')}":
                yield f"is {trial['outcome']} in {replay}, not {outcome}: {trial.get('detail')} {str(found)[:300]}"
            elif raised and found.get("type", "").rpartition(".")[2] != raised.rpartition(".")[2]:
                yield f"raises {found.get('type')} in {replay}, not {raised}"
            if not 0 <= trial["seconds"] <= self._limit + MARGIN:
                yield f"took {trial['seconds']} s in {replay}"

    def _left(self, isolation: str, before: set[str]) -> None:
        project, left = self._project, self._tally.left
        left += [f"{isolation}: {one.role} {one.pid}: {one.command[:200]}" for one in of_run(project.env["HOME"], 0)]
        left += [f"{isolation}: {one}" for one in leftovers(project.root, Path(project.env["TMPDIR"]))]
        left += [f"{isolation}: {name} is there" for name in sorted(self._files() - before)]
        left += [f"{isolation}: {name} is gone" for name in sorted(before - self._files())]
        for log in (project.reports / "logs").rglob("*.log"):
            if log.stat().st_size > MOST_LOG:
                left.append(f"{isolation}: {log.name} has {log.stat().st_size:,} bytes")
        end_all(project.env["HOME"])

    def _files(self) -> set[str]:
        """What stands in the checkout, but for what a run writes there."""
        root = self._project.root
        there = [path.relative_to(root) for folder in (root, self._project.cases) for path in folder.iterdir()]
        return {str(path) for path in there if path.name not in WRITTEN}


def _mib(pid: int) -> float:
    """The most that a process has had in memory; 0 where it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0
