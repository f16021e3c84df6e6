from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from markdown_it import MarkdownIt  # comes with rich

from builders import PASSES, SHA, case_file, claim, claims, ends, raises, record, result, summary
from golden import check_golden
from recompat.cases import Case, CaseFile
from recompat.expectations import Expectations
from recompat.model import Outcome, Verdict
from recompat.report.comment import MOST, render_markdown_short
from recompat.summarise import summarise
from scenes import CHECKPOINT, HOSTILE, RUNTIME, as_expected, everything, hostile, many, unreachable

if TYPE_CHECKING:
    from recompat.model import Trial
    from recompat.summary import Summary

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
NAME = "<|`@#*" * 100
TAGS = {
    *("h2", "h3", "p", "ul", "li", "strong", "code", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def along(**trials: list[Trial]) -> Summary:
    """Cases that end one way after the other, on 2.1.0, 2.2.0, and so on; all of it is accepted."""
    count = len(next(iter(trials.values())))
    records = [
        record(f"2.{minor + 1}.0", *(result(f"patterns::{name}", ways[minor]) for name, ways in trials.items()))
        for minor in range(count)
    ]
    return accepted(summary(*records, file=case_file("patterns", *trials)))


def accepted(made: Summary) -> Summary:
    """The same, as if expectations.toml said so."""
    cells = tuple(msgspec.structs.replace(cell, verdict=Verdict.EXPECTED) for cell in made.cells)
    verdicts = {verdict: len(cells) * (verdict is Verdict.EXPECTED) for verdict in Verdict}
    return msgspec.structs.replace(made, cells=cells, totals=msgspec.structs.replace(made.totals, verdicts=verdicts))


def loud(number: int, minor: int) -> Trial:
    """An exception whose type and message are markup, another for every cell."""
    return raises(f"a.{NAME}{number}_{minor}", f"{number} {minor} {HOSTILE[:300]}")


def test_one_of_everything() -> None:
    check_golden("everything.short.md", render_markdown_short(everything()))


def test_all_as_expected() -> None:
    check_golden("as_expected.short.md", render_markdown_short(as_expected()))


def test_the_conclusion_is_the_first_sentence() -> None:
    lines = render_markdown_short(everything()).splitlines()
    assert lines[2] == "**Unexpected: 13 of 56 cells; 22 of 56 cells have no result.**"


def test_rows_as_expected_on_every_release_are_not_listed() -> None:
    text = render_markdown_short(along(a=[PASSES, PASSES], b=[PASSES, CHECKPOINT]))
    assert "| `patterns::b` | pass on 2.1.0; CheckpointError on 2.2.0 |" in text
    assert "`patterns::a`" not in text


def test_an_ending_that_comes_back_is_told_once_with_its_releases() -> None:
    text = render_markdown_short(along(a=[PASSES, PASSES, CHECKPOINT, PASSES]))
    assert "| `patterns::a` | pass on 2.1.0 to 2.2.0, 2.4.0; CheckpointError on 2.3.0 |" in text


def test_the_gravest_rows_come_first() -> None:
    claimed = claims(z=claim(">=2", Outcome.PASS))
    records = [record("2.9.1", result("patterns::a"), result("patterns::z", CHECKPOINT))]
    text = render_markdown_short(summary(*records, file=case_file("patterns", "a", "z"), expectations=claimed))
    rows = re.findall(r"\| `patterns::(\w)`", text)
    assert rows == ["z", "a"]


def test_of_drift_the_largest_number_is_shown() -> None:
    assert "pass on 2.9.1; pass DRIFT 5e-07 on 2.11.0 to 2.13.0" in render_markdown_short(everything())


def test_many_rows_that_change_are_counted_and_those_of_the_newest_release_told() -> None:
    old = {f"case_{number}": [PASSES, CHECKPOINT, CHECKPOINT] for number in range(200)}
    text = render_markdown_short(along(**old, newest=[PASSES, PASSES, RUNTIME]))
    assert "As expected, and not the same on every release: 201 cases; matrix.md has the rows." in text
    assert "### New in 2.3.0\n\n- pass until 2.2.0, RuntimeError from 2.3.0" in text
    assert "Legend" not in text
    assert len(text) < 1_000


def test_some_rows_that_change_are_folded() -> None:
    rows = {f"case_{number}": [PASSES, CHECKPOINT] for number in range(11)}
    text = render_markdown_short(along(**rows))
    assert "<details><summary>As expected, and not the same on every release: 11 cases</summary>" in text
    del rows["case_10"]
    assert "<details open><summary>" in render_markdown_short(along(**rows))


def test_a_quiet_release_is_told_as_such() -> None:
    text = render_markdown_short(along(a=[PASSES, PASSES]))
    assert "### New in 2.2.0\n\nNo case of 1 ends otherwise" in text


def test_a_newest_release_that_was_not_run_is_not_called_quiet() -> None:
    assert "### New in 2.11.0\n\nIt was not run." in render_markdown_short(unreachable())


def test_what_was_not_run_is_counted_by_its_reason() -> None:
    assert "- 4 cells on 2.9.1 to 2.11.0: The index did not answer" in render_markdown_short(unreachable())


def test_where_no_cause_is_known_what_was_raised_is_told() -> None:
    text = render_markdown_short(everything())
    assert "- RuntimeError: batch1 must be a 3D tensor (`patterns::changes` on 2.11.0 to 2.13.0)" in text


def test_the_legend_explains_no_more_than_is_shown() -> None:
    crash, hang = ends(Outcome.CRASH, "It died."), ends(Outcome.TIMEOUT, "It took too long.")
    text = render_markdown_short(along(a=[hang, hang], b=[PASSES, crash]))
    assert "**crash** the process of the case died" in text
    assert "**timeout**" not in text


@pytest.mark.parametrize("scene", [everything, as_expected, hostile, unreachable])
def test_only_our_own_markup_comes_out(scene: object) -> None:
    html = GITHUB.render(render_markdown_short(scene()))  # type: ignore[operator]
    assert set(re.findall(r"<(\w+)", html)) <= TAGS


def test_what_does_not_fit_is_counted() -> None:
    text = render_markdown_short(many(1000, 3))
    shown = len(re.findall(r"^\| `patterns::case_", text, re.MULTILINE))
    assert f"And {1000 - shown} rows more; the full matrix is in matrix.md." in text
    assert 20 < shown < 200


def test_even_hostile_texts_in_every_place_fit() -> None:
    cases = tuple(Case(f"patterns::{number}{NAME}", HOSTILE, family=f"{number}{NAME}") for number in range(80))
    records = [
        record(f"2.{minor}.0", *(result(case.id, loud(number, minor)) for number, case in enumerate(cases)))
        for minor in range(20)
    ]
    file = CaseFile(Path("matrix/cases/patterns.py"), SHA, cases)
    made = summarise(records, [file], cases, Expectations({}), HOSTILE)
    for text in (render_markdown_short(made), render_markdown_short(accepted(made))):
        assert len(text) <= MOST
        assert set(re.findall(r"<(\w+)", GITHUB.render(text))) <= TAGS
