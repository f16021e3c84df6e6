"""Disks that are full: too few bytes, or too few files, for what a run writes into one of its places; then room is made.

It mounts file systems in memory, which takes root's rights.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from faults.promises import halves, invented, leftovers, look
from faults.tally import Tally
from recompat.errors import ExitCode
from support.index import Index
from support.project import Project, nox
from support.wheels import Behaviour, build_package, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faults.promises import Seen

__all__ = ["PLACES", "TIMES", "Blow", "Disk", "Ground", "build_wheels", "ground", "inject", "run"]

TIMES = 60
PAGE = 4096
ENOUGH = 1 << 28  # bytes, and files
PATIENCE = 240.0
EXTRA = '[[extras]]\ntorch = ">=9.1"\npackages = ["bulk"]\nreason = "It takes room."'
PLACES = ("everything", "reports", "environments", "temporary files", "cache of uv")


class Amount(NamedTuple):
    """What a disk has, or what is taken of it."""

    bytes: int
    files: int


class Blow(NamedTuple):
    """A disk with less than a run takes there: that ``share`` of it, in bytes or in files."""

    place: str
    of: str
    share: float

    def __str__(self) -> str:
        """What sentences call it."""
        return f"{self.place}: {self.share:.2f} of the {self.of}"


def run(times: int, seed: int) -> Tally:
    """Fill that many disks."""
    rng, tally = random.Random(seed), Tally()
    with tempfile.TemporaryDirectory(prefix="faults-disk-") as folder, _index(Path(folder)) as index:
        for number, place in enumerate(PLACES):
            with ground(Path(folder), index, place) as made:
                for _ in range(number, times, len(PLACES)):
                    of = rng.choices(("bytes", "files"), (3, 1))[0]
                    inject(made, Blow(place, of, rng.random()), tally)
    return tally


class Disk:
    """A file system in memory, mounted at ``folder``, whose size can be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", self._size(Amount(ENOUGH, ENOUGH)), "tmpfs", folder], check=True)

    def resize(self, amount: Amount) -> None:
        """Let so much fit, but no less than is there."""
        taken = self.taken
        amount = Amount(max(amount.bytes, taken.bytes, PAGE), max(amount.files, taken.files, 1))
        subprocess.run(["mount", "-o", f"remount,{self._size(amount)}", self.folder], check=True)

    @property
    def taken(self) -> Amount:
        """What is taken now."""
        status = os.statvfs(self.folder)
        return Amount(
            (status.f_blocks - status.f_bfree) * status.f_frsize,
            status.f_files - status.f_ffree,
        )

    def close(self) -> None:
        """Unmount it."""
        subprocess.run(["umount", "--lazy", self.folder], check=True)

    @staticmethod
    def _size(amount: Amount) -> str:
        return f"size={amount.bytes},nr_inodes={amount.files}"


class Ground:
    """A project of which one place stands on a disk of its own, and what it leaves where there is room."""

    def __init__(self, project: Project, disk: Disk) -> None:
        self.project = project
        self.disk = disk
        self.temporary = Path(project.env["TMPDIR"])
        self.clear()
        self.empty = disk.taken
        self.peak, self.right = self._reference()

    def clear(self) -> None:
        """Begin anew, with nothing in any cache."""
        self.disk.resize(Amount(ENOUGH, ENOUGH))
        project = self.project
        for folder in (project.reports, project.root / ".nox", Path(project.env["UV_CACHE_DIR"]), self.temporary):
            shutil.rmtree(folder, ignore_errors=True)  # the one that is mounted stays
            folder.mkdir(exist_ok=True)

    def limit(self, blow: Blow) -> None:
        """Leave too little room."""
        bytes_, files = (
            int(none + (most - none) * (blow.share if blow.of == kind else 2))
            for kind, none, most in zip(("bytes", "files"), self.empty, self.peak, strict=True)
        )
        self.disk.resize(Amount(bytes_ // PAGE * PAGE, files))

    def run(self) -> tuple[int, str]:
        """Run the matrix to its end: the exit code, and all that was said."""
        done = nox(self.project, "-s", "matrix", timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr

    def left(self) -> list[str]:
        """P5: what stays."""
        root = self.project.root
        return [*map(str, root.glob(".nox/probe-*")), *leftovers(root, self.temporary)]

    def _reference(self) -> tuple[Amount, Seen]:
        """The most that a run takes at any moment, and what it leaves."""
        done, seen = threading.Event(), [self.empty]

        def watch() -> None:
            while not done.wait(0.002):
                seen.append(self.disk.taken)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            code, said = self.run()
        finally:
            done.set()
            watcher.join()
        assert code == ExitCode.OK, said
        return Amount(max(one.bytes for one in seen), max(one.files for one in seen)), look(self.project.reports)


def build_wheels(folder: Path) -> None:
    """Build what is installed: a torch, and a package that takes room."""
    build_torch(folder, "9.1.0", checkpoints={"regresses": Behaviour.RAISES})
    bulk = {f"bulk_{number}": f"X = {random.Random(number).randbytes(60_000).hex()!r}" for number in range(8)}
    build_package(folder, "bulk", "1.0", modules=bulk)


@contextlib.contextmanager
def _index(folder: Path) -> Iterator[Index]:
    build_wheels(folder / "wheels")
    with Index(folder / "wheels") as index:
        yield index


@contextlib.contextmanager
def ground(folder: Path, index: Index, place: str) -> Iterator[Ground]:
    """A project with ``place`` on a disk of its own."""
    base = folder / place.replace(" ", "-")
    with contextlib.ExitStack() as stack:
        disk = Disk(base) if place == "everything" else None
        project = Project(base / "project", index)
        project.write_matrix(["9.1.0"], known=["9.0.0"], more=EXTRA)
        disk = disk or Disk(
            {
                "reports": project.reports,
                "environments": project.root / ".nox",
                "temporary files": Path(project.env["TMPDIR"]),
                "cache of uv": Path(project.env["UV_CACHE_DIR"]),
            }[place]
        )
        stack.callback(disk.close)
        yield Ground(project, disk)


def inject(made: Ground, blow: Blow, tally: Tally) -> None:
    """Run where there is no room, look, make room, and look at the next run."""
    made.clear()
    made.limit(blow)
    code, said = made.run()
    tally.injected += 1
    seen, reports = look(made.project.reports), made.project.reports
    _add(blow, tally.wrong, [*halves(reports), *invented(seen, made.right), *_untold(code, said, seen, made.right)])
    made.disk.resize(Amount(ENOUGH, ENOUGH))
    code, said = made.run()
    now = look(reports)
    if code != ExitCode.OK or (now.results, now.matrix) != (made.right.results, made.right.matrix):
        _add(blow, tally.lost, [f"the next run ended with {code}: {said[-1500:]}"])
    _add(blow, tally.left, made.left())


def _untold(code: int, said: str, seen: Seen, right: Seen) -> Iterator[str]:
    """What a person was not told, or not in words."""
    if "Traceback" in said:
        yield f"a traceback: {said[-2500:]}"
    if code not in (ExitCode.OK, ExitCode.INCOMPLETE):
        yield f"it ended with {code}: {said[-2500:]}"
    elif code == ExitCode.OK and (seen.results, seen.matrix) != (right.results, right.matrix):
        yield f"it ended with 0, and lacks something: {said[-1500:]}"
    elif code == ExitCode.INCOMPLETE and "disk is full" not in said:
        yield f"nothing is said of the disk: {said[-1500:]}"


def _add(blow: Blow, sentences: list[str], found: Sequence[str]) -> None:
    for one in found:
        sentences.append(f"{blow}: {one}")
        print(f"  {sentences[-1]}", file=sys.stderr, flush=True)  # noqa: T201
