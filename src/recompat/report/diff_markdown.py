"""A diff as GitHub-flavoured Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recompat.report.diff_told import chapters, conclusion, fact_rows, headline, remarks, same_facts
from recompat.report.markdown import code, escape, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.diff import Diff
    from recompat.report.diff_told import Held, Told

__all__ = ["render_diff_markdown"]

MOST_TOLD: Final = 100
MOST_LINES: Final = 8
MOST_PLACES: Final = 20


def render_diff_markdown(diff: Diff) -> str:
    """Draw a diff; nothing that comes from a record can act as markup."""
    sections = [("What was installed", _facts(diff))]
    sections += [(escape(chapter.title), _told(chapter.told)) for chapter in chapters(diff)]
    sections.append(("Reservations", _told(list(remarks(diff)))))
    parts = [f"# {escape(headline(diff))}", escape(conclusion(diff))]
    parts += [f"## {title}\n\n{text}" for title, text in sections if text]
    return "\n\n".join((*parts, f"Written by recompat {escape(diff.recompat)}.")) + "\n"


def _facts(diff: Diff) -> str:
    rows = [[escape(name), *(code(text) if text else "" for text in values)] for name, *values in fact_rows(diff)]
    if not rows:
        return ""
    same = same_facts(diff)
    return table(["", "A", "B"], rows) + (f"\n\nThe same: {escape(same)}." if same else "")


def _told(told: Sequence[Told]) -> str:
    lines = [line for one in told[:MOST_TOLD] for line in _item(one)]
    if len(told) > MOST_TOLD:
        lines.append(f"- and {len(told) - MOST_TOLD} more; the JSON has them all")
    return "\n".join(lines)


def _item(told: Told) -> Iterator[str]:
    yield f"- {escape(told.text)}"
    yield from (f"  - {code(line)}" for line in told.lines[:MOST_LINES])
    if len(told.lines) > MOST_LINES:
        yield f"  - and {len(told.lines) - MOST_LINES} lines more"
    yield f"  - {_places(told.places)}"


def _places(places: Sequence[Held]) -> str:
    named = [f"{code(place.name) if place.name else ''} {escape(place.note)}".strip() for place in places[:MOST_PLACES]]
    more = [f"and {len(places) - MOST_PLACES} more"] if len(places) > MOST_PLACES else []
    return ("; " if any(place.note for place in places) else ", ").join([*named, *more])
