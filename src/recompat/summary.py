"""The one view model that every renderer gets. ``matrix.json`` is this, encoded."""

from collections.abc import Iterator
from typing import Final, Literal, Self

import msgspec

from recompat.boundary import Boundary
from recompat.casedoc import TOLERANCE, Restores
from recompat.cells import Cell, Claim
from recompat.detection import Detection
from recompat.errors import ExitCode
from recompat.model import Outcome, Trouble, Verdict
from recompat.operators import OperatorChange
from recompat.tracks import Written

__all__ = ["MATRIX_SCHEMA", "Cell", "Claim", "Column", "Row", "Summary", "Totals"]

MATRIX_SCHEMA: Final = "recompat/matrix/1"

UNEXPECTED = frozenset({Verdict.REGRESSED, Verdict.FIXED, Verdict.CHANGED, Verdict.NEW, Verdict.FLAKY})


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """An environment: what was asked for, and what was really tested.

    ``beside`` are the packages that an axis of the matrix chose; JSON has it only where there are any. What the probe would
    have told is null where it did not run. Times are UTC, ISO 8601.
    """

    id: str
    torch: str
    python: str
    platform: str
    beside: Written = msgspec.UNSET
    imported: str | None = None
    flavour: str | None = None
    source: str | None = None
    python_version: str | None = None
    distribution_sha256: str | None = None
    cpu_capability: str | None = None
    threads: int | None = None
    packages: dict[str, str] = {}
    trouble: Trouble | None = None
    started: str
    finished: str


class Row(msgspec.Struct, frozen=True):
    """A case; ``sha256`` is that of its file's bytes, and ``fault`` says why none of the file's cases can be run.

    ``family`` is the kind of trouble; ``about`` is what its docstring says, which begins in ``line``; ``reports`` are
    public ones, such as ``pytorch/pytorch#141896``; ``repairs`` are the broken cases that it repairs, ``repaired_by`` those
    that repair it, selected or not, and ``unrepaired`` says why nothing does. ``restores`` names a setting of which it
    tells whether it is restored. ``file_title`` is what its file says of itself. ``tolerance`` is what a comparison with the
    reference allows.
    """

    id: str
    title: str
    file: str
    sha256: str
    fault: str | None
    family: str = ""
    about: str = ""
    reports: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    repaired_by: tuple[str, ...] = ()
    unrepaired: str | None = None
    restores: Restores | None = None
    line: int = 0
    file_title: str = ""
    tolerance: str = TOLERANCE


class Totals(msgspec.Struct, frozen=True):
    """Counts that add up: ``cells`` is ``environments`` times ``cases``, and the sum of ``outcomes`` and of ``verdicts``.

    ``drift`` counts cells among those that pass. ``detections`` counts those of which it can be said whether torch notices.
    """

    environments: int
    cases: int
    cells: int
    outcomes: dict[Outcome, int]
    verdicts: dict[Verdict, int]
    drift: int = 0
    detections: dict[Detection, int] = {}


class Summary(msgspec.Struct, frozen=True):
    """The matrix. ``environments`` are in version order; ``cells`` go case by case, and within a case as those do.

    ``families`` has the totals of each family of cases, in the order of the cases.

    ``listed`` is when the index was last seen, in UTC; null if never, and then no boundary is known to be exact.
    ``notices`` are sentences about the run itself, such as which environment could not be run again.
    """

    schema: Literal["recompat/matrix/1"]
    recompat: str
    generated: str
    environments: tuple[Column, ...]
    cases: tuple[Row, ...]
    cells: tuple[Cell, ...]
    totals: Totals
    families: dict[str, Totals] = {}
    listed: str | None = None
    boundaries: tuple[Boundary, ...] = ()
    operator_changes: tuple[OperatorChange, ...] = ()
    notices: tuple[str, ...] = ()

    def lines(self) -> Iterator[tuple[Row, tuple[Cell, ...]]]:
        """Go through the cases, each with its cells in the order of the environments."""
        width = len(self.environments)
        for number, row in enumerate(self.cases):
            yield row, self.cells[number * width : (number + 1) * width]

    def of(self, case: str) -> Self:
        """The part of it that is about one case; totals are those of the whole."""
        return msgspec.structs.replace(
            self,
            cases=tuple(row for row in self.cases if row.id == case),
            cells=tuple(cell for cell in self.cells if cell.case == case),
            boundaries=tuple(one for one in self.boundaries if one.case == case),
            operator_changes=tuple(one for one in self.operator_changes if one.case == case),
        )

    @property
    def exit_code(self) -> ExitCode:
        """What the run says when it ends: an unexpected cell weighs more than one that is missing."""
        counts = self.totals.verdicts
        if any(counts[verdict] for verdict in UNEXPECTED):
            return ExitCode.UNEXPECTED
        return ExitCode.INCOMPLETE if counts[Verdict.MISSING] else ExitCode.OK
