"""Records of several platforms: what they are called, where they disagree, and how reports lay them out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest

from builders import PASSES, case_file, raises, record, result, summary, trouble
from recompat.model import CaseResult, Record, Trial
from recompat.platforms import platforms, splits
from recompat.report.entries import environment_names, releases
from recompat.report.findings import disagreements, sections
from recompat.report.formats import FORMATS
from recompat.report.terminal import render_terminal

if TYPE_CHECKING:
    from recompat.summary import Summary

LINUX, MAC = "linux_x86_64", "macosx_arm64"
FILE = case_file("patterns", "same", "splits", "splits_too")


def on(platform: str, torch: str, python: str = "cp311", /, **trials: Trial | CaseResult) -> Record:
    results = [one if isinstance(one, CaseResult) else result(f"patterns::{name}", one) for name, one in trials.items()]
    made = record(torch, *results, python=python)
    return msgspec.structs.replace(made, environment=msgspec.structs.replace(made.environment, platform=platform))


def two_platforms() -> Summary:
    """Three releases on Linux, two of them on macOS, where two cases end otherwise."""
    ends = {"same": PASSES, "splits": PASSES, "splits_too": PASSES}
    other = {"same": PASSES, "splits": raises(), "splits_too": raises()}
    records = [on(LINUX, torch, **ends) for torch in ("2.9.1", "2.10.0", "2.11.0")]
    records += [on(MAC, torch, **other) for torch in ("2.10.0", "2.11.0")]
    return summary(*records, file=FILE)


def told(made: Summary) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(one.text, [(place.case, place.where) for place in one.places]) for one in disagreements(made)]


def test_one_platform_is_not_named() -> None:
    made = summary(
        on(LINUX, "2.9.1", same=PASSES), on(LINUX, "2.11.0", same=PASSES), file=case_file("patterns", "same")
    )
    assert list(environment_names(made).values()) == ["2.9.1", "2.11.0"]
    assert told(made) == []
    assert f"{LINUX}:\n" not in render_terminal(made)


def test_several_platforms_are_named_and_those_of_one_stand_together() -> None:
    made = two_platforms()
    names = environment_names(made)
    assert list(names.values()) == [
        f"2.9.1 {LINUX}",
        f"2.10.0 {LINUX}",
        f"2.11.0 {LINUX}",
        f"2.10.0 {MAC}",
        f"2.11.0 {MAC}",
    ]
    assert platforms(made) == (LINUX, MAC)
    cells = [cell for cell in made.cells if cell.case == "patterns::same"]
    assert releases(names, cells) == f"2.9.1 to 2.11.0 {LINUX} and 2.10.0 to 2.11.0 {MAC}"
    assert releases(names, cells[:2]) == f"2.9.1 to 2.10.0 {LINUX}"
    assert releases(names, [cells[0], cells[3]]) == f"2.9.1, 2.11.0 {LINUX}"


def test_where_platforms_disagree_is_told_once() -> None:
    made = two_platforms()
    assert [(one.case, one.torch) for one in splits(made)] == [
        (f"patterns::{case}", torch) for case in ("splits", "splits_too") for torch in ("2.10.0", "2.11.0")
    ]
    assert told(made) == [
        (
            f"pass on {LINUX}; CheckpointError on {MAC}",
            [("patterns::splits", "2.10.0, 2.11.0"), ("patterns::splits_too", "2.10.0, 2.11.0")],
        )
    ]
    assert "Where platforms disagree" in [section.title for section in sections(made)]


def test_interpreters_may_disagree_too() -> None:
    made = summary(on(LINUX, "2.11.0", splits=PASSES), on(LINUX, "2.11.0", "cp313", splits=raises()), file=FILE)
    assert told(made) == [("pass on cp311; CheckpointError on cp313", [("patterns::splits", "2.11.0")])]
    three = summary(
        on(LINUX, "2.11.0", splits=PASSES),
        on(LINUX, "2.11.0", "cp313", splits=raises()),
        on(MAC, "2.11.0", splits=PASSES),
        file=FILE,
    )
    assert told(three)[0][0] == f"pass on {LINUX} cp311, {MAC} cp311; CheckpointError on {LINUX} cp313"


def test_what_was_not_run_and_what_is_flaky_disagrees_with_nothing() -> None:
    flaky = result("patterns::splits", PASSES, PASSES, raises())
    failed = msgspec.structs.replace(on(MAC, "2.9.1"), trouble=trouble())
    made = summary(
        on(LINUX, "2.9.1", splits=PASSES),
        failed,
        on(LINUX, "2.11.0", splits=raises()),
        on(MAC, "2.11.0", splits=flaky),
        file=FILE,
    )
    assert told(made) == []


def test_numbers_may_differ_between_platforms() -> None:
    other = msgspec.structs.replace(
        PASSES, differences=(msgspec.structs.replace(PASSES.differences[0], max_abs_diff=1e-7),)
    )
    made = summary(on(LINUX, "2.11.0", splits=PASSES), on(MAC, "2.11.0", splits=other), file=FILE)
    assert told(made) == []


def test_the_terminal_and_markdown_have_a_matrix_of_each_platform() -> None:
    made = two_platforms()
    text = render_terminal(made, width=100)
    assert [line for line in text.splitlines() if line in {f"{LINUX}:", f"{MAC}:"}] == [f"{LINUX}:", f"{MAC}:"]
    of_linux, of_mac = text.split(f"{MAC}:\n")[0], text.split(f"{MAC}:\n")[1].split("\n\n")[0]
    assert ("2.9.1" in of_linux, "2.9.1" in of_mac) == (True, False)
    assert "CheckpointError" in of_mac
    markdown = FORMATS["markdown"].render(made).decode()
    first, second = (part.split("\n\n")[1] for part in re.split(r"### (?:linux|macosx)", markdown)[1:])
    assert re.findall(r"2\.\d+\.\d", first.splitlines()[0]) == ["2.9.1", "2.10.0", "2.11.0"]
    assert re.findall(r"2\.\d+\.\d", second.splitlines()[0]) == ["2.10.0", "2.11.0"]


@pytest.mark.parametrize("name", ["html", "markdown", "text", "rst", "latex", "picture"])
def test_every_format_of_the_matrix_names_the_platforms(name: str) -> None:
    drawn = FORMATS[name].render(two_platforms()).decode()
    for platform in (LINUX, MAC):
        assert re.search(platform.replace("_", r"[^a-z0-9]{1,9}"), drawn), drawn


def test_a_change_names_its_platform() -> None:
    made = summary(
        on(LINUX, "2.9.1", splits=PASSES),
        on(LINUX, "2.11.0", splits=raises()),
        on(MAC, "2.9.1", splits=raises()),
        on(MAC, "2.11.0", splits=PASSES),
        file=FILE,
    )
    (boundaries,) = [section for section in sections(made) if section.title.startswith("Boundaries")]
    assert [entry.text.partition(": ")[0] for entry in boundaries.entries] == [LINUX, MAC]
    assert f"{MAC}: " in FORMATS["atom"].render(made).decode()


def test_the_page_has_a_filter_for_platforms_and_tells_where_they_disagree() -> None:
    page = FORMATS["html"].render(two_platforms()).decode()
    assert f'<option value="{MAC}">' in page
    assert page.count(f'data-platform="{MAC}"') == 2
    assert "<h3>Where platforms disagree</h3>" in page
    assert f"pass on {LINUX}; CheckpointError on {MAC}" in page
    alone = FORMATS["html"].render(summary(on(LINUX, "2.9.1", same=PASSES), file=FILE)).decode()
    assert '<select name="platform">' not in alone
    assert "<h3>Where platforms disagree</h3>" not in alone


def test_a_hostile_platform_is_text() -> None:
    evil = "<script>alert(1)</script>\x1b[31m|`"
    made = summary(on(LINUX, "2.11.0", splits=PASSES), on(evil, "2.11.0", splits=raises()), file=FILE)
    for name in ("html", "markdown", "text", "rst", "atom"):
        drawn = FORMATS[name].render(made).decode()
        assert "\x1b" not in drawn
        assert "<script>alert" not in drawn or name in {"text", "rst"}
