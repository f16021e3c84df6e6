"""What a name may have been meant to be."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["close_to"]


def close_to(name: str, known: Iterable[str]) -> str:
    """End a sentence with what a name may have been meant to be, or with what there is."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]}?" if close else f"there is {', '.join(names) or 'none'}."
