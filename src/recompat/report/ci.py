"""What reports for continuous integration say of a cell and of an environment, in plain text without surprises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.report.notes import expected_text, facts
from recompat.report.style import drift_text, ending_text
from recompat.report.text import clean

if TYPE_CHECKING:
    from recompat.cells import Cell
    from recompat.summary import Column

__all__ = ["ended", "frames", "headline", "installed", "telling"]


def ended(cell: Cell) -> str:
    """Say how a cell ended, as the tables do."""
    return " ".join(filter(None, (ending_text(cell), drift_text(cell))))


def headline(cell: Cell) -> str:
    """Say in a line what is not as expected."""
    wanted = "nothing" if cell.expectation is None else expected_text(cell.expectation)
    return f"{cell.verdict}: got {ended(cell)}, expected {clean(wanted)}"


def telling(cell: Cell) -> list[str]:
    """Say line by line what a reader has to know: what it got, what was expected, the cause."""
    return [f"{line.caption}: {clean(' '.join(filter(None, (line.text, line.link))))}" for line in facts(cell)]


def frames(cell: Cell) -> list[str]:
    """List the frames of what was raised, innermost last."""
    return [clean(frame) for frame in cell.frames]


def installed(column: Column) -> dict[str, str]:
    """Tell what was tested in an environment, by name, as far as it is known; packages come last."""
    facts = {
        "torch": column.torch,
        "imported": column.imported,
        "flavour": column.flavour,
        "source": column.source,
        "distribution_sha256": column.distribution_sha256,
        "python": column.python,
        "python_version": column.python_version,
        "platform": column.platform,
        "cpu_capability": column.cpu_capability,
        "threads": column.threads,
        "trouble": column.trouble.reason if column.trouble else None,
    }
    packages = {f"package:{name}": version for name, version in column.packages.items()}
    return {clean(name): clean(f"{value}") for name, value in (facts | packages).items() if value is not None}
