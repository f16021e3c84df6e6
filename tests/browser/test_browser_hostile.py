from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Dialog

    from browser.conftest import Visit
    from browser.sites import Site
    from browser.view import View

pytestmark = pytest.mark.browser

NAMES = {
    *("a", "article", "b", "body", "button", "code", "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "form"),
    *("h1", "h2", "h3", "h4", "head", "header", "html", "i", "input", "label", "legend", "li", "link", "main", "meta"),
    *(
        "nav",
        "option",
        "p",
        "pre",
        "script",
        "section",
        "select",
        "small",
        "span",
        "style",
        "summary",
        "table",
        "tbody",
    ),
    *("td", "th", "thead", "title", "tr", "ul"),
}
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}


def open_everything(view: View) -> None:
    """Open each panel once, and each view."""
    for place in range(view.page.locator("#grid tr[data-case] a").count()):
        view.page.locator("#grid tr[data-case] a").nth(place).click()
        expect(view.panel).to_be_visible()
        check(view)
        view.page.keyboard.press("Escape")
    for link in view.page.get_by_role("navigation").get_by_role("link").all():
        link.click()
        check(view)


def check(view: View) -> None:
    text = view.page.locator("body").inner_text()
    unseen = {character for character in text if unicodedata.category(character) in UNSEEN} - set("\n\t")
    assert unseen == set()


def test_what_a_record_says_is_text_and_never_acts(hostile: Site, visit: Visit) -> None:
    view = visit(hostile)
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    view.page.on("dialog", refuse)
    open_everything(view)
    assert dialogs == []
    assert view.page.locator("script").count() == 1
    tags = "all => [...new Set(all.map(one => one.localName))]"
    assert set(view.page.locator("*").evaluate_all(tags)) <= NAMES
    assert view.page.locator("img, iframe, object, embed, svg, base, [onerror], [onload], [onclick]").count() == 0
    assert view.page.locator("a[href^='javascript:']").count() == 0


def test_it_is_shown_as_it_is_and_what_was_cut_is_said(hostile: Site, visit: Visit) -> None:
    cell = next(cell for cell in hostile.summary.cells if cell.message)
    view = visit(hostile)
    view.page.locator("#grid tr[data-case] td a").nth(hostile.summary.cells.index(cell)).click()
    text = view.panel.inner_text()
    assert "<script>alert(1)</script>" in text
    assert "![i](http://evil.example/i.png)" in text
    assert "characters in all)" in text
    assert len(text) < 100_000


def test_no_character_of_the_file_is_one_that_is_not_seen(hostile: Site) -> None:
    text = hostile.page.read_text("utf-8")
    assert {character for character in text if unicodedata.category(character) in UNSEEN} == {"\n"}
    assert len(text) < 200_000
