"""The matrix on the page of a GitHub Actions run: Markdown at the end of the file that GITHUB_STEP_SUMMARY names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recompat.console import STEP_SUMMARY, tell
from recompat.report.markdown import page, sections
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recompat.summary import Summary

__all__ = ["LARGEST", "ROOMY", "fitted", "write_step_summary"]

LARGEST: Final = 1_048_576
"""How many bytes of UTF-8 GitHub takes from a step; of more it shows nothing."""

ROOMY: Final = ("Not run", "Matrix", "Legend", "Environments", "Case files")
"""Sections that grow with the matrix. They matter less than the others, and each more than those after it."""


def write_step_summary(summary: Summary, environ: Mapping[str, str]) -> None:
    """Append the matrix to the file that GITHUB_STEP_SUMMARY names, if it names one.

    Trouble with that file is told in a sentence and changes neither the run nor its exit code: the file holds a copy, and
    ``reports/`` has everything. (A report that cannot be written there ends the run with 6.)
    """
    name = environ.get(STEP_SUMMARY)
    if not name:
        return
    try:
        with open(name, "ab") as file:  # noqa: PTH123 - as GitHub's own tools open it; it may be no regular path
            held = file.tell()
            text = fitted(summary, LARGEST - held - 2)
            if text is None:
                tell(
                    f"{STEP_SUMMARY} has no room left for the matrix ({held:,} of {LARGEST:,} bytes); matrix.md has it."
                )
            else:
                file.write((b"\n\n" if held else b"") + text.encode())
    except OSError as error:
        reason = error.strerror or error
        tell(f"{STEP_SUMMARY} names {clean(name)}, which cannot be written ({reason}); matrix.md has the matrix.")


def fitted(summary: Summary, room: int) -> str | None:
    """Write the long Markdown in ``room`` bytes: whole sections are left out, the least important first, and named.

    Returns:
        None where not even the conclusion fits.
    """
    found = sections(summary)
    by_importance = sorted(found, key=lambda told: 1 + ROOMY.index(told[0]) if told[0] in ROOMY else 0)
    for count in range(len(found), -1, -1):
        kept, left = by_importance[:count], by_importance[count:]
        text = page(summary, (told for told in found if told in kept), _left_out([title for title, _ in left]))
        if len(text.encode()) <= room:
            return text
    return None


def _left_out(titles: list[str]) -> str:
    if not titles:
        return ""
    return f"Left out, since GitHub takes no more than 1 MiB from a step: {'; '.join(titles)}. matrix.md has all of it."
