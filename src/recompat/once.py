"""Reading the very same thing once, though several ask: for what is frozen, holds much, and cannot be hashed."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FEW", "MANY", "once_per_object"]

FEW = 4
"""How many summaries are kept: each is large, and several formats draw the same one."""

MANY = 10_000
"""How many smaller things are kept, such as evidence, of which many cells have the same."""

Read = TypeVar("Read")
T = TypeVar("T")


def once_per_object(most: int) -> Callable[[Callable[[Read], T]], Callable[[Read], T]]:
    """Keep what a function makes of an object, for up to ``most`` objects; they stay in memory as long."""

    def keeping(function: Callable[[Read], T]) -> Callable[[Read], T]:
        known: dict[int, tuple[Read, T]] = {}

        @functools.wraps(function)
        def remembered(read: Read) -> T:
            found = known.get(id(read))
            if found is None:
                if len(known) >= most:
                    known.clear()
                found = known[id(read)] = (read, function(read))  # which keeps it alive, so that no other has its id
            return found[1]

        return remembered

    return keeping
