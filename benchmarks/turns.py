"""Timing by turns: every contestant runs once in each round, so that what else the machine does meets all of them."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabulate import tabulate

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

__all__ = ["Figures", "command", "race", "told"]

Contestant = "Callable[[], object]"


@dataclass(frozen=True)
class Figures:
    """What the rounds of one contestant took, in seconds, and its ratios to the first contestant of the same round."""

    name: str
    seconds: tuple[float, ...]
    ratios: tuple[float, ...]

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Name, median seconds, median ratio, and the least and greatest ratio."""
        return (
            self.name,
            f"{statistics.median(self.seconds):.3g}",
            f"{statistics.median(self.ratios):.3g}",
            f"{min(self.ratios):.3g} to {max(self.ratios):.3g}",
        )


def race(contestants: Mapping[str, Callable[[], object]], rounds: int, *, warm_up: bool = True) -> list[Figures]:
    """Run the contestants in turns; the first one is what the others are compared with.

    Args:
        contestants: what to time, by name.
        rounds: how often.
        warm_up: run each once before, so that byte code is written and files are in memory.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(-1 if warm_up else 0, rounds):
        for name, run in contestants.items():
            began = time.perf_counter()
            run()
            took = time.perf_counter() - began
            print(f"  round {number + 1}: {name} {took:.2f} s", file=sys.stderr, flush=True)
            if number >= 0:
                seconds[name].append(took)
    first = next(iter(seconds.values()))
    return [
        Figures(name, tuple(took), tuple(one / other for one, other in zip(took, first, strict=True)))
        for name, took in seconds.items()
    ]


def told(title: str, figures: Sequence[Figures], limits: Mapping[str, str] | None = None) -> str:
    """Draw a table of figures; ``limits`` are lines beneath it."""
    table = tabulate(
        [one.row for one in figures],
        headers=["", "median s", "times the first", "spread"],
        tablefmt="github",
        disable_numparse=True,
    )
    lines = [f"### {title}", "", table, "", *(f"- {name}: {value}" for name, value in (limits or {}).items())]
    return "\n".join(lines).rstrip() + "\n"


def command(
    *words: str | os.PathLike[str], folder: Path, environ: Mapping[str, str], fails: Sequence[int] = (0,)
) -> Callable[[], object]:
    """Make a contestant of a command, whose output goes nowhere; its exit code must be one of ``fails``."""

    def run() -> None:
        done = subprocess.run([*map(str, words)], cwd=folder, env=environ, capture_output=True, check=False, text=True)
        if done.returncode not in fails:
            sys.exit(
                f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )

    return run
