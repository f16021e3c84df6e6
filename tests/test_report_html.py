"""The page as text; tests/browser looks at it in Chromium."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from lxml import html

from recompat.report.faces import face
from recompat.report.html import render_html
from scenes import HOSTILE, as_expected, everything, hostile, many, unreachable

if TYPE_CHECKING:
    from collections.abc import Callable

    from recompat.summary import Summary

SCENES = [everything, as_expected, hostile, unreachable]


def parsed(summary: Summary) -> html.HtmlElement:
    return html.document_fromstring(render_html(summary))


@pytest.mark.parametrize("scene", SCENES)
def test_every_link_within_the_page_leads_somewhere_and_no_id_is_there_twice(scene: Callable[[], Summary]) -> None:
    page = parsed(scene())
    ids = Counter(page.xpath("//@id"))
    assert [id_ for id_, count in ids.items() if count > 1] == []
    targets = {href[1:] for href in page.xpath("//a/@href") if href.startswith("#")}
    assert targets - ids.keys() == set()


@pytest.mark.parametrize("scene", SCENES)
def test_it_asks_nobody_for_anything_and_runs_its_own_script_alone(scene: Callable[[], Summary]) -> None:
    text = render_html(scene())
    page = html.document_fromstring(text)
    assert page.xpath("//@src") == []
    assert page.xpath("//link/@rel") == ["alternate"]
    assert "url(" not in "".join(page.xpath("//style/text()"))
    [script] = page.xpath("//script/text()")
    [policy] = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_a_cell_for_each_case_and_environment_and_its_face() -> None:
    summary = everything()
    page = parsed(summary)
    seen = Counter(td.get("class").split()[0] for td in page.xpath("//table[@id='grid']//td"))
    assert seen == Counter(face(cell).value for cell in summary.cells)
    bad = page.xpath("//table[@id='grid']//td[contains(concat(' ', @class, ' '), ' bad ')]")
    assert len(bad) == 13
    assert "regressed!" in {word for cell in bad for word in cell.text_content().split()}


def test_the_details_of_a_cell() -> None:
    page = parsed(everything())
    [row] = page.xpath("//tr[@data-case='patterns::regresses']")
    [detail] = page.xpath(f"//*[@id='{row.xpath('td')[1].xpath('a/@href')[0][1:]}']")
    told = detail.text_content()
    assert "CheckpointError regressed! in backward" in told
    assert "attention ran as aten._safe_softmax" in told
    parts = {link.text_content(): page.get_element_by_id(link.get("href")[1:]) for link in detail.xpath(".//a")}
    assert "sdpa.flash" in parts["settings"].text_content()
    assert "[2, 4, 8]" in parts["tensors"].text_content()
    assert "torch.utils.checkpoint.CheckpointError" in parts["exception"].text_content()
    assert "https://example.org/why" in parts["expectation"].xpath(".//a/@href")


def test_hostile_text_is_text() -> None:
    text = render_html(hostile())
    page = html.document_fromstring(text)
    assert len(page.xpath("//script")) == 1
    assert page.xpath("//img | //iframe | //object | //b[contains(., 'bold')]") == []
    assert [href for href in page.xpath("//a/@href") if href.lower().startswith("javascript:")] == []
    assert not set("\x00\x1b\u202e\u2069\u200b") & set(text)
    assert "<script>alert(1)</script>" in page.text_content()
    assert "cut at 4,000 characters or 60 lines, of 1,000," in page.text_content()
    assert len(HOSTILE) > 1_000_000
    assert len(text) < 200_000


def test_a_notice_and_an_environment_that_could_not_be_built_are_told() -> None:
    page = parsed(unreachable())
    assert page.xpath("//p[@class='conclusion']")[0].text_content().startswith("Incomplete")
    assert "The index did not answer within 3 s" in page.get_element_by_id("environments").text_content()


def test_the_same_summary_gives_the_same_page() -> None:
    assert render_html(everything()) == render_html(everything())
    assert len(render_html(many(200, 20)).encode()) < 600_000  # 4,000 cells that say the same


def test_code_in_a_docstring_is_code_and_markup_in_it_is_none() -> None:
    from recompat.report.html import _prose

    assert _prose("a ``b<c`` d") == "a <code>b&lt;c</code> d"
    assert _prose("only ``one <i>") == "only ``one &lt;i&gt;"
