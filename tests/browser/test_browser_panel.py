from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browser.view import cell_link
from recompat.model import Outcome
from recompat.report.findings import boundary_text
from recompat.report.notes import expected_text
from recompat.report.style import cell_text, replay_text
from recompat.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from browser.conftest import Visit
    from browser.sites import Site
    from browser.view import View
    from recompat.cells import Cell

pytestmark = pytest.mark.browser

CELLS: dict[str, Callable[[Cell], object]] = {
    "raises, watched": lambda cell: cell.outcome is Outcome.RAISES and cell.changes and cell.mismatches,
    "raises, counted": lambda cell: cell.disagreement and cell.disagreement.saved,
    "differs": lambda cell: cell.outcome is Outcome.DIFFERS and cell.max_abs_diff,
    "drift": lambda cell: cell.drift and cell.operator_diff,
    "unsupported": lambda cell: cell.outcome is Outcome.UNSUPPORTED,
    "not run": lambda cell: cell.outcome is Outcome.NOT_RUN,
    "warns": lambda cell: cell.warned,
    "replays differ": lambda cell: cell.process_dependent,
    "nothing claimed": lambda cell: cell.expectation is None,
}


def first(site: Site, wanted: Callable[[Cell], object]) -> Cell | None:
    return next(filter(wanted, site.summary.cells), None)


def told(site: Site, cell: Cell) -> Iterator[str]:
    """What the panel of a cell has to say."""
    yield clean(cell_text(cell)) + (f" in {cell.phase}" if cell.phase else "")
    yield from (clean(text) for text in (cell.cause, cell.watched, cell.detail) if text)
    yield from (change.setting for change in cell.changes[:40])
    yield from cell.operator_diff[:60]
    yield from (", ".join(one.fields) for one in cell.mismatches[:40])
    yield from (one.name for one in cell.differences)
    yield from (f"{one.max_abs_diff:.3g}" for one in cell.differences if one.max_abs_diff is not None)
    if cell.differences:
        yield clean(next(row.tolerance for row in site.summary.cases if row.id == cell.case))
    if cell.exception:
        yield clean(cell.exception)
        yield clean((cell.message or "").partition("\n")[0])
    yield from map(clean, cell.frames)
    if len(set(cell.replays.values())) > 1:
        yield replay_text(cell.replays)
    claim = cell.expectation
    column = next(one for one in site.summary.environments if one.id == cell.environment)
    if column.trouble is None:
        yield "Nothing; add a claim to expectations.toml." if claim is None else clean(expected_text(claim), 4_000)
    yield from filter(None, (column.distribution_sha256, column.source, column.imported, column.python_version))
    yield f"recompat reproduce {cell.case} --torch {column.torch}"


def squeezed(view: View) -> str:
    return " ".join((view.panel.text_content() or "").split())


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("name", ["real", "everything"])
def test_a_cell_tells_all_that_is_known_of_it(
    name: str, kind: str, request: pytest.FixtureRequest, visit: Visit
) -> None:
    site: Site = request.getfixturevalue(name)
    cell = first(site, CELLS[kind])
    if cell is None:
        other: Site = request.getfixturevalue("real" if name == "everything" else "everything")
        assert first(other, CELLS[kind]), "no scene has such a cell"
        return
    view = visit(site, cell_link(cell))
    expect(view.panel).to_be_visible()
    text = squeezed(view)
    for words in told(site, cell):
        assert " ".join(words.split()) in text, words
    link = cell.expectation.link if cell.expectation else None
    if link and link in text:
        expect(view.panel.get_by_role("link", name=link, exact=True)).to_have_attribute("href", link)


def test_a_click_on_a_cell_opens_it_and_the_url_says_which(real: Site, visit: Visit) -> None:
    view = visit(real)
    cell = first(real, CELLS["raises, watched"])
    assert cell is not None
    view.cell(cell).click()
    expect(view.panel.get_by_role("heading", level=2)).to_have_text(cell.case)
    assert view.fragment == cell_link(cell)
    view.panel.get_by_role("button", name="Close").click()
    expect(view.panel).to_be_hidden()
    view.page.go_back()
    expect(view.panel).to_be_visible()
    view.page.go_back()
    expect(view.panel).to_be_hidden()


def test_the_frames_are_those_of_the_release_alone(real: Site, visit: Visit) -> None:
    cell = next(
        cell
        for cell in real.summary.cells
        if cell.frames and any(o.case == cell.case and o.frames and o.frames != cell.frames for o in real.summary.cells)
    )
    view = visit(real, cell_link(cell))
    frames = view.panel.get_by_role("heading", name="last frames, innermost last").locator("xpath=..").locator("pre")
    assert frames.inner_text().splitlines() == [clean(frame) for frame in cell.frames[-60:]]


def test_a_case_tells_its_history_boundaries_and_repairs(real: Site, visit: Visit) -> None:
    row = next(r for r in real.summary.cases if r.repaired_by and any(b.case == r.id for b in real.summary.boundaries))
    view = visit(real)
    view.case(row.id).get_by_role("rowheader").get_by_role("link").click()
    expect(view.panel.get_by_role("heading", level=2)).to_have_text(row.id)
    text = squeezed(view)
    assert clean(row.title) in text
    assert f"SHA-256 {row.sha256}" in text
    for boundary in real.summary.boundaries:
        assert (clean(boundary_text(boundary)) in text) or boundary.case != row.id
    repair = view.panel.get_by_role("link", name=row.repaired_by[0])
    repair.click()
    expect(view.panel.get_by_role("heading", level=2)).to_have_text(row.repaired_by[0])


def test_a_run_of_the_history_leads_to_its_cell(real: Site, visit: Visit) -> None:
    cell = first(real, CELLS["raises, watched"])
    assert cell is not None
    view = visit(real, f"#/case={cell.case}")
    view.panel.get_by_role("link", name="CheckpointError").first.click()
    expect(view.panel.get_by_text("run it again", exact=True)).to_be_visible()
    assert view.fragment.startswith(f"#/cell={cell.case}@")


def test_a_cell_leads_to_the_history_of_its_case(real: Site, visit: Visit) -> None:
    cell = real.summary.cells[0]
    view = visit(real, cell_link(cell))
    view.panel.get_by_role("link", name="History of the case").click()
    expect(view.panel.get_by_text("boundaries").or_(view.panel.get_by_text("file", exact=True)).first).to_be_visible()
    assert view.fragment == f"#/case={cell.case}"


def test_copy_puts_the_command_on_the_clipboard(real: Site, visit: Visit) -> None:
    cell = first(real, CELLS["differs"])
    assert cell is not None
    view = visit(real, cell_link(cell), permissions=["clipboard-read", "clipboard-write"])
    view.panel.get_by_role("button", name="Copy").click()
    expect(view.panel.get_by_role("button", name="Copied")).to_be_visible()
    torch = next(one.torch for one in real.summary.environments if one.id == cell.environment)
    copied = view.page.evaluate("navigator.clipboard.readText()")
    assert copied == f"recompat reproduce {cell.case} --torch {torch}"


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("#/cell=no::such@torch2.1.0", "There is no cell no::such@torch2.1.0 in this matrix."),
        ("#/case=no::such", "There is no case no::such in this matrix."),
        ("#/release=9.9.9", "release 9.9.9 in this matrix."),
    ],
)
def test_a_link_to_what_is_not_there_says_so(real: Site, visit: Visit, fragment: str, said: str) -> None:
    view = visit(real, fragment)
    assert said in view.status
    expect(view.panel).to_be_hidden()
    expect(view.grid).to_be_visible()
