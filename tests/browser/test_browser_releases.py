from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from recompat.news import NewsKind, news
from recompat.report.style import NEWS

if TYPE_CHECKING:
    from browser.conftest import Visit
    from browser.sites import Site

pytestmark = pytest.mark.browser

SECTIONS = """sections => sections.map(section => [section.id, [...section.querySelectorAll("h3")].map(head =>
    [head.textContent.trim(), [...head.nextElementSibling.children].map(item => item.firstElementChild.textContent)])])"""


def test_what_changed_is_told_of_every_release(real: Site, visit: Visit) -> None:
    view = visit(real)
    seen = dict(view.page.locator("section.release").evaluate_all(SECTIONS))
    known = news(real.summary)
    assert list(seen) == [f"changed-{one.torch}" for one in known]
    for one in known:
        kinds = {kind: [item.case for item in one.of(kind)] for kind in NewsKind if one.of(kind)}
        shown = seen[f"changed-{one.torch}"]
        assert [cases for _, cases in shown] == list(kinds.values())
        for (heading, _), (kind, cases) in zip(shown, kinds.items(), strict=True):
            assert heading.lower().startswith(f"{NEWS[kind].label}: ".lower())
            assert heading.endswith(f"({len(cases)})")


def test_the_table_of_releases_leads_to_each_and_from_there_to_a_case(real: Site, visit: Visit) -> None:
    one = next(one for one in news(real.summary) if one.items)
    view = visit(real)
    view.page.get_by_role("navigation").get_by_role("link", name="What changed").click()
    expect(view.grid).to_be_hidden()
    view.page.get_by_role("rowheader").get_by_role("link", name=one.torch, exact=True).click()
    expect(view.page.get_by_role("heading", name=f"What changed in {one.torch}", exact=True)).to_be_visible()
    case = one.items[0].case
    view.page.get_by_role("link", name=case, exact=True).first.click()
    expect(view.panel.get_by_role("heading", level=2)).to_have_text(case)


def test_a_link_to_a_release_opens_it_and_a_case_opens_from_there(real: Site, visit: Visit) -> None:
    one = next(one for one in news(real.summary) if one.items)
    view = visit(real, f"#/release={one.torch}")
    expect(view.page.get_by_role("heading", name=f"What changed in {one.torch}", exact=True)).to_be_visible()
    expect(view.grid).to_be_hidden()
    view.page.get_by_role("link", name=one.items[0].case, exact=True).first.click()
    expect(view.panel.get_by_role("heading", level=2)).to_have_text(one.items[0].case)
    view.page.go_back()
    expect(view.page.get_by_role("heading", name=f"What changed in {one.torch}", exact=True)).to_be_visible()
    expect(view.panel).to_be_hidden()


def test_views_change_and_the_filters_stay(real: Site, visit: Visit) -> None:
    view = visit(real, "#/family=attention")
    shown = view.rows()
    navigation = view.page.get_by_role("navigation")
    for name, heading in {"Environments": "Environments", "Legend and totals": "Legend and totals"}.items():
        navigation.get_by_role("link", name=name).click()
        expect(view.page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        expect(navigation.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
    navigation.get_by_role("link", name="Matrix").click()
    assert view.rows() == shown
    assert view.fragment == "#/family=attention"


def test_whoever_comes_by_another_view_finds_the_matrix_in_order(real: Site, visit: Visit) -> None:
    view = visit(real, "#environments")
    expect(view.grid).to_be_hidden()
    view.page.get_by_role("navigation").get_by_role("link", name="Matrix").click()
    assert view.status.startswith(f"{len(real.summary.cases)} of ")
    assert view.grid.locator("a[tabindex='0']").count() == 1


def test_an_environment_tells_what_was_installed_and_its_record_is_there(real: Site, visit: Visit) -> None:
    view = visit(real, "#environments")
    for column in real.summary.environments:
        article = view.page.get_by_role("article").filter(has=view.page.get_by_role("heading", name=column.id))
        text = article.inner_text()
        assert all(
            known in text for known in (column.distribution_sha256, column.source, column.python_version) if known
        )
        record = article.get_by_role("link", name=f"{column.id}.json").get_attribute("href")
        assert record
        assert (real.page.parent / record).is_file()
