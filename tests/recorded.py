"""A project on disk with the records that a test names: nothing of it was ever run."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import msgspec

from builders import PASSES, differs, record, result, trouble, warns
from recompat.model import Trial
from recompat.project import Project
from recompat.record import save_record
from recompat.report.page import Paper
from recompat.show import read_known, show
from scenes import CHECKPOINT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from recompat.model import CaseResult, Record

__all__ = ["SOURCE", "digest", "four_releases", "make_project", "outcomes", "recorded", "shown"]

RUNS = re.compile(r"\nOutcomes\n(.*?)(?:\n\n|$)", re.DOTALL)

SOURCE = '''"""Patterns."""

import torch


def inputs():
    return ()


def others():
    return ()


def case_plain():
    """Nothing special.

    And more of it.
    """
    return {"x":  1}  # two blanks


def case_plain_too():
    """Something special.

    :inputs: others
    :tolerance: atol=1e-3, rtol=0
    """
    return {}
'''

MATRIX = """
[torch]
default = ["2.9.1", "2.11.0"]

[[extras]]
torch = ">=2.9"
packages = ["numpy<2", "Not.Installed"]
reason = "A test wants them."
"""


def digest(source: str = SOURCE) -> str:
    """The SHA-256 of a case file."""
    return hashlib.sha256(source.encode()).hexdigest()


def make_project(root: Path, *records: Record, source: str = SOURCE, expectations: str = "") -> Project:
    """Write a project whose one case file is ``patterns.py``."""
    project = Project(root)
    project.cases.mkdir(parents=True)
    project.matrix.write_text(MATRIX)
    project.expectations.write_text(expectations)
    (project.cases / "patterns.py").write_text(source)
    for one in records:
        save_record(project.records, one)
    return project


def recorded(torch: str, trials: Mapping[str, Trial | CaseResult], sha256: str | None = None) -> Record:
    """A record of cases of ``patterns.py`` as ``SOURCE`` has them."""
    made = []
    for name, trial in trials.items():
        one = result(f"patterns::{name}", trial) if isinstance(trial, Trial) else trial
        made.append(msgspec.structs.replace(one, sha256=sha256 or digest()))
    return record(torch, *made)


def four_releases(root: Path) -> Project:
    """A project with two cases on three releases, and trouble with a fourth."""
    return make_project(
        root,
        recorded("2.11.0", {"plain": CHECKPOINT, "plain_too": warns("careful")}),
        recorded("2.10.0", {"plain": CHECKPOINT, "plain_too": differs(0.25, "half")}),
        recorded("2.9.1", {"plain": PASSES, "plain_too": PASSES}),
        record("2.12.0", trouble=trouble()),
    )


def shown(project: Project, target: str, torch: str | None = None, paper: Paper | None = None) -> str:
    """What ``recompat show`` prints."""
    return show(read_known(project), target, torch, paper or Paper())


def outcomes(text: str) -> str:
    """The outcomes that ``recompat show`` prints of a case, on one line."""
    found = RUNS.search(text)
    assert found is not None
    return " ".join(found[1].split())
