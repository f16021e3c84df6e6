"""Selecting releases and cases, and what a selector says that matches nothing; bad options and help."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from support.project import CHECKPOINT_ERROR, nox
from support.sessions import environments, said
from support.wheels import build_torch

if TYPE_CHECKING:
    import subprocess

    from support.project import Project


@pytest.fixture
def wide(finished: Project) -> Project:
    """9.0.0 and 9.1.0 are recorded; 9.1.1 and 9.2.0 are on the index, and so are two that no range should find."""
    build_torch(finished.index.folder, "9.1.1")
    build_torch(finished.index.folder, "9.2.0")
    build_torch(finished.index.folder, "9.3.0rc1")
    build_torch(finished.index.folder, "9.2.1")
    finished.index.yanked["torch-9.2.1-py3-none-any.whl"] = "broken"
    build_torch(finished.index.folder, "1.13.1")
    finished.expectations.write_text("")
    finished.expect("passes::square", ">=1", "pass")
    finished.expect("regresses::regresses", "!=9.1.0", "pass")
    finished.expect("regresses::regresses", "==9.1.0", "raises", CHECKPOINT_ERROR)
    return finished


def releases(project: Project) -> list[str]:
    return [environment["torch"] for environment in project.matrix_json()["environments"]]


def required(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"Running session probe\(torch='(.*)'\)", done.stderr)


@pytest.mark.parametrize("jobs", [(), ("-j", "1")])
def test_no_release_is_run_after_one_with_an_unexpected_cell(jobs: tuple[str, ...], project: Project) -> None:
    project.expectations.write_text("")
    project.expect("passes::square", ">=9", "differs")
    project.expect("regresses::regresses", ">=9", "pass")
    done = nox(project, *jobs, "-s", "matrix", "--", "-x")
    assert done.returncode == 1, done.stdout + done.stderr
    assert project.cells("verdict") == {
        ("passes::square", "9.0.0"): "fixed",
        ("regresses::regresses", "9.0.0"): "expected",
        ("passes::square", "9.1.0"): "missing",
        ("regresses::regresses", "9.1.0"): "missing",
    }
    assert "torch 9.1.0 was not run: torch 9.0.0 has an unexpected cell (-x)." in said(done.stderr)
    assert environments(project) == []
    assert "torch-9.1.0-py3-none-any.whl" not in project.index.downloads


def test_expected_outcomes_stop_nothing(project: Project) -> None:
    done = nox(project, "-s", "matrix", "--", "-x")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "As expected: all 4 cells." in done.stdout


def test_ranges_lists_and_the_newest(wide: Project) -> None:
    newest = nox(wide, "-s", "matrix", "--", "--torch", "latest")
    assert newest.returncode == 0, newest.stdout + newest.stderr
    assert required(newest) == releases(wide) == ["9.2.0"]

    minors = nox(wide, "-s", "matrix", "--", "--torch", "latest-minors")
    assert minors.returncode == 0, minors.stdout + minors.stderr
    assert required(minors) == ["9.1.1"]  # what stands is not run again
    assert releases(wide) == ["9.0.0", "9.1.1", "9.2.0"]

    asked = len(wide.index.requests)
    listed = nox(wide, "-s", "matrix", "--", "--torch", "9.1.0,9.0.0")
    assert (listed.returncode, required(listed)) == (0, [])
    assert releases(wide) == ["9.0.0", "9.1.0"]
    assert len(wide.index.requests) == asked  # named alone, a known release needs no index

    ranged = nox(wide, "-s", "matrix", "--", "--torch", ">=9.1,<9.2", "--torch", "9.2.0")
    assert (ranged.returncode, required(ranged)) == (0, [])
    assert releases(wide) == ["9.1.0", "9.1.1", "9.2.0"]
    everything = nox(wide, "-s", "report")
    assert everything.returncode == 0
    assert releases(wide) == ["9.0.0", "9.1.0", "9.1.1", "9.2.0"]


def test_cases_by_keyword(project: Project) -> None:
    done = nox(project, "-s", "matrix", "--", "-k", "not regresses", "--torch", ">=9.1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.cells() == {("passes::square", "9.1.0"): "pass"}
    assert "trying 1 case in 3 replays" in done.stdout

    rest = nox(project, "-s", "matrix", "--", "--torch", ">=9.1")
    assert rest.returncode == 0, rest.stdout + rest.stderr
    assert "trying 1 case in 3 replays" in rest.stdout  # the other one stands
    assert {case for case, _ in project.cells()} == {"passes::square", "regresses::regresses"}


THERE = "There are: 9.0.0, 9.1.0, 9.1.1, 9.2.0."


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        ("-s matrix -- --torch >=10", 5, f"No release matches --torch >=10. {THERE}"),
        ("-s matrix -j 2 -- --torch 9.0.0,8.0.0", 5, f"No release matches --torch 8.0.0. {THERE}"),
        ("-s matrix -- -k nope", 5, "No case matches -k 'nope'. There are: passes::square, regresses::regresses."),
        ("-s matrix -- -j 2 -k nope", 5, "No case matches -k 'nope'. There are: passes::square, regresses::regresses."),
        ("-s matrix -- -k (square", 4, "-k '( square' cannot be read; write words joined by and, or, not and parenth"),
        (
            "-s matrix -- --torch nine",
            4,
            "--torch nine cannot be read; write a release (2.11.0), a range (>=2.9), late",
        ),
        ("-s matrix -j 2 -- --sauce cpu", 4, "There is no option --sauce; did you mean --source? nox -s matrix -- -"),
        ("-s matrix -- --rerun all --format json", 4, "--format is an option of nox -s report and of recompat report;"),
        ("-s report -- --format jsno", 4, "There is no format jsno; did you mean json? The formats are html, "),
        ("-s matrix -- --timeout 0", 4, "Argument --timeout: 0 is not between 0 and 86400 seconds; nox -s matrix"),
        ("-s probe(torch='8.0.0') -- --torch 8.0.0", 5, f"No release matches --torch 8.0.0. {THERE}"),
        ("-s report -- --torch 8.0.0", 5, "No release matches --torch 8.0.0. There are: 9.0.0, 9.1.0."),  # no index
    ],
)
def test_a_sentence_and_an_exit_code(wide: Project, options: str, code: int, sentence: str) -> None:
    before = (wide.reports / "matrix.json").read_bytes()
    done = nox(wide, *options.split())
    assert done.returncode == code
    (only,) = said(done.stderr)
    assert only.startswith(sentence)
    assert "Traceback" not in done.stderr
    assert environments(wide) == []
    assert (wide.reports / "matrix.json").read_bytes() == before


def test_one_format_of_a_report(wide: Project) -> None:
    before = sorted(wide.reports.rglob("*"))
    done = nox(wide, "-s", "report", "--", "--format", "json", "--torch", "9.1.0")
    assert done.returncode == 0, done.stderr
    assert [column["torch"] for column in json.loads(done.stdout)["environments"]] == ["9.1.0"]
    assert sorted(wide.reports.rglob("*")) == before
    assert releases(wide) == ["9.0.0", "9.1.0"], "the site is as it was"


def test_help_and_the_list_of_sessions(wide: Project) -> None:
    helped = nox(wide, "-s", "matrix", "--", "--help")
    assert helped.returncode == 0
    for option in (
        "--torch SPEC",
        "-k EXPR",
        "--rerun {failed,changed,flaky,stale,missing,all}",
        "--source {auto,cpu,default}",
        "exit status",
    ):
        assert option in helped.stdout
    assert "running session" not in helped.stderr.lower()
    listed = nox(wide, "-l")
    assert listed.returncode == 0
    assert "* matrix -> " in listed.stdout
    assert [line.partition(" ->")[0] for line in listed.stdout.splitlines() if "probe" in line] == [
        "- probe(torch='9.0.0')",
        "- probe(torch='9.1.0')",
    ]
    assert wide.index.requests == []
