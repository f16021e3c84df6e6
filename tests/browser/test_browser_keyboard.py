from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from browser.conftest import Visit
    from browser.sites import Site
    from browser.view import View

pytestmark = pytest.mark.browser

FOCUS = """() => {
    const one = document.activeElement, cell = one.closest("#grid th, #grid td");
    return cell && [cell.parentElement.dataset.case ?? "", cell.cellIndex];
}"""
UNCOVERED = """() => {
    const one = document.activeElement, box = one.getBoundingClientRect();
    const inset = 2, at = (x, y) => one.parentElement.contains(document.elementFromPoint(x, y));
    return at(box.left + inset, box.top + inset) && at(box.right - inset, box.bottom - inset);
}"""
OUTLINE = """() => {
    const style = getComputedStyle(document.activeElement);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
}"""


def focus(view: View) -> list[object] | None:
    """The case and the column that have the focus; column 0 is the name of the case."""
    found: list[object] | None = view.page.evaluate(FOCUS)
    return found


def into_grid(view: View) -> None:
    view.page.get_by_role("link", name="Legend and totals").focus()
    for _ in range(60):
        view.page.keyboard.press("Tab")
        if focus(view):
            return
    pytest.fail("Tab does not lead into the grid")


def test_the_grid_is_one_stop(real: Site, visit: Visit) -> None:
    view = visit(real)
    into_grid(view)
    assert focus(view) == [real.summary.cases[0].id, 0]
    view.page.keyboard.press("Tab")
    assert focus(view) is None
    view.page.keyboard.press("Shift+Tab")
    assert focus(view) == [real.summary.cases[0].id, 0]


def test_keys_move_in_the_grid(real: Site, visit: Visit) -> None:
    view = visit(real)
    cases, width = [row.id for row in real.summary.cases], len(real.summary.environments)
    into_grid(view)
    steps = [
        ("ArrowDown", (1, 0)),
        ("ArrowRight", (1, 1)),
        ("End", (1, width)),
        ("ArrowRight", (1, width)),
        ("PageDown", (11, width)),
        ("ArrowLeft", (11, width - 1)),
        ("PageUp", (1, width - 1)),
        ("Home", (1, 0)),
        ("ArrowUp", (0, 0)),
    ]
    for key, (row, column) in steps:
        view.page.keyboard.press(key)
        assert focus(view) == [cases[row], column], key


def test_keys_reach_the_head_and_enter_leads_to_its_environment(real: Site, visit: Visit) -> None:
    view = visit(real)
    into_grid(view)
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        view.page.keyboard.press(key)
    assert focus(view) == ["", 2]
    view.page.keyboard.press("Enter")
    expect(view.page.get_by_role("heading", name=real.summary.environments[1].id)).to_be_in_viewport()


def test_keys_pass_over_what_filters_hide(real: Site, visit: Visit) -> None:
    view = visit(real, "#/outcome=differs&from=2.4.1")
    shown, places = view.rows(), view.columns()
    environments = [column.id for column in real.summary.environments]
    into_grid(view)
    assert focus(view) == [shown[0], 0]
    for key in ("ArrowDown", "ArrowRight"):
        view.page.keyboard.press(key)
    assert focus(view) == [shown[1], environments.index(places[0]) + 1]


def test_enter_opens_escape_closes_and_the_focus_returns(real: Site, visit: Visit) -> None:
    view = visit(real)
    into_grid(view)
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        view.page.keyboard.press(key)
    before = focus(view)
    for _ in range(2):
        view.page.keyboard.press("Enter")
        expect(view.panel).to_be_visible()
        assert view.fragment.startswith("#/cell=")
        assert view.page.evaluate("document.activeElement.closest('dialog') !== null")
        view.page.keyboard.press("Escape")
        expect(view.panel).to_be_hidden()
        expect(view.cell(real.summary.cells[len(real.summary.environments) + 1])).to_be_focused()
        assert focus(view) == before
        assert view.fragment == "#/"


def test_a_cell_that_a_link_opened_has_the_focus_once_it_is_closed(real: Site, visit: Visit) -> None:
    cell = real.summary.cells[-1]
    view = visit(real, f"#/cell={cell.case}@{cell.environment}")
    view.page.keyboard.press("Escape")
    expect(view.cell(cell)).to_be_focused()


@pytest.mark.parametrize("width", [1440, 390])
def test_the_focus_is_seen_and_never_behind_what_sticks(real: Site, visit: Visit, width: int) -> None:
    view = visit(real, viewport={"width": width, "height": 700})
    into_grid(view)
    for key in ("PageDown", "End", "PageDown", *["ArrowLeft"] * 12, *["ArrowUp"] * 14, "Home", "PageDown", "ArrowUp"):
        view.page.keyboard.press(key)
        view.page.wait_for_function("() => new Promise(done => requestAnimationFrame(() => done(true)))")
        assert view.page.evaluate(OUTLINE), key
        assert view.page.evaluate(UNCOVERED), f"{key}: {focus(view)}"


def test_all_controls_are_reached_and_seen(everything: Site, visit: Visit) -> None:
    view = visit(everything)
    reached = set()
    for _ in range(60):
        view.page.keyboard.press("Tab")
        name = view.page.evaluate("(document.activeElement.name || document.activeElement.textContent).trim()")
        if focus(view):
            break
        reached.add(name)
        seen = view.page.evaluate(OUTLINE) or view.page.evaluate(
            "() => getComputedStyle(document.activeElement.nextElementSibling ?? document.body).outlineStyle !== 'none'"
        )
        assert seen, name
    wanted = {"Skip to the matrix", "Matrix", "What changed", "text", "family", "from", "to", "differ", "unexpected"}
    assert wanted | {"Clear", "outcome", "verdict"} <= reached
