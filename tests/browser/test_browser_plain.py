"""The page where something is missing or other than usual: no script, paper, a small screen, a reader's own colours."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from recompat.report.faces import FACES
from recompat.report.style import cell_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.conftest import Visit
    from browser.sites import Site
    from browser.view import View

pytestmark = pytest.mark.browser

IDS = "all => all.map(one => one.id)"
HREFS = "all => all.map(one => one.getAttribute('href'))"
WIDTHS = "() => [document.documentElement.scrollWidth, innerWidth]"
MATRIX, CHANGES, RELEASE = "", "#changes", "#/release=2.11.0"
CASE, CELL = "#/case=sdpa_policy::default_policy", "#/cell=sdpa_policy::default_policy@torch2.11.0-cp311-linux_x86_64"
VIEWS = [MATRIX, CHANGES, RELEASE, CASE, CELL, "#environments", "#about"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def host(real: Site) -> Iterator[str]:
    """Where a static host on this machine has the site."""
    handler = functools.partial(Quiet, directory=str(real.page.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.timeout = 60
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()
        thread.join(10)


def test_every_link_within_the_page_has_a_target_and_no_id_is_twice(real: Site, visit: Visit) -> None:
    view = visit(real, java_script_enabled=False)
    ids = Counter(view.page.locator("[id]").evaluate_all(IDS))
    assert [name for name, count in ids.items() if count > 1] == []
    inside = view.page.locator("a[href^='#']").evaluate_all(HREFS)
    assert len(inside) > len(real.summary.cells)
    assert {href for href in inside if href.removeprefix("#") not in ids} == set()


def test_every_link_to_a_file_has_one(real: Site, visit: Visit) -> None:
    view = visit(real, java_script_enabled=False)
    hrefs = view.page.locator("a[href], link[href]").evaluate_all(HREFS)
    files = {unquote(href) for href in hrefs if not re.match(r"#|https://", href)}
    assert files >= {"matrix.json", "feed.xml", "cases/sdpa_policy.py"}
    assert {name for name in files if not (real.page.parent / name).is_file()} == set()


def test_all_can_be_read_without_javascript(real: Site, visit: Visit) -> None:
    view = visit(real, java_script_enabled=False)
    for heading in ("Matrix", "What changed, release by release", "Environments", "Legend and totals", "Cases"):
        expect(view.page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(view.page.get_by_role("button", name="Clear")).to_be_hidden()
    hidden = "all => all.filter(one => !one.checkVisibility()).length"
    for kind in ("#grid td", "section.release", "article.case", ".detail", ".part", "article.environment"):
        found = view.page.locator(kind)
        assert found.count() > 0
        assert found.evaluate_all(hidden) == 0, kind


def test_a_cell_leads_to_its_detail_without_javascript(real: Site, visit: Visit) -> None:
    cell = next(cell for cell in real.summary.cells if cell.drift)
    number = [column.id for column in real.summary.environments].index(cell.environment)
    view = visit(real, java_script_enabled=False)
    row = view.page.locator(f'#grid tr[data-case="{cell.case}"]')
    row.get_by_role("link").nth(number + 1).click()
    detail = view.page.locator(":target")
    expect(detail).to_be_in_viewport()
    expect(detail).to_contain_text(cell_text(cell))
    detail.get_by_role("link", name="settings").or_(detail.get_by_role("link", name="expectation")).first.click()
    expect(view.page.locator(":target")).to_be_in_viewport()


def test_a_static_host_serves_it_and_nothing_else_is_asked_for(real: Site, visit: Visit, host: str) -> None:
    view = visit(real, CELL, url=host)
    expect(view.panel).to_be_visible()
    view.page.keyboard.press("Escape")
    assert len(view.rows()) == len(real.summary.cases)


def test_it_is_dark_where_the_reader_has_it_so(real: Site, visit: Visit) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        view = visit(real, color_scheme=scheme)
        colour = view.page.evaluate("getComputedStyle(document.body).backgroundColor")
        grounds[scheme] = max(map(int, re.findall(r"\d+", colour)[:3]))
    assert grounds["dark"] < 64
    assert grounds["light"] > 192


def test_paper_has_all_rows_and_nothing_that_sticks(real: Site, visit: Visit) -> None:
    view = visit(real)
    view.page.emulate_media(media="print")
    assert view.rows() == [row.id for row in real.summary.cases]
    positions = "all => [...new Set(all.map(one => getComputedStyle(one).position))]"
    assert "sticky" not in view.page.locator("#grid *").evaluate_all(positions)
    box = view.page.locator(".scroll").evaluate(
        "one => [one.scrollHeight - one.clientHeight, getComputedStyle(one).overflowY]"
    )
    assert box == [0, "visible"]
    expect(view.page.get_by_role("searchbox")).to_be_hidden()
    expect(view.panel).to_be_hidden()
    pages = re.findall(rb"/Type\s*/Page\b", view.page.pdf())
    assert len(pages) > 1


def test_faces_are_told_apart_where_the_reader_has_colours_of_their_own(everything: Site, visit: Visit) -> None:
    view = visit(everything, forced_colors="active")
    content = 'link => getComputedStyle(link, "::before").content'
    seen = {
        kind: view.page.locator(f"#grid td.{kind} a").first
        for kind in FACES
        if view.page.locator(f"#grid td.{kind}").count()
    }
    assert len(seen) > 8
    assert len({link.evaluate(content) for link in seen.values()}) == len(seen)
    border = "cell => getComputedStyle(cell).borderTopWidth"
    bad, fine = (view.page.locator(f"#grid td{kind}").first.evaluate(border) for kind in (".bad", ":not(.bad)"))
    assert bad != fine


@pytest.mark.parametrize("fragment", VIEWS)
def test_a_small_screen_scrolls_the_grid_and_not_the_page(real: Site, visit: Visit, fragment: str) -> None:
    view = visit(real, fragment, viewport={"width": 390, "height": 800})
    needed, given = view.page.evaluate(WIDTHS)
    assert needed <= given == 390
    if view.panel.is_visible():
        assert view.panel.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_a_small_screen_has_room_for_cells_beside_the_names(real: Site, visit: Visit) -> None:
    view = visit(real, viewport={"width": 390, "height": 800})
    assert first_cells(view) >= 3


def first_cells(view: View) -> int:
    """How many cells of the first row are wholly within the screen."""
    inside = "cells => cells.filter(cell => cell.getBoundingClientRect().right <= innerWidth).length"
    found: int = view.page.locator("#grid tr[data-case]").first.locator("td").evaluate_all(inside)
    return found
