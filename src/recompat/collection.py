"""Python's search for cycles: it goes through all that was made, and what is made here has no cycles to speak of."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["collect_seldom", "without_collection"]

SELDOM = 50_000  # objects that were made; by default 700, and 2,000 in newer Pythons


def collect_seldom() -> None:
    """Search seldom, for the rest of this process: a fifth of the time of a large report went into it."""
    gc.set_threshold(SELDOM)


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Do not search at all, and leave out for good what was made meanwhile: records are many values that stay."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
