from __future__ import annotations

import io
import json
import os
from typing import TYPE_CHECKING

import msgspec
import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from builders import CHECKPOINT_ERROR
from recompat.attempt import Attempt, Ran, Row, Step
from recompat.cells import Cell
from recompat.errors import ConfigurationError, ExitCode, NothingSelected
from recompat.index import Offer
from recompat.model import Outcome, Phase, Verdict, Warned
from recompat.report.attempt import render_attempt_markdown, render_attempt_text
from recompat.report.json import render_json
from recompat.report.page import Paper
from recompat.script import read_script, requirements
from recompat.script_work import for_python
from recompat.sources import Source, Sources
from recompat.trying import default_matrix
from recompat.wheels import EnvironmentTrouble
from support.wheels import running_tags
from test_schemas import validator

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
        ("print(1)\0", "repro.py", "", "is no Python source, since it has NUL bytes"),
        ("{}", "repro.ipynb", "", "is a notebook; save it as a script"),
        ("import torch", "torch.py", "", "would be imported in the place of torch; give it another name."),
        ("# /// script\n# requires-python = 'new'\n# ///\n", "repro.py", "", r"\(PEP 723\) cannot be read"),
        ("# /// script\n# x = 1\n# ///\n\n# /// script\n# x = 1\n# ///\n", "repro.py", "", "several blocks"),
    ],
)
def test_a_file_that_cannot_be_tried(
    source: str, name: str, case: str, sentence: str, write: Callable[..., str], tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        read_script(write(source, name) + case, tmp_path)


@pytest.mark.parametrize("name", ["nowhere.py", ".", "nowhere.py::case", "nowhere.py/repro.py"])
def test_what_is_no_file_is_a_mistake(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is no file; name a Python file"):
        read_script(name, tmp_path)


@pytest.mark.parametrize("name", ["x" * 300, "loop"])
def test_what_cannot_even_be_looked_at_is_a_mistake(name: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ConfigurationError, match=r"cannot be read \(.*\); make it readable"):
        read_script(str(tmp_path / name), tmp_path)


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(ConfigurationError, match="is no file; name a Python file"):
        read_script(str(tmp_path / "pipe.py"), tmp_path)


def test_of_a_large_file_no_more_is_read_than_tells_that_it_is_large(tmp_path: Path) -> None:
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(ConfigurationError, match="has more than 524,288 bytes"):
        read_script(str(tmp_path / "large.py"), tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf# /// script\r\n# dependencies = ['einops']\r\n# ///\r\nimport torch\r\n",
        b"# -*- coding: latin-1 -*-\n# /// script\n# dependencies = ['einops']\n# ///\nx = '\xe9'\n",
    ],
)
def test_marks_line_ends_and_codings_of_others_are_kept_and_read(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_bytes(content)
    found = read_script(str(tmp_path / "repro.py"), tmp_path / "reports")
    assert found.file.path.read_bytes() == content
    assert [str(one) for one in found.requires] == ["einops"]


@pytest.mark.parametrize("name", ["a\nb.py", "a\x1b[31mb.py", "a\udcffb.py", "a\u202eb.py"])
def test_a_name_that_acts_or_is_no_text_is_not_taken_over(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("import torch\n")
    found = read_script(str(tmp_path / name), tmp_path)
    assert ([case.id for case in found.cases], found.file.path.name) == (["script.py::script"], "script.py")


def test_packages_of_the_block_but_not_torch(write: Callable[..., str], tmp_path: Path) -> None:
    block = (
        '# /// script\n# dependencies = [\n#   "torch>=2.4",\n#   "transformers==4.57.*",\n# ]\n# ///\nimport torch\n'
    )
    assert [str(one) for one in read_script(write(block), tmp_path).requires] == ["transformers==4.57.*"]
    assert requirements(["Torch==2.1"], "--with") == ()


def test_interpreters_of_the_block(write: Callable[..., str], tmp_path: Path) -> None:
    block = '# /// script\n# requires-python = ">=3.12"\n# ///\nimport torch\n'
    assert str(read_script(write(block), tmp_path).python) == ">=3.12"


def offers(*tags: str) -> Sources:
    wheels = (Offer(f"torch-9.0.0-{tag}-{tag}-{platform_tag()}.whl", "https://x/y") for tag in tags)
    return Sources({Source.FOLDER: tuple(wheels)}, {})


def platform_tag() -> str:
    return running_tags().rpartition("-")[2]


def test_wheels_are_left_for_interpreters_that_are_asked_for() -> None:
    left = for_python(offers("cp310", "cp312", "cp313"), Version("9.0.0"), SpecifierSet(">=3.12.2,<3.13"))
    assert [offer.filename.split("-")[2] for offer in left.offers[Source.FOLDER]] == ["cp312"]


def test_where_no_wheel_is_left_the_reason_names_what_is_asked_for() -> None:
    with pytest.raises(EnvironmentTrouble, match=r"asks for Python >=3\.99, and this release has no wheel for such an"):
        for_python(offers("cp310"), Version("9.0.0"), SpecifierSet(">=3.99"))
    assert for_python(offers("cp310"), Version("9.1.0"), SpecifierSet(">=3.99")).offers == {Source.FOLDER: ()}


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


def attempt(*found: Ran, changes: tuple[Step, ...] = (), name: str = "repro.py") -> Attempt:
    releases = tuple(one.torch for one in found)
    row = Row("repro.py::script", "repro.py", found, changes)
    return Attempt(
        recompat="0.1.0",
        file=name,
        sha256="0" * 64,
        plain=True,
        platform="linux_x86_64",
        releases=releases,
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
CHANGE = Step(last="2.1.0", first="2.3.0", old="pass", new="CheckpointError")


def test_boundary_cause_and_warning_are_told() -> None:
    warned = ran("2.1.0", warnings=(Warned("builtins.FutureWarning", "old"),))
    text = render_attempt_text(attempt(warned, RAISES, changes=(CHANGE,)), Paper())
    assert "  2.1.0  pass, warns FutureWarning\n  2.3.0  CheckpointError in backward\n" in text
    assert "pass until 2.1.0, CheckpointError from 2.3.0; exact, no release lies between." in text
    assert "2.3.0: CheckpointError\n  The SDPA policy was gone.\n  they differ\n" in text
    assert "they differ" not in render_attempt_text(attempt(warned, RAISES, changes=(CHANGE,)), Paper(detail=-1))


def test_a_release_that_was_left_out_makes_a_boundary_less_exact() -> None:
    found = attempt(ran("2.1.0"), RAISES, changes=(msgspec.structs.replace(CHANGE, not_run=("2.2.0",)),))
    assert "CheckpointError from 2.3.0; 1 release between not run." in render_attempt_text(found, Paper())


def test_a_release_that_could_not_be_run_says_why_and_leaves_it_incomplete() -> None:
    found = attempt(ran("2.1.0"), ran("2.2.0", Outcome.NOT_RUN, None, detail="Nothing fits."))
    assert "  2.2.0  not run: Nothing fits.\n" in render_attempt_text(found, Paper())
    assert "| pass    | not run |" in render_attempt_markdown(found)
    assert found.exit_code is ExitCode.INCOMPLETE


def test_neighbours_that_say_nothing_for_the_same_reason_are_one_line() -> None:
    silent = [ran(torch, Outcome.NOT_RUN, None, detail="Nothing fits.") for torch in ("2.1.0", "2.2.0", "2.3.0")]
    text = render_attempt_text(attempt(*silent, ran("2.4.0"), ran("2.5.0")), Paper())
    assert "\n  2.1.0 to 2.3.0  not run: Nothing fits.\n  2.4.0           pass\n  2.5.0           pass\n" in text


def test_of_several_cases_each_is_told_in_a_line() -> None:
    one = attempt(ran("2.1.0"), RAISES, changes=(CHANGE,))
    other = Row("mine::other", "other", (ran("2.1.0"), ran("2.3.0")))
    both = msgspec.structs.replace(one, rows=(*one.rows, other))
    text = render_attempt_text(both, Paper())
    assert "  repro.py::script  pass 2.1.0, CheckpointError 2.3.0\n" in text
    assert "  mine::other       pass 2.1.0 to 2.3.0\n" in text
    assert "they differ" not in text
    assert "they differ" in render_attempt_text(both, Paper(detail=1))


@pytest.mark.parametrize(
    ("more", "hint"),
    [
        ({"exception": "builtins.ModuleNotFoundError"}, "No release has that module"),
        ({"exception": "builtins.EOFError"}, "Standard input is empty"),
        ({"message": "backend='inductor' raised: No module named 'setuptools'"}, "Old releases need setuptools"),
        ({"message": "InvalidCxxCompiler: No working C++ compiler found in"}, "torch.compile found no C++ compiler"),
    ],
)
def test_what_a_person_would_add_is_said(more: dict[str, object], hint: str) -> None:
    found = attempt(ran("2.3.0", Outcome.RAISES, "Error", **more))
    assert f"\nNote\n  {hint}" in render_attempt_text(found, Paper())
    assert f"\n- {hint}" in render_attempt_markdown(found)
    assert "Note" not in render_attempt_text(attempt(ran("2.1.0")), Paper())


def test_of_a_script_the_log_of_the_newest_release_is_named() -> None:
    found = attempt(ran("2.1.0"), RAISES, ran("2.4.0", Outcome.NOT_RUN, None, detail="Nothing fits."))
    log = "What it printed: reports/try/x/logs/torch2.3.0-cp311-linux_x86_64/output.log"
    assert render_attempt_text(found, Paper()).endswith(f"Records and logs: reports/try/x\n{log}\n")
    cases = msgspec.structs.replace(found, plain=False)
    assert render_attempt_text(cases, Paper()).endswith("Records and logs: reports/try/x\n")


def test_the_json_is_valid_and_has_all() -> None:
    found = attempt(ran("2.1.0"), RAISES, ran("2.4.0", Outcome.NOT_RUN, None, detail=HOSTILE), changes=(CHANGE,))
    written = json.loads(render_json(found))
    validator("try-1.json").validate(written)
    assert written["rows"][0]["changes"][0]["first"] == "2.3.0"
    assert [one["answer"] for one in written["rows"][0]["ran"]] == ["pass", "CheckpointError", None]
    for key in written:
        assert not validator("try-1.json").is_valid({name: value for name, value in written.items() if name != key})


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
