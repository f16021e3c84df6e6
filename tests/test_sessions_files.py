"""Faults in matrix.toml, expectations.toml and case files: told together, before anything is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.project import add_case, nox
from support.sessions import GREEN, cell, environments, leftovers, said, trials

if TYPE_CHECKING:
    from support.project import Project

CLAIMS = """
[[passes.square]]
torch = ">=9"
outcome = "pass"
reason = "The stand-in is built so."

[[passes.square]]
torch = "==9.1.0"
outcome = "pass"
reason = "It overlaps."

[[passes.sqare]]
torch = ">=9"
outcome = "pass"
reason = "No such case."

[[regresses.regresses]]
torch = ">=10"
outcome = "wrong"
reason = "No such outcome."

[[regresses.regresses]]
torch = "<9"
outcome = "pass"
reason = "No such release."
"""
FAULTS = (
    "[[passes.square]] #1 and #2 torch both cover 9.1.0; narrow one of them.",
    "[[passes.sqare]] names no case; did you mean passes::square?",
    "[[regresses.regresses]] #1 outcome is 'wrong'; write one of pass, raises, differs, moot,",
    "[[regresses.regresses]] #2 torch '<9' matches no release; there is 9.0.0, 9.1.0.",
)


def files(project: Project) -> list[str]:
    return sorted(path.relative_to(project.root).as_posix() for path in project.reports.rglob("*"))


def test_all_faults_of_expectations_at_once(project: Project) -> None:
    project.expectations.write_text(CLAIMS, "utf-8")
    done = nox(project, "-s", "matrix")
    assert done.returncode == 4
    assert f"recompat: {project.expectations} has 4 faults; nothing was run:" in done.stderr
    for fault in FAULTS:
        assert f"\n  - {fault}" in done.stderr, fault
    assert "Traceback" not in done.stderr
    assert "probe" not in done.stderr + done.stdout
    assert (project.index.requests, environments(project), files(project)) == ([], [], [])

    # A release can be tried all the same: that needs no expectations. With the mend, its record stands.
    tried = nox(project, "-s", "probe(torch='9.0.0')")
    assert tried.returncode == 0, tried.stderr
    assert set(trials(project, "9.0.0")) == {"passes::square", "regresses::regresses"}
    assert nox(project, "-s", "report").returncode == 4
    project.expectations.write_text("", "utf-8")
    project.expect("passes::square", ">=9", "pass")
    project.expect("regresses::regresses", "==9.0.0", "pass")
    mended = nox(project, "-s", "report")
    assert mended.returncode == 0, mended.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[passes.square]\ntorch = 1", ", line 1, column 16, is not valid TOML: "),
        (None, "There is no file "),
    ],
)
@pytest.mark.parametrize("jobs", [(), ("-j", "2")], ids=["one", "two"])
def test_expectations_that_are_no_toml(
    finished: Project, text: str | None, sentence: str, jobs: tuple[str, ...]
) -> None:
    before = {name: (finished.reports / name).read_bytes() for name in ("matrix.json", "matrix.md")}
    if text is None:
        finished.expectations.unlink()
    else:
        finished.expectations.write_text(text, "utf-8")
    done = nox(finished, *jobs, "-s", "matrix")
    assert done.returncode == 4
    (only,) = said(done.stdout + done.stderr)
    assert sentence in only
    assert str(finished.expectations) in only
    assert {name: (finished.reports / name).read_bytes() for name in before} == before
    assert leftovers(finished) == []


MATRIX = """
[torch]
default = ["9.0.0", "nine", "9.0.0"]
knwon = []

[run]
timeout = -1

[[extras]]
torch = ">=9"
packages = ["torch<9"]
reason = ""
"""


def test_all_faults_of_the_matrix_at_once(project: Project) -> None:
    path = project.root / "matrix" / "matrix.toml"
    path.write_text(MATRIX, "utf-8")
    done = nox(project, "-s", "matrix")
    assert done.returncode == 4
    told = done.stderr
    assert f"recompat: {path} has 5 faults; nothing was run:" in told
    for fault in (
        "[torch] knwon is not a known key; did you mean known?",
        "[torch] default #2 is 'nine'; write a release such as \"2.11.0\".",
        "[run] timeout is -1; write a number above 0 and at most 86400.",
        "[[extras]] #1 packages names torch itself; releases are chosen under [torch] alone.",
        "[[extras]] #1 reason is empty; say why these releases need the packages.",
    ):
        assert f"\n  - {fault}" in told, fault
    assert "Traceback" not in told
    assert (project.index.requests, environments(project), files(project)) == ([], [], [])

    alone = nox(project, "-s", "probe(torch='9.0.0')")
    assert alone.returncode == 4
    assert "has 5 faults; nothing was run:" in alone.stderr
    listed = nox(project, "-l")
    assert listed.returncode == 0, listed.stderr
    assert "- lint -> " in listed.stdout
    assert "has 5 faults" not in listed.stderr


def test_a_matrix_that_is_no_toml(finished: Project) -> None:
    (finished.root / "matrix" / "matrix.toml").write_text('[torch]\ndefault = ["9.0.0"\n', "utf-8")
    before = (finished.reports / "matrix.json").read_bytes()
    for arguments in (["-s", "matrix"], ["-j", "2", "-s", "matrix"], ["-s", "report"]):
        done = nox(finished, *arguments)
        assert done.returncode == 4
        (only,) = said(done.stdout + done.stderr)
        assert "matrix.toml, line 2, is not valid TOML: Unclosed array (at end of document); mend that line." in only
    assert (finished.reports / "matrix.json").read_bytes() == before


def test_faulty_case_files_are_error_cells_and_the_rest_runs(finished: Project) -> None:
    add_case(finished.cases, "syntax_error", "no_cases", "duplicates", "import_fails", "no_reference")
    claimed = ("duplicates::same", "import_fails::never_runs")
    for case in claimed:
        finished.expect(case, ">=9", "pass")
    done = nox(finished, "-s", "matrix")
    assert done.returncode == 1, done.stdout + done.stderr
    details = {
        "syntax_error::*": "syntax_error.py, line 8 is not valid Python: ",
        "no_cases::*": "no_cases.py defines no case; a case is a function whose name starts with case_.",
        "duplicates::same": "duplicates.py defines case_same more than once; rename all but one.",
        "import_fails::never_runs": "no_such_module",
        "no_reference::alone": "reference",
    }
    outcomes, verdicts = finished.cells(), finished.cells("verdict")
    for case, detail in details.items():
        for release in ("9.0.0", "9.1.0"):
            assert outcomes[case, release] == "error"
            assert verdicts[case, release] == ("regressed" if case in claimed else "new")
            found = cell(finished, case, release)
            assert detail in f"{found['detail']} {found['message']}"
    assert {place: outcome for place, outcome in outcomes.items() if place in GREEN} == GREEN
    assert "trying 2 cases in 3 replays" in done.stdout  # those of the files that can be read
    assert set(trials(finished, "9.0.0")) == {"import_fails::never_runs", "no_reference::alone", *(c for c, _ in GREEN)}
    assert f"error {2 * len(details)}" in done.stdout
    again = nox(finished, "-s", "matrix")
    assert again.returncode == 1
    assert "trying" not in again.stdout


def test_no_case_file_at_all(project: Project) -> None:
    for path in project.cases.iterdir():
        path.unlink()
    done = nox(project, "-s", "matrix")
    assert done.returncode == 4
    assert said(done.stderr) == [
        f"There is no case file in {project.cases}; add one, such as {project.cases / 'my_pattern.py'}."
    ]
    assert files(project) == []
