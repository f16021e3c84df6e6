"""The cause of a cell in a sentence or two, made from its evidence and never guessed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recompat.model import Evidence, Trial

__all__ = ["cause", "watched_otherwise"]


def cause(trial: Trial, evidence: Evidence | None, warm: Trial | None = None) -> str | None:
    """Say why a trial ended as it did; None where there is nothing to explain, or no evidence.

    Args:
        trial: the one that gives the verdict.
        evidence: of the trial that was watched, in a warm process.
        warm: the trial of a warm process that was not watched, where it was run.
    """
    raise NotImplementedError


def watched_otherwise(trial: Trial, evidence: Evidence | None, warm: Trial | None = None) -> str | None:
    """Say that the watched trial ended otherwise than the one that gives the verdict; None if it did not."""
    raise NotImplementedError
