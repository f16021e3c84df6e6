"""What a run says while it works: a line that lives on a terminal, one plain line per step in a pipe."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Progress"]


class Progress:
    """Tells, for one release, which step it is at and for how long. ``seconds`` holds what each step took."""

    def __init__(self, label: str, *, quiet: bool = False) -> None:
        from rich.console import Console  # a third of what starting takes, and where all stands nothing is told

        self._label = label
        self._quiet = quiet
        self._console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
        self._update: Callable[[str], None] = _ignore
        self.seconds: dict[str, float] = {}

    def say(self, text: str) -> None:
        """Print a line that stays."""
        if not self._quiet:
            self._console.print(f"{self._label}  {text}", markup=False)

    @contextlib.contextmanager
    def step(self, name: str, what: str = "") -> Iterator[None]:
        """Work on a step: ``name`` is one word, ``what`` says more."""
        start = time.monotonic()
        text = f"{name} {what}".rstrip()
        try:
            if self._quiet or not self._console.is_terminal:
                self.say(text)
                yield
            else:
                from rich.progress import Progress as Bar
                from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

                columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
                with Bar(*columns, console=self._console, transient=True) as bar:
                    task = bar.add_task(f"{self._label}  {text}", total=None)
                    self._update = lambda more: bar.update(task, description=f"{self._label}  {text}: {more}")
                    yield
        finally:
            self._update = _ignore
            self.seconds[name] = round(time.monotonic() - start, 2)

    def update(self, more: str) -> None:
        """Say how far the step is; seen on a terminal only."""
        self._update(more)


def _ignore(text: str) -> None:
    """Where there is no line to update."""
