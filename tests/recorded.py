"""A project on disk with the records that a test names: nothing of it was ever run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from builders import record, result
from recompat.model import Trial
from recompat.project import Project
from recompat.record import save_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from recompat.model import CaseResult, Record

__all__ = ["SOURCE", "digest", "make_project", "recorded"]

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
