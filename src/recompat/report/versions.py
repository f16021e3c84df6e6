"""``recompat versions``: what there is of torch, as text for a terminal and as Markdown."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from recompat.report.markdown import escape
from recompat.report.markdown import table as markdown_table
from recompat.report.page import columns, heading, table, wrapped
from recompat.report.text import clean
from recompat.tracks import beside_text, packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recompat.catalogue import Recorded, Release, Versions
    from recompat.report.page import Paper

__all__ = ["render_versions", "render_versions_markdown"]

DAY = len("2026-11-20")
NUMBERED = re.compile(r"cp3(\d+)(t?)")


def render_versions(versions: Versions, paper: Paper) -> str:
    """Write a table, or where it is too wide for the paper, a paragraph for each release."""
    if paper.detail < 0:
        return "".join(f"{clean(release.torch)}\n" for release in versions.releases)
    heads, rows = _table(versions)
    lines = table(rows, heads)
    if max(map(len, lines), default=0) > paper.width:
        lines = columns(paper, ((row[0], "; ".join(_captioned(heads[1:], row[1:]))) for row in rows))
        lines = [line.rstrip() for line in lines]
    told = [part for text in _remarks(versions) for part in wrapped(paper, text)]
    return "\n".join((heading(paper, _title(versions)), *told, "", *lines)) + "\n"


def render_versions_markdown(versions: Versions) -> str:
    """Write the same as GitHub-flavoured Markdown."""
    heads, rows = _table(versions)
    drawn = markdown_table(heads, [[escape(text) for text in row] for row in rows]) if rows else ""
    parts = (f"# {escape(_title(versions))}", *map(escape, _remarks(versions)), drawn)
    return "\n\n".join(filter(None, parts)) + "\n"


def _title(versions: Versions) -> str:
    return f"Releases of torch for {versions.platform}"


def _remarks(versions: Versions) -> Iterator[str]:
    """Where this is from, and what is not in it."""
    if versions.indexes:
        yield f"As the {' and the '.join(versions.indexes)} said on {versions.generated}."
    elif versions.listed:
        yield f"No index answered: this is what one listed on {versions.listed}, without its wheels, and what is recorded."
    else:
        yield "No index answered, and none has been asked before: this is what is recorded, and what matrix.toml names."
    for why in versions.silent:
        yield f"{why[:1].upper()}{why[1:]}."
    if versions.older:
        yield f"Older than 2.0, and left out: {versions.older}; --torch X tells of one."


def _table(versions: Versions) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows; a column that is empty everywhere is left out."""
    heads = ["release", "", "uploaded", "interpreters", "from", "recorded", "matrix.toml"]
    rows = [
        [
            release.torch,
            _mark(release, versions),
            (release.uploaded or "")[:DAY],
            _joined(_ranges(build.interpreters) for build in release.builds),
            _joined(_source(build.source, build.build) for build in release.builds),
            _joined(_recorded(record, versions) for record in release.recorded),
            release.matrix or "",
        ]
        for release in versions.releases
    ]
    kept = [0, *(number for number in range(1, len(heads)) if any(row[number] for row in rows))]
    return [heads[number] for number in kept], [[row[number] for number in kept] for row in rows]


def _mark(release: Release, versions: Versions) -> str:
    marks = {
        "yanked": release.yanked,
        "pre-release": release.prerelease,
        "not on the index": release.offered is False,
        f"no wheel for {versions.platform}": bool(versions.indexes) and release.offered is True and not release.builds,
    }
    return ", ".join(mark for mark, holds in marks.items() if holds)


def _source(source: str, build: str | None) -> str:
    """The kind of place alone: the remarks have the addresses."""
    kind = source.partition(" http")[0]
    return f"{kind} ({build})" if build else kind


def _recorded(record: Recorded, versions: Versions) -> str:
    where = [] if record.platform == versions.platform else [record.platform]
    where += [] if record.python == versions.python else [record.python]
    cases = f"{record.cases} case{'s' * (record.cases != 1)}"
    what = f"not run: {record.trouble}" if record.trouble and not record.cases else cases
    beside = ["with", beside_text(packed(record.beside))] if record.beside else []
    return " ".join((record.finished[:DAY], what, *(["on", *where] if where else ()), *beside))


def _ranges(interpreters: Sequence[str]) -> str:
    """``cp310-cp314`` for those that follow each other."""

    def run(item: tuple[int, str]) -> tuple[str, int | str]:
        place, name = item
        found = NUMBERED.fullmatch(name)
        return (found[2], int(found[1]) - place) if found else (name, name)

    groups = ([name for _, name in group] for _, group in groupby(enumerate(interpreters), run))
    return ", ".join(names[0] if len(names) == 1 else f"{names[0]}-{names[-1]}" for names in groups)


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _captioned(heads: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    """Name what does not tell by itself what it is."""
    for head, text in zip(heads, texts, strict=True):
        if text:
            yield f"{head} {text}" if head in {"uploaded", "recorded"} else f"{text} in {head}" if "." in head else text
