"""A page as a reader has it: rows and columns that are shown, cells, the panel, and what must never happen."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Locator, Page, Request

    from browser.sites import Site
    from recompat.cells import Cell

__all__ = ["View", "cell_link"]

SHOWN_ROWS = "rows => rows.filter(row => row.checkVisibility()).map(row => row.dataset.case)"
SHOWN_COLUMNS = "heads => heads.filter(head => head.checkVisibility()).map(head => head.dataset.id)"


class View:
    """A site in a tab; ``trouble`` lists console messages, errors and requests beyond the page itself."""

    def __init__(self, page: Page, site: Site, url: str = "") -> None:
        self.page = page
        self.site = site
        self.url = url or site.url
        self.trouble: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        page.on("request", self._asked)

    def open(self, fragment: str = "") -> View:
        """Load the page, as from a link that somebody was sent."""
        self.page.goto("about:blank")
        self.page.goto(self.url + fragment)
        return self

    @property
    def fragment(self) -> str:
        """What stands in the URL behind the page's name."""
        return self.page.url.removeprefix(self.url)

    @property
    def grid(self) -> Locator:
        return self.page.get_by_role("grid", name="Matrix")

    @property
    def panel(self) -> Locator:
        return self.page.get_by_role("dialog")

    @property
    def status(self) -> str:
        return self.page.get_by_role("status").inner_text()

    def rows(self) -> list[str]:
        """The ids of the cases that are shown."""
        found: list[str] = self.page.locator("#grid tr[data-case]").evaluate_all(SHOWN_ROWS)
        return found

    def columns(self) -> list[str]:
        """The ids of the environments that are shown."""
        found: list[str] = self.page.locator("#grid thead th[data-id]").evaluate_all(SHOWN_COLUMNS)
        return found

    def cell(self, cell: Cell) -> Locator:
        """The link in a cell of the grid."""
        environments = [column.id for column in self.site.summary.environments]
        return self.case(cell.case).locator("td").nth(environments.index(cell.environment)).get_by_role("link")

    def case(self, case: str) -> Locator:
        """A row of the grid."""
        return self.page.locator(f'#grid tr[data-case="{case}"]')

    def _said(self, message: ConsoleMessage) -> None:
        self.trouble.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        if request.url.partition("#")[0] not in {self.url, "about:blank"}:
            self.trouble.append(f"request: {request.url}")


def cell_link(cell: Cell) -> str:
    """The fragment that leads to a cell."""
    return f"#/cell={quote(f'{cell.case}@{cell.environment}', safe=':@')}"
