"""Processes of a run are killed at any moment: nox, its children, uv, probes, trials, scripts; or all of them, as by a power cut.

After each: no half record, no cell of what was not run, no process; the same command then ends with the undisturbed matrix.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from faults.ground import PATIENCE, WAYS, Ground, standing_ground
from faults.promises import environments, finished, halves, invented, leftovers, look
from faults.strike import end_all, entered, of_run
from faults.tally import Tally
from recompat.errors import ExitCode

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence


__all__ = ["TIMES", "run"]

TIMES = 200
GRACE = 10.0  # seconds until what lost its parent has to be gone
ROLES = ("child", "probe", "script", "trial", "uv")
CRASHED_DISK = 0.5  # how often a power cut leaves files without their content


class Blow(NamedTuple):
    """What is done, and when: ``at`` is a share of the run, what has just begun to be written, or who has just begun."""

    by: str
    at: float | str
    after: float
    at_once: bool


def run(times: int, seed: int) -> Tally:
    """Disturb that many runs."""
    with tempfile.TemporaryDirectory(prefix="faults-kill-") as folder, standing_ground(Path(folder)) as ground:
        tally, number = Tally(), 0
        while tally.injected < times:
            number += 1
            one = Disturbed(ground, random.Random(f"{seed} {number}"), tally)
            one.run(f"{number}")
    return tally


class Disturbed:
    """One run that is disturbed, and the one that completes it."""

    def __init__(self, ground: Ground, rng: random.Random, tally: Tally) -> None:
        self._ground = ground
        self._rng = rng
        self._tally = tally
        self._way = rng.choices(WAYS, [way.weight for way in WAYS])[0]
        self._right = ground.references[self._way.name]
        self._reports = ground.project.reports
        self._what = ""

    def run(self, name: str) -> None:
        """Disturb, look, complete, look."""
        ground, rng = self._ground, self._rng
        ground.clear(self._way)
        blow = Blow(
            rng.choices(("SIGKILL", "power cut", "SIGTERM", "SIGINT"), (85, 7, 4, 4))[0],
            rng.choices((rng.random(), "record", "site", rng.choice(ROLES)), (8, 2, 1, 4))[0],
            rng.random(),
            rng.random() < 0.5,
        )
        with ground.start(self._way.begin) as process:
            if not self._wait(process, blow) or not (role := self._strike(process, blow)):
                return
            self._tally.injected += 1
            at = f"at {blow.at:.2f}" if isinstance(blow.at, float) else f"once there is a {blow.at}"
            self._what = f"{name}: {self._way.name}, {blow.by} of {role} {at}"
            print(self._what, file=sys.stderr, flush=True)  # noqa: T201
            code = process.wait(PATIENCE)
        if role not in ("nox", "all") and code not in (self._right.code, ExitCode.INCOMPLETE):
            self._add(self._tally.wrong, [f"exit code {code}: {ground.said[-600:]}"])
        if not blow.at_once:
            self._gone()
        self._look(blow)
        self._complete()

    def _wait(self, process: subprocess.Popen[bytes], blow: Blow) -> bool:
        """Wait for the moment; False where the run was over before."""
        if isinstance(blow.at, float):
            time.sleep(blow.at * self._right.seconds)
        elif blow.at in ROLES:
            while not any(one.role == blow.at for one in of_run(self._ground.home, process.pid)):
                if process.poll() is not None:
                    return False
            time.sleep(blow.after * 0.2)
        else:
            folder, name, within = {
                "record": (self._records(), ".torch", 0.006),
                "site": (self._reports, ".site", 0.08),
            }[blow.at]
            with entered(folder, name) as made:
                if not made.wait(self._right.seconds * 3):
                    return False
            time.sleep(blow.after * within)
        return process.poll() is None

    def _records(self) -> Path:
        found = [path for path in self._reports.glob("try/*/reports/records") if path.is_dir()]
        return found[0] if found else self._reports / "records"

    def _strike(self, process: subprocess.Popen[bytes], blow: Blow) -> str:
        """Do it; return to what, or nothing where it had ended by then."""
        if blow.by == "power cut":
            end_all(self._ground.home)
            return "all"
        if blow.by != "SIGKILL":
            by = signal.Signals[blow.by]
            (os.killpg if by is signal.SIGINT else os.kill)(process.pid, by)
            return "nox"
        running = of_run(self._ground.home, process.pid)
        wanted = {"record": {"nox", "child"}, "site": {"nox", "child"}}.get(str(blow.at), {blow.at})
        there = {one.role for one in running}
        if not (roles := sorted(there & wanted or there)):
            return ""
        role = self._rng.choices(roles, [1 if one == "nox" else 2 for one in roles])[0]
        chosen = self._rng.choice([one for one in running if one.role == role])
        return role if chosen.kill(signal.SIGKILL) else ""

    def _gone(self) -> None:
        """P5: nothing runs on."""
        end = time.monotonic() + GRACE
        while (left := self._ground.processes()) and time.monotonic() < end:
            time.sleep(0.05)
        self._add(self._tally.left, [f"{one.role} {one.pid} runs on: {one.command}" for one in left])
        if left:
            end_all(self._ground.home)

    def _look(self, blow: Blow) -> None:
        """P1 to P3; then, maybe, the files lose their content, as those that were not yet on the disk do."""
        self._add(self._tally.wrong, halves(self._reports))
        self._add(self._tally.wrong, invented(look(self._reports), self._right.seen))
        if self._way.name != "keep":
            there = environments(self._ground.project.root)
            self._add(self._tally.left, [f"{name} would be trusted" for name, trusted in there.items() if trusted])
        if blow.by == "power cut" and self._rng.random() < CRASHED_DISK:
            files = sorted(path for path in self._reports.rglob("*.*") if path.is_file() and not path.is_symlink())
            for path in self._rng.sample(files, min(3, len(files))):
                os.truncate(path, self._rng.choice((0, path.stat().st_size // 2)))

    def _complete(self) -> None:
        """P4 and P5."""
        before = finished(self._reports, self._right.seen)
        code = self._ground.finish(self._way.complete)
        again = [path.name for path, content in before.items() if not path.exists() or path.read_bytes() != content]
        self._add(self._tally.lost, [f"{name} was made again" for name in again])
        self._gone()
        now, right = look(self._reports), self._right
        if self._way.name != "watch" and code != right.code:
            self._add(self._tally.lost, [f"the next run ended with {code}: {self._ground.said[-800:]}"])
        for part in ("results", "matrix", "changes"):
            one, other = getattr(now, part), getattr(right.seen, part)
            if one != other and not (part == "changes" and not one["releases"]):  # told before it was killed
                self._add(self._tally.lost, [f"{part} of the next run: {_difference(one, other)}"])
        kept = self._way.name == "keep"
        there = environments(self._ground.project.root)
        self._add(
            self._tally.left, [f"environment {name}" for name, trusted in there.items() if not (kept and trusted)]
        )
        self._add(self._tally.left, leftovers(self._ground.project.root, self._ground.temporary))

    def _add(self, sentences: list[str], found: Sequence[str]) -> None:
        for one in found:
            sentences.append(f"{self._what}: {one}")
            print(f"  {sentences[-1]}", file=sys.stderr, flush=True)  # noqa: T201


def _difference(one: object, other: object, path: str = "") -> str:
    """Where two of the same kind differ first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            if one.get(key) != other.get(key):
                return _difference(one.get(key), other.get(key), f"{path}.{key}")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (mine, its) in enumerate(zip(one, other, strict=True)):
            if mine != its:
                return _difference(mine, its, f"{path}[{place}]")
    return f"{path} is {str(one)[:300]}, and not {str(other)[:300]}"
