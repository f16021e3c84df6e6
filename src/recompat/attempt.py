"""What a try found, as types: a file along the releases that it was run on."""

import msgspec

from recompat.cells import Cell
from recompat.errors import ExitCode
from recompat.search import Change

__all__ = ["Attempt", "Ran", "Row"]


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


class Row(msgspec.Struct, frozen=True):
    """A case, or a plain script, along the releases: ``ran`` is oldest first, ``changes`` newest first."""

    case: str
    title: str
    ran: tuple[Ran, ...]
    changes: tuple[Change, ...] = ()


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was tried. ``releases`` are those that it was tried along, oldest first; not all of them need have run.

    ``between`` are the releases that the index offers between the first and the last of those: where the releases were
    chosen, some of them may have been left out. ``folder`` has the records, and the logs.
    """

    recompat: str
    file: str
    platform: str
    releases: tuple[str, ...]
    between: tuple[str, ...]
    rows: tuple[Row, ...]
    folder: str
    packages: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """Whether every release that was tried gave a result."""
        trouble = any(ran.trouble for row in self.rows for ran in row.ran)
        return ExitCode.INCOMPLETE if trouble else ExitCode.OK
