"""Whole runs: two releases from nothing to the report, by recompat and by nox with pytest on pip; the caches are warm."""

from __future__ import annotations

import functools
import shutil
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.peers import REPLAYS, chosen_cases, clone, environ, write_tests
from benchmarks.turns import command, race, told
from recompat.record import load_records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["whole"]

RELEASES = ("2.11.0", "2.13.0")
PACKAGES = "numpy setuptools pytest<9 pytest-xdist pytest-forked"
NOXFILE = """import nox

@nox.session(venv_backend="virtualenv")
@nox.parametrize("torch", {releases})
def tests(session, torch):
    session.install(f"torch=={{torch}}", *{packages})
    for _ in range({replays}):
        session.run("pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *session.posargs, "test_cases.py")
"""


def whole(keyword: str | None, rounds: int, folder: Path) -> str:
    """Race whole runs, and tell what of ours was installing and what was trials.

    Args:
        keyword: which cases, as ``-k`` says; the default ones if there is none.
        rounds: how often each contestant runs, after once to fill its cache.
        folder: for copies of this project, the peers' files and all caches.
    """
    cases = chosen_cases(keyword)
    project, peers = folder / "ours", folder / "theirs"
    clone(project)
    peers.mkdir()
    write_tests(peers, cases)
    (peers / "noxfile.py").write_text(
        NOXFILE.format(releases=list(RELEASES), packages=PACKAGES.split(), replays=REPLAYS)
    )
    variables = {
        **environ(),
        "UV_CACHE_DIR": str(folder / "uv"),
        "PIP_CACHE_DIR": str(folder / "pip"),
        "PIP_CONSTRAINT": "",
    }
    selected = ["--torch", ",".join(RELEASES), *(["-k", keyword] if keyword else [])]
    run = functools.partial(command, folder=project, environ=variables, fails=(0, 1, 6))
    theirs = functools.partial(command, folder=peers, environ=variables, fails=(0, 1))
    nox = (sys.executable, "-m", "nox")
    contestants = {
        "recompat": _anew(project, run(*nox, "-s", "matrix", "--", *selected)),
        "recompat -j 2": _anew(project, run(*nox, "-j", "2", "-s", "matrix", "--", *selected)),
        "nox + pytest-forked on pip": _anew(peers, theirs(*nox, "--", "--forked")),
        "nox + pytest-xdist on pip": _anew(peers, theirs(*nox)),
    }
    figures = race(contestants, rounds)
    title = f"{len(cases)} cases on torch {' and '.join(RELEASES)}, whole runs"
    contestants["recompat"]()
    parts = _parts(project)
    again = run(*nox, "-s", "matrix", "--", *selected)
    edited = project / "matrix" / "cases" / cases[0].path.name
    more = {
        "then, nothing to do": _took(again),
        f"then, {edited.name} edited": _took(lambda: (edited.write_text(edited.read_text() + "# edited\n"), again())),
        f"then, torch {RELEASES[0]} anew": _took(lambda: (_drop(project, RELEASES[0]), again())),
    }
    return told(title, figures, {**parts, **more})


def _anew(project: Path, run: Callable[[], object]) -> Callable[[], object]:
    """Have nothing from before but the caches."""

    def from_nothing() -> None:
        for left in (project / ".nox", project / "reports" / "records"):
            shutil.rmtree(left, ignore_errors=True)
        run()

    return from_nothing


def _drop(project: Path, release: str) -> None:
    for record in (project / "reports" / "records").glob(f"torch{release}-*.json"):
        record.unlink()


def _took(run: Callable[[], object]) -> str:
    began = time.perf_counter()
    run()
    return f"{time.perf_counter() - began:.1f} s"


def _parts(project: Path) -> dict[str, str]:
    """What the steps of each release took."""
    records, _ = load_records(project / "reports" / "records")
    return {
        f"{one.environment.torch} {step}": f"{took:.1f} s" for one in records for step, took in one.run.seconds.items()
    }
