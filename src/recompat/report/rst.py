"""The matrix as reStructuredText, for Sphinx or docutils."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING

from tabulate import tabulate

from recompat.platforms import by_track
from recompat.report.entries import heads
from recompat.report.notes import conclusion, families
from recompat.report.outline import chapters
from recompat.report.style import cell_text
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.report.outline import Chapter, Item
    from recompat.summary import Summary

__all__ = ["escape", "render_rst"]

INLINE = re.compile(r"[\\`*_|@]|:(?=\S|$)")  # also addresses, which are links by themselves, and "::" at an end
ENUMERATOR = re.compile(r"(\w+)([.)])(?!\S)")
FOREIGN = re.compile(r"[^\x00-\x7f]")
STAND_IN = re.compile("\ue000\ue001?")  # private use, of which ``clean`` leaves none


def render_rst(summary: Summary) -> str:
    """Write the matrix as reStructuredText, wide as it is; nothing that comes from a record can act as markup."""
    parts = (
        _title("Compatibility matrix", "="),
        escape(conclusion(summary)),
        _matrix(summary),
        _families(summary),
        *map(_chapter, chapters(summary)),
        escape(f"Written by recompat {summary.recompat} on {summary.generated}."),
    )
    return "\n\n".join(filter(None, parts)) + "\n"


@functools.lru_cache(4_096)  # most cells of a matrix say the same
def escape(text: str) -> str:
    """Make text plain, in a line as at the beginning of a block: no markup is left in it."""
    known = clean(text)
    line = INLINE.sub(r"\\\g<0>", known)
    if known and not known[0].isalnum():
        return f"\\ {line}"  # no bullet, field, comment or line below a title; the escaped blank is not seen
    return ENUMERATOR.sub(r"\1\\\2", line, count=1) if ENUMERATOR.match(line) else line


def _title(text: str, line: str) -> str:
    return f"{text}\n{line * len(FOREIGN.sub('  ', text))}"  # an East Asian character is two columns wide


def _matrix(summary: Summary) -> str:
    """Draw a table, or one of each track, below its name."""
    parts, releases = [], heads(summary)
    for track, numbers in by_track(summary).items():
        rows = [[escape(row.id), *(escape(cell_text(cells[n])) for n in numbers)] for row, cells in summary.lines()]
        drawn = _table(["case", *(escape(releases[number]) for number in numbers)], rows)
        parts += [_title(escape(track), "-"), drawn] if track else [drawn]
    return "\n\n".join(parts)


def _families(summary: Summary) -> str:
    heading, rows = families(summary)
    drawn = _table(heading, [[escape(text) for text in row] for row in rows])
    return f"{_title('Families', '-')}\n\n{drawn}" if rows else ""


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Draw a table with columns as docutils measures them: East Asian characters are two wide, combining ones nothing.

    Tabulate measures otherwise, and yet otherwise where the package wcwidth is installed, hence the stand-ins.
    """
    lines = [heading, *rows]
    unlike = (text for row in lines for text in row if not text.isascii())
    foreign = iter([cluster for text in unlike for cluster in _clusters(text) if not cluster.isascii()])
    stands = [[_standing_in(text) for text in row] for row in lines]
    drawn = tabulate(stands[1:], stands[0], tablefmt="rst", disable_numparse=True)
    return STAND_IN.sub(lambda _: next(foreign), drawn)


def _clusters(text: str) -> list[str]:
    """Take a text apart into characters, each with those that combine with it."""
    clusters: list[str] = []
    for character in text:
        if clusters and unicodedata.combining(character):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def _standing_in(text: str) -> str:
    return text if text.isascii() else "".join(map(_stand_in, _clusters(text)))


def _stand_in(cluster: str) -> str:
    if cluster.isascii():
        return cluster
    return "\ue000\ue001" if unicodedata.east_asian_width(cluster[0]) in "WF" else "\ue000"


def _chapter(chapter: Chapter) -> str:
    return "\n\n".join((_title(escape(chapter.title), "-"), *map(_item, chapter.items)))


def _item(item: Item) -> str:
    below = "\n".join(f"  - {escape(text)}" for text in item.below)
    return "\n\n".join(filter(None, (f"- {escape(item.text)}", below)))
