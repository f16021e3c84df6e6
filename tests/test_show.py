from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest

from builders import PASSES, again, raises, record, result
from recompat.boundary import Boundary, BoundaryKind, Ending
from recompat.errors import NothingSelected
from recompat.model import Call, Change, Evidence, Outcome, Pass
from recompat.operators import OperatorChange
from recompat.record import save_record
from recompat.report.page import Paper
from recompat.report.show_case import render_case
from recompat.reproduce import find_reproduction
from recompat.show import case_view, read_known
from recorded import SOURCE, digest, four_releases, make_project, outcomes, recorded, shown
from scenes import CHECKPOINT

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.cells import Cell
    from recompat.project import Project
    from recompat.views import CaseView


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return four_releases(tmp_path)


def test_outcomes_come_in_runs_of_releases(project: Project) -> None:
    text = shown(project, "plain")
    assert outcomes(text) == "2.9.1 pass new! | 2.10.0-2.11.0 CheckpointError new! | 2.12.0 not run"
    assert "2.12.0 not run: There is no wheel for cp314." in text
    assert "2.9.1 pass new!: " in text


def test_the_source_is_the_case_alone(project: Project) -> None:
    text = shown(project, "patterns::plain")
    assert text.startswith("patterns::plain\nNothing special.\n")
    assert f"SHA-256  {digest()}" in text
    assert "matrix/cases/patterns.py" in text
    assert '  def case_plain():\n      """Nothing special.\n\n      And more of it.\n' in text
    assert '      return {"x":  1}  # two blanks\n' in text
    assert "case_plain_too" not in text


def test_what_is_not_recorded_is_said_to_be_so(project: Project) -> None:
    assert "2.10.0-2.11.0 CheckpointError new!: no evidence is recorded, so nothing" in shown(project, "plain")
    text = shown(project, "plain", "2.10.0")
    assert "cause     no evidence is recorded, so nothing tells why." in text
    assert "Settings that changed\n  not recorded\n" in text


def test_a_release_in_full(project: Project) -> None:
    text = shown(project, "plain", "2.11.0")
    assert "torch 2.11.0 on cp311, linux_x86_64 (2.11.0+cpu, cpu-index)" in text
    assert re.search(r"0 +shape, dtype +\[2, 4, 8\] float32 cpu +\[1, 2, 8, 4\] bfloat16 cpu", text), (
        "the tensors of the mismatch"
    )
    assert "replays   cold CheckpointError, warm CheckpointError, warm-copied CheckpointError" in text
    assert "recompat reproduce patterns::plain --torch 2.11.0" in text


def test_differences_stand_against_the_tolerance_of_the_case(project: Project) -> None:
    text = shown(project, "plain_too", "2.10.0")
    assert "Values against the reference (atol=1e-3, rtol=0)" in text
    assert re.search(r"q\.grad +NOT EQUAL +0\.25 +half", text)
    assert "builtins.UserWarning: careful" in shown(project, "plain_too", "2.11.0")


def test_the_newest_result_that_does_not_pass_stands_for_the_case(project: Project) -> None:
    assert "Run it again\n  recompat reproduce patterns::plain_too --torch 2.10.0\n" in shown(project, "plain_too")


def test_the_essence_alone(project: Project) -> None:
    text = shown(project, "plain", paper=Paper(detail=-1))
    assert "Outcomes" in text
    assert "Source" not in text
    assert "Run it again" not in text


def test_an_edited_file_is_said_to_be_so(project: Project) -> None:
    (project.cases / "patterns.py").write_text(SOURCE + "\n")
    text = shown(project, "plain")
    assert "patterns.py has changed since this was recorded; run it again." in text
    assert digest(SOURCE + "\n") in text


def test_a_case_whose_file_is_gone_is_known_from_its_records(project: Project) -> None:
    (project.cases / "patterns.py").rename(project.cases / "others.py")
    text = shown(project, "patterns::plain")
    assert "patterns.py is not here any more" in text
    assert outcomes(text).startswith("2.9.1 pass")


@pytest.mark.parametrize("stem", ["../../../evil", "..\\evil", "a\0b", "é" * 300, "a/b"])
def test_no_file_beside_the_case_files_is_read_whatever_a_record_calls_its_case(stem: str, project: Project) -> None:
    (project.root.parent / "evil.py").write_text('def case_x():\n    "a secret"\n')
    save_record(project.records, record("2.14.0", result(f"{stem}::x")))
    text = shown(project, f"{stem}::x")
    assert "is not here any more" in text
    assert "secret" not in text


def test_a_case_that_was_removed_from_its_file(project: Project) -> None:
    (project.cases / "patterns.py").write_text(SOURCE.replace("case_plain()", "case_other()"))
    assert "patterns.py has no such case any more." in shown(project, "patterns::plain")


def test_a_faulty_file_says_why_it_cannot_be_run(project: Project) -> None:
    (project.cases / "faulty.py").write_text("def case_one(:\n")
    assert "faulty.py, line 1 is not valid Python" in shown(project, "faulty")


def test_a_file_that_became_faulty_is_not_judged_by_its_records(project: Project) -> None:
    (project.cases / "patterns.py").write_text("def case_plain(:\n")
    text = shown(project, "patterns::plain")
    assert outcomes(text).startswith("2.9.1-2.12.0 error")
    assert "patterns.py, line 1 is not valid Python" in text


def test_nothing_recorded_yet(tmp_path: Path) -> None:
    assert outcomes(shown(make_project(tmp_path), "plain")) == "Nothing is recorded yet; nox -s matrix runs it."


def test_a_release_that_is_not_recorded(project: Project) -> None:
    with pytest.raises(NothingSelected, match=r"There are: 2\.9\.1, 2\.10\.0, 2\.11\.0, 2\.12\.0; nox"):
        shown(project, "plain", "2.8.0")


def evidence(project: Project, detail: int = 0) -> str:
    calls = tuple(
        Call(
            0,
            during,
            reentrant=False,
            settings={"sdpa.math": "on"},
            operators=("aten.mul", operator),
            ending="returned",
        )
        for during, operator in ((Pass.FORWARD, "aten.sin"), (Pass.RECOMPUTE, "aten.cos"))
    )
    view = case_view(read_known(project), "patterns::plain", "2.11.0")
    watched = Evidence(Outcome.RAISES, None, calls, unwatched=7)
    seen = tuple(msgspec.structs.replace(one, evidence=watched, cell=_told(one.cell)) for one in view.seen)
    chosen = tuple(one for one in seen if one.column.torch == "2.11.0")
    return render_case(msgspec.structs.replace(view, seen=seen, chosen=chosen), Paper(detail=detail))


def _told(cell: Cell) -> Cell:
    changed = (Change("sdpa.flash", "off", "on"), Change("sdpa.new", None, "on"))
    return msgspec.structs.replace(
        cell, cause="The policy is gone.", changes=changed, operator_diff=("- aten.sin", "+ aten.cos")
    )


def test_evidence(project: Project) -> None:
    text = evidence(project)
    assert "cause     The policy is gone." in text
    assert re.search(r"sdpa\.flash +off +on\n +sdpa\.new +absent +on\n", text)
    assert "  - aten.sin\n  + aten.cos\n  7 further calls were not watched\n" in text
    assert "all in recompute: aten.mul, aten.cos (returned)" in evidence(project, detail=1)


def with_boundaries(view: CaseView, **more: object) -> str:
    values: dict[str, object] = {
        "kind": BoundaryKind.OUTCOME,
        "old": Ending(Outcome.PASS),
        "new": Ending(Outcome.RAISES, "a.b.Error"),
        "exact": True,
        **more,
    }
    boundary = Boundary(case=view.id, platform="linux_x86_64", last="2.9.1", first="2.10.0", **values)  # type: ignore[arg-type]
    return render_case(msgspec.structs.replace(view, boundaries=(boundary,)), Paper(width=200))


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, "pass until 2.9.1, Error from 2.10.0; exact, no release lies between"),
        ({"exact": False, "not_run": ("2.9.2",)}, "pass until 2.9.1, Error from 2.10.0; not run between: 2.9.2"),
    ],
)
def test_boundaries(project: Project, more: dict[str, object], line: str) -> None:
    text = with_boundaries(case_view(read_known(project), "patterns::plain"), **more)
    assert f"\nBoundaries\n  {line}\n" in text


def test_operators_that_changed(project: Project) -> None:
    change = OperatorChange(
        case="patterns::plain",
        platform="linux_x86_64",
        last="2.9.1",
        first="2.10.0",
        during=Pass.FORWARD,
        before="aten._softmax",
        after="aten._safe_softmax",
        diff=("- aten._softmax", "+ aten._safe_softmax"),
    )
    view = case_view(read_known(project), "patterns::plain")
    text = render_case(msgspec.structs.replace(view, operator_changes=(change,)), Paper(width=200))
    assert "  2.9.1 to 2.10.0, forward: attention by aten._softmax, then by aten._safe_softmax\n" in text


def test_a_result_is_taken_whole(tmp_path: Path) -> None:
    depends = result("patterns::plain", raises("builtins.RuntimeError", "no"), PASSES)
    text = shown(make_project(tmp_path, recorded("2.11.0", {"plain": depends})), "plain", "2.11.0")
    assert "outcome   RuntimeError° in backward new! †" in text
    assert "replays   cold RuntimeError, warm pass, warm-copied pass" in text


def test_what_a_person_says_of_the_cause_stands_below_what_the_evidence_tells(tmp_path: Path) -> None:
    claims = """
[[patterns.plain]]
torch = "<2.10"
outcome = "pass"
reason = "Nothing is compared yet."

[[patterns.plain]]
torch = ">=2.10"
outcome = "raises"
exception = "torch.utils.checkpoint.CheckpointError"
reason = "Shapes are compared."
"""
    trials = {"2.9.1": PASSES, "2.10.0": CHECKPOINT, "2.11.0": CHECKPOINT}
    records = (recorded(torch, {"plain": trial}) for torch, trial in trials.items())
    text = shown(make_project(tmp_path, *records, expectations=claims), "patterns::plain")
    told = text.partition("Expectations, and their reasons\n")[2].partition("\n\n")[0].splitlines()
    assert told == [
        "  pass for torch <2.10: Nothing is compared yet.",
        "  torch.utils.checkpoint.CheckpointError for torch >=2.10: Shapes are compared.",
    ]


def test_a_run_of_other_cases_tells_nothing_of_this_one(tmp_path: Path) -> None:
    records = (recorded(torch, {"plain": PASSES}) for torch in ("2.9.0", "2.11.0"))
    made = make_project(tmp_path, *records, recorded("2.10.0", {"plain_too": PASSES}))
    assert "2.9.0-2.11.0 pass new!" in shown(made, "patterns::plain")
    assert "not run" not in shown(made, "patterns::plain")


def test_where_nothing_is_recorded_here_the_accepted_records_speak(tmp_path: Path) -> None:
    made = make_project(tmp_path, recorded("2.9.0", {"plain": PASSES}))
    save_record(made.baseline, recorded("2.11.0", {"plain": PASSES, "plain_too": PASSES}))
    known = read_known(made, "plain_too")
    assert [record.environment.torch for record in known.records] == ["2.11.0"]
    (note,) = known.set_aside
    assert note == "nothing is recorded here of plain_too; what follows is from the records in matrix/baseline."
    assert [record.environment.torch for record in read_known(made, "patterns::plain").records] == ["2.9.0"]
    elsewhere = msgspec.structs.replace(made, elsewhere=made.records)
    assert read_known(elsewhere, "plain_too").set_aside == ()


def test_of_a_release_that_is_not_recorded_here_the_accepted_records_speak(tmp_path: Path) -> None:
    made = make_project(tmp_path, recorded("2.9.0", {"plain": PASSES}))
    save_record(made.baseline, recorded("2.11.0", {"plain": PASSES}))
    known = read_known(made, "plain", "2.11.0")
    assert known.set_aside == (
        "nothing is recorded here of plain on torch 2.11.0; what follows is from the records in matrix/baseline.",
    )
    assert find_reproduction(known, "plain", "2.11.0", None).record == known.records[0]
    for torch in ("2.9.0", "2.10.0"):
        assert [record.environment.torch for record in read_known(made, "plain", torch).records] == ["2.9.0"]


def test_a_verification_is_told_in_a_word(project: Project) -> None:
    for cold, words in (
        (CHECKPOINT, "ended the same again, from scratch"),
        (PASSES, "no: from scratch, cold pass, warm "),
    ):
        save_record(project.records, recorded("2.11.0", {"plain": again(result("patterns::plain", CHECKPOINT), cold)}))
        assert re.search(rf"verified +{words}", shown(project, "plain", "2.11.0"))
    assert re.search(r"differ in +verification", shown(project, "plain", "2.11.0"))
    assert "verified" not in shown(project, "plain", "2.10.0")
