"""What differs between two releases, runs, machines or builds, as types; ``recompat diff`` shows it."""

from enum import StrEnum
from typing import Final, Literal

import msgspec

__all__ = ["COUNTED", "DIFF_SCHEMA", "Change", "Compared", "Diff", "Fact", "Part"]

DIFF_SCHEMA: Final = "recompat/diff/1"


class Part(StrEnum):
    """What can differ, in the order in which it is told; ``--only`` takes these words."""

    OUTCOME = "outcome"
    EXCEPTION = "exception"
    MISMATCH = "mismatch"
    SETTINGS = "settings"
    OPERATORS = "operators"
    MESSAGE = "message"
    DIFFERENCES = "differences"
    WARNINGS = "warnings"
    FACTS = "facts"
    CASES = "cases"


COUNTED: Final = (Part.OUTCOME, Part.EXCEPTION, Part.MISMATCH, Part.SETTINGS, Part.OPERATORS)
"""What counts where nothing else is asked for: how torch behaves, but not its wording, its rounding or its version."""


class Change(msgspec.Struct, frozen=True):
    """A part of a case's result that differs.

    ``subject`` is what of the part it is, such as a setting, a value or the category of a warning. ``a`` and ``b`` are what
    either side has, null for nothing; ``lines`` tell more, those of A with ``- `` before them and those of B with ``+ ``.
    """

    part: Part
    case: str
    subject: str | None = None
    a: str | None = None
    b: str | None = None
    lines: tuple[str, ...] = ()


class Fact(msgspec.Struct, frozen=True):
    """A fact of two environments, such as the version of a package; null where it is not known, or not there."""

    name: str
    a: str | None
    b: str | None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Two environments. ``a`` and ``b`` are their ids, and ``finished`` is when they were run.

    ``cases`` are those with a result on both sides, of which the others tell something: ``edited`` those whose files are
    not the same bytes, ``flaky`` those whose replays did not repeat on a side, ``unwatched`` those of which a side has no
    evidence, or of a trial that ended otherwise, so that settings and operators are not compared.
    """

    a: str
    b: str
    finished: tuple[str, str]
    facts: tuple[Fact, ...]
    cases: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    only_in_a: tuple[str, ...] = ()
    only_in_b: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    unwatched: tuple[str, ...] = ()

    @property
    def differing_facts(self) -> tuple[Fact, ...]:
        """Those that are not the same."""
        return tuple(fact for fact in self.facts if fact.a != fact.b)

    def changed(self, *parts: Part) -> set[str]:
        """The cases that differ in one of ``parts``."""
        return {change.case for change in self.changes if change.part in parts}


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """All pairs of environments that were compared, in version order; ``a`` and ``b`` are what the two sides were called.

    ``told`` are the parts that were compared, and ``counted`` those of them that make the two differ. ``only_in_a`` and
    ``only_in_b`` are the environments that have no partner.
    """

    schema: Literal["recompat/diff/1"] = DIFF_SCHEMA
    recompat: str
    a: str
    b: str
    told: tuple[Part, ...]
    counted: tuple[Part, ...]
    pairs: tuple[Compared, ...]
    only_in_a: tuple[str, ...] = ()
    only_in_b: tuple[str, ...] = ()

    def number(self, part: Part) -> int:
        """How many differ in a part: facts, environments and cases without a partner, or else cases, each pair's apart."""
        match part:
            case Part.FACTS:
                return sum(len(pair.differing_facts) for pair in self.pairs)
            case Part.CASES:
                alone = sum(len(pair.only_in_a) + len(pair.only_in_b) for pair in self.pairs)
                return alone + len(self.only_in_a) + len(self.only_in_b)
            case _:
                return sum(len(pair.changed(part)) for pair in self.pairs)

    @property
    def differs(self) -> bool:
        """Whether anything differs that counts."""
        return any(self.number(part) for part in self.counted)
