"""Whether torch notices what a case is about: told apart by the exceptions that the case counts as noticing. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from recompat.model import Outcome

if TYPE_CHECKING:
    from recompat.casedoc import About
    from recompat.model import Raised, Trial

__all__ = ["Detection", "detection"]

CHECKPOINT_ERROR: Final = "torch.utils.checkpoint.CheckpointError"


class Detection(StrEnum):
    """What a user of the pattern lives with.

    ``fine``: nothing is wrong. ``noticed``: torch refuses, and says so. ``silent``: it goes on with other values.
    ``unrelated``: it fails with an exception that is about something else.
    """

    FINE = "fine"
    NOTICED = "noticed"
    SILENT = "silent"
    UNRELATED = "unrelated"


def detection(trial: Trial, about: About) -> Detection | None:
    """Read a trial of a case; None where it says nothing of torch, or nothing of checkpoint."""
    match trial.outcome:
        case Outcome.PASS:
            return Detection.FINE
        case Outcome.DIFFERS:
            return Detection.SILENT
        case Outcome.RAISES if trial.raised is not None:
            return Detection.NOTICED if _noticed(trial.raised, about) else Detection.UNRELATED
        case _:
            return None


def _noticed(raised: Raised, about: About) -> bool:
    return raised.type == CHECKPOINT_ERROR or any(one.covers(raised.type, raised.message) for one in about.noticed)
