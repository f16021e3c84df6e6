"""The words of recompat as types: what is recorded, and what is made of it.

Everything here is frozen and holds plain data, so that a record and a summary are exactly what
their JSON says (``recompat.record`` and ``recompat.report.json`` read and write it with msgspec).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

import msgspec

from recompat.disagreement import Disagreement, DisagreementKind, Mismatch, TensorMeta
from recompat.ground import Environment, Facts, Run, Trouble, TroubleKind

__all__ = [
    "RECORD_SCHEMA",
    "Call",
    "CaseResult",
    "Change",
    "Difference",
    "Disagreement",
    "DisagreementKind",
    "Environment",
    "Evidence",
    "Facts",
    "Mismatch",
    "Outcome",
    "Pass",
    "Phase",
    "Raised",
    "Record",
    "Replay",
    "Run",
    "TensorMeta",
    "Trial",
    "Trouble",
    "TroubleKind",
    "Verdict",
    "Verification",
    "Warned",
]

RECORD_SCHEMA: Final = "recompat/record/1"


class Outcome(StrEnum):
    """How a trial ended."""

    PASS = "pass"
    RAISES = "raises"
    DIFFERS = "differs"
    MOOT = "moot"
    UNSUPPORTED = "unsupported"
    CRASH = "crash"
    TIMEOUT = "timeout"
    ERROR = "error"
    NOT_RUN = "not-run"


class Verdict(StrEnum):
    """An outcome held against its expectation."""

    EXPECTED = "expected"
    REGRESSED = "regressed"
    FIXED = "fixed"
    CHANGED = "changed"
    NEW = "new"
    FLAKY = "flaky"
    MISSING = "missing"


class Replay(StrEnum):
    """One pass over all cases by an interpreter of its own.

    ``cold`` is forked from a process that has imported torch (and sympy) alone and gives the verdict. The warm ones have
    imported ``torch._dynamo`` too; ``warm-copied`` runs copies of the case files in another folder.
    """

    COLD = "cold"
    WARM = "warm"
    WARM_COPIED = "warm-copied"


class Phase(StrEnum):
    """Where an exception left the case: ``backward`` if autograd's engine was running."""

    FORWARD = "forward"
    BACKWARD = "backward"


class Raised(msgspec.Struct, frozen=True):
    """An exception that left a case. ``type`` is qualified; ``frames`` are the last ones, innermost last.

    ``mismatches`` and ``disagreement`` are read from the message of a ``CheckpointError``.
    """

    type: str
    phase: Phase
    message: str
    frames: tuple[str, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    disagreement: Disagreement | None = None


class Difference(msgspec.Struct, frozen=True):
    """One compared value, such as ``q.grad``.

    ``max_abs_diff`` is absent where no number can be given (other shapes, strings, NaN against a number);
    ``note`` then says what differs.
    """

    name: str
    equal: bool
    max_abs_diff: float | None = None
    note: str | None = None


class Warned(msgspec.Struct, frozen=True):
    """A warning that the case gave and its reference did not."""

    category: str
    text: str


class Trial(msgspec.Struct, frozen=True):
    """One execution of one case in a process of its own.

    ``detail`` is the sentence for outcomes that have no exception and no differences: the APIs that are missing,
    the signal of a crash, the limit of a timeout, what is broken in the case file. ``seconds`` is wall time. Where it
    ``varies``, the case computes with numbers that never repeat, and only how it ended counts.
    """

    outcome: Outcome
    seconds: float
    raised: Raised | None = None
    differences: tuple[Difference, ...] = ()
    warnings: tuple[Warned, ...] = ()
    detail: str | None = None
    varies: bool = False

    @property
    def warned(self) -> tuple[str, ...]:
        """The categories of its warnings, each once, by name."""
        return tuple(sorted({warned.category for warned in self.warnings}))


class Pass(StrEnum):
    """Which run of a checkpointed function a call was."""

    FORWARD = "forward"
    RECOMPUTE = "recompute"


class Call(msgspec.Struct, frozen=True):
    """One call of a checkpointed function, as the evidence trial watched it.

    ``region`` counts the calls of ``checkpoint()``, from 0. ``settings`` are the execution settings in force where the
    function began, by name, such as ``{"sdpa.math": "on"}``; one that the release lacks is absent. ``operators`` are the
    dispatcher's, in order, such as ``aten._softmax``; ``ending`` is ``returned``, ``stopped early`` (recomputation had all
    that backward needs) or ``raised`` and a qualified type.
    """

    region: int
    during: Pass
    reentrant: bool
    settings: dict[str, str]
    operators: tuple[str, ...]
    ending: str


class Change(msgspec.Struct, frozen=True):
    """A setting that was not the same in recomputation; None where it was not there at all."""

    setting: str
    forward: str | None
    recompute: str | None


class Evidence(msgspec.Struct, frozen=True):
    """What an evidence trial saw. It is a trial of its own and never gives the verdict.

    ``outcome`` and ``exception`` are how the watched trial ended: where they differ from the verdict trial's, watching
    changed the outcome. ``calls`` are the first ones; ``unwatched`` counts those beyond. ``changes`` are of the first
    region that shows one, or of none. ``detail`` says why there is nothing to see, if there is not.
    """

    outcome: Outcome
    exception: str | None
    calls: tuple[Call, ...] = ()
    unwatched: int = 0
    changes: tuple[Change, ...] = ()
    detail: str | None = None


class Verification(msgspec.Struct, frozen=True):
    """The same case run again from scratch, in an environment of its own, before it is called changed.

    ``finished`` is when, in UTC, ISO 8601.
    """

    trials: dict[Replay, Trial]
    evidence: Evidence | None = None
    finished: str = ""


class CaseResult(msgspec.Struct, frozen=True):
    """All trials of one case in one environment.

    ``sha256`` is that of the case file's bytes as they were run; ``finished`` is when, in UTC, ISO 8601. ``again`` is there
    where the result was verified.
    """

    case: str
    sha256: str
    trials: dict[Replay, Trial]
    evidence: Evidence | None = None
    finished: str = ""
    again: Verification | None = None


class Record(msgspec.Struct, frozen=True):
    """What one environment left. Written atomically to ``reports/records/<environment id>.json``.

    ``digest`` is the SHA-256 of all the rest, so that a record that was edited by hand is noticed.
    """

    environment: Environment
    run: Run
    facts: Facts | None = None
    results: tuple[CaseResult, ...] = ()
    trouble: Trouble | None = None
    schema: Literal["recompat/record/1"] = RECORD_SCHEMA
    digest: str = ""
