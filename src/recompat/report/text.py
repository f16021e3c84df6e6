"""Text from records is hostile until cleaned: it may hold escape codes, markup, a megabyte on one line."""

from __future__ import annotations

import functools
import re
import unicodedata

__all__ = ["LIMIT", "clean", "shorten", "visible"]

LIMIT = 400
"""How many characters of a message a report shows; ``matrix.json`` has the rest."""

ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]?|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b.?|\x9b[0-?]*[ -/]*[@-~]?")
INVISIBLE = frozenset(
    {"Cc", "Cf", "Cs", "Co", "Cn"}
)  # controls, bidirectional and zero-width marks, unpaired surrogates


@functools.lru_cache(8_192)  # a large matrix says the same of most of its cells
def clean(text: str, limit: int = LIMIT) -> str:
    """Put a text on one line without anything that is not seen, and cut it at ``limit`` characters, saying so."""
    if len(text) <= limit and text.isascii() and text.isprintable():  # most are
        return " ".join(text.split())
    head = ESCAPE.sub("", text[: 4 * limit + 64])  # enough to fill the limit, and a megabyte costs nothing
    line = " ".join("".join(character for character in map(_visible, head)).split())
    if len(line) <= limit and len(text) <= 4 * limit + 64:
        return line
    return f"{line[:limit].rstrip()}… (cut; {len(text):,} characters in all)"


def shorten(name: str, width: int) -> str:
    """Fit a name into ``width`` characters; what goes is in the middle, since names differ at both ends."""
    if len(name) <= width:
        return name
    tail = (width - 1) // 2
    return f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"


def visible(text: str) -> str:
    """Take out what is not seen: escape codes, controls, bidirectional marks; line ends become blanks."""
    return "".join(map(_visible, ESCAPE.sub("", text)))


def _visible(character: str) -> str:
    if character.isspace():
        return " "
    return "" if unicodedata.category(character) in INVISIBLE else character
