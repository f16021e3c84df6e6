"""``feed.xml``: what each release changed, for feed readers (Atom, RFC 4287).

It says nothing of when it was drawn, so that the same summary gives the same feed.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

import msgspec

from recompat.model import Outcome
from recompat.news import news
from recompat.report.findings import item_text
from recompat.report.moments import EPOCH, moment
from recompat.report.notes import counted
from recompat.report.style import NEWS
from recompat.report.text import clean
from recompat.report.xml import child, document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.news import Item, News
    from recompat.summary import Summary

__all__ = ["MOST", "render_feed"]

MOST: Final = 200
"""How many entries a feed has; the oldest are left out."""

NAME: Final = "recompat"


class _Ran(msgspec.Struct, frozen=True):
    """How many cases a release ran, and when the last of them was."""

    cases: int
    last: datetime


class _Entry(msgspec.Struct, frozen=True):
    id: str
    title: str
    updated: datetime
    link: str
    summary: str
    categories: tuple[tuple[str, str], ...] = ()


def render_feed(summary: Summary) -> str:
    """Write an entry for each release and for each change, newest release first."""
    entries = list(islice(_entries(summary), MOST))
    root = ET.Element("feed", xmlns="http://www.w3.org/2005/Atom")
    child(root, "id", f"urn:{NAME}:news")
    child(root, "title", "recompat: activation checkpointing along the releases of torch")
    child(root, "updated", _written(max((entry.updated for entry in entries), default=EPOCH)))
    child(child(root, "author"), "name", NAME)
    child(root, "link", rel="self", type="application/atom+xml", href="feed.xml")
    child(root, "link", rel="alternate", type="text/html", href="index.html")
    child(root, "generator", NAME, version=clean(summary.recompat))
    for entry in entries:
        _write(root, entry)
    return document(root)


def _write(root: ET.Element, entry: _Entry) -> None:
    element = child(root, "entry")
    child(element, "id", entry.id)
    child(element, "title", entry.title, type="text")
    child(element, "updated", _written(entry.updated))
    child(element, "link", rel="alternate", type="text/html", href=entry.link)
    for scheme, term in entry.categories:
        child(element, "category", scheme=f"urn:{NAME}:{scheme}", term=term)
    child(element, "summary", entry.summary, type="text")


def _entries(summary: Summary) -> Iterator[_Entry]:
    """Go through the releases that were run."""
    families = {row.id: row.family for row in summary.cases}
    dates = _dates(summary)
    ran = _ran(dates)
    for one in news(summary):
        if one.torch in ran:
            changes = (
                _change(item, summary, families[item.case], dates.get((one.torch, item.case), EPOCH))
                for item in one.items
            )
            yield from chain([_release(one, ran[one.torch], len(summary.cases))], changes)


def _dates(summary: Summary) -> dict[tuple[str, str], datetime]:
    """When each case was last run on each release."""
    releases = {column.id: column.torch for column in summary.environments}
    dates: dict[tuple[str, str], datetime] = {}
    for cell in summary.cells:
        if cell.outcome is not Outcome.NOT_RUN:
            key = releases[cell.environment], cell.case
            dates[key] = max(moment(cell.date), dates.get(key, EPOCH))
    return dates


def _ran(dates: dict[tuple[str, str], datetime]) -> dict[str, _Ran]:
    times: dict[str, list[datetime]] = {}
    for (release, _), date in dates.items():
        times.setdefault(release, []).append(date)
    return {release: _Ran(len(found), max(found)) for release, found in times.items()}


def _release(one: News, ran: _Ran, cases: int) -> _Entry:
    counts = Counter(item.kind for item in one.items)
    changed = (
        ", ".join(f"{counts[kind]} {look.label}" for kind, look in NEWS.items() if counts[kind]) or "nothing changed"
    )
    torch, before = clean(one.torch), clean(one.before)
    return _Entry(
        id=f"urn:{NAME}:release:{_quoted(one.torch)}",
        title=f"torch {torch}: {changed}",
        updated=ran.last,
        link=f"index.html#/release={_quoted(one.torch)}",
        summary=f"Of {counted(cases, 'case')}, torch {torch} ran {ran.cases}. Since {before}: {changed}.",
        categories=(("kind", "release"),),
    )


def _change(item: Item, summary: Summary, family: str, ran: datetime) -> _Entry:
    categories = (("kind", f"{item.kind}"), ("family", clean(family)))
    return _Entry(
        id=f"urn:{NAME}:change:{_quoted(item.id)}",
        title=f"torch {clean(item.what.first)}: {clean(item.case)}: {NEWS[item.kind].label}",
        updated=ran,
        link=f"index.html#/case={_quoted(item.case)}",
        summary=clean(item_text(item, summary)),
        categories=tuple((scheme, term) for scheme, term in categories if term),
    )


def _quoted(text: str) -> str:
    """Write a text as a part of an IRI."""
    return quote(text, safe=":", errors="replace")


def _written(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"
