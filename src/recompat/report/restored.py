"""``docs/restored.md``: which execution settings each release restores at recompute, for both kinds of checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tabulate import tabulate

from recompat.model import Outcome
from recompat.report.markdown import escape
from recompat.report.style import OUTCOMES, label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.cells import Cell
    from recompat.summary import Row, Summary

__all__ = ["render_restored"]

CASES: Final = "../matrix/cases"
WORDS: Final = {Outcome.PASS: "yes", Outcome.DIFFERS: "**no**", Outcome.NOT_RUN: "-"}
INTRODUCTION: Final = """\
# What recompute restores

Checkpointing runs a function again during backward. Which execution settings does it find then as it found them in forward,
where they held around the forward alone? **yes**: recomputation saw what forward saw. **no**: it saw the setting of the moment. An
exception's name: the case ended with it. n/a: the release has no such setting, or no such argument. Each word links to its
case, which is the code that was run."""


def render_restored(summary: Summary) -> str:
    """Write a table for each variant: settings down, releases across."""
    variants = list(dict.fromkeys(row.restores.variant for row in summary.cases if row.restores))
    tables = (f"## `{variant}`\n\n{_table(summary, variant)}" for variant in variants)
    last = "This page is made from the records by `recompat restored`: " + _made_from(summary)
    return "\n\n".join((INTRODUCTION, *tables, last)) + "\n"


def _table(summary: Summary, variant: str) -> str:
    heading = ["setting", *(escape(column.torch) for column in summary.environments)]
    rows = [
        [escape(row.restores.setting), *(_cell(row, cell) for cell in cells)]
        for row, cells in summary.lines()
        if row.restores and row.restores.variant == variant
    ]
    return tabulate(rows, heading, tablefmt="github", disable_numparse=True)


def _cell(row: Row, cell: Cell) -> str:
    word = WORDS.get(cell.outcome) or escape(label(cell.outcome, cell.exception))
    return f"[{word}]({CASES}/{row.file}#L{row.line})"


def _made_from(summary: Summary) -> str:
    places: Iterator[str] = (
        f"{column.torch} ({column.flavour or OUTCOMES[Outcome.NOT_RUN].label})" for column in summary.environments
    )
    return f"torch {escape(', '.join(places))}."
