"""What a try found, as types: what ``recompat try`` prints, and with ``--format json`` exactly this."""

from typing import Final, Literal

import msgspec

from recompat.cells import Cell
from recompat.errors import ExitCode

__all__ = ["TRY_SCHEMA", "Attempt", "Ran", "Row", "Step"]

TRY_SCHEMA: Final = "recompat/try/1"


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """A release that was run, or that could not be.

    ``answer`` is how it ended, in words; null where it says nothing, and then ``skipped`` says why, with ``trouble`` where
    that is no property of the file. ``install`` makes the environment again, and ``run`` runs the file in it; both are
    empty where there is no result.
    """

    torch: str
    cell: Cell
    python: str
    answer: str | None = None
    skipped: str | None = None
    trouble: bool = False
    build: str | None = None
    install: str = ""
    run: str = ""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A change: the ``last`` release with the ``old`` answer, and the ``first`` with the ``new``.

    ``silent`` are the releases between the two that were tried and say nothing, and ``not_run`` those of the index that were
    left out: without any, the change is placed exactly.
    """

    last: str
    first: str
    old: str
    new: str
    silent: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()


class Row(msgspec.Struct, frozen=True):
    """A case, or a plain script, along the releases: ``ran`` is oldest first, ``changes`` newest first."""

    case: str
    title: str
    ran: tuple[Ran, ...]
    changes: tuple[Step, ...] = ()


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was tried. ``releases`` are those that it was tried along, oldest first; not all of them need have run.

    A ``plain`` script has no cases, and one row. ``python`` are the interpreters that the file asks for, and ``packages`` what
    was installed besides. ``folder`` has the records, and the logs.
    """

    schema: Literal["recompat/try/1"] = TRY_SCHEMA
    recompat: str
    file: str
    sha256: str
    plain: bool
    platform: str
    releases: tuple[str, ...]
    rows: tuple[Row, ...]
    folder: str
    packages: tuple[str, ...] = ()
    python: str = ""

    @property
    def exit_code(self) -> ExitCode:
        """Whether every release that was tried gave a result."""
        trouble = any(ran.trouble for row in self.rows for ran in row.ran)
        return ExitCode.INCOMPLETE if trouble else ExitCode.OK
