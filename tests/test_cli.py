from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builders import PASSES
from recompat import __version__
from recompat.__main__ import main
from recompat.cli import run
from recompat.commands import COMMANDS
from recompat.report.formats import FORMATS
from recorded import make_project, recorded
from scenes import CHECKPOINT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.project import Project

ROOT = Path(__file__).parent.parent
LONGER = {"": 41, "bisect": 31, "diff": 27, "try": 32}  # what has more to say than a screen of 24 lines


@pytest.fixture(autouse=True)
def terminal_signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = make_project(
        tmp_path / "project", recorded("2.9.1", {"plain": PASSES}), recorded("2.11.0", {"plain": CHECKPOINT})
    )
    monkeypatch.chdir(made.root)
    return made


def ended(*arguments: str) -> int:
    try:
        run(arguments)
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("--version") == 0
    assert capsys.readouterr().out == f"recompat {__version__}\n"


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended() == 0
    assert capsys.readouterr().out.startswith("usage: recompat ")


@pytest.mark.parametrize("arguments", [(), *((command,) for command in COMMANDS)])
def test_the_help_fits_a_screen(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert ended(*arguments, "--help") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= LONGER.get(" ".join(arguments), 24)
    assert any(line.startswith("example") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["shwo", "x"], 4, "There is no command shwo; did you mean show?"),
        (["qqq"], 4, f"There is no command qqq; there is {', '.join(sorted(COMMANDS))}."),
        (
            ["show"],
            4,
            "The following arguments are required: CASE|ENVIRONMENT; recompat show --help lists the options.",
        ),
        (
            ["show", "plain", "--torhc", "2"],
            4,
            "There is no option --torhc; did you mean --torch? recompat show --help lists the options.",
        ),
        (
            ["--qiet=1", "show", "plain"],
            4,
            "There is no option --qiet; did you mean --quiet? recompat show --help lists",
        ),
        (["show", "plain", "-Z"], 4, "There is no option -Z; recompat show --help lists the options."),
        (["show", "plain", "too"], 4, "Unrecognized arguments: too; recompat show --help lists the options."),
        (["show", "qqqq"], 5, "There is no case or environment qqqq. The closest of 6 are\n  - "),
        (["report", "-k", "plian"], 5, "No case matches -k 'plian'; did you mean plain?"),
        (["report", "-k", "qqqq"], 5, "No case matches -k 'qqqq'. There are: patterns::plain, patterns::plain_too."),
        (["report", "-k", "family:paterns"], 5, "There is no family 'paterns'; did you mean patterns? There are: pat"),
        (["show", "plian"], 5, "There is no case or environment plian; did you mean\n  - patterns::plain"),
        (["show", "patterns"], 4, "patterns may be 2 cases; name one of them:"),
        (["show", "plain", "--torch", "2.12.0"], 5, "There is no record of torch 2.12.0. There are: 2.9.1, 2.11.0;"),
        (["reproduce", "plain", "--torch", "2.12.0"], 5, "There is no record of torch 2.12.0."),
        (
            ["--project", "nowhere", "show", "plain"],
            4,
            "nowhere has no matrix/matrix.toml; name the folder that has it.",
        ),
        (["report", "-k", "(plain"], 4, "-k '( plain' cannot be read;"),
        (["report", "--format", "svg-badge"], 4, "There is no format svg-badge; "),
        (["report", "--format", "markdwon"], 4, "There is no format markdwon; did you mean markdown? The formats are "),
        (["report", "--out", "x.json"], 4, "--out needs --format; it takes one of html, markdown, "),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_mistake_ends_in_a_sentence(
    arguments: list[str], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"recompat: {sentence}")


def test_outside_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ended("show", "plain") == 4
    assert "There is no matrix/matrix.toml here or in a folder above" in capsys.readouterr().err


def test_the_nearest_project_upwards(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.cases)
    assert ended("show", "plain", "-q") == 0
    assert capsys.readouterr().out.startswith("patterns::plain\n")


@pytest.mark.parametrize("before", [True, False])
def test_common_options_stand_before_a_command_or_after_it(
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    before: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    common, command = ["-q", "--project", str(project.root)], ["show", "plain"]
    assert ended(*(common + command if before else command + common)) == 0
    assert "Source" not in capsys.readouterr().out


def test_a_damaged_record_is_named(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (project.records / "torch2.9.1-cp311-linux_x86_64.json").write_text("{")
    assert ended("show", "plain") == 0
    out, err = capsys.readouterr()
    assert "2.11.0 CheckpointError" in out
    assert "is no valid record" in err


def test_report_is_the_report_session(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("report", "-k", "plain_too or plain") in {1, 6}
    assert "Unexpected:" in capsys.readouterr().out
    assert (project.reports / "matrix.json").is_file()
    assert "2.9.1" in (project.reports / "matrix.md").read_text()
    assert ended("report", "--torch", "2.11.0") == 1
    assert "2.9.1" not in (project.reports / "matrix.md").read_text()


def test_one_format_alone_goes_to_the_output_and_nothing_is_written(
    project: Project, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = project.root / "steps.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(steps))
    before = sorted(project.root.rglob("*"))
    assert ended("report", "--format", "json", "--torch", "2.11.0") == 1
    out, err = capsysbinary.readouterr()
    assert [column["torch"] for column in json.loads(out)["environments"]] == ["2.11.0"]
    assert err == b""
    assert sorted(project.root.rglob("*")) == before
    assert ended("report") == 1
    assert "# Compatibility matrix" in steps.read_text("utf-8")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_had(name: str, project: Project, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert ended("report", f"--format={name}") == 1
    out, err = capsysbinary.readouterr()
    assert len(out.decode()) > 100
    assert err == b""


def test_one_format_into_a_file(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("report", "--format", "badge-json", "--out", "made/badge.json") == 1
    assert json.loads((project.root / "made" / "badge.json").read_bytes())["schemaVersion"] == 1
    assert [path.name for path in (project.root / "made").iterdir()] == ["badge.json"]
    assert not (project.reports / "site").exists()
    assert ended("report", "--format", "badge-json", "--out", "made") == 6
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("recompat: made is in the way or gone (Is a directory)")


def test_what_is_no_file_is_written_to_and_not_replaced(project: Project) -> None:
    pipe, link = project.root / "pipe", project.root / "link"
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert ended("report", "--format", "badge-json", "--out", "link") == 1
    assert json.loads(os.read(reader, 65536))["schemaVersion"] == 1
    os.close(reader)
    assert link.is_symlink()
    assert pipe.is_fifo()


def test_a_fault_of_ours_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: list[str]) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("recompat.cli.run", broken)
    with pytest.raises(SystemExit) as ending:
        main()
    assert ending.value.code == 3
    assert re.search(r"ZeroDivisionError\nrecompat: this is a fault in recompat itself", capsys.readouterr().err)


def python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "error"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=env, cwd=cwd, check=False, text=True, capture_output=True, timeout=60)


@pytest.mark.parametrize(("command", "code"), [("show plain", 0), ("report --format html", 1)])
def test_a_reader_that_has_enough_is_no_fault(command: str, code: int, project: Project) -> None:
    line = f"{sys.executable} -m recompat {command} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (code, "")


def test_help_imports_nothing_that_costs() -> None:
    code = "import sys; from recompat.cli import parser; parser().format_help(); print(*sorted(sys.modules))"
    there = set(python("-c", code).stdout.split())
    assert "argparse" in there
    assert not there & {"msgspec", "packaging", "tabulate", "nox", "rich", "subprocess", "recompat.model"}


def test_show_imports_no_more_than_it_needs(project: Project) -> None:
    code = "import sys; from recompat.cli import run; run(['show', 'plain']); print(*sorted(sys.modules))"
    there = set(python("-c", code, cwd=project.root).stdout.splitlines()[-1].split())
    assert "msgspec" in there
    assert not there & {
        "nox",
        "rich",
        "unearth",
        "tabulate",
        "jinja2",
        "recompat.reproduce",
        "recompat.plan",
        "recompat.work",
    }
