"""What ``recompat show`` shows, as types: drawn from the summary and the records, and laid out by ``recompat.report``."""

from collections.abc import Iterator

import msgspec

from recompat.boundary import Boundary
from recompat.casedoc import About
from recompat.cells import Cell
from recompat.model import Evidence, Outcome, Record
from recompat.operators import OperatorChange
from recompat.summary import Column

__all__ = ["CaseView", "EnvironmentView", "Repair", "Seen", "Source"]

QUIET = frozenset({Outcome.PASS, Outcome.UNSUPPORTED})


class Source(msgspec.Struct, frozen=True):
    """A case as its file has it: ``code`` is its function alone; ``fault`` says why there is none, or why it cannot run.

    ``inputs`` names the function that makes its inputs.
    """

    file: str
    sha256: str
    code: str | None
    fault: str | None = None
    inputs: str = "inputs"


class Seen(msgspec.Struct, frozen=True):
    """A case in one environment; ``evidence`` is as it was recorded, and None where it was not."""

    column: Column
    cell: Cell
    evidence: Evidence | None


class Repair(msgspec.Struct, frozen=True):
    """A case that stands beside a broken one, and in words on which releases it passes."""

    case: str
    title: str
    where: str


class CaseView(msgspec.Struct, frozen=True, kw_only=True):
    """A case along the releases that are recorded, in version order; ``chosen`` are told in full.

    ``repairs`` are the cases that stand beside it as its repairs.
    """

    id: str
    title: str
    about: About
    family: str
    repairs: tuple[Repair, ...]
    source: Source
    seen: tuple[Seen, ...]
    boundaries: tuple[Boundary, ...]
    operator_changes: tuple[OperatorChange, ...]
    chosen: tuple[Seen, ...] = ()

    @property
    def telling(self) -> Seen | None:
        """What stands for the case where no release was asked for: the newest that does not pass, else the newest."""
        results = [seen for seen in self.seen if seen.cell.date]
        return next(self._broken_first(results), None)

    @staticmethod
    def _broken_first(results: list[Seen]) -> Iterator[Seen]:
        newest_first = results[::-1]
        yield from (seen for seen in newest_first if seen.cell.outcome not in QUIET)
        yield from (seen for seen in newest_first if seen.cell.drift)
        yield from newest_first


class EnvironmentView(msgspec.Struct, frozen=True):
    """An environment: its record, and the cells of every case there is."""

    record: Record
    cells: tuple[Cell, ...]
