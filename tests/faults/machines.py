"""The matrix is the same on machines that lack something; where it cannot be made, one sentence says why and nothing is changed.

``--times`` is the number of runs: each condition once, in an order that is drawn, and again.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from faults.conditions import CONDITIONS
from faults.met import Met
from faults.promises import look
from faults.tally import Tally
from faults.turned import TURNED
from support.index import Index
from support.project import Project, nox
from support.wheels import Behaviour, build_package, build_torch

if TYPE_CHECKING:
    from faults.conditions import Condition
    from faults.promises import Seen
    from faults.turned import Turned

__all__ = ["ALL", "TIMES", "run"]

ALL: tuple[Condition | Turned, ...] = (*CONDITIONS, *TURNED)
TIMES = 2 * len(ALL)


def run(times: int, seed: int) -> Tally:
    """Run the matrix on that many machines."""
    tally, number = Tally(), 0
    with tempfile.TemporaryDirectory(prefix="faults-machines-") as name:
        place = Path(name)
        with Index(_wheels(place / "wheels")) as index:
            right = _undisturbed(place / "undisturbed", index)
            while tally.injected < times:
                rng = random.Random(f"{seed} {number}")
                for one in rng.sample(ALL, len(ALL))[: times - tally.injected]:
                    print(f"{tally.injected + 1}: {one.name}", file=sys.stderr, flush=True)  # noqa: T201
                    meet(one, place / f"{tally.injected}", index, rng, right, tally)
                number += 1
    return tally


def meet(one: Condition | Turned, folder: Path, index: Index, rng: random.Random, right: Seen, tally: Tally) -> None:
    """Run the matrix on one machine, in a folder of its own that is removed."""
    met = Met(Project(folder / one.folder, index), one.name, right, tally)
    with met.nothing_left():
        one.run(met, rng)
    shutil.rmtree(folder, ignore_errors=True)


def _undisturbed(folder: Path, index: Index) -> Seen:
    project = Project(folder / "project", index)
    done = nox(project, "-s", "matrix", timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    return look(project.reports)


def _wheels(folder: Path) -> Path:
    build_torch(folder, "9.0.0")
    build_torch(folder, "9.1.0", checkpoints={"regresses": Behaviour.RAISES})
    build_package(folder, "numpy", "1.26.4")
    build_package(folder, "setuptools", "80.9.0")
    return folder
