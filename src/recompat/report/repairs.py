"""Which repairs stand beside a broken pattern, and on which releases they hold. Formats lay it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.model import Outcome
from recompat.report.entries import Entry, Place, entry, environment_names, releases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recompat.cells import Cell
    from recompat.summary import Summary

__all__ = ["NO_REPAIR", "holds", "repairs"]

BROKEN = frozenset({Outcome.RAISES, Outcome.DIFFERS, Outcome.CRASH, Outcome.TIMEOUT})
SILENT = frozenset({Outcome.UNSUPPORTED, Outcome.MOOT, Outcome.NOT_RUN})
NO_REPAIR = "no repair"


def repairs(summary: Summary) -> Iterator[Entry]:
    """Go through the cases that are broken on some release of the summary, each with its repairs."""
    names = environment_names(summary)
    cells = {row.id: held for row, held in summary.lines()}
    for row in summary.cases:
        broken = [cell for cell in cells[row.id] if cell.outcome in BROKEN]
        if broken and (row.repaired_by or row.unrepaired):
            text = f"{row.id} on {releases(names, broken)}"
            why = "" if row.repaired_by else f"; {NO_REPAIR}: {row.unrepaired}"
            yield entry(text + why, [Place(case, holds(names, cells.get(case, ()))) for case in row.repaired_by])


def holds(names: Mapping[str, str], cells: Sequence[Cell]) -> str:
    """Say on which releases a repair passes, of those where it says anything."""
    if not cells:
        return "no release, because it was not selected"
    spoken = [cell for cell in cells if cell.outcome not in SILENT]
    sound = [cell for cell in spoken if cell.outcome is Outcome.PASS]
    if not sound:
        return "none of these releases"
    run = {cell.environment for cell in cells if cell.outcome is not Outcome.NOT_RUN}
    names = {environment: name for environment, name in names.items() if environment in run}
    every = " (all that have what it needs)" if len(sound) == len(spoken) < len(run) else ""
    return f"{releases(names, sound)}{every}"
