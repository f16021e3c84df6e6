from __future__ import annotations

import time
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import feedparser
import msgspec
import pytest

from builders import PASSES, case_file, record, result, summary
from golden import check_golden
from recompat.news import news
from recompat.report.feed import MOST, render_feed
from scenes import CHECKPOINT, as_expected, everything, hostile, many, unreachable

ATOM = "{http://www.w3.org/2005/Atom}"
SCENES = [everything, as_expected, hostile, unreachable]


def dated(**dates: str) -> Any:
    """A case that broke in 2.11.0, run when ``dates`` say."""
    trials = {"2.9.1": PASSES, "2.11.0": CHECKPOINT}
    results = {torch: result("patterns::a", trial) for torch, trial in trials.items()}
    when = {"2.9.1": dates.get("old", ""), "2.11.0": dates.get("new", "")}
    records = [record(t, msgspec.structs.replace(one, finished=when[t])) for t, one in results.items()]
    return summary(*records, file=case_file("patterns", "a"))


def test_one_of_everything() -> None:
    check_golden("everything.atom.xml", render_feed(everything()))


@pytest.mark.parametrize("scene", SCENES)
def test_feed_readers_understand_it(scene: Any) -> None:
    feed = feedparser.parse(render_feed(scene()).encode())
    assert not feed.bozo
    assert feed.version == "atom10"
    ids = [entry.id for entry in feed.entries]
    assert len(ids) == len(set(ids))
    assert all(one.isascii() and one.startswith("urn:recompat:") for one in ids)
    assert all(entry.updated_parsed and entry.title and entry.summary and entry.link for entry in feed.entries)


@pytest.mark.parametrize("scene", SCENES)
def test_nothing_that_atom_requires_is_missing(scene: Any) -> None:
    root = ET.fromstring(render_feed(scene()))
    for element in (root, *root.iter(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1
    assert root.findtext(f"{ATOM}author/{ATOM}name") == "recompat"
    links = {link.attrib["rel"]: link.attrib["href"] for link in root.findall(f"{ATOM}link")}
    assert links == {"self": "feed.xml", "alternate": "index.html"}


def test_every_release_that_was_run_and_every_change_has_an_entry_newest_first() -> None:
    made = everything()
    titles = [entry.title for entry in feedparser.parse(render_feed(made).encode()).entries]
    ran = [one for one in news(made) if one.torch != "2.15.0"]  # trouble with it is no news of torch
    assert len(titles) == sum(1 + len(one.items) for one in ran)
    assert [title.partition(":")[0] for title in titles if "patterns::" not in title] == [
        "torch 2.13.0",
        "torch 2.11.0",
    ]
    assert "torch 2.11.0: patterns::regresses: regressed" in titles


def test_an_entry_links_to_its_case_and_names_its_kind_and_family() -> None:
    made = everything()
    made = msgspec.structs.replace(
        made, cases=tuple(msgspec.structs.replace(row, family="attention") for row in made.cases)
    )
    root = ET.fromstring(render_feed(made))
    entry = next(one for one in root.iter(f"{ATOM}entry") if "regresses" in one.findtext(f"{ATOM}title", ""))
    link = entry.find(f"{ATOM}link")
    assert link is not None
    assert unquote(link.attrib["href"]) == "index.html#/case=patterns::regresses"
    assert [one.attrib["term"] for one in entry.findall(f"{ATOM}category")] == ["regressed", "attention"]
    assert entry.findtext(f"{ATOM}summary", "").startswith("pass until 2.9.1, CheckpointError from 2.11.0")


def test_a_change_is_as_new_as_the_run_that_showed_it() -> None:
    feed = feedparser.parse(render_feed(dated(old="2026-11-01T10:00:00Z", new="2026-11-02T12:00:00+01:00")).encode())
    assert [entry.updated for entry in feed.entries] == ["2026-11-02T11:00:00Z"] * 2
    assert feed.feed.updated == "2026-11-02T11:00:00Z"


def test_a_time_that_cannot_be_read_is_long_ago() -> None:
    assert "<updated>1970-01-01T00:00:00Z</updated>" in render_feed(dated(old="yesterday", new="<now>"))


def test_drawing_it_later_changes_nothing() -> None:
    later = msgspec.structs.replace(everything(), generated="2031-01-01T00:00:00Z")
    assert render_feed(later) == render_feed(everything())


def test_hostile_text_is_text() -> None:
    text = render_feed(hostile())
    assert not set(text) & set("\x00\x1b\x07\x9b\u202e\u2069\u200b\r")
    assert len(text) < 20_000


def test_a_large_matrix_has_no_more_entries_than_a_reader_keeps() -> None:
    names = [f"case_{number}" for number in range(300)]
    records = [
        record(torch, *(result(f"patterns::{name}", trial) for name in names))
        for torch, trial in (("2.9.1", PASSES), ("2.11.0", CHECKPOINT))
    ]
    assert render_feed(summary(*records, file=case_file("patterns", *names))).count("<entry>") == MOST
    made = many(1_000, 40)
    began = time.process_time()
    render_feed(made)
    assert time.process_time() - began < 10
