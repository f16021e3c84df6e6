from __future__ import annotations

import io
from typing import TYPE_CHECKING

import msgspec
import pytest
from packaging.version import Version

from builders import CHECKPOINT_ERROR
from recompat.attempt import Attempt, Ran, Row
from recompat.cells import Cell
from recompat.errors import ConfigurationError, ExitCode, NothingSelected
from recompat.model import Outcome, Phase, Verdict, Warned
from recompat.report.attempt import render_attempt_markdown, render_attempt_text
from recompat.report.page import Paper
from recompat.script import read_script, requirements
from recompat.search import Answer, Change
from recompat.trying import default_matrix

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOSTILE = "\x1b[31m<script>alert(1)</script> | @someone \u202e `x`"
CASES = "def inputs(): return ()\ndef reference(): return {}\ndef case_one(): return {}\ndef case_two(): return {}\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], str]:
    def to_file(source: str, name: str = "repro.py") -> str:
        path = tmp_path / name
        path.write_text(source, "utf-8")
        return str(path)

    return to_file


def test_a_script_is_one_case_and_is_copied(write: Callable[..., str], tmp_path: Path) -> None:
    found = read_script(write("import torch\n", "my-repro 1.py"), tmp_path)
    assert found.plain
    assert [case.id for case in found.cases] == ["my-repro 1.py::script"]
    assert found.file.path.read_text() == "import torch\n"
    assert found.folder == tmp_path / "try" / found.file.sha256[:16]


def test_a_case_file_has_its_cases_and_one_may_be_named(write: Callable[..., str], tmp_path: Path) -> None:
    path = write(CASES, "mine.py")
    assert [case.id for case in read_script(path, tmp_path).cases] == ["mine::one", "mine::two"]
    assert [case.id for case in read_script(f"{path}::case_two", tmp_path).cases] == ["mine::two"]
    with pytest.raises(NothingSelected, match="There is no case three"):
        read_script(f"{path}::three", tmp_path)


def test_what_comes_from_stdin_is_a_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"print(1)")))
    assert read_script("-", tmp_path).file.path.name == "script.py"


def test_what_is_no_python_is_a_script_that_will_say_so(write: Callable[..., str], tmp_path: Path) -> None:
    assert read_script(write("def case_x(:\n"), tmp_path).plain


@pytest.mark.parametrize(
    ("source", "name", "case", "sentence"),
    [
        ("", "repro.py", "", "is empty; there is nothing to run."),
        ("print(1)", "repro.py", "::one", "has no case; a case is a function whose name starts with case_."),
        (CASES, "not-a-name.py", "", "has cases and cannot be run: "),
        ("# /// script\n# dependencies = 3\n# ///\n", "repro.py", "", r"\(PEP 723\) cannot be read"),
        (
            "# /// script\n# dependencies = ['a b c']\n# ///\n",
            "repro.py",
            "",
            "a b c, in the script's own block, is no",
        ),
        ("# /// script\n# x = 1\n# ///\n\n# /// script\n# x = 1\n# ///\n", "repro.py", "", "several blocks"),
    ],
)
def test_a_file_that_cannot_be_tried(
    source: str, name: str, case: str, sentence: str, write: Callable[..., str], tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        read_script(write(source, name) + case, tmp_path)


@pytest.mark.parametrize("name", ["nowhere.py", ".", "nowhere.py::case"])
def test_what_is_no_file_is_a_mistake(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is no file; name a Python file"):
        read_script(name, tmp_path)


def test_packages_of_the_block_but_not_torch(write: Callable[..., str], tmp_path: Path) -> None:
    block = (
        '# /// script\n# dependencies = [\n#   "torch>=2.4",\n#   "transformers==4.57.*",\n# ]\n# ///\nimport torch\n'
    )
    assert [str(one) for one in read_script(write(block), tmp_path).requires] == ["transformers==4.57.*"]
    assert requirements(["Torch==2.1"], "--with") == ()


def test_without_a_project_there_are_defaults() -> None:
    matrix = default_matrix(None)
    assert matrix.packages_for(Version("2.1.2")) == ("setuptools<81", "numpy<2")
    assert matrix.packages_for(Version("2.15.0")) == ("numpy",)


def ran(torch: str, outcome: Outcome = Outcome.PASS, answer: str | None = "pass", **more: object) -> Ran:
    cell = Cell("repro.py::script", f"torch{torch}-cp311-linux_x86_64", outcome, Verdict.NEW)
    cell = msgspec.structs.replace(cell, **more)
    trouble = answer is None
    skipped = str(more.get("detail")) if trouble else None
    return Ran(torch=torch, cell=cell, python="cp311", answer=answer, skipped=skipped, trouble=trouble)


def attempt(
    *found: Ran, between: tuple[str, ...] = (), changes: tuple[Change, ...] = (), name: str = "repro.py"
) -> Attempt:
    releases = tuple(one.torch for one in found)
    row = Row("repro.py::script", "repro.py", found, changes)
    return Attempt(
        recompat="0.1.0",
        file=name,
        platform="linux_x86_64",
        releases=releases,
        between=between,
        rows=(row,),
        folder="reports/try/x",
    )


RAISES = ran(
    "2.3.0",
    Outcome.RAISES,
    "CheckpointError",
    exception=CHECKPOINT_ERROR,
    phase=Phase.BACKWARD,
    message="they differ",
    cause="The SDPA policy was gone.",
)
CHANGE = Change(Version("2.1.0"), Version("2.3.0"), Answer("pass", "p"), Answer("CheckpointError", "c"), ())


def test_boundary_cause_and_warning_are_told() -> None:
    warned = ran("2.1.0", warnings=(Warned("builtins.FutureWarning", "old"),))
    text = render_attempt_text(attempt(warned, RAISES, changes=(CHANGE,)), Paper())
    assert "  2.1.0  pass, warns FutureWarning\n  2.3.0  CheckpointError in backward\n" in text
    assert "pass until 2.1.0, CheckpointError from 2.3.0; exact, no release lies between." in text
    assert "2.3.0: CheckpointError\n  The SDPA policy was gone.\n  they differ\n" in text
    assert "they differ" not in render_attempt_text(attempt(warned, RAISES, changes=(CHANGE,)), Paper(detail=-1))


def test_a_release_that_was_left_out_makes_a_boundary_less_exact() -> None:
    found = attempt(ran("2.1.0"), RAISES, between=("2.2.0",), changes=(CHANGE,))
    assert "CheckpointError from 2.3.0; 1 release between not run." in render_attempt_text(found, Paper())


def test_a_release_that_could_not_be_run_says_why_and_leaves_it_incomplete() -> None:
    found = attempt(ran("2.1.0"), ran("2.2.0", Outcome.NOT_RUN, None, detail="Nothing fits."))
    assert "  2.2.0  not run: Nothing fits.\n" in render_attempt_text(found, Paper())
    assert "| pass    | not run |" in render_attempt_markdown(found)
    assert found.exit_code is ExitCode.INCOMPLETE


def test_of_several_cases_each_is_told_in_a_line() -> None:
    one = attempt(ran("2.1.0"), RAISES, changes=(CHANGE,))
    other = Row("mine::other", "other", (ran("2.1.0"), ran("2.3.0")))
    both = msgspec.structs.replace(one, rows=(*one.rows, other))
    text = render_attempt_text(both, Paper())
    assert "  repro.py::script  pass 2.1.0, CheckpointError 2.3.0\n" in text
    assert "  mine::other       pass 2.1.0 to 2.3.0\n" in text
    assert "they differ" not in text
    assert "they differ" in render_attempt_text(both, Paper(detail=1))


def test_the_table_for_an_issue() -> None:
    lines = render_attempt_markdown(attempt(ran("2.1.0"), RAISES, changes=(CHANGE,))).splitlines()
    assert [cell.strip() for cell in lines[0].split("|")] == ["", "torch", "2.1.0", "2.3.0", ""]
    assert [cell.strip() for cell in lines[2].split("|")] == ["", "`repro.py`", "pass", "CheckpointError", ""]
    assert lines[4] == "- pass until 2.1.0, CheckpointError from 2.3.0; exact, no release lies between."
    assert lines[5] == "- The SDPA policy was gone."


def test_hostile_text_stays_text() -> None:
    bad = ran(
        "2.3.0", Outcome.RAISES, HOSTILE, message=HOSTILE * 9000, frames=(HOSTILE,), cause=HOSTILE, detail=HOSTILE
    )
    found = attempt(ran("2.1.0"), bad, name=HOSTILE, changes=(CHANGE,))
    text = render_attempt_text(found, Paper())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text) < 20_000
    table = render_attempt_markdown(found)
    assert "<script>" not in table
    assert "@someone" not in table
    assert "\u202e" not in table
