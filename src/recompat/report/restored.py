"""``docs/restored.md``: which execution settings each release restores at recompute, for both kinds of checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tabulate import tabulate

from recompat.model import Outcome
from recompat.platforms import tracks
from recompat.report.links import case_link
from recompat.report.markdown import escape
from recompat.report.style import OUTCOMES, label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.cells import Cell
    from recompat.summary import Row, Summary

__all__ = ["render_restored"]

WORDS: Final = {Outcome.PASS: "yes", Outcome.DIFFERS: "**no**", Outcome.NOT_RUN: "-"}
INTRODUCTION: Final = """\
# What recompute restores

Checkpointing runs a function again during backward. Does that second run find an execution setting as the first run found
it, though the setting was changed in between? Each case sets it around the forward alone, or lets the function draw from a
generator, and notes what both runs see.

- **yes**: both saw the same.
- **no**: the second run saw something else.
- an exception's name: the case ended with it. For the default device in 2.6 to 2.8, it comes from importing `torch._dynamo`, which the
  first checkpoint call of a process does.
- moot: the reference fails too, so the release has no such setting.
- n/a: an API that the case needs is not in the release.

Each word links to its case, which is the code that was run. All run on the CPU, with CUDA builds too."""

FOOT: Final = (
    "Made from the accepted records; do not edit. `recompat restored --records matrix/baseline` prints it. Builds: "
)


def render_restored(summary: Summary) -> str:
    """Write a table for each variant: settings down, releases across."""
    variants = list(dict.fromkeys(row.restores.variant for row in summary.cases if row.restores))
    tables = (f"## `{variant}`\n\n{_table(summary, variant)}" for variant in variants)
    last = FOOT + _made_from(summary)
    return "\n\n".join((INTRODUCTION, *tables, last)) + "\n"


def _table(summary: Summary, variant: str) -> str:
    known = tracks(summary.environments)
    heading = ["setting", *(escape(known.named(column)) for column in summary.environments)]
    rows = [
        [escape(row.restores.setting), *(_cell(row, cell) for cell in cells)]
        for row, cells in summary.lines()
        if row.restores and row.restores.variant == variant
    ]
    return tabulate(rows, heading, tablefmt="github", disable_numparse=True)


def _cell(row: Row, cell: Cell) -> str:
    word = WORDS.get(cell.outcome) or escape(label(cell.outcome, cell.exception))
    return case_link(word, row)


def _made_from(summary: Summary) -> str:
    places: Iterator[str] = (
        f"{column.torch} ({column.flavour or OUTCOMES[Outcome.NOT_RUN].label})" for column in summary.environments
    )
    return f"torch {escape(', '.join(places))}."
