"""What changed in new releases, short: as text for a terminal, and as Markdown for an issue or a comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.report.changes_words import conclusion, entries, heading, remarks, standing
from recompat.report.entries import listing
from recompat.report.markdown import code, escape
from recompat.report.notes import counted
from recompat.report.page import wrapped
from recompat.report.style import CHANGES
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.changes import Changes, ReleaseChanges
    from recompat.report.changes_words import Entry
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
    told = entries(release)
    for entry in told[:MOST]:
        yield ""
        yield from _entry(entry, paper)
    if told:
        yield ""
    yield from (f"  {line}" for text in _remarks(release, told) for line in wrapped(paper, text))


def _entry(entry: Entry, paper: Paper) -> Iterator[str]:
    label = f"\x1b[{CHANGES[entry.kind].colour}m{entry.label}\x1b[0m" if paper.colour else entry.label
    yield f"  {label}: {clean(_cases(entry))}"
    yield from (f"      {line}" for line in wrapped(paper, entry.what))
    for line in entry.lines if paper.detail >= 0 else ():
        yield from (f"      {part}" for part in wrapped(paper, line.text, f"{line.caption}: ", limit=400))


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
    told = entries(release)
    if text := "\n".join(map(_item, told[:MOST])):
        yield text
    yield from map(escape, _remarks(release, told))


def _item(entry: Entry) -> str:
    cases = code(entry.cases[0]) if len(entry.cases) == 1 else escape(_cases(entry))
    lines = (f"  - {line.caption}: {code(line.text) if line.verbatim else escape(line.text)}" for line in entry.lines)
    return "\n".join((f"- **{escape(entry.label)}**: {cases}: {escape(entry.what)}", *lines))


def _cases(entry: Entry) -> str:
    """Name the cases, and count them where they are several."""
    names = listing(entry.cases)
    return names if len(entry.cases) == 1 else f"{len(entry.cases)} cases: {names}"


def _remarks(release: ReleaseChanges, told: Sequence[Entry]) -> Iterator[str]:
    if len(told) > MOST:
        yield f"And {counted(len(told) - MOST, 'change')} more; changes.json has them all."
    yield from remarks(release)
