"""What a run costs where nothing, or one case, has to be done: ``nox -s matrix`` with all records of 16 releases standing."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

from benchmarks.generated import write_project
from benchmarks.peers import environ
from benchmarks.turns import command, race, told

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["standing"]

LIBRARY, RELEASES = 263, 16
EMPTY = 'import nox\n\n@nox.session(venv_backend="none")\ndef matrix(session):\n    pass\n'


def standing(rounds: int, folder: Path) -> str:
    """Race nox with a session that does nothing, and ours with nothing to do, for the library on sixteen releases."""
    project, empty = folder / "project", folder / "empty"
    project.mkdir()
    empty.mkdir()
    write_project(project, LIBRARY, RELEASES)
    (empty / "noxfile.py").write_text(EMPTY)
    run = functools.partial(
        command, sys.executable, "-m", "nox", "-s", environ={**environ(), "NOX_SCRIPT_MODE": "none"}
    )
    contestants = {
        "nox, a session that does nothing": run("matrix", folder=empty),
        "nox -s matrix, 263 cases on 16 releases, nothing to run": run("matrix", "--", "-k", "all", folder=project),
    }
    return told("Nothing to do", race(contestants, rounds))
