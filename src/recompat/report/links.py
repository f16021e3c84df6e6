"""Links of the pages in ``docs/`` to the case files, in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recompat.report.markdown import escape

if TYPE_CHECKING:
    from recompat.summary import Row

__all__ = ["case_link", "file_link"]

CASES: Final = "../matrix/cases"


def case_link(text: str, row: Row) -> str:
    """Link ``text``, which is Markdown, to the line in which a case begins."""
    return f"[{text}]({CASES}/{row.file}#L{row.line})"


def file_link(file: str) -> str:
    """Link a case file by its name."""
    return f"[{escape(file)}]({CASES}/{file})"
