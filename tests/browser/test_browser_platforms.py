"""The page of several platforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.sites import drawn
from test_platforms import LINUX, MAC, two_platforms

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Visit

pytestmark = pytest.mark.browser


def test_a_platform_can_be_chosen_and_stays_in_the_address(visit: Visit, tmp_path: Path) -> None:
    view = visit(drawn(tmp_path, two_platforms()))
    everywhere = view.columns()
    assert len(everywhere) == 5
    view.page.get_by_role("combobox", name="Platform").select_option(MAC)
    assert view.columns() == [f"torch{torch}-cp311-{MAC}" for torch in ("2.10.0", "2.11.0")]
    assert view.fragment == f"#/platform={MAC}"
    assert view.status == "3 of 3 cases, 2 of 5 environments"
    view.page.get_by_role("button", name="Clear").click()
    assert view.columns() == everywhere
    view.open(f"#/platform={LINUX}&from=2.10.0")
    assert view.columns() == [f"torch{torch}-cp311-{LINUX}" for torch in ("2.10.0", "2.11.0")]


def test_a_platform_that_is_not_there_hides_nothing(visit: Visit, tmp_path: Path) -> None:
    assert len(visit(drawn(tmp_path, two_platforms()), "#/platform=win_amd64").columns()) == 5


def test_where_platforms_disagree_is_told_beside_what_changed_and_leads_to_the_case(
    visit: Visit, tmp_path: Path
) -> None:
    view = visit(drawn(tmp_path, two_platforms()), "#changes")
    entry = view.page.get_by_role("listitem").filter(has_text=f"pass on {LINUX}; CheckpointError on {MAC}")
    entry.get_by_role("link", name="patterns::splits", exact=True).click()
    assert "patterns::splits" in view.panel.inner_text()
    assert view.fragment == "#/case=patterns::splits"
