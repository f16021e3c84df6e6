"""What options may say, word by word; each is told in full where it is heeded."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Literal

__all__ = ["FailOn", "Isolation", "Rerun", "SourceChoice", "default_isolation"]

FailOn = Literal["regression", "unexpected", "any", "never"]
Isolation = Literal["fork", "process"]
SourceChoice = Literal["auto", "cpu", "default"]


class Rerun(StrEnum):
    """The first three are run in addition to what is missing or stale; the next two are those alone."""

    FAILED = "failed"
    CHANGED = "changed"
    FLAKY = "flaky"
    STALE = "stale"
    MISSING = "missing"
    ALL = "all"


def default_isolation() -> Isolation:
    """A forked child per trial where the system can fork, else a process each."""
    return "fork" if hasattr(os, "fork") else "process"
