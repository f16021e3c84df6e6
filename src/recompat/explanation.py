"""What ``recompat explain`` finds, as types. ``--format json`` is this, encoded."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

import msgspec

from recompat.disagreement import Disagreement, Mismatch
from recompat.model import Outcome

__all__ = [
    "EXPLANATION_SCHEMA",
    "Alike",
    "Explained",
    "Explanation",
    "Frame",
    "Message",
    "Other",
    "OtherKind",
    "Pattern",
    "Release",
    "ReleaseFrom",
    "Remedy",
    "Where",
]

EXPLANATION_SCHEMA: Final = "recompat/explanation/1"


class Frame(msgspec.Struct, frozen=True):
    """A frame of a traceback; ``code`` is the line of source below it, where there is one."""

    file: str
    line: int
    function: str
    code: str | None = None

    @property
    def name(self) -> str:
        """The frame as records have it: ``torch/utils/checkpoint.py:1177 in unpack_hook``."""
        return f"{self.file}:{self.line} in {self.function}"


class Message(msgspec.Struct, frozen=True):
    """One message of ``CheckpointError`` as it was pasted, with the frames above it; ``times`` it stands there.

    ``forward`` and ``recompute`` are the operators that the log of ``debug=True`` names. ``cut``: some of it lacks.
    """

    disagreement: Disagreement
    mismatches: tuple[Mismatch, ...] = ()
    frames: tuple[Frame, ...] = ()
    forward: tuple[str, ...] = ()
    recompute: tuple[str, ...] = ()
    times: int = 1
    cut: bool = False


class Pattern(StrEnum):
    """What is peculiar in how the two runs differ.

    ``shifted``: the tensors are those of the other run, at other positions. ``attention``: of the same size with three
    dimensions in one run and four in the other. ``dtype`` and ``device``: with the same shape. ``grew`` and
    ``shrank``: one dimension alone, in recomputation.
    """

    SHIFTED = "shifted"
    ATTENTION = "attention"
    DIMENSIONS = "dimensions"
    GREW = "grew"
    SHRANK = "shrank"
    SHAPE = "shape"
    DTYPE = "dtype"
    DEVICE = "device"
    NONE_SAVED = "none-saved"
    FEWER = "fewer"
    MORE = "more"


class Where(StrEnum):
    """What a frame of the user's own code tells."""

    UNPACKING = "unpacking"
    RECOMPUTING = "recomputing"
    CHECKPOINT = "checkpoint"


class Remedy(msgspec.Struct, frozen=True):
    """A case that repairs a broken one, and passed on the release; ``records`` is what ``--records`` has to name."""

    case: str
    title: str
    records: str | None = None


class Alike(msgspec.Struct, frozen=True):
    """A known case that once ended with such a message: in what it is alike, and how it ended on the release.

    ``cause`` is a sentence made from what was measured on ``seen_on``. ``unrepaired`` says why nothing repairs it.
    ``records`` is what ``--records`` has to name, if anything.
    """

    case: str
    title: str
    score: int
    reasons: tuple[str, ...]
    seen_on: str
    records: str | None = None
    cause: str | None = None
    outcome: Outcome | None = None
    exception: str | None = None
    repairs: tuple[Remedy, ...] = ()
    unrepaired: str | None = None


class Explained(msgspec.Struct, frozen=True):
    """A message with what it means; ``own`` are the frames of the user's code that tell something."""

    message: Message
    meaning: tuple[str, ...]
    patterns: tuple[Pattern, ...] = ()
    own: dict[Where, Frame] = {}
    alike: tuple[Alike, ...] = ()


class OtherKind(StrEnum):
    """What an error is of that is no ``CheckpointError``.

    ``unpacking``: torch 2.0, which has no such type. ``arguments``: a call that checkpoint() does not take.
    ``internal``: a state of torch that should not come to be. ``autograd``: it is raised with and without checkpoint().
    """

    SELECTIVE = "selective"
    REENTRANT = "reentrant"
    UNPACKING = "unpacking"
    ARGUMENTS = "arguments"
    INTERNAL = "internal"
    AUTOGRAD = "autograd"


class Other(msgspec.Struct, frozen=True):
    """An error that is no ``CheckpointError``, by the ``words`` that tell it; it stands there so many ``times``."""

    kind: OtherKind
    words: str
    meaning: str
    own: dict[Where, Frame] = {}
    times: int = 1


class ReleaseFrom(StrEnum):
    """How the release was found of which repairs are told."""

    ASKED = "asked"
    NAMED = "named"
    LINES = "lines"
    NEWEST = "newest"


class Release(msgspec.Struct, frozen=True):
    """The release of which repairs are told. ``pasted`` is what the text names, or what its line numbers fit."""

    torch: str
    found: ReleaseFrom
    pasted: tuple[str, ...] = ()


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """All that a text tells. ``release`` is null where nothing is recorded; ``more`` counts messages left out.

    ``others`` are errors that are no ``CheckpointError``.
    """

    schema: Literal["recompat/explanation/1"] = EXPLANATION_SCHEMA
    recompat: str
    release: Release | None
    explained: tuple[Explained, ...]
    more: int = 0
    others: tuple[Other, ...] = ()
