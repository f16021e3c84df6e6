"""TOML of others is parsed within bounds of time and memory, and with one kind of fault; texts are written so that they can be read."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LARGEST", "parse_toml", "written"]

LARGEST: Final = 4 << 20
"""Bytes of a file; parsing takes some seconds for that many."""

MOST_PARTS: Final = 20  # of a key: tomllib needs time and memory by their square
LONG_KEY: Final = re.compile(rf"(?<![\w-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a text.

    Raises:
        ValueError: it is no TOML, or more than is read; the message says why, and where if that is known.
    """
    if len(text) > LARGEST:
        raise ValueError(f"It has more than {LARGEST >> 20} MiB")
    found = LONG_KEY.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"A key of more than {MOST_PARTS} parts (at line {line})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("It is nested too deeply") from None


def written(value: str | Sequence[str]) -> str:
    """Write a text, or a list of them: as JSON does, but for what stands beyond 16 bits, where TOML has no pairs of surrogates."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
