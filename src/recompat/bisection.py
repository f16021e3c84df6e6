"""What a bisection found, as types: what ``recompat bisect`` prints, and with ``--format json`` exactly this."""

from typing import Final, Literal

import msgspec

from recompat.aspects import Aspect
from recompat.cells import Cell
from recompat.diff import Diff
from recompat.errors import ExitCode
from recompat.summary import Column
from recompat.tracks import Written

__all__ = ["BISECTION_SCHEMA", "Bisection", "Side", "Silent", "Tried", "Turn"]

BISECTION_SCHEMA: Final = "recompat/bisection/1"


class Tried(msgspec.Struct, frozen=True):
    """A release of which something is known: its ``answer``, or why it says nothing.

    ``recorded`` if that stood in the records, ``installed`` if an environment was built for it.
    """

    torch: str
    answer: str | None
    skipped: str | None = None
    recorded: bool = False
    installed: bool = False


class Silent(msgspec.Struct, frozen=True):
    """A release between the two of a change, and why it says nothing; ``trouble`` if that may be mended."""

    torch: str
    reason: str
    trouble: bool = False


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A release of a change: its environment and its cell, in full.

    ``wheel`` is the file that the source offers as what was tested, and ``wheel_sha256`` its digest; null where that is not
    known. ``commands`` make the environment, and run the case in it; there are none where its file was edited.
    """

    column: Column
    cell: Cell
    wheel: str | None = None
    wheel_sha256: str | None = None
    commands: tuple[str, ...] = ()


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A change: the ``last`` release with the ``old`` answer, and the ``first`` with the ``new``.

    ``between`` are the releases between the two, none of which says anything: without any, the change is placed exactly.
    ``diff`` is what ``recompat diff`` tells of the case on the two, besides what stands in their cells.
    """

    old: str
    new: str
    last: Side
    first: Side
    diff: Diff
    between: tuple[Silent, ...] = ()


class Bisection(msgspec.Struct, frozen=True, kw_only=True):
    """A case along the releases from ``start`` to ``end``; ``turns`` are newest first.

    ``beside`` are the packages that stand beside each release; JSON has it only where an axis of the matrix chose some.

    ``releases`` counts those of the range, ends included; ``tried`` are those of which something is known, oldest first.
    Between two of them that answer alike nothing was tried. ``listed`` is when the index was seen, where it is out of reach
    now. ``elsewhere`` are changes outside of the range that the records know, as pairs of releases. ``source`` is the case
    file; null where it is too long to be read, or has what cannot be seen.
    """

    schema: Literal["recompat/bisection/1"] = BISECTION_SCHEMA
    recompat: str
    generated: str
    case: str
    title: str
    file: str
    sha256: str
    aspect: Aspect
    platform: str
    beside: Written = msgspec.UNSET
    start: str
    end: str
    releases: int
    tried: tuple[Tried, ...]
    turns: tuple[Turn, ...]
    listed: str | None = None
    elsewhere: tuple[tuple[str, str], ...] = ()
    source: str | None = None

    @property
    def installed(self) -> int:
        """How many environments were built."""
        return sum(one.installed for one in self.tried)

    @property
    def exit_code(self) -> ExitCode:
        """Whether every change is placed as exactly as the releases allow."""
        trouble = any(silent.trouble for turn in self.turns for silent in turn.between)
        return ExitCode.INCOMPLETE if trouble else ExitCode.OK
