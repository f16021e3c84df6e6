"""What changed in new releases, short: as text for a terminal, and as Markdown for an issue or a comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.report.changes_words import conclusion, facts, heading, headline, remarks, standing
from recompat.report.markdown import code, escape
from recompat.report.page import wrapped
from recompat.report.style import CHANGES
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.changes import CaseChange, Changes, ReleaseChanges
    from recompat.report.notes import Line
    from recompat.report.page import Paper

__all__ = ["render_changes_json", "render_changes_markdown", "render_changes_text"]

MOST = 50  # changes of a release that are told in full; changes.json has them all


def render_changes_json(changes: Changes) -> str:
    """Encode it: ``changes.json``."""
    return msgspec.json.format(msgspec.json.encode(changes, order="deterministic"), indent=2).decode() + "\n"


def render_changes_text(changes: Changes, paper: Paper) -> str:
    """Draw it for a terminal."""
    blocks = [*("\n".join(_release(release, paper)) for release in changes.releases)]
    blocks += ["\n".join(line for text in standing(changes) for line in wrapped(paper, text))]
    return "\n\n".join(filter(None, (*blocks, "\n".join(wrapped(paper, conclusion(changes)))))) + "\n"


def _release(release: ReleaseChanges, paper: Paper) -> Iterator[str]:
    yield paper.bold("\n".join(wrapped(paper, heading(release))))
    for change in release.changes[:MOST]:
        yield ""
        yield from _change(release, change, paper)
    if release.changes:
        yield ""
    yield from (f"  {line}" for text in _remarks(release) for line in wrapped(paper, text))


def _change(release: ReleaseChanges, change: CaseChange, paper: Paper) -> Iterator[str]:
    look = CHANGES[change.kind]
    label = f"\x1b[{look.colour}m{look.label}\x1b[0m" if paper.colour else look.label
    yield f"  {label}  {clean(change.case)}  ({change.state})"
    yield from (f"      {line}" for line in wrapped(paper, headline(change)))
    if paper.detail >= 0:
        for fact in facts(release, change):
            yield from (f"      {line}" for line in wrapped(paper, fact.text, f"{fact.caption}: ", limit=400))


def render_changes_markdown(changes: Changes) -> str:
    """Draw it for an issue or a comment; nothing that comes from a record can act as markup."""
    parts = [f"# What changed\n\n{escape(conclusion(changes))}", *map(escape, standing(changes))]
    parts += ("\n\n".join(_section(release)) for release in changes.releases)
    parts.append(
        f"Written by recompat {escape(changes.recompat)} on {escape(changes.generated)}; changes.json has it all."
    )
    return "\n\n".join(parts) + "\n"


def _section(release: ReleaseChanges) -> Iterator[str]:
    yield f"## {escape(heading(release))}"
    items = (_item(release, change) for change in release.changes[:MOST])
    if text := "\n".join(items):
        yield text
    yield from map(escape, _remarks(release))


def _item(release: ReleaseChanges, change: CaseChange) -> str:
    label = f"**{escape(CHANGES[change.kind].label)}**, {change.state}"
    first = f"- {label}: {code(change.case)}: {escape(headline(change))}"
    return "\n".join((first, *(f"  - {fact.caption}: {_fact(fact)}" for fact in facts(release, change))))


def _fact(fact: Line) -> str:
    return code(fact.text) if fact.verbatim else escape(fact.text)


def _remarks(release: ReleaseChanges) -> Iterator[str]:
    more = len(release.changes) - MOST
    if more > 0:
        yield f"And {more} more changes; changes.json has them all."
    yield from remarks(release)
