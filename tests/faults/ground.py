"""A project on the stand-in torch, the ways in which it is run, and what each of them leaves where nothing disturbs it."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from faults.promises import look
from faults.strike import of_run
from support.index import Index
from support.project import Project, add_case
from support.wheels import Behaviour, build_package, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faults.promises import Seen
    from faults.strike import Process

__all__ = ["PATIENCE", "WAYS", "Ground", "Reference", "Way", "standing_ground"]

PATIENCE = 120.0  # seconds for a run, on a machine that has much else to do
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
def standing_ground(folder: Path) -> Iterator[Ground]:
    """Build it in an empty folder."""
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
