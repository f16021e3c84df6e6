"""Errors that a user can mend, each with its exit code (pytest's meanings)."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ConfigurationError", "ExitCode", "Incomplete", "Interrupted", "NothingSelected", "RecompatError"]


SHOWN = 50  # faults of a file


class ExitCode(IntEnum):
    """What the process says when it ends."""

    OK = 0
    UNEXPECTED = 1
    INTERRUPTED = 2
    INTERNAL = 3
    USAGE = 4
    NOTHING_SELECTED = 5
    INCOMPLETE = 6


class RecompatError(Exception):
    """A fault with a clear message; the message ends with how to mend it."""

    exit_code = ExitCode.INTERNAL


class ConfigurationError(RecompatError):
    """Bad options, or a file under ``matrix/`` that cannot be used. ``faults`` lists every one found."""

    exit_code = ExitCode.USAGE

    def __init__(self, headline: str, faults: tuple[str, ...] = ()) -> None:
        self.faults = faults
        more = (f"and {len(faults) - SHOWN} more",) if len(faults) > SHOWN else ()
        super().__init__("\n  - ".join((headline, *faults[:SHOWN], *more)))


class NothingSelected(RecompatError):
    """A selector that matches nothing; the message lists what there is."""

    exit_code = ExitCode.NOTHING_SELECTED


class Interrupted(RecompatError):
    """Stopped by Ctrl-C or SIGTERM; finished records stay."""

    exit_code = ExitCode.INTERRUPTED


class Incomplete(RecompatError):
    """Trouble with an environment or a record stands in the way; it says nothing about torch."""

    exit_code = ExitCode.INCOMPLETE
