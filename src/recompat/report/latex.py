"""The matrix as LaTeX, a part of an article."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from tabulate import DataRow, Line, TableFormat, tabulate

from recompat.report.entries import heads
from recompat.report.notes import conclusion, families
from recompat.report.outline import chapters
from recompat.report.style import cell_text
from recompat.report.terminal import blocks
from recompat.report.text import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recompat.report.outline import Chapter, Item
    from recompat.summary import Summary

__all__ = ["escape", "render_latex"]

PREAMBLE: Final = r"% Needs \usepackage{booktabs,longtable}, and LaTeX of 2020 or later; any engine will do."
LINE: Final = 80  # characters of \scriptsize that a line of an article on A4 or letter paper has
LONGEST_CELL: Final = 36
LONGEST_NAME: Final = 40
ROWS: Final = TableFormat(
    lineabove=None,
    linebelowheader=Line("\\midrule\n\\endhead", "", "", ""),
    linebetweenrows=None,
    linebelow=Line("\\bottomrule", "", "", ""),
    headerrow=DataRow("", " & ", r" \\"),
    datarow=DataRow("", " & ", r" \\"),
    padding=0,
    with_header_hide=None,
)

ASCII: Final = {
    **{character: f"\\{character}" for character in "{}$&#%_"},
    **{character: f"{{{character}}}" for character in "[]*"},  # options of \\ and of \item
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    '"': r"\char34{}",
    "-": r"-{}",  # where two of them would become one dash
}
FOREIGN: Final = {
    "†": r"\textdagger{}",
    "°": r"\textdegree{}",
    "…": r"\ldots{}",
    "≈": r"\ensuremath{\approx}",
    "≠": r"\ensuremath{\neq}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
}
SPECIAL: Final = re.compile(r"-(?=-)|[{}$&#%_\[\]*\\^~<>|`'\"]|[^\x20-\x7e]")


def render_latex(summary: Summary) -> str:
    """Write the matrix as a part of an article; nothing that comes from a record can act as markup.

    Columns that do not fit a line go below, in blocks of releases, each a table that may go on over pages. Characters that
    a plain engine lacks are written by their code point, such as [U+4E2D].
    """
    parts = (
        PREAMBLE,
        r"\section*{Compatibility matrix}",
        escape(conclusion(summary)),
        *_tables(summary),
        _families(summary),
        *map(_chapter, chapters(summary)),
        escape(f"Written by recompat {summary.recompat} on {summary.generated}."),
    )
    return "\n\n".join(filter(None, parts)) + "\n"


@functools.lru_cache(4_096)  # most cells of a matrix say the same
def escape(text: str) -> str:
    """Make text plain: no command, formula, comment, cell border or option is left in it."""
    return SPECIAL.sub(_escaped, clean(text))


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return ASCII.get(character) or FOREIGN.get(character) or f"{{[}}U+{ord(character):04X}{{]}}"


def _tables(summary: Summary) -> Iterator[str]:
    """Draw the blocks; where there are several tracks, each block is headed by its own."""
    names = [clean(head) for head in heads(summary)]
    rows = [
        (_short(row.id, LONGEST_NAME), [_short(cell_text(cell), LONGEST_CELL) for cell in cells])
        for row, cells in summary.lines()
    ]
    widths = [max([len(head), *(len(texts[number]) for _, texts in rows)]) for number, head in enumerate(names)]
    first = max((len(name) for name, _ in rows), default=0)
    for track, block in blocks(summary, widths, LINE - first):
        if track:
            yield rf"\subsection*{{{escape(track)}}}"
        yield _table(
            ["case", *(names[number] for number in block)],
            [[name, *(texts[number] for number in block)] for name, texts in rows],
        )


def _short(text: str, width: int) -> str:
    return shorten(clean(text), width)


def _families(summary: Summary) -> str:
    heading, rows = families(summary)
    return f"\\subsection*{{Families}}\n\n{_table(heading, rows)}" if rows else ""


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[escape(text) for text in row] for row in rows]
    drawn = tabulate(cells, [escape(text) for text in heading], tablefmt=ROWS, disable_numparse=True)
    start = rf"\begin{{longtable}}{{@{{}}{'l' * len(heading)}@{{}}}}"
    lines = (r"{\scriptsize\setlength{\tabcolsep}{3pt}", start, r"\toprule", drawn, r"\end{longtable}}")
    return "\n".join(lines)


def _chapter(chapter: Chapter) -> str:
    return f"\\subsection*{{{escape(chapter.title)}}}\n\n{_items(map(_item, chapter.items))}"


def _item(item: Item) -> str:
    return "\n".join(filter(None, (escape(item.text), _items(map(escape, item.below)))))


def _items(items: Iterable[str]) -> str:
    lines = [rf"\item {text}" for text in items]
    return "\n".join((r"\begin{itemize}", *lines, r"\end{itemize}")) if lines else ""
