"""Every outcome end to end, in forked children and in processes of their own; what verdicts make of the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.project import CHECKPOINT_ERROR, Project, add_case, nox
from support.sessions import GREEN, cell, leftovers, processes, record_of, said, trials
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    from pathlib import Path

    from support.index import Index

OUTCOMES = {
    "passes::square": ("pass", None),
    "regresses::regresses": ("raises", "builtins.AttributeError"),
    "raises::recomputes_flat": ("raises", CHECKPOINT_ERROR),
    "raises::forward": ("raises", "builtins.LookupError"),
    "differs::counts_calls": ("differs", None),
    "differs::side_effect": ("differs", None),
    "aborts::aborts": ("crash", None),
    "aborts::after": ("pass", None),
    "exits::os_exit": ("crash", None),
    "exits::os_exit_zero": ("crash", None),
    "exits::sys_exit": ("crash", None),
    "exits::after": ("pass", None),
    "hangs::sleeps": ("timeout", None),
    "floods::floods": ("pass", None),
    "leaves_process::leaves_process": ("pass", None),
    "moot::refuses": ("moot", "builtins.NotImplementedError"),
    "accepts::accepts": ("differs", None),
    "needs_missing_api::never_runs": ("unsupported", None),
    "needs_context_fn::with_context_fn": ("unsupported", None),
    "needs_context_fn::without": ("pass", None),
    "restless::looks_at_its_folder": ("pass", None),
}
RESTLESS = '''"""Is copied for the last replay, and notices: the warm replays do not agree."""

from pathlib import Path


def inputs():
    return ()


def reference():
    return {"folder": "cases"}


def case_looks_at_its_folder():
    return {"folder": Path(__file__).parent.name}
'''


@pytest.fixture
def varied(index: Index, tmp_path: Path) -> Project:
    """One release, and a case for every outcome; all but the flaky one are as expected."""
    project = Project(tmp_path / "project", index)
    build_torch(
        index.folder,
        "9.2.0",
        behaviour=Behaviour.LACKS_CONTEXT_FN,
        checkpoints={"regresses": Behaviour.PROCESS_DEPENDENT},
    )
    project.write_matrix(["9.2.0"], timeout=4)
    add_case(project.cases, *{case.partition("::")[0] for case in OUTCOMES} - {"restless"})
    (project.cases / "restless.py").write_text(RESTLESS, "utf-8")
    project.expectations.write_text("", "utf-8")
    for case, (outcome, exception) in OUTCOMES.items():
        project.expect(case, "==9.2.0", outcome, exception)
    return project


@pytest.mark.parametrize("isolation", ["fork", "process"])
def test_every_outcome(varied: Project, isolation: str) -> None:
    done = nox(varied, "-s", "matrix", "--", "--isolation", isolation, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    found = {case: (outcome, cell(varied, case, "9.2.0")["exception"]) for (case, _), outcome in varied.cells().items()}
    assert found == OUTCOMES
    unexpected = {case: verdict for (case, _), verdict in varied.cells("verdict").items() if verdict != "expected"}
    assert unexpected == {"restless::looks_at_its_folder": "flaky"}
    assert leftovers(varied) == []
    assert processes(varied) == {}
    assert record_of(varied, "9.2.0")["run"]["options"]["isolation"] == isolation

    restless = cell(varied, "restless::looks_at_its_folder", "9.2.0")
    assert restless["flaky"]
    assert restless["replays"] == {"cold": "pass", "warm": "pass", "warm-copied": "differs"}
    assert {"outcome", "differences"} == {*restless["unsteady"]}
    dependent = cell(varied, "regresses::regresses", "9.2.0")
    assert dependent["process_dependent"]
    assert not dependent["flaky"]
    assert dependent["replays"] == {"cold": "AttributeError", "warm": "pass", "warm-copied": "pass"}
    assert [case for (case, _), it in varied.cells("process_dependent").items() if it] == ["regresses::regresses"]
    _check_details(varied)
    _check_the_table(done.stdout)


def _check_details(project: Project) -> None:
    details = {
        "aborts::aborts": "ended by SIGABRT",
        "exits::os_exit": "exited with status 3",
        "exits::os_exit_zero": "exited with status 0",
        "exits::sys_exit": "exited with status 1",
        "hangs::sleeps": "no result within 4 s",
        "needs_missing_api::never_runs": "torch.utils.no_such_module",
        "needs_context_fn::with_context_fn": "context_fn",
    }
    for case, detail in details.items():
        replays = trials(project, "9.2.0")[case]
        assert all(detail in replays[replay]["detail"] for replay in ("cold", "warm", "warm-copied")), replays
    flat = cell(project, "raises::recomputes_flat", "9.2.0")
    assert flat["phase"] == "backward"
    assert flat["mismatches"][0]["recomputed"] == {"shape": [6], "dtype": "torch.float32", "device": "cpu"}
    assert cell(project, "raises::forward", "9.2.0")["phase"] == "forward"
    assert cell(project, "differs::counts_calls", "9.2.0")["max_abs_diff"] > 1
    assert "The reference raises builtins.RuntimeError: " in cell(project, "accepts::accepts", "9.2.0")["detail"]


def _check_the_table(output: str) -> None:
    rows = {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in output.splitlines()}
    assert rows["recomputes_flat"] == "CheckpointError"
    assert rows["regresses"] == "AttributeError° †"
    assert rows["looks_at_its_folder"] == "pass flaky!"
    assert rows["counts_calls"] == "DIFFERS"
    assert rows["never_runs"] == "n/a"
    assert "replays: cold AttributeError, warm pass, warm-copied pass" in output
    assert "replays: cold pass, warm pass, warm-copied DIFFERS" in output
    assert f"verdicts   expected {len(OUTCOMES) - 1}, flaky 1 (of {len(OUTCOMES)})" in output
    assert f"Unexpected: 1 of {len(OUTCOMES)} cells." in output


def test_unexpected_cells_are_named(finished: Project) -> None:
    finished.expectations.write_text("", "utf-8")
    finished.expect("passes::square", "==9.0.0", "differs")
    finished.expect("regresses::regresses", "==9.0.0", "unsupported")
    finished.expect("regresses::regresses", "==9.1.0", "pass")
    done = nox(finished, "-s", "matrix")
    assert done.returncode == 1
    assert finished.cells() == GREEN
    assert finished.cells("verdict") == {
        ("passes::square", "9.0.0"): "fixed",
        ("passes::square", "9.1.0"): "new",
        ("regresses::regresses", "9.0.0"): "changed",
        ("regresses::regresses", "9.1.0"): "regressed",
    }
    for text in ("regressed! regresses::regresses on torch9.1.0-cp", "fixed! passes::square on torch9.0.0-cp"):
        assert text in done.stdout
    assert "expected: pass for torch ==9.1.0: The stand-in is built so." in done.stdout
    assert "Unexpected: 4 of 4 cells." in done.stdout
    assert "trying" not in done.stdout
    assert "Unexpected: 4 of 4 cells." in (finished.reports / "matrix.md").read_text("utf-8")


def test_missing_cells_are_incomplete_and_unexpected_ones_weigh_more(finished: Project) -> None:
    finished.write_matrix(("9.0.0", "9.1.0", "9.2.0"))  # which no index has
    incomplete = nox(finished, "-j", "2", "-s", "matrix")
    assert incomplete.returncode == 6
    assert {place: outcome for place, outcome in finished.cells().items() if place in GREEN} == GREEN
    assert finished.cells()["passes::square", "9.2.0"] == "not-run"
    assert finished.cells("verdict")["passes::square", "9.2.0"] == "missing"
    assert "Incomplete: 2 of 6 cells have no result; the other 4 as expected." in incomplete.stdout
    assert "There is no torch 9.2.0; the newest are 9.0.0, 9.1.0." in " ".join(incomplete.stdout.split())
    assert said(incomplete.stderr) == []  # nothing is downloaded, so there is nothing to announce

    claims = finished.expectations.read_text("utf-8").replace('"<9.1"', '"<9.0"').replace('">=9.1"', '">=9.0"')
    finished.expectations.write_text(claims.replace('torch = "<9.0"', 'torch = "==9.2.0"').replace(">=9.0", "<9.2"))
    both = nox(finished, "-j", "2", "-s", "matrix")
    assert both.returncode == 1
    assert "Unexpected: 1 of 6 cells; 2 of 6 cells have no result." in both.stdout
    assert leftovers(finished) == []
