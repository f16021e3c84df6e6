"""Trials: three replays of some cases on one release, by recompat and by its peers."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import REPLAYS, chosen_cases, environ, layer, write_peers
from benchmarks.turns import command, race, told
from recompat.model import Replay
from recompat.replay import ReplayRun
from recompat.runner import probe_folder, start_probe
from recompat.trials import Job, run_trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.trials import CaseAddress

__all__ = ["trials"]


def trials(python: Path, keyword: str | None, rounds: int, folder: Path) -> str:
    """Race three replays, then two warm ones against one pass of pytest without isolation; tell both, and the limits.

    Args:
        python: of an environment with torch.
        keyword: which cases, as ``-k`` says; the default ones if there is none.
        rounds: how often each contestant runs.
        folder: for the peers' files and environment.
    """
    cases = chosen_cases(keyword)
    cores = os.cpu_count() or 1
    peers = layer(python, folder / "tools")
    write_peers(folder, cases)
    run = functools.partial(command, folder=folder, environ={**environ(), "HOME": str(folder)})
    run(peers, "-m", "asv", "machine", "--yes")()  # without it asv asks
    pytest = (peers, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_cases.py")
    forked = (*pytest, "--forked", "-n", str(cores))
    asv = (peers, "-m", "asv", "run", "--python=same", "--quick", "--dry-run", "--show-stderr")
    loop = ("sh", "-c", f'ls loop/*.py | xargs -n 1 -P {cores} sh -c \'"$0" "$1" || true\' "$0"', peers)
    three = {
        "recompat, three replays": functools.partial(_ours, python, cases, cores),
        "a process per case (shell loop), three times": _times(REPLAYS, run(*loop)),
        "pytest-forked, three times": _times(REPLAYS, run(*forked)),
        "pytest without isolation, three times": _times(REPLAYS, run(*pytest)),
        "asv (forkserver), three times": _times(REPLAYS, run(*asv, "--launch-method", "forkserver", fails=(0, 2))),
    }
    warm = {
        "recompat, two warm replays": functools.partial(_warm, python, cases, cores),
        "pytest without isolation, once": run(*pytest),
    }
    limits = _limits(python, cases, cores)
    return "\n".join(
        [
            told(f"{len(cases)} cases on one release, three replays", race(three, rounds, warm_up=rounds > 1), limits),
            told(f"{len(cases)} cases, warm", race(warm, rounds)),
        ]
    )


def _times(number: int, run: object) -> object:
    def repeated() -> None:
        for _ in range(number):
            run()  # type: ignore[operator]

    return repeated


def _job(python: Path, cores: int, folder: Path) -> Job:
    return Job(python, folder / "log", 60, "fork", cores, start_probe, evidence=False)


def _ours(python: Path, cases: Sequence[CaseAddress], cores: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run_trials(_job(python, cores, Path(folder)), cases, lambda _: None)


def _warm(python: Path, cases: Sequence[CaseAddress], cores: int) -> None:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as threads:
        job, stop = _job(python, cores, Path(folder)), threading.Event()
        for place in ("one", "other"):
            threads.submit(ReplayRun(job, Replay.WARM, Path(folder, place), cases, lambda _: None, stop).run)


def _limits(python: Path, cases: Sequence[CaseAddress], cores: int) -> dict[str, str]:
    """Measure what no harness could save, and what a warm trial costs beyond the case's own work."""
    torch = _seconds(python, "import torch")
    both = _seconds(
        python, "import torch, sympy; import time; t = time.time(); import torch._dynamo; print(time.time() - t)"
    )
    limit = (REPLAYS * torch + len(cases) * both) / cores
    return {
        "import torch": f"{torch:.2f} s",
        "import torch._dynamo after it": f"{both:.2f} s",
        "limit (one import of torch per replay, one of torch._dynamo per cold trial, divided by the cores)": f"{limit:.1f} s",
        "a warm trial beyond its case's own work": f"{1000 * _beyond(python, cases):.0f} ms",
    }


def _seconds(python: Path, source: str) -> float:
    """Run a source three times; return the least of what it prints, or of what it takes."""
    found = []
    for _ in range(3):
        began = time.perf_counter()
        printed = subprocess.check_output([python, "-c", source], env=environ(), text=True)
        found.append(float(printed) if printed else time.perf_counter() - began)
    return min(found)


def _beyond(python: Path, cases: Sequence[CaseAddress]) -> float:
    """Compare a warm probe, one trial at a time, with the same trials in one process; seconds a trial."""
    named = [f"{case.path}::{case.name}" for case in cases if not case.alone]
    probe = [str(python), "-I", "-B", str(probe_folder() / "__main__.py"), "--warm", "--jobs", "1"]
    inside = (
        f"import sys; sys.path.insert(0, {str(probe_folder().parent)!r})\nimport torch, torch._dynamo, time\n"
        "from recompat_probe.casefile import read_source\nfrom recompat_probe.trial import run_trial\n"
        "torch.set_num_threads(1)\nt = time.time()\n"
        "for case in sys.argv[1:]:\n    path, _, name = case.rpartition('::'); run_trial(read_source(path), name)\n"
        "print(time.time() - t, file=sys.stderr)"
    )
    done = subprocess.run([python, "-c", inside, *named], env=environ(), capture_output=True, text=True, check=True)
    work = float(done.stderr.split()[-1])
    took = {}
    for number in (1, len(named)):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            subprocess.run(
                [*probe, "--out", f"{folder}/out", *named[:number]], env=environ(), check=True, stdout=sys.stderr
            )
            took[number] = time.perf_counter() - began
    return (took[len(named)] - took[1] - work) / (len(named) - 1)
