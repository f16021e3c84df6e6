"""An explanation as GitHub-flavoured Markdown, for an answer to an issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.report.explain_told import chapters, headline, more_text, other_chapters, other_headline, release_text
from recompat.report.markdown import code, escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.explanation import Explanation
    from recompat.report.explain_told import Chapter

__all__ = ["render_explain_markdown"]


def render_explain_markdown(explanation: Explanation) -> str:
    """Draw an explanation; nothing that was pasted can act as markup."""
    parts = []
    for number, explained in enumerate(explanation.explained):
        parts.append(f"# {escape(headline(number, explanation))}")
        told = chapters(explained, explanation.release)
        parts += map(_chapter, told)
    for other in explanation.others:
        parts += [f"# {escape(other_headline(other))}", *map(_chapter, other_chapters(other))]
    if explanation.explained:
        parts += filter(None, (more_text(explanation), escape(release_text(explanation.release))))
    return "\n\n".join((*parts, f"Written by recompat {escape(explanation.recompat)}.")) + "\n"


def _chapter(chapter: Chapter) -> str:
    return "\n\n".join((f"## {escape(chapter.title)}", "\n".join(_lines(chapter))))


def _lines(chapter: Chapter) -> Iterator[str]:
    for told in chapter.told:
        yield f"- {escape(told.text)}"
        yield from (f"  - {escape(text)}" for text in told.below)
        yield from (f"  - {code(command)}" for command in told.commands)
