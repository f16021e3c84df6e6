"""How much memory a trial may take: read, told, and set on a process that was started. On Linux alone."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import Final

__all__ = ["AVAILABLE", "limit_memory", "memory_size", "memory_text"]

AVAILABLE: Final = sys.platform == "linux"
"""Whether a limit is kept here: elsewhere the system does not count what is mapped, or has no such limit."""
SIZE: Final = re.compile(r"([1-9][0-9]{0,6}) ?(MiB|GiB)")
UNITS: Final = {"MiB": 1 << 20, "GiB": 1 << 30}


def memory_size(text: str) -> int:
    """Read a size such as ``4 GiB``, in bytes.

    Raises:
        ValueError: it is none.
    """
    found = SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f'{text!r} is no size such as "4 GiB" or "500 MiB"')
    return int(found[1]) * UNITS[found[2]]


def memory_text(size: int) -> str:
    """Write a size as it is read, and each in one way."""
    unit = "MiB" if size % UNITS["GiB"] else "GiB"
    return f"{size // UNITS[unit]} {unit}"


def limit_memory(process: int, size: int) -> None:
    """Limit what a process, and each that it starts from now on, may have in private, writable memory.

    What is only reserved does not count, such as the ranges of addresses that a CUDA build keeps for itself: a limit of all that is
    mapped would end it at once.
    """
    if sys.platform == "linux":
        import resource

        with suppress(ProcessLookupError):  # it has ended meanwhile
            resource.prlimit(process, resource.RLIMIT_DATA, (size, size))
