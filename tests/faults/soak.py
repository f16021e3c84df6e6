"""A large matrix on two machines: run, killed, resumed, merged and drawn in every format, with all totals exact.

``--times`` is the number of cases, and every 25 of them have a release: 1,000 cases are run on 40 releases.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from faults.promises import leftovers
from faults.strike import end_all, of_run
from faults.tally import Tally
from recompat.report.formats import FORMATS
from support.index import Index
from support.project import CHECKPOINT_ERROR, Project
from support.wheels import Behaviour, build_package, build_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["TIMES", "run"]

TIMES = 1_000
IN_A_FILE = 25
KILLS = 3  # of each machine
GROWTH = 1.2  # how much more memory the last releases of a process may take than its first ones
FEW = 2
FILE = """\
import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    torch.manual_seed(0)
    return (torch.rand(2, 3, requires_grad=True),)


def reference(x):
    return ending(lambda x: (x * x + x).sum(), x, lambda function, x, **_: function(x))


def ending(function, x, run):
    run(function, x, use_reentrant=False).backward()
    return {"x.grad": x.grad}
"""
CASE = """

def {kind}(x):
    return (x * x + x).sum()


def case_n{number}(x):
    \"\"\"Number {number}, which is {kind}.\"\"\"
    return ending({kind}, x, checkpoint)
"""


class Kind(NamedTuple):
    """How a case behaves: from a share of the releases on it ends otherwise, and else it passes; ``before`` the other way."""

    name: str
    share: float = 1.0
    behaviour: Behaviour = Behaviour.NORMAL
    outcome: str = "pass"
    before: bool = False

    def ends(self, release: int, releases: int) -> str:
        """How a case of this kind ends on a release, by its number."""
        return self.outcome if (release < int(self.share * releases)) is self.before else "pass"


KINDS = (
    Kind("steady"),
    Kind("broken_early", 0.2, Behaviour.RAISES, "raises"),
    Kind("repaired", 0.4, Behaviour.RAISES, "raises", before=True),
    Kind("silent", 0.6, Behaviour.DIFFERS, "differs"),
    Kind("broken_late", 0.9, Behaviour.RECOMPUTES_LESS, "raises"),
)


class Size(NamedTuple):
    """How many cases and releases."""

    cases: int
    releases: int

    def kind(self, number: int) -> Kind:
        """The kind of a case."""
        return KINDS[number % len(KINDS)]

    @property
    def cells(self) -> dict[tuple[str, str], str]:
        """What the matrix has to say: the outcome of each case on each release."""
        return {
            (f"many_{number // IN_A_FILE:03}::n{number}", _version(release)): self.kind(number).ends(
                release, self.releases
            )
            for number in range(self.cases)
            for release in range(self.releases)
        }


def run(times: int, seed: int) -> Tally:
    """Run a matrix of so many cases."""
    size, tally = Size(times, max(times // IN_A_FILE, 4)), Tally()
    with tempfile.TemporaryDirectory(prefix="faults-soak-") as folder:
        root = Path(folder)
        _build(root / "wheels", size)
        with Index(root / "wheels") as index:
            halves = _halves(size)
            machines = [
                Machine(Project(root / name, index), size, half, tally)
                for name, half in zip(("one", "other"), halves, strict=True)
            ]
            for number, machine in enumerate(machines):
                machine.run(random.Random(seed + number))
            _merged(Project(root / "merged", index), machines, size, tally)
    return tally


class Machine:
    """A project of one half of the releases, which is killed on its way and then ends."""

    def __init__(self, project: Project, size: Size, releases: Sequence[int], tally: Tally) -> None:
        self.project = project
        self.tally = tally
        self.releases = releases
        self._size = size
        self._peaks: list[dict[int, float]] = []
        _fill(project, size, releases)

    def run(self, draw: random.Random) -> None:
        """Begin, be killed some times, and end; then there is nothing left to do."""
        begun = time.monotonic()
        for number in range(KILLS):
            self._until(draw.uniform(number, number + 1) * len(self.releases) / (KILLS + 1))
        code = self._until(None)
        if code != 0:
            self.tally.lost.append(f"{self.project.root.name} ended with {code}: {_tail(self.project)}")
        records = {path.name: path.read_bytes() for path in self._records()}
        if self._until(None) != 0 or records != {path.name: path.read_bytes() for path in self._records()}:
            self.tally.wrong.append(f"{self.project.root.name}: there was nothing to do, and it was done")
        self._leave()
        _say(
            f"  {self.project.root.name}: {len(self.releases)} releases in {time.monotonic() - begun:.0f} s; {self._memory()}"
        )

    def _until(self, most: float | None) -> int:
        """Run to the end, or until so many records are there and a part of the next; return the exit code."""
        peaks: dict[int, float] = {}
        self._peaks.append(peaks)
        with _started(self.project, ["-m", "nox", "-s", "matrix"]) as process:
            while process.poll() is None:
                done = len(self._records())
                peaks[done] = max(peaks.get(done, 0.0), _rss(process.pid))
                if most is not None and done >= most:
                    time.sleep((most % 1) * 2)
                    self.tally.injected += 1
                    end_all(self.project.env["HOME"])
                time.sleep(0.05)
        return process.returncode

    def _records(self) -> list[Path]:
        return sorted((self.project.reports / "records").glob("*.json"))

    def _memory(self) -> str:
        """Compare what each process took for its first releases with what it took for its last; it judges at its end."""
        told = []
        for peaks in self._peaks:
            probing = [mib for done, mib in sorted(peaks.items()) if done < len(self.releases)]
            if len(probing) > FEW:
                early, late = max(probing[:FEW]), max(probing[-FEW:])
                told.append(f"{early:.0f} to {late:.0f} MiB in {len(probing)} releases")
                if late > GROWTH * early:
                    self.tally.wrong.append(f"{self.project.root.name} grew: {told[-1]}")
        return f"{', '.join(told)}; {max(mib for peaks in self._peaks for mib in peaks.values()):.0f} MiB where all is judged"

    def _leave(self) -> None:
        left = [*leftovers(self.project.root, Path(self.project.env["TMPDIR"])), *of_run(self.project.env["HOME"], 0)]
        self.tally.left += [f"{self.project.root.name}: {one}" for one in left]


def _halves(size: Size) -> tuple[range, range]:
    """Both have the release in the middle."""
    middle = size.releases // 2
    return range(middle + 1), range(middle, size.releases)


def _version(release: int) -> str:
    return f"9.{release}.0"


def _build(folder: Path, size: Size) -> None:
    build_package(folder, "numpy", "2.0.0")
    for release in range(size.releases):
        checkpoints = {kind.name: kind.behaviour for kind in KINDS if kind.ends(release, size.releases) != "pass"}
        build_torch(folder, _version(release), checkpoints=checkpoints)


def _fill(project: Project, size: Size, releases: Sequence[int]) -> None:
    """Write the case files and what is claimed of them."""
    for path in project.cases.iterdir():
        path.unlink()
    for first in range(0, size.cases, IN_A_FILE):
        cases = [CASE.format(kind=size.kind(number).name, number=number) for number in range(first, first + IN_A_FILE)]
        (project.cases / f"many_{first // IN_A_FILE:03}.py").write_text(FILE + "".join(cases[: size.cases - first]))
    every = [_version(release) for release in range(size.releases)]
    project.write_matrix(
        [_version(release) for release in releases], known=[v for v in every if v not in map(_version, releases)]
    )
    project.expectations.write_text("")
    for number in range(size.cases):
        for torch, outcome in _claims(size.kind(number), size.releases):
            exception = CHECKPOINT_ERROR if outcome == "raises" else None
            project.expect(f"many_{number // IN_A_FILE:03}::n{number}", torch, outcome, exception)


def _claims(kind: Kind, releases: int) -> Iterator[tuple[str, str]]:
    first = next((n for n in range(1, releases) if kind.ends(n, releases) != kind.ends(0, releases)), None)
    if first is None:
        yield ">=9", kind.ends(0, releases)
    else:
        yield f"<{_version(first)}", kind.ends(0, releases)
        yield f">={_version(first)}", kind.ends(first, releases)


def _merged(project: Project, machines: Sequence[Machine], size: Size, tally: Tally) -> None:
    """Merge what both machines have, and hold every cell against what it has to be; then draw it in every format."""
    _fill(project, size, range(size.releases))
    shards = [str(machine.project.reports / "records") for machine in machines]
    code, seconds, mib = _measured(project, ["-m", "recompat", "merge", *shards])
    _say(f"  merged and judged in {seconds:.0f} s with {mib:.0f} MiB")
    if code != 0:
        tally.lost.append(f"merge ended with {code}: {_tail(project)}")
        return
    cells, wanted = project.cells(), size.cells
    tally.lost += [f"there is no cell of {cell}" for cell in wanted.keys() - cells.keys()]
    tally.wrong += [
        f"{cell} is {outcome}, not {wanted.get(cell)}" for cell, outcome in cells.items() if wanted.get(cell) != outcome
    ]
    totals = project.matrix_json()["totals"]
    if {name: count for name, count in totals["outcomes"].items() if count} != dict(Counter(wanted.values())):
        tally.wrong.append(f"the totals are {totals['outcomes']}")
    if totals["verdicts"]["expected"] != len(wanted):
        tally.wrong.append(f"the verdicts are {totals['verdicts']}")
    for name in FORMATS:
        out = project.root / f"{name}.out"
        code, seconds, mib = _measured(project, ["-m", "recompat", "report", "--format", name, "--out", str(out)])
        if code != 0 or not out.stat().st_size:
            tally.lost.append(f"{name} ended with {code}: {_tail(project)}")
        _say(f"  {name}: {seconds:.0f} s, {mib:.0f} MiB, {out.stat().st_size:,} bytes")


@contextlib.contextmanager
def _started(project: Project, arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    environ = {**project.env, "PYTHONPATH": str(project.root / "src")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with (project.root / "said").open("wb") as said:
        command = [sys.executable, *arguments]
        with subprocess.Popen(
            command,
            cwd=project.root,
            env=environ,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        ) as process:
            try:
                yield process
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _measured(project: Project, arguments: Sequence[str]) -> tuple[int, float, float]:
    """Run a command; return its exit code, its seconds, and the MiB that it took at its peak."""
    begun, peak = time.monotonic(), 0.0
    with _started(project, arguments) as process:
        while process.poll() is None:
            peak = max(peak, _rss(process.pid, "VmHWM"))
            time.sleep(0.05)
    return process.returncode, time.monotonic() - begun, peak


def _rss(pid: int, what: str = "VmRSS") -> float:
    """MiB that a process has in memory, none where it has ended; ``VmHWM`` is the most that it had."""
    with contextlib.suppress(OSError):
        found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
        return int(found[1]) / 1024 if found else 0.0
    return 0.0


def _tail(project: Project) -> str:
    return (project.root / "said").read_text("utf-8", "replace")[-400:].replace("\n", " | ")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201
