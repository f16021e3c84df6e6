"""An explanation as text, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.report.explain_told import chapters, headline, more_text, other_chapters, other_headline, release_text
from recompat.report.page import heading, section, wrapped
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.explanation import Explanation
    from recompat.report.explain_told import Chapter
    from recompat.report.page import Paper

__all__ = ["render_explain_text"]


def render_explain_text(explanation: Explanation, paper: Paper) -> str:
    """Draw an explanation; ``paper.detail`` below 0 leaves out what is said of each frame and case, above 0 cuts nothing."""
    parts = []
    for number, explained in enumerate(explanation.explained):
        parts.append(heading(paper, headline(number, explanation)))
        told = chapters(explained, explanation.release, everything=paper.detail > 0)
        parts += [section(paper, chapter.title, _lines(chapter, paper)) for chapter in told]
    for other in explanation.others:
        parts.append(heading(paper, other_headline(other)))
        parts += [section(paper, chapter.title, _lines(chapter, paper)) for chapter in other_chapters(other)]
    if explanation.explained:
        closing = (more_text(explanation), release_text(explanation.release))
        parts.append("\n".join(line for text in closing if text for line in wrapped(paper, text)))
    return "\n\n".join(parts) + "\n"


def _lines(chapter: Chapter, paper: Paper) -> Iterator[str]:
    for told in chapter.told:
        yield from wrapped(paper, told.text)
        if paper.detail < 0:
            continue
        for text in told.below:
            yield from wrapped(paper, text, "    ")
        yield from (f"    $ {clean(command)}" for command in told.commands)
