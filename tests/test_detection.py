from __future__ import annotations

import msgspec
import pytest

from builders import PASSES, case_file, claim, claims, differs, ends, raises, record, result, summary
from recompat.casedoc import About, Noticed
from recompat.cases import Case
from recompat.detection import Detection, detection
from recompat.model import Outcome, Trial, Verdict, Warned
from recompat.report.markdown import render_markdown
from recompat.report.notes import families, totals
from recompat.report.style import cell_text, legend
from recompat.report.terminal import render_terminal

POPPED = raises("builtins.IndexError", "pop from empty list")
IN_PLACE = raises("builtins.RuntimeError", "one of the variables was modified by an inplace operation: version 1")
ABOUT = About(noticed=(Noticed("builtins.RuntimeError", "modified by an inplace operation"),))


@pytest.mark.parametrize(
    ("trial", "about", "seen"),
    [
        (PASSES, About(), Detection.FINE),
        (differs(), About(), Detection.SILENT),
        (raises(), About(), Detection.NOTICED),
        (IN_PLACE, About(), Detection.UNRELATED),
        (IN_PLACE, ABOUT, Detection.NOTICED),
        (raises("builtins.RuntimeError", "no such kernel"), ABOUT, Detection.UNRELATED),
        (POPPED, ABOUT, Detection.UNRELATED),
        (POPPED, About(noticed=(Noticed("builtins.IndexError"),)), Detection.NOTICED),
        *((ends(outcome), About(), None) for outcome in (Outcome.MOOT, Outcome.UNSUPPORTED, Outcome.CRASH)),
    ],
)
def test_what_torch_makes_of_it(trial: Trial, about: About, seen: Detection | None) -> None:
    assert detection(trial, about) is seen


def of_two_families() -> tuple[Case, Case]:
    return Case("patterns::pops", "Pops.", "state", ABOUT), Case("patterns::overwrites", "It.", "in-place", ABOUT)


def test_it_stands_in_cells_totals_families_and_legend() -> None:
    file = msgspec.structs.replace(case_file("patterns", "pops", "overwrites"), cases=of_two_families())
    records = [
        record("2.10", result("patterns::pops", POPPED), result("patterns::overwrites", IN_PLACE)),
        record("2.11", result("patterns::pops", POPPED), result("patterns::overwrites", PASSES)),
    ]
    made = summary(*records, file=file)
    assert [cell_text(cell) for cell in made.cells] == [
        "IndexError° new!",
        "IndexError° new!",
        "RuntimeError new!",
        "pass new!",
    ]
    assert "fine 1, noticed 1, silent 0, unrelated 2 (of 4 that ended)" in dict(totals(made))["detection"]
    assert "°" in dict(legend(made))
    heading, rows = families(made)
    assert list(heading) == ["family", "cases", "cells", "fine", "noticed", "silent", "unrelated", "no answer"]
    assert rows == [["state", "1", "2", "0", "0", "0", "2", "0"], ["in-place", "1", "2", "1", "1", "0", "0", "0"]]
    for text in (render_terminal(made), render_markdown(made)):
        assert "in-place" in text
    assert "state: patterns::" in render_terminal(made)


def test_one_family_needs_no_table() -> None:
    made = summary(record("2.11", result("patterns::one")), file=case_file("patterns", "one"))
    assert families(made)[1] == []


WARNED = msgspec.structs.replace(PASSES, warnings=(Warned("builtins.UserWarning", "soon"),))


TWICE = msgspec.structs.replace(WARNED, warnings=(*WARNED.warnings, Warned("builtins.FutureWarning", "now")))


@pytest.mark.parametrize(
    ("warns", "trial", "verdict"),
    [
        (None, WARNED, Verdict.EXPECTED),
        ((), PASSES, Verdict.EXPECTED),
        ((), WARNED, Verdict.CHANGED),
        (("builtins.UserWarning",), WARNED, Verdict.EXPECTED),
        (("builtins.UserWarning",), PASSES, Verdict.CHANGED),
        (("builtins.FutureWarning",), WARNED, Verdict.CHANGED),
        (("builtins.UserWarning", "builtins.FutureWarning"), TWICE, Verdict.EXPECTED),
    ],
)
def test_a_claim_may_speak_of_warnings(warns: tuple[str, ...] | None, trial: Trial, verdict: Verdict) -> None:
    expected = msgspec.structs.replace(claim(">=2", Outcome.PASS), warns=warns)
    made = summary(
        record("2.11", result("patterns::one", trial)),
        file=case_file("patterns", "one"),
        expectations=claims(one=expected),
    )
    assert made.cells[0].verdict is verdict


@pytest.mark.parametrize("observes", [True, False])
def test_a_warning_is_a_boundary_where_the_case_observes_them(observes: bool) -> None:
    case = Case("patterns::one", "One.", "patterns", About(observes_warnings=observes))
    file = msgspec.structs.replace(case_file("patterns", "one"), cases=(case,))
    made = summary(record("2.0", result("patterns::one")), record("2.1", result("patterns::one", WARNED)), file=file)
    assert [cell.warned for cell in made.cells] == [(), ("builtins.UserWarning",) if observes else ()]
    assert len(made.boundaries) == observes
    text = render_terminal(made)
    assert ("pass until 2.0, pass +UserWarning from 2.1" in text) is observes
    assert "UserWarning: soon" in text  # told below the table in both cases
