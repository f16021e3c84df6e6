from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders import NOW, PASSES, case_file, claim, claims, ends, passes, raises, record, result, summary
from evidence_builders import call, recompute, watched
from recompat.listing import Listing
from recompat.model import Outcome
from recompat.report.entries import Place, Section
from recompat.report.findings import sections
from recompat.report.markdown import render_markdown
from recompat.report.notes import conclusion, totals
from recompat.report.style import cell_text, legend
from recompat.report.terminal import render_terminal

if TYPE_CHECKING:
    from recompat.summary import Summary

CHANGED = (call(0, "a", flag="on"), recompute(0, "a", flag="off"))
SAME = (call(0, "a"), recompute(0, "a"))
PASS = claim(">=2", Outcome.PASS)


def found(made: Summary) -> dict[str, Section]:
    return {section.title.partition(" (")[0]: section for section in sections(made)}


def drifting() -> Summary:
    records = [record(torch, watched(result("patterns::one", passes(4.77e-7)), *CHANGED)) for torch in ("2.9", "2.10")]
    return summary(*records, file=case_file("patterns", "one"), expectations=claims(one=PASS))


def test_drift_is_no_plain_pass_anywhere() -> None:
    made = drifting()
    assert [cell.drift for cell in made.cells] == [True, True]
    assert {cell_text(cell) for cell in made.cells} == {"pass DRIFT 4.8e-07"}
    assert made.totals.drift == 2
    assert dict(totals(made))["outcomes"] == "pass 2 (2 with DRIFT) (of 2)"
    assert "DRIFT" in dict(legend(made))
    assert conclusion(made) == "As expected: all 2 cells; 2 of them with DRIFT."
    assert made.exit_code == 0, "and it does not change the verdict"
    for text in (render_terminal(made), render_terminal(made, width=40), render_markdown(made)):
        assert "DRIFT 4.8e-07" in text
    assert "\x1b[1;33mpass DRIFT 4.8e-07\x1b[0m" in render_terminal(made, colour=True)


def test_an_unexpected_drift_says_so_in_its_note() -> None:
    made = summary(record("2.9", watched(result("patterns::one"), *CHANGED)), file=case_file("patterns", "one"))
    assert "got: pass DRIFT 0" in render_terminal(made)


def test_drift_without_a_number_says_so() -> None:
    trial = ends(Outcome.PASS)
    made = summary(record("2.9", watched(result("patterns::one", trial), *CHANGED)), file=case_file("patterns", "one"))
    assert cell_text(made.cells[0]).startswith("pass DRIFT no number")


def test_a_cause_is_told_once_with_its_cases_and_releases() -> None:
    results = [watched(result(f"patterns::{name}", raises()), *CHANGED) for name in ("one", "two")]
    records = [record(torch, *results) for torch in ("2.1", "2.9", "2.10")] + [record("2.2", results[0])]
    made = summary(*records, file=case_file("patterns", "one", "two"))
    (entry,) = found(made)["Causes"].entries
    assert entry.text == "The setting flag was on in forward and off in recompute; the operators were the same."
    assert entry.places == (Place("patterns::one", "2.1 to 2.10"), Place("patterns::two", "2.1, 2.9 to 2.10"))
    assert set(found(made)) == {"Causes"}


def test_releases_that_several_interpreters_ran_are_told_by_environment() -> None:
    one = watched(result("patterns::one", raises()), *CHANGED)
    made = summary(record("2.1", one), record("2.1", one, python="cp39"), file=case_file("patterns", "one"))
    (entry,) = found(made)["Causes"].entries
    assert entry.places[0].where == "torch2.1-cp39-linux_x86_64 to torch2.1-cp311-linux_x86_64"


def test_many_places_are_counted() -> None:
    names = [f"case_{number}" for number in range(11)]
    results = [watched(result(f"patterns::{name}", raises()), *CHANGED) for name in names]
    made = summary(record("2.1", *results), file=case_file("patterns", *names))
    (entry,) = found(made)["Causes"].entries
    assert (len(entry.places), entry.more) == (8, 3)
    assert "      and 3 more\n" in render_terminal(made)
    assert "  - and 3 more\n" in render_markdown(made)


def test_many_entries_are_counted() -> None:
    names = [f"case_{number}" for number in range(25)]
    results = [
        watched(result(f"patterns::{name}", raises()), call(0, flag="on"), recompute(0, flag=name)) for name in names
    ]
    drawn = render_terminal(summary(record("2.1", *results), file=case_file("patterns", *names)))
    assert drawn.count("The setting flag was") == 20 + 25, "causes, and a line in each note"
    assert "\n  and 5 more; matrix.json has them all.\n" in drawn


@pytest.mark.parametrize(
    ("listed", "title", "tail"),
    [
        (None, "Boundaries (the index has never been listed here)", "whether a release lies between is not known"),
        (("2.1", "2.2"), f"Boundaries (the index as of {NOW})", "exact, no release lies between"),
        (("2.1", "2.1.1", "2.2"), f"Boundaries (the index as of {NOW})", "not run between: 2.1.1"),
    ],
)
def test_a_boundary_says_what_is_known_of_what_lies_between(
    listed: tuple[str, ...] | None, title: str, tail: str
) -> None:
    records = [record("2.1", result("patterns::one")), record("2.2", result("patterns::one", raises()))]
    listing = None if listed is None else Listing(NOW, listed)
    made = summary(*records, file=case_file("patterns", "one"), listing=listing)
    section = next(section for section in sections(made) if section.title.startswith("Boundaries"))
    assert section.title == title
    assert [entry.text for entry in section.entries] == [f"pass until 2.1, CheckpointError from 2.2; {tail}"]


def test_apis_that_come_and_go_are_told_as_such() -> None:
    absent = ends(Outcome.UNSUPPORTED, "f is absent.")
    trials = {"2.1": absent, "2.2": PASSES, "2.3": absent, "2.4": raises()}
    records = [record(torch, result("patterns::one", trial)) for torch, trial in trials.items()]
    made = summary(*records, file=case_file("patterns", "one"), listing=Listing(NOW, tuple(trials)))
    assert [entry.text for entry in found(made)["Boundaries"].entries] == [
        "an API that is needed is absent until 2.1 and there from 2.2 (pass); exact, no release lies between",
        "an API that is needed is there until 2.2 (pass) and absent from 2.3; exact, no release lies between",
        "pass until 2.2, CheckpointError from 2.4; n/a between: 2.3",
        "an API that is needed is absent until 2.3 and there from 2.4 (CheckpointError); exact, no release lies between",
    ]


def test_other_operators_without_attention_are_told_by_their_difference() -> None:
    records = [
        record(torch, watched(result("patterns::one"), call(0, operators), recompute(0, operators)))
        for torch, operators in (("2.1", "a b"), ("2.2", "a c"))
    ]
    made = summary(*records, file=case_file("patterns", "one"), expectations=claims(one=PASS))
    (entry,) = found(made)["Operators changed, the outcome did not"].entries
    assert (entry.text, entry.places) == ("2.1 to 2.2, forward: - b; + c", (Place("patterns::one"),))


def test_watching_that_changed_the_outcome_is_told_with_the_cause() -> None:
    seen = watched(result("patterns::one", raises()), *SAME)
    passed = result("patterns::one")
    made = summary(
        record("2.1", type(seen)(seen.case, seen.sha256, passed.trials, seen.evidence)),
        file=case_file("patterns", "one"),
    )
    (entry,) = found(made)["Causes"].entries
    assert entry.text.startswith("Watching changed the outcome from pass to torch.utils.checkpoint.CheckpointError;")
