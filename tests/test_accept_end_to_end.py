"""A release appears, a case ends otherwise there, and what was observed is accepted: through nox and the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

from support.project import ROOT, nox
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    from support.project import Project


def recompat(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "recompat", *arguments],
        cwd=project.root,
        env={**project.env, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src")},
        check=False,
        text=True,
        capture_output=True,
        timeout=60,
    )


def test_a_release_that_changes_a_case_is_accepted_and_then_expected(finished: Project) -> None:
    build_torch(finished.index.folder, "9.2.0", checkpoints={"regresses": Behaviour.DIFFERS})
    assert nox(finished, "-s", "matrix", "--", "--torch", "9.2.0").returncode == 1

    done = recompat(finished, "accept", "--reason", "It was built so.")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "regresses::regresses: raises CheckpointError on >=9.1,<9.2 (was >=9.1); new, differs on >=9.2.\n"
        "matrix/expectations.toml: 1 case written, to be reviewed.\n"
    )
    assert done.stderr == (
        "recompat: Claims speak of 9.2.0 alone, which matrix.toml does not name; add that to known under [torch].\n"
    )
    rows = tomllib.loads(finished.expectations.read_text())["regresses"]["regresses"]
    assert [(row["torch"], row["reason"]) for row in rows] == [
        ("<9.1", "The stand-in is built so."),
        (">=9.1,<9.2", "The stand-in is built so."),
        (">=9.2", "It was built so."),
    ]

    report = nox(finished, "-s", "report")
    assert report.returncode == 0, report.stdout + report.stderr
    assert recompat(finished, "accept", "--check").returncode == 0

    taken = recompat(finished, "accept", "--baseline", "--torch", "9.2.0")
    assert taken.returncode == 0, taken.stderr
    assert taken.stdout.endswith(": new, 2 cases.\n")
    assert len([*(finished.root / "matrix" / "baseline").iterdir()]) == 1
