"""The commands for several machines, as a user types them."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import msgspec
import pytest

from builders import PASSES
from recompat.record import save_record
from recorded import SOURCE, digest, make_project, recorded
from scenes import CHECKPOINT
from support.environment import NOWHERE
from test_cli import ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recompat.model import Record, Trial
    from recompat.project import Project

ONE_CASE = SOURCE.partition("\n\ndef case_plain_too")[0]
CLAIMS = """
[[patterns.plain]]
torch = ">=2"
outcome = "pass"
reason = "A test says so."
"""


@pytest.fixture(autouse=True)
def terminal_signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def plain(trial: Trial) -> Record:
    """A record of the one case."""
    return recorded("2.11.0", {"plain": trial}, sha256=digest(ONE_CASE))


def elsewhere(made: Record, platform: str = "macosx_arm64") -> Record:
    return msgspec.structs.replace(made, environment=msgspec.structs.replace(made.environment, platform=platform))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Two folders of records: of Linux and of macOS, where a case ends otherwise."""
    made = make_project(tmp_path / "project", source=ONE_CASE, expectations=CLAIMS)
    save_record(made.root / "linux", plain(PASSES))
    save_record(made.root / "mac", elsewhere(plain(CHECKPOINT)))
    monkeypatch.chdir(made.root)
    return made


def columns(project: Project) -> list[str]:
    return [column["id"] for column in json.loads((project.reports / "matrix.json").read_bytes())["environments"]]


def test_merge_reports_every_platform_and_so_does_report(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    both = ["torch2.11.0-cp311-linux_x86_64", "torch2.11.0-cp311-macosx_arm64"]
    assert ended("merge", "mac", "linux") == 1
    out = capsys.readouterr().out
    assert columns(project) == both
    assert "Where platforms disagree:\n  pass on linux_x86_64; CheckpointError on macosx_arm64\n" in out
    assert sorted(path.stem for path in project.records.iterdir()) == both
    assert ended("report", "-q") == 1
    assert columns(project) == both
    assert sorted(path.stem for path in (project.reports / "site" / "records").iterdir()) == both


def test_merging_again_changes_nothing(project: Project) -> None:
    assert ended("merge", "linux", "mac") == 1
    before = {path.name: path.stat().st_mtime_ns for path in project.records.iterdir()}
    assert ended("merge", "mac", "linux", "mac") == 1
    assert {path.name: path.stat().st_mtime_ns for path in project.records.iterdir()} == before


def test_records_may_go_elsewhere(project: Project) -> None:
    assert ended("merge", "linux", "--out", "deep/er") == 0
    assert [path.stem for path in (project.root / "deep" / "er").iterdir()] == ["torch2.11.0-cp311-linux_x86_64"]
    assert not project.records.exists()
    assert columns(project) == ["torch2.11.0-cp311-linux_x86_64"]


def test_one_format_alone_and_some_releases_alone(project: Project, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    save_record(project.root / "linux", recorded("2.9.1", {"plain": PASSES}, sha256=digest(ONE_CASE)))
    plan = project.root / "plan.json"
    plan.write_text('{"include":[{"torch":"2.11.0","os":"macos-15","python":"3.11"}]}')
    assert ended("merge", "linux", "mac", "--format", "json", "--torch", "2.9.1") == 0
    made = json.loads(capsysbinary.readouterr().out)
    assert [column["torch"] for column in made["environments"]] == ["2.9.1"]
    assert not (project.reports / "site").exists()
    assert len(list(project.records.iterdir())) == 3, "all are merged"
    assert ended("merge", "linux", "--format", "json", "--torch", "2.9.1", "--plan", "plan.json") == 1
    made = json.loads(capsysbinary.readouterr().out)
    assert [column["platform"] for column in made["environments"]] == ["linux_x86_64", "linux_x86_64", "macosx_arm64"]


def test_what_was_skipped_stands_on_the_page_and_the_status_says_so(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    (project.root / "linux" / "torch2.9.1-cp311-linux_x86_64.json").write_text("{<script>")
    assert ended("merge", "linux") == 6
    assert "torch2.9.1-cp311-linux_x86_64.json was skipped" in capsys.readouterr().err
    assert "torch2.9.1-cp311-linux_x86_64.json was skipped" in (project.reports / "index.html").read_text("utf-8")


def test_a_conflict_is_told_and_the_preferred_folder_decides(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    save_record(project.root / "again", plain(CHECKPOINT))
    assert ended("merge", "linux", "again", "--prefer", "linux", "--out", "one") == 6
    assert "CheckpointError in again, but pass in linux, which is preferred and is kept." in capsys.readouterr().err
    assert ended("merge", "linux", "again", "--prefer", "again", "--out", "other") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["merge"], 4, "The following arguments are required: DIR; recompat merge --help lists the options."),
        (["merge", "nowhere"], 4, "Argument DIR: nowhere is no folder; recompat merge --help lists the options."),
        (["merge", "matrix"], 4, "There is no record in matrix; name folders that hold some."),
        (["merge", "linux", "--prefer", "mac"], 4, "--prefer mac is none of the folders; name one of linux, "),
        (["merge", "linux", "--format", "jsno"], 4, "There is no format jsno; did you mean json?"),
        (["merge", "linux", "--plan", "linux"], 4, "--plan linux cannot be read (Is a directory)."),
        (
            ["merge", "linux", "--plan", "matrix/matrix.toml"],
            4,
            "--plan matrix/matrix.toml is not what recompat ci-matrix",
        ),
        (["ci-matrix", "--os", "ubuntu-latest"], 4, "--os names 'ubuntu-latest', which is no runner that is known; "),
        (["ci-matrix", "--python", "3.11,3.8"], 4, "--python names '3.8', on which recompat does not run; "),
        (["ci-matrix", "-k", "plain and"], 4, "-k 'plain and' cannot be read;"),
        (["ci-matrix", "-k", "nothing"], 5, "No case matches -k 'nothing'."),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_mistake_ends_in_a_sentence_and_nothing_is_written(
    arguments: list[str], code: int, sentence: str, capsys: pytest.CaptureFixture[str], project: Project
) -> None:
    assert ended(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"recompat: {sentence}")
    assert not project.reports.exists()


def test_without_an_index_no_job_is_planned(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{NOWHERE}/simple/")
    monkeypatch.setenv("UV_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    matrix = project.matrix.read_text()
    project.matrix.write_text(f'{matrix}\n[sources]\ncpu-index = "{NOWHERE}/cpu"\n')
    assert ended("ci-matrix", "--source", "default") == 6
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("recompat: Which wheels there are is not known: the default index is out of reach")
