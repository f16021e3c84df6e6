"""Processes of a run are killed at any moment: nox, its children, uv, probes, trials, scripts; or all of them, as by a power cut.

After each: no half record, no cell of what was not run, no process; the same command then ends with the undisturbed matrix.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from faults.promises import environments, finished, halves, invented, leftovers, look
from faults.strike import end_all, entered, of_run
from faults.tally import Tally
from recompat.errors import ExitCode
from support.index import Index
from support.project import Project, add_case
from support.wheels import Behaviour, build_package, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faults.promises import Seen
    from faults.strike import Process

__all__ = ["TIMES", "run"]

TIMES = 200
PATIENCE = 120.0  # seconds for a run, on a machine that has much else to do
GRACE = 10.0  # seconds until what lost its parent has to be gone
CRASHED_DISK = 0.5  # how often a power cut leaves files without their content
SCRIPT = """\
import time
import torch
from torch.utils.checkpoint import checkpoint

def regresses(x):
    return (x * x).sum()

time.sleep(0.3)
x = torch.rand(2, 3, requires_grad=True)
checkpoint(regresses, x, use_reentrant=False).backward()
"""
LINGERS = """\
import subprocess
import sys
import time

def inputs():
    return ()

def reference():
    return {}

def case_lingers():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    time.sleep(0.3)
    return {}
"""


class Way(NamedTuple):
    """A command that is disturbed, and the one that is to complete it."""

    name: str
    begin: tuple[str, ...]
    complete: tuple[str, ...]
    weight: int


MATRIX = ("-m", "nox", "-s", "matrix")
WATCH = ("-m", "nox", "-s", "watch")
TRY = ("-m", "recompat", "try", "script.py")
WAYS = (
    Way("matrix", MATRIX, MATRIX, 5),
    Way("parallel", ("-m", "nox", "-j", "2", "-s", "matrix"), ("-m", "nox", "-j", "2", "-s", "matrix"), 4),
    Way("keep", (*MATRIX, "--", "--keep"), MATRIX, 1),
    Way("watch", WATCH, WATCH, 2),
    Way("try", TRY, TRY, 2),
)


class Reference(NamedTuple):
    """What an undisturbed run leaves, how it ends, and how long it takes."""

    seen: Seen
    code: int
    seconds: float


class Blow(NamedTuple):
    """What is done, and when: ``at`` is a share of the run, or what has just begun to be written."""

    by: str
    at: float | str
    after: float
    at_once: bool


def run(times: int, seed: int) -> Tally:
    """Disturb that many runs."""
    with tempfile.TemporaryDirectory(prefix="faults-kill-") as folder, _ground(Path(folder)) as ground:
        tally, number = Tally(), 0
        while tally.injected < times:
            number += 1
            one = Disturbed(ground, random.Random(f"{seed} {number}"), tally)
            one.run(f"{number}")
    return tally


class Ground:
    """A project, and what each way leaves there undisturbed."""

    def __init__(self, project: Project, known: Path) -> None:
        self.project = project
        self.home = project.env["HOME"]
        self.temporary = Path(project.env["TMPDIR"])
        self._known = known
        self.references = {way.name: self._reference(way) for way in WAYS}

    def clear(self, way: Way) -> None:
        """Begin anew; a watch begins with one release that is known."""
        for folder in (self.project.reports, self.project.root / ".nox", self.temporary):
            shutil.rmtree(folder, ignore_errors=True)
        self.temporary.mkdir()
        if way.name == "watch":
            shutil.copytree(self._known, self.project.reports, symlinks=True)

    @contextlib.contextmanager
    def start(self, arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
        """Start a command; what it prints can be read in ``said``."""
        with (self.project.root / "said").open("wb") as said:
            environ = {**self.project.env, "PYTHONPATH": str(self.project.root / "src")}
            environ.pop("PYTHONDONTWRITEBYTECODE")
            with subprocess.Popen(
                [sys.executable, *arguments],
                cwd=self.project.root,
                env=environ,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            ) as process:
                try:
                    yield process
                finally:
                    process.kill()

    @property
    def said(self) -> str:
        """What the last command printed."""
        return (self.project.root / "said").read_text("utf-8", "replace")

    def finish(self, arguments: Sequence[str]) -> int:
        """Run a command to its end; return its exit code."""
        with self.start(arguments) as process:
            return process.wait(PATIENCE)

    def processes(self) -> list[Process]:
        """What runs there."""
        return of_run(self.home, 0)

    def _reference(self, way: Way) -> Reference:
        for _ in range(2):  # the first fills the cache of uv
            self.clear(way)
            begun = time.monotonic()
            code = self.finish(way.begin)
            seconds = time.monotonic() - begun
        seen = look(self.project.reports)
        assert seen.results, self.said
        return Reference(seen, code, seconds)


@contextlib.contextmanager
def _ground(folder: Path) -> Iterator[Ground]:
    wheels = folder / "wheels"
    build_torch(wheels, "9.0.0")
    build_torch(wheels, "9.1.0", checkpoints={"regresses": Behaviour.RAISES})
    build_package(wheels, "numpy", "1.26.4")
    build_package(wheels, "setuptools", "80.9.0")
    with Index(wheels) as index:
        project = Project(folder / "project", index)
        add_case(project.cases, "aborts", "warns")
        (project.cases / "lingers.py").write_text(LINGERS)
        (project.root / "script.py").write_text(SCRIPT)
        for case, outcome in (("aborts::aborts", "crash"), ("aborts::after", "pass")):
            project.expect(case, ">=9", outcome)
        project.write_matrix(["9.0.0"], known=["9.1.0"])
        known = folder / "known"
        _finish_first(project, known)
        project.write_matrix()
        yield Ground(project, known)


def _finish_first(project: Project, known: Path) -> None:
    done = subprocess.run(
        [sys.executable, *MATRIX], cwd=project.root, env=project.env, capture_output=True, check=False
    )
    assert (project.reports / "matrix.json").exists(), done.stderr
    shutil.copytree(project.reports, known, symlinks=True)


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
            rng.choices((rng.random(), "record", "site"), (7, 2, 1))[0],
            rng.random(),
            rng.random() < 0.5,
        )
        with ground.start(self._way.begin) as process:
            if not self._wait(process, blow) or not (role := self._strike(process, blow)):
                return
            self._tally.injected += 1
            at = f"at {blow.at:.2f}" if isinstance(blow.at, float) else f"while a {blow.at} is written"
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
        wanted = {"nox", "child"} if isinstance(blow.at, str) else {one.role for one in running}
        if not (roles := sorted({one.role for one in running} & wanted)):
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
        again = [path for path, content in before.items() if path.read_bytes() != content]
        self._add(self._tally.lost, [f"{path.name} was made again" for path in again])
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
