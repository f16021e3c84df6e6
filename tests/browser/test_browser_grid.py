from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from recompat.report.faces import FACES, face
from recompat.report.notes import conclusion
from recompat.report.style import cell_text
from recompat.summary import UNEXPECTED

if TYPE_CHECKING:
    from browser.conftest import Visit
    from browser.sites import Site

pytestmark = pytest.mark.browser

CELLS = """cells => cells.map(cell => [cell.className, cell.textContent.trim(),
    getComputedStyle(cell.firstElementChild, "::before").content])"""
TREE_ROLES = {"grid", "row", "gridcell", "columnheader", "rowheader"}


def test_every_cell_has_the_face_and_the_words_of_the_summary(real: Site, visit: Visit) -> None:
    view = visit(real)
    seen = view.page.locator("#grid td").evaluate_all(CELLS)
    assert len(seen) == len(real.summary.cells) > 0
    for (classes, words, glyph), cell in zip(seen, real.summary.cells, strict=True):
        assert classes.split()[0] == face(cell), cell
        assert ("bad" in classes.split()) is (cell.verdict in UNEXPECTED), cell
        assert words == cell_text(cell)
        assert glyph.startswith(f'"{FACES[face(cell)].glyph}"')


def test_rows_and_columns_are_those_of_the_summary(real: Site, visit: Visit) -> None:
    view = visit(real)
    assert view.rows() == [row.id for row in real.summary.cases]
    assert view.columns() == [column.id for column in real.summary.environments]
    cases, environments = len(real.summary.cases), len(real.summary.environments)
    assert view.status == f"{cases} of {cases} cases, {environments} of {environments} environments"
    expect(view.page.get_by_text(conclusion(real.summary), exact=True)).to_be_visible()


def test_chips_count_the_cells(everything: Site, visit: Visit) -> None:
    view = visit(everything)
    for kind, count in Counter(map(face, everything.summary.cells)).items():
        expect(view.page.get_by_role("checkbox", name=f"{FACES[kind].label} {count}", exact=True)).to_be_visible()
    for verdict, count in everything.summary.totals.verdicts.items():
        chip = view.page.get_by_role("checkbox", name=f"{verdict} {count}", exact=True)
        expect(chip).to_have_count(int(verdict in UNEXPECTED and count > 0))


def test_an_unexpected_cell_says_so_in_words(everything: Site, visit: Visit) -> None:
    view = visit(everything)
    for cell in everything.summary.cells:
        if cell.verdict in UNEXPECTED:
            expect(view.cell(cell)).to_contain_text(f"{cell.verdict}!")


def test_few_columns_show_the_words_in_the_cells(few: Site, visit: Visit) -> None:
    view = visit(few)
    for cell in few.summary.cells:
        link = view.cell(cell)
        assert link.inner_text().strip() == cell_text(cell)
        needed, given = link.evaluate("link => [link.scrollWidth, link.clientWidth]")
        assert needed <= given, f"{cell_text(cell)} is cut"


def test_assistive_technology_meets_a_grid(few: Site, visit: Visit) -> None:
    view = visit(few)
    session = view.page.context.new_cdp_session(view.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    roles = Counter(node["role"]["value"] for node in nodes if not node["ignored"])
    width, cases = len(few.summary.environments), len(few.summary.cases)
    assert {role: roles[role] for role in TREE_ROLES} == {
        "grid": 1,
        "row": 1 + 1 + cases,  # the head and the heading of a file
        "gridcell": cases * width,
        "columnheader": 1 + width,
        "rowheader": 1 + cases,
    }
