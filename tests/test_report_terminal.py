from __future__ import annotations

import re
import unicodedata

import pytest

from builders import PASSES, case_file, claim, claims, record, result, summary
from golden import check_golden
from recompat.model import Outcome
from recompat.report.terminal import render_terminal
from scenes import as_expected, everything, hostile, many, unreachable

SGR = re.compile(r"\x1b\[[0-9;]*m")


def table(text: str) -> list[str]:
    """The lines of all blocks of the table, which come before the legend."""
    lines: list[str] = []
    for part in text.split("\n\n"):
        if not part.startswith("case "):
            break
        lines += part.split("\n")
    return lines


def test_one_of_everything() -> None:
    check_golden("everything.txt", render_terminal(everything(), width=100))


def test_all_as_expected_on_a_narrow_terminal() -> None:
    check_golden("as_expected.txt", render_terminal(as_expected(), width=60))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("scene", [everything, hostile, lambda: many(3, 40)], ids=["everything", "hostile", "many"])
def test_no_line_of_the_table_is_wider_than_the_terminal(scene: object, width: int) -> None:
    made = scene()  # type: ignore[operator]
    lines = table(render_terminal(made, width=width))
    assert max(len(line) for line in lines) <= width
    heads = [head for line in lines if line.startswith("case ") for head in line.split()[1:]]
    assert heads == [column.torch for column in made.environments], "every column is drawn once, in version order"


def test_a_block_holds_as_many_columns_as_fit() -> None:
    narrow = [line for line in table(render_terminal(many(1, 8), width=80)) if line.startswith("case ")]
    assert [len(line.split()) - 1 for line in narrow] == [3, 3, 2]
    assert len([line for line in table(render_terminal(many(1, 8), width=1000)) if line.startswith("case ")]) == 1


def test_names_that_do_not_fit_keep_both_ends() -> None:
    names = [f"a_pattern_with_a_very_long_name_that_ends_in_{end}" for end in ("forward", "backward")]
    file = case_file("patterns", *names)
    drawn = render_terminal(summary(record("2.11.0", *(result(case.id) for case in file.cases)), file=file), width=40)
    labels = [line.partition("  ")[0] for line in table(drawn) if line.startswith("a_pattern")]
    assert len(set(labels)) == 2
    assert all("…" in label for label in labels)


def test_colour_comes_only_when_asked_and_moves_nothing() -> None:
    plain, coloured = render_terminal(everything()), render_terminal(everything(), colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31mDIFFERS\x1b[0m" in coloured
    assert "\n".join(line.rstrip() for line in SGR.sub("", coloured).split("\n")) == plain


def test_the_legend_explains_only_what_occurs() -> None:
    drawn = render_terminal(as_expected())
    assert "an exception left the case: torch.utils.checkpoint.CheckpointError" in drawn
    for word in ("DIFFERS", "n/a", "moot", "crash", "timeout", "error ", "not run", "regressed!", "†"):
        assert word not in drawn


def test_trouble_is_named_once_with_its_reason() -> None:
    drawn = " ".join(render_terminal(unreachable()).split())
    assert drawn.count("The index did not answer within 3 s; check the network.") == 1
    assert "2 of 2 cases" in drawn
    assert drawn.endswith("Incomplete: 4 of 4 cells have no result; the other 0 as expected.")


def test_files_are_told_apart() -> None:
    first, second = case_file("first", "same"), case_file("second", "same")
    file = case_file("both")
    both = type(file)(file.path, file.sha256, (*first.cases, *second.cases))
    seen = record("2.11.0", result("first::same"), result("second::same"))
    lines = table(render_terminal(summary(seen, file=both)))
    assert [line.split()[0] for line in lines[4:]] == ["first::", "same", "second::", "same"]


def test_hostile_text_shows_as_text() -> None:
    drawn = render_terminal(hostile(), width=120)
    odd = {c for c in drawn if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}}
    assert not odd
    assert "<script>alert(1)</script>" in drawn
    assert "cut; 1,000," in drawn
    assert len(drawn) < 7_000


def test_many_notes_are_cut_with_their_number() -> None:
    assert "and 60 more; matrix.json has them all." in render_terminal(many(100, 2))


def test_a_single_cell_is_counted_in_the_singular() -> None:
    file = case_file("patterns", "one")
    drawn = render_terminal(
        summary(
            record("2.11.0", result("patterns::one", PASSES)),
            file=file,
            expectations=claims(one=claim(">=2", Outcome.PASS)),
        )
    )
    assert "1 = 1 environment x 1 case" in drawn
    assert drawn.endswith("As expected: all 1 cell.\n")
