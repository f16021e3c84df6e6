from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from builders import PASSES, case_file, ends, passes, raises, record, result, summary
from recompat.casedoc import About
from recompat.cases import Case
from recompat.model import Outcome
from recompat.report.findings import sections
from recompat.report.markdown import render_markdown

if TYPE_CHECKING:
    from recompat.summary import Summary

BROKEN, SOUND = "patterns::broken", "patterns::sound"
ABSENT = ends(Outcome.UNSUPPORTED, "There is no torch.x.")
FILE = msgspec.structs.replace(
    case_file("patterns", "broken", "sound", "hopeless"),
    cases=(
        Case(BROKEN, "Broken.", "patterns"),
        Case(SOUND, "Sound.", "patterns", About(repairs=(BROKEN,))),
        Case("patterns::hopeless", "Hopeless.", "patterns", About(unrepaired="Nothing restores it.")),
    ),
)


def told(made: Summary) -> dict[str, list[tuple[str, str]]]:
    found = next((one for one in sections(made) if one.title.startswith("Repairs")), None)
    return {entry.text: [(p.case, p.where) for p in entry.places] for entry in found.entries} if found else {}


def test_a_broken_case_is_told_with_its_repairs_and_where_they_pass() -> None:
    made = summary(
        record("2.0", result(BROKEN), result(SOUND, ABSENT), result("patterns::hopeless")),
        record("2.1", result(BROKEN, raises()), result(SOUND, passes()), result("patterns::hopeless", raises())),
        record("2.2", result(BROKEN, raises()), result(SOUND, passes()), result("patterns::hopeless")),
        file=FILE,
    )
    assert told(made) == {
        "patterns::broken on 2.1 to 2.2": [(SOUND, "2.1 to 2.2 (all that have what it needs)")],
        "patterns::hopeless on 2.1; no repair: Nothing restores it.": [],
    }
    assert "Repairs, and where they pass" in render_markdown(made)


@pytest.mark.parametrize(
    ("sound", "where"), [(PASSES, "2.1 to 2.2"), (raises(), "2.2"), (ABSENT, "2.2 (all that have what it needs)")]
)
def test_only_releases_on_which_it_passes_are_named(sound: object, where: str) -> None:
    first = record("2.1", result(BROKEN, raises()), result(SOUND, sound))  # type: ignore[arg-type]
    second = record("2.2", result(BROKEN, raises()), result(SOUND))
    assert told(summary(first, second, file=FILE))["patterns::broken on 2.1 to 2.2"] == [(SOUND, where)]


def test_a_repair_that_was_not_selected_is_named_all_the_same() -> None:
    alone = msgspec.structs.replace(FILE, cases=FILE.cases)
    made = summary(record("2.1", result(BROKEN, raises())), file=alone)
    only = msgspec.structs.replace(made, cases=made.cases[:1], cells=made.cells[:1])
    assert told(only) == {"patterns::broken on 2.1": [(SOUND, "no release, because it was not selected")]}


def test_a_case_that_passes_everywhere_needs_none() -> None:
    assert told(summary(record("2.1", result(BROKEN), result(SOUND)), file=FILE)) == {}
