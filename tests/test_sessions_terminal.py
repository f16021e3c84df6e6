"""What a user sees: colours and a line that lives on a terminal, plain lines in a pipe, little with -q."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from support.project import add_case, nox
from support.sessions import on_terminal

if TYPE_CHECKING:
    from support.project import Project

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[[0-9;]+m")
STEPS = (
    "resolving",
    "installing torch-9.0.0-py3-none-any.whl (default index)",
    "importing and",
    "trying 4 cases in 3 r",
)


def test_colours_and_a_living_line_on_a_terminal(project: Project) -> None:
    add_case(project.cases, "differs")
    code, output = on_terminal(project, "-s", "matrix", "--", "--torch", "9.1.0")
    assert code == 1
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output)
    for step in STEPS:
        assert f"torch 9.1.0  {step.replace('9.0.0', '9.1.0')}" in plain, step
    assert re.search(r"replay [123] of 3, \d+ trials? done", plain)  # it lives: a pipe never shows that
    assert re.search(r"\d:\d\d:\d\d", plain)  # and says how long it takes
    assert f"{ESCAPE}[?25l" in output  # no cursor beside it
    assert output.rfind(f"{ESCAPE}[?25h") > output.rfind(f"{ESCAPE}[?25l")  # and it comes back
    assert "32mpass" in output
    assert "33mCheckpointError" in output
    assert re.search(r"1;[0-9]+mDIFFERS", output)
    line = next(line for line in plain.splitlines() if line.startswith("regresses  "))
    assert line.split() == ["regresses", "CheckpointError"]


def test_no_colour_on_request(finished: Project) -> None:
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, output = on_terminal(finished, "-s", "report", "--", env=env)
        assert code == 0
        (_, table) = output.split("case  ", 1)
        assert COLOUR.search(table.partition("As expected")[0]) is None, env
    code, output = on_terminal(finished, "-s", "report")
    assert COLOUR.search(output.partition("case  ")[2].partition("As expected")[0])


def test_plain_lines_in_a_pipe(project: Project) -> None:
    add_case(project.cases, "differs")
    done = nox(project, "-s", "matrix", "--", "--torch", "9.0.0", env={"NO_COLOR": "", "COLUMNS": "60"})
    assert done.returncode == 1
    assert ESCAPE not in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("torch 9.0.0  ")]
    assert len(lines) == len(STEPS) + 1  # one per step, whole, and the last one says what came of it
    for line, step in zip(lines, STEPS, strict=False):
        assert line.startswith(f"torch 9.0.0  {step}")
    assert re.fullmatch(r"torch 9\.0\.0  recorded in \d+ s: 2 differs, 2 pass", lines[-1])


def test_quiet(project: Project) -> None:
    done = nox(project, "-s", "matrix", "--", "-q", "--torch", "9.0.0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "torch 9.0.0  " not in done.stdout
    assert done.stdout.startswith("case  ")
    quiet = nox(project, "-s", "matrix", "--", "-q", "--torch", "9.7.0")
    assert (quiet.returncode, quiet.stdout) == (5, "")
    assert "No release matches --torch 9.7.0." in quiet.stderr


def test_what_has_not_changed_is_drawn_for_another_width_and_for_github_and_published_once(finished: Project) -> None:
    assert nox(finished, "-s", "matrix", env={"COLUMNS": "100"}).returncode == 0
    published = (finished.reports / "matrix.json").stat()
    narrow = nox(finished, "-s", "matrix", env={"COLUMNS": "48"})
    page = finished.root / "summary.md"
    wide = nox(finished, "-s", "matrix", env={"COLUMNS": "100", "GITHUB_STEP_SUMMARY": str(page)})
    assert (narrow.returncode, wide.returncode) == (0, 0)
    assert max(map(len, narrow.stdout.splitlines())) < max(map(len, wide.stdout.splitlines()))
    assert "# Compatibility matrix" in page.read_text()
    assert (finished.reports / "matrix.json").stat() == published
