from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

if TYPE_CHECKING:
    from browser.conftest import Visit
    from browser.sites import Site

pytestmark = pytest.mark.browser

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OPTIONS = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": TAGS}}
VIEWS = {
    "matrix": "",
    "cell": "#/cell=patterns::raises@torch2.11.0-cp311-linux_x86_64",
    "case": "#/case=patterns::raises",
    "changes": "#changes",
    "release": "#/release=2.11.0",
    "environments": "#environments",
    "legend": "#about",
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(everything: Site, visit: Visit, width: int, scheme: str, name: str) -> None:
    """With every face and every mark on the page; ``bypass_csp`` lets axe in, and is for these windows alone."""
    screen = {"width": width, "height": 900}
    view = visit(everything, VIEWS[name], bypass_csp=True, color_scheme=scheme, viewport=screen)
    if name in {"cell", "case"}:
        expect(view.panel).to_be_visible()
    found = Axe().run(view.page, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()


def test_axe_finds_nothing_on_a_page_of_a_real_run(real: Site, visit: Visit) -> None:
    view = visit(real, bypass_csp=True)
    found = Axe().run(view.page, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()
