from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browser import wanted
from browser.wanted import Wanted

if TYPE_CHECKING:
    from browser.conftest import Visit
    from browser.sites import Site
    from browser.view import View

pytestmark = pytest.mark.browser

REAL = [
    Wanted(text="kv_cache"),
    Wanted(text="  Dropout   RNG "),
    Wanted(text="sdpa.flash"),
    Wanted(text="batch1 must be a 3D tensor"),
    Wanted(text="recomputed values for the following tensors"),
    Wanted(text="no such words anywhere"),
    Wanted(outcomes=("differs",)),
    Wanted(outcomes=("raises", "unrelated")),
    Wanted(family="attention"),
    Wanted(start="2.4.1"),
    Wanted(start="2.1.2", end="2.5.1"),
    Wanted(start="2.12.0", end="2.2.0"),
    Wanted(end="2.0.1", outcomes=("drift",)),
    Wanted(differ=True),
    Wanted(differ=True, start="2.8.0"),
    Wanted(unexpected=True),
    Wanted(text="math", outcomes=("raises", "drift"), family="attention", start="2.3.0", end="2.11.0", differ=True),
]
ODD = [
    Wanted(unexpected=True),
    Wanted(verdicts=("regressed",)),
    Wanted(verdicts=("new", "flaky"), end="2.9.1"),
    Wanted(verdicts=("changed",), outcomes=("unrelated",), start="2.11.0", unexpected=True),
    Wanted(differ=True),
]


def fill(view: View, what: Wanted) -> None:
    """Set every filter as a reader does."""
    page = view.page
    page.get_by_role("searchbox", name="Text").fill(what.text)
    page.get_by_role("combobox", name="Family").select_option(what.family)
    releases = [column.torch for column in view.site.summary.environments]
    page.get_by_role("combobox", name="From").select_option(what.start or releases[0])
    page.get_by_role("combobox", name="to", exact=True).select_option(what.end or releases[-1])
    page.get_by_label("only rows that differ").set_checked(what.differ)
    page.get_by_label("only unexpected").set_checked(what.unexpected)
    for value in (*what.outcomes, *what.verdicts):
        page.locator(f"input[value={value}]").check()


def check(view: View, what: Wanted) -> None:
    """Compare what is shown with what the summary says should be."""
    rows, columns = wanted.rows(view.site.summary, what), wanted.columns(view.site.summary, what)
    assert view.rows() == rows
    assert view.columns() == columns
    cases, environments = len(view.site.summary.cases), len(view.site.summary.environments)
    assert view.status == f"{len(rows)} of {cases} cases, {len(columns)} of {environments} environments"
    expect(view.page.get_by_text("No case matches these filters.")).to_be_visible(visible=not rows)


@pytest.mark.parametrize("what", REAL, ids=repr)
def test_a_filter_shows_the_rows_that_the_summary_has_for_it(real: Site, visit: Visit, what: Wanted) -> None:
    view = visit(real)
    fill(view, what)
    check(view, what)
    check(visit(real, view.fragment), what)


@pytest.mark.parametrize("what", ODD, ids=repr)
def test_verdicts_and_what_is_unexpected(everything: Site, visit: Visit, what: Wanted) -> None:
    view = visit(everything)
    fill(view, what)
    check(view, what)
    check(visit(everything, view.fragment), what)


def test_the_filters_of_these_tests_tell_something(real: Site, everything: Site) -> None:
    found = [len(wanted.rows(real.summary, what)) for what in REAL]
    assert [count for count, what in zip(found, REAL, strict=True) if what.text and not count] == [0]
    odd = [len(wanted.rows(everything.summary, what)) for what in ODD]
    assert all(odd)
    assert min(odd) < len(everything.summary.cases)


def test_clear_shows_everything_again(real: Site, visit: Visit) -> None:
    view = visit(real)
    fill(view, REAL[-1])
    view.page.get_by_role("button", name="Clear").click()
    check(view, Wanted())
    expect(view.page.get_by_role("searchbox", name="Text")).to_have_value("")
    assert view.page.get_by_role("checkbox", checked=True).count() == 0
    check(visit(real, view.fragment), Wanted())


def test_back_and_forward_go_through_the_filters(real: Site, visit: Visit) -> None:
    view = visit(real)
    view.page.get_by_role("combobox", name="Family").select_option("attention")
    view.page.get_by_label("only rows that differ").check()
    both = Wanted(family="attention", differ=True)
    check(view, both)
    view.page.go_back()
    check(view, Wanted(family="attention"))
    expect(view.page.get_by_label("only rows that differ")).not_to_be_checked()
    view.page.go_back()
    check(view, Wanted())
    view.page.go_forward()
    view.page.go_forward()
    check(view, both)
    expect(view.page.get_by_role("combobox", name="Family")).to_have_value("attention")


def test_typing_makes_one_step_of_history(real: Site, visit: Visit) -> None:
    view = visit(real)
    steps = view.page.evaluate("history.length")
    view.page.get_by_role("searchbox", name="Text").press_sequentially("kv_cache", delay=20)
    check(view, Wanted(text="kv_cache"))
    assert view.page.evaluate("history.length") == steps + 1


def test_a_filter_in_the_url_that_is_not_known_shows_what_it_can(real: Site, visit: Visit) -> None:
    check(visit(real, "#/from=9.9.9&to=8.8.8&other=thing"), Wanted())
    check(visit(real, "#/outcome=no-such"), Wanted(outcomes=("no-such",)))
