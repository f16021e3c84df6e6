"""An index that misbehaves: each fault of a page, a file or its metadata, of torch and of a package beside it, now or later."""

from __future__ import annotations

import contextlib
import itertools
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from faults.promises import halves, invented, leftovers, look
from faults.tally import Tally
from recompat.errors import ExitCode
from support.environment import NOWHERE
from support.index import Fault, Index
from support.project import Project, nox
from support.wheels import Behaviour, build_package, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faults.promises import Seen

__all__ = ["TIMES", "Blow", "Ground", "blows", "ground", "inject", "run"]

SECRET = "xyzzy"
EXTRA = '[[extras]]\ntorch = ">=9.1"\npackages = ["numpy"]\nreason = "It is imported."'
MATRIX = ("-s", "matrix")
STALLED = 4.0  # seconds
PATIENCE = 240.0
TORCH = "torch-9.1.0-py3-none-any.whl"
NUMPY = "numpy-1.26.4-py3-none-any.whl"
SOURCES = ("default", "CPU")
SUBJECTS = ("torch", "numpy", TORCH, NUMPY, f"{TORCH}.metadata", f"{NUMPY}.metadata")


class Blow(NamedTuple):
    """What is wrong, with what, and after how many sound answers; ``source`` is the index that torch is taken from."""

    fault: str
    subject: str
    spared: int
    source: str

    def __str__(self) -> str:
        """What sentences call it."""
        return f"{self.fault} of {self.subject} after {self.spared} from the {self.source} index"


OTHER_VERSION, GONE, REPLACED = "other version", "gone", "replaced"
ALWAYS = tuple(map(str, Fault))


def blows() -> list[Blow]:
    """All that can be wrong."""
    made = [
        Blow(fault, subject, spared, source)
        for fault, subject, spared, source in itertools.product(ALWAYS, SUBJECTS, (0, 1), SOURCES)
        if fault != Fault.WRONG_HASH or (subject.endswith(".whl") and not spared)
    ]
    files = itertools.product((OTHER_VERSION, REPLACED), (TORCH, NUMPY), (0,), SOURCES)
    return [*made, *itertools.starmap(Blow, files), Blow(GONE, "all", 0, "default"), Blow(GONE, "all", 0, "CPU")]


TIMES = 60  # of about 160, by chance


def run(times: int, seed: int) -> Tally:
    """Inject that many, none twice before all were."""
    tally, chosen = Tally(), blows()
    random.Random(seed).shuffle(chosen)
    with tempfile.TemporaryDirectory(prefix="faults-index-") as folder, ground(Path(folder)) as made:
        for blow in itertools.islice(itertools.cycle(chosen), times):
            inject(made, blow, tally)
    return tally


class Ground:
    """A project whose index can be made to misbehave, and what it leaves where the index does not."""

    def __init__(self, project: Project, pristine: Path, sources: Sequence[str]) -> None:
        self.project = project
        self.index = project.index
        self._pristine = pristine
        self.right = {source: self._reference(source) for source in sources}

    def clear(self, source: str) -> None:
        """Begin anew, with nothing in any cache."""
        project = self.project
        home = Path(project.env["HOME"])
        for folder in (project.reports, project.root / ".nox", home / "uv-cache", self.index.folder):
            shutil.rmtree(folder, ignore_errors=True)
        self.mend()
        cpu_index = self.index.url_with_login if source == "CPU" else f"{NOWHERE}/cpu/"
        project.write_matrix(["9.1.0"], known=["9.0.0"], cpu_index=cpu_index, more=EXTRA)

    def mend(self) -> None:
        """Let the index be as it should."""
        self.index.faults.clear()
        self.index.spared.clear()
        self.index.changes.clear()
        shutil.rmtree(self.index.folder, ignore_errors=True)
        shutil.copytree(self._pristine, self.index.folder)

    def strike(self, blow: Blow) -> None:
        """Have the index misbehave."""
        path = self.index.folder / blow.subject
        name, version = blow.subject.split("-")[:2] if path.suffix == ".whl" else ("", "")
        if blow.fault == OTHER_VERSION:
            _build(path, name, "9.8.7")
        elif blow.fault == REPLACED:
            self.index.changes[name] = lambda: _build(path, name, version, requires=["setuptools"])
        elif blow.fault == GONE:
            self.index.changes["torch"] = lambda: self.index.faults.update(dict.fromkeys(SUBJECTS, Fault.CUT))
        else:
            self.index.faults[blow.subject] = Fault(blow.fault)
            self.index.spared[blow.subject] = blow.spared

    def run(self) -> tuple[int, str]:
        """Run the matrix to its end: the exit code, and all that was said."""
        done = nox(self.project, *MATRIX, timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr

    def left(self) -> list[str]:
        """P5: what stays."""
        root = self.project.root
        return [*map(str, root.glob(".nox/probe-*")), *leftovers(root, Path(self.project.env["TMPDIR"]))]

    def _reference(self, source: str) -> Seen:
        self.clear(source)
        code, said = self.run()
        assert code == ExitCode.OK, said
        return look(self.project.reports)


@contextlib.contextmanager
def ground(folder: Path, sources: Sequence[str] = SOURCES) -> Iterator[Ground]:
    """Wheels, an index that wants a login, and a project."""
    pristine = folder / "pristine"
    build_torch(pristine, "9.0.0")
    build_torch(pristine, "9.1.0", checkpoints={"regresses": Behaviour.RAISES})
    build_package(pristine, "numpy", "1.26.4")
    build_package(pristine, "setuptools", "80.9.0")
    (folder / "wheels").mkdir()
    with Index(folder / "wheels", stall_seconds=STALLED) as index:
        index.login = f"somebody:{SECRET}"
        project = Project(folder / "project", index)
        project.env.update(UV_DEFAULT_INDEX=index.url_with_login, UV_HTTP_TIMEOUT="2")
        yield Ground(project, pristine, sources)


def inject(made: Ground, blow: Blow, tally: Tally) -> None:
    """Misbehave in a run, look, behave again, and look at the next run."""
    made.clear(blow.source)
    made.strike(blow)
    code, said = made.run()
    tally.injected += 1
    reports, right = made.project.reports, made.right[blow.source]
    wrong = [*halves(reports), *invented(look(reports), right), *_untold(code, said, look(reports), right)]
    _add(blow, tally.wrong, [*wrong, *_secrets(made.project, said)])
    _add(blow, tally.left, made.left())
    made.mend()
    code, said = made.run()
    now = look(reports)
    if code != ExitCode.OK or now.results.keys() != right.results.keys() or invented(now, right):
        _add(blow, tally.lost, [f"the next run ended with {code}: {said[-1500:]}"])
    _add(blow, tally.left, made.left())


def _untold(code: int, said: str, seen: Seen, right: Seen) -> Iterator[str]:
    """What a person was not told, or not in words."""
    missing = [cell for cell in (seen.matrix or {"cells": ()})["cells"] if cell["verdict"] == "missing"]
    if "Traceback" in said:
        yield f"a traceback: {said[-1500:]}"
    if code not in (ExitCode.OK, ExitCode.INCOMPLETE):
        yield f"it ended with {code}: {said[-1500:]}"
    elif (code == ExitCode.INCOMPLETE) != bool(missing):
        yield f"it ended with {code}, and {len(missing)} cells are missing: {said[-1500:]}"
    if seen.matrix is None or len(seen.matrix["cells"]) != len(right.matrix["cells"]):
        yield "cells are not told of"
    for reason in {cell["detail"] for cell in missing}:
        if not reason or not re.match(r"(torch|There is no torch) 9\.[01]\.0 ?.*\.$", reason) or "://" in reason:
            yield f"the reason is no sentence: {reason}"


def _secrets(project: Project, said: str) -> Iterator[str]:
    """Where the login of the index can be read."""
    if SECRET in said:
        yield f"the login is printed: {said[-1500:]}"
    for path in project.reports.rglob("*"):
        if path.is_file() and SECRET.encode() in path.read_bytes():
            yield f"the login stands in {path.relative_to(project.reports)}"


def _build(path: Path, name: str, version: str, requires: Sequence[str] = ()) -> None:
    """Put a wheel of a version into the place of another one."""
    make = build_torch(path.parent / "aside", version, requires=requires) if name == "torch" else None
    made = make or build_package(path.parent / "aside", name, version, requires=requires)
    made.replace(path)
    made.parent.rmdir()


def _add(blow: Blow, sentences: list[str], found: Sequence[str]) -> None:
    for one in found:
        sentences.append(f"{blow}: {one}")
        print(f"  {sentences[-1]}", file=sys.stderr, flush=True)  # noqa: T201
