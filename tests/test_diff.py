from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builders import PASSES, passes, record, result
from recompat.cli import run
from recompat.record import save_record
from recorded import SOURCE, make_project, recorded
from scenes import CHECKPOINT
from test_schemas import validator

if TYPE_CHECKING:
    from recompat.project import Project

OLD = {"plain": PASSES, "plain_too": passes(1e-8)}
NEW = {"plain": CHECKPOINT, "plain_too": passes(3e-8)}
RECORD = "torch2.9.1-cp311-linux_x86_64"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Two releases that were recorded here, one more that was accepted, and the folder ``other`` of another machine."""
    made = make_project(tmp_path / "project", recorded("2.9.1", OLD), recorded("2.11.0", NEW))
    for torch in ("2.9.1", "2.10.0"):
        save_record(made.baseline, recorded(torch, OLD))
    for torch in ("2.9.1", "2.11.0"):
        save_record(made.root / "other" / "records", recorded(torch, OLD))
    monkeypatch.chdir(made.root)
    return made


def ended(*arguments: str) -> int:
    try:
        run(["diff", *arguments])
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("2.9.1", "2.11.0"), 1, "Different: 1 of 2 cases, by outcome (1). Not counted: differences (1).\n"),
        (("2.9.1", "2.11.0", "-k", "plain_too"), 0, "The same: 1 case, by outcome,"),
        (("2.9.1", "2.11.0", "--only", "differences"), 1, "Different: 2 of 2 cases, by differences (2).\n"),
        (("2.9.1", "2.11.0", "--only", "operators, warnings"), 0, "The same: 2 cases, by operators and warnings.\n"),
        (("2.9", "2.11"), 1, "2.9 (A) against 2.11 (B)\nDifferent: 1 of 2 cases"),
        (("torch2.9.1", RECORD), 0, "The same: 2 cases"),
        (("other", "reports"), 1, "Different: 1 of 4 results in 2 pairs of environments, by outcome (1)."),
        (("other:2.11.0", "reports/records:2.11.0"), 1, "Different: 1 of 2 cases"),
        (("2.11.0", "other"), 1, "2.11.0 (A) against other (B)\nDifferent: 1 of 2 cases"),
        ((f"other/records/{RECORD}.json", "2.9.1"), 0, "The same: 2 cases"),
    ],
)
@pytest.mark.usefixtures("project")
def test_what_can_be_named(
    arguments: tuple[str, ...], code: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*arguments) == code
    assert text in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("2.9.1", "2.1"), 5, "There is no record of 2.1; did you mean"),
        (("torch", "2.9.1"), 4, "torch may be 2 environments of the records here; name one of them:\n  - torch2.11.0"),
        (("2.9.2", "2.11.0"), 5, "There is no record of 2.9.2; did you mean\n  - 2.9.1"),
        (("other:2.12.0", "2.11.0"), 5, "There is no record in other of 2.12.0"),
        (("other:", "2.11.0"), 4, "There is no file or folder other:; name a release, "),
        (("nowhere/records", "2.11.0"), 4, "There is no file or folder nowhere/records; name a release, "),
        (("nowhere:2.9.1", "2.11.0"), 4, "There is no file or folder nowhere; name a release, "),
        (("matrix/cases", "2.11.0"), 5, "There is no record in matrix/cases; name a folder that has torch….json."),
        (("matrix/matrix.toml", "2.11.0"), 4, "matrix/matrix.toml is no valid record ("),
        (("2.9.1", "2.11.0", "--only", "outcomes"), 4, "There is no part outcomes for --only; did you mean outcome?"),
        (("2.9.1", "2.11.0", "--only", ","), 4, "There is no part ',' for --only; there is cases, differences,"),
        (("2.9.1", "2.11.0", "-k", "qqq"), 5, "No case matches -k 'qqq'."),
        (
            ("2.10.0", "reports"),
            5,
            "There is nothing to compare: no environment is on both sides.\n  - 2.10.0 has torch2.10.0",
        ),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_name_that_stands_for_nothing_ends_in_a_sentence(
    arguments: tuple[str, ...], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert f"recompat: {sentence}" in err


@pytest.mark.usefixtures("project")
def test_where_the_records_here_lack_one_both_are_taken_from_the_accepted_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ended("2.9.1", "2.10.0") == 0
    assert "2.9.1 is taken from matrix/baseline.\nrecompat: 2.10.0 is taken from" in capsys.readouterr().err
    assert ended("2.10.0", "2.11.0") == 1
    assert capsys.readouterr().err == "recompat: 2.10.0 is taken from matrix/baseline.\n"


def test_the_records_that_were_named_are_the_only_ones(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("2.9.1", "2.11.0", "--records", str(project.root / "other" / "records")) == 0
    assert ended("2.9.1", "2.10.0", "--records", str(project.root / "other" / "records")) == 5
    assert "There is no record of 2.10.0" in capsys.readouterr().err


def test_a_damaged_record_of_a_folder_is_named_left_out_and_left_alone(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = project.root / "other" / "records" / f"{RECORD}.json"
    damaged.write_text("{")
    assert ended("other", "reports") == 1
    assert f"{RECORD}.json is no valid record" in capsys.readouterr().err
    assert damaged.read_text() == "{"
    assert ended("other:2.9.1", "reports") == 4


def test_interpreters_of_one_release_are_told_apart(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    save_record(project.records, record("2.9.1", result("patterns::plain"), python="cp312"))
    assert ended("2.9.1", "2.11.0") == 4
    assert (
        f"2.9.1 may be 2 environments of the records here; name one of them:\n  - {RECORD}" in capsys.readouterr().err
    )
    assert ended("2.9.1-cp311", "2.9.1-cp312") == 0


def test_the_formats(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("2.9.1", "2.11.0", "--format", "json") == 1
    made = json.loads(capsys.readouterr().out)
    validator("diff-1.json").validate(made)
    assert made["pairs"][0]["changes"][0]["part"] == "outcome"
    assert ended("2.9.1", "2.11.0", "--format", "markdown") == 1
    assert capsys.readouterr().out.startswith("# 2.9.1 (A) against 2.11.0 (B)\n")


def test_warnings_count_where_the_case_file_says_so(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    from builders import warns

    observing = SOURCE.replace("    And more of it.\n", "    :observes: warnings\n")
    (project.cases / "patterns.py").write_text(observing)
    save_record(project.records, recorded("2.12.0", {"plain": warns("new")}))
    assert ended("2.9.1", "2.12.0") == 1
    assert "pass → pass +builtins.UserWarning" in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_a_faulty_file_does_not_stand_in_the_way_of_another() -> None:
    Path("matrix/cases/faulty.py").write_text("def case_x(:\n")
    assert ended("2.9.1", "2.11.0", "-k", "plain_too") == 0
