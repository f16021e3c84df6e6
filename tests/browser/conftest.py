"""Fixtures: Chromium, and pages that are drawn once for all tests."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Protocol

import pytest
from playwright.sync_api import sync_playwright

import scenes
from browser.sites import Site, drawn, real_site
from browser.view import View
from large import large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext

TIMEOUT = 10_000  # milliseconds; a machine at work is slow, and nothing is waited for that long where all is well


class Visit(Protocol):
    """Opens a site in a new window; options are those of ``Browser.new_context``."""

    def __call__(self, site: Site, fragment: str = "", *, url: str = "", **options: object) -> View: ...


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    assert path is not None, "These tests drive Chromium; apt-get install chromium."
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """Opens windows; a test fails if anything was said on a console or asked of anyone in one of them."""
    opened: list[tuple[BrowserContext, View]] = []

    def new(site: Site, fragment: str = "", *, url: str = "", **options: object) -> View:
        context = chromium.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})  # type: ignore[arg-type]
        context.set_default_timeout(TIMEOUT)
        context.set_default_navigation_timeout(6 * TIMEOUT)
        view = View(context.new_page(), site, url)
        opened.append((context, view))
        return view.open(fragment)

    yield new
    for context, _ in opened:
        context.close()
    assert [trouble for _, view in opened for trouble in view.trouble] == []


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return real_site(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="session")
def vast(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """1,000 cases on 40 releases."""
    return drawn(tmp_path_factory.mktemp("vast"), large(1000, 40))


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return drawn(tmp_path_factory.mktemp("everything"), scenes.everything())


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return drawn(tmp_path_factory.mktemp("few"), scenes.as_expected())


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return drawn(tmp_path_factory.mktemp("hostile"), scenes.hostile())
