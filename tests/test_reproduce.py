from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from builders import PASSES, differs, ends, raises, record, trouble
from recompat.again import Comparison
from recompat.errors import ConfigurationError, Incomplete, NothingSelected
from recompat.model import Outcome
from recompat.reproduce import Reproduction, find_reproduction, pinned
from recompat.show import read_known
from recorded import SOURCE, digest, make_project, recorded
from scenes import CHECKPOINT

if TYPE_CHECKING:
    from recompat.model import Facts, Record
    from recompat.project import Project


def found(
    project: Project, case: str = "patterns::plain", torch: str = "2.11.0", out: Path | None = None
) -> Reproduction:
    return find_reproduction(read_known(project), case, torch, out)


def with_facts(one: Record, **more: object) -> Record:
    assert one.facts is not None
    return msgspec.structs.replace(one, facts=msgspec.structs.replace(one.facts, **more))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = make_project(
        tmp_path,
        with_facts(recorded("2.11.0", {"plain": CHECKPOINT, "plain_too": PASSES}), source="default index"),
        record("2.12.0", trouble=trouble()),
    )
    monkeypatch.chdir(tmp_path)
    return made


def test_the_commands(project: Project) -> None:
    assert found(project).commands.splitlines() == [
        "cd reproduce/torch2.11.0",
        "uv venv --python 3.11.7 .venv && uv pip install --python .venv torch==2.11.0 numpy==1.26.4 Not.Installed",
        '.venv/bin/python -c "import patterns as f; f.case_plain(*f.inputs())"',
    ]


def test_inputs_of_its_own(project: Project) -> None:
    assert "f.case_plain_too(*f.others())" in found(project, "plain_too").commands


def test_here_needs_no_change_of_folder(project: Project) -> None:
    assert found(project, out=Path()).commands.startswith("uv venv ")
    assert found(project, out=Path("a folder")).commands.startswith("cd 'a folder'\n")


def test_the_text_says_what_was_recorded_and_how_it_ends(project: Project) -> None:
    text = found(project).text
    assert text.startswith(
        "patterns::plain on torch 2.11.0+cpu, Python 3.11.7, linux_x86_64\nrecorded 2026-11-29T14:01:00Z:"
    )
    assert f"SHA-256  {digest()}, the record's own\n" in text
    assert text.endswith("It ends with torch.utils.checkpoint.CheckpointError in backward.")
    assert found(project, "plain_too").text.endswith("It ends without a word: the case passes.")


@pytest.mark.parametrize(
    ("source", "build", "words"),
    [
        ("default index", "2.11.0", "--python .venv torch==2.11.0 "),
        ("CPU index", "2.11.0+cpu", "--python .venv --torch-backend cpu torch==2.11.0+cpu "),
        ("wheel folder", "2.11.0+cpu", "--python .venv --find-links {folder} torch==2.11.0+cpu "),
        ("wheel folder", "2.11.0+gone", "--python .venv --torch-backend cpu torch==2.11.0+gone "),
    ],
)
def test_the_exact_build_is_named_and_no_index_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, build: str, words: str
) -> None:
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "torch-2.11.0+cpu-cp311-cp311-linux_x86_64.whl").touch()
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    one = with_facts(recorded("2.11.0", {"plain": PASSES}), source=source, packages={"torch": build, "numpy": "1.26.4"})
    commands = found(make_project(tmp_path / "project", one)).commands
    assert words.format(folder=folder) in commands
    assert "://" not in commands


@pytest.mark.parametrize(
    ("stem", "code"),
    [
        ("my-case", "f = runpy.run_path('\"'\"'my-case.py'\"'\"')"),
        ("class", "f = runpy.run_path("),
        ("fine", 'python -c "import fine as f; '),
    ],
)
def test_a_file_that_cannot_be_imported_by_name(project: Project, stem: str, code: str) -> None:
    one = found(project)
    renamed = msgspec.structs.replace(one, file=msgspec.structs.replace(one.file, path=Path(f"{stem}.py")))
    assert code.replace("'\"'\"'", "'") in renamed.commands.replace("'\"'\"'", "'")


def test_the_file_is_written_byte_for_byte(project: Project) -> None:
    found(project).write()
    assert Path("reproduce/torch2.11.0/patterns.py").read_bytes() == SOURCE.encode()
    found(project, "plain_too").write()


def test_another_file_is_not_overwritten(project: Project) -> None:
    Path("patterns.py").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"^patterns.py is there, with another content; name another folder"):
        found(project, out=Path()).write()
    assert Path("patterns.py").read_text() == "mine"


def test_a_file_in_the_place_of_a_folder(project: Project) -> None:
    Path("taken").write_text("mine")
    for out in ("taken", "taken/deeper"):
        with pytest.raises(ConfigurationError, match=f"^{out} is no folder; name another with --out"):
            found(project, out=Path(out)).write()


def test_what_a_record_says_stays_a_word_of_a_command(tmp_path: Path) -> None:
    bad = "1; touch 'hit' $(touch hit)\x1b[31m\n`touch hit`"
    one = with_facts(
        recorded("2.11.0", {"plain": raises(f"evil.{bad}")}),
        python_version=bad, imported=bad, packages={"torch": bad, "numpy": bad},
    )  # fmt: skip
    made = found(make_project(tmp_path, one), out=tmp_path)
    (tmp_path / "uv").write_text('#!/bin/sh\nprintf "%s\\n" "$@" >> uv-got\n')
    (tmp_path / "uv").chmod(0o755)
    make = made.commands.splitlines()[1]
    subprocess.run(["sh", "-c", make], cwd=tmp_path, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=True)
    assert len((tmp_path / "uv-got").read_text().splitlines()) == 11
    assert not (tmp_path / "hit").exists()
    assert "\x1b" not in made.text


def test_an_edited_file_is_not_the_recorded_one(project: Project) -> None:
    (project.cases / "patterns.py").write_text(SOURCE + "\n")
    with pytest.raises(ConfigurationError) as caught:
        found(project)
    message = str(caught.value)
    assert message.startswith(
        "patterns.py was edited since torch 2.11.0 was recorded; restore the file, or run it again: "
    )
    assert digest() in message
    assert digest(SOURCE + "\n") in message


def test_a_file_that_is_gone(project: Project) -> None:
    (project.cases / "patterns.py").rename(project.cases / "others.py")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        found(project)


def test_an_environment_with_trouble_has_nothing_to_reproduce(project: Project) -> None:
    with pytest.raises(Incomplete, match=r"patterns::plain on torch 2.12.0: There is no wheel for cp314\.$"):
        found(project, torch="2.12.0")


def test_a_case_that_was_not_run(tmp_path: Path) -> None:
    project = make_project(tmp_path, recorded("2.11.0", {"plain": ends(Outcome.NOT_RUN)}))
    for case in ("patterns::plain", "plain_too"):
        with pytest.raises(Incomplete, match=r"nox -s matrix -- --torch 2.11.0 runs it"):
            found(project, case)


def test_there_is_no_such_case(project: Project) -> None:
    with pytest.raises(NothingSelected, match=r"did you mean\n  - patterns::plain"):
        found(project, "plian")


def test_requirements_are_pinned_to_what_was_there(project: Project) -> None:
    facts = msgspec.structs.replace(found(project).facts, packages={"NumPy": "1.26.4", "setuptools": "80.9.0"})
    assert pinned(("numpy<2", "setuptools<81", "absent"), facts) == ("numpy==1.26.4", "setuptools==80.9.0", "absent")


@pytest.fixture
def facts(project: Project) -> Facts:
    return found(project).facts


def test_a_comparison_shows_both(facts: Facts) -> None:
    now = msgspec.structs.replace(facts, imported="2.11.0+cu130")
    other = Comparison(CHECKPOINT, facts, raises("builtins.IndexError", "no\x1b[31m row"), now)
    assert not other.same
    assert "recorded  CheckpointError in backward (torch 2.11.0+cpu, Python 3.11.7)\n" in other.text
    assert "now       IndexError in backward (torch 2.11.0+cu130, Python 3.11.7)\n" in other.text
    assert "now       no row\n" in other.text
    assert other.text.endswith("Not reproduced: the outcome is another one.")


def test_the_same_outcome_may_have_other_details(facts: Facts) -> None:
    slower = msgspec.structs.replace(CHECKPOINT, seconds=99.0)
    same = Comparison(CHECKPOINT, facts, slower, facts)
    assert same.same
    assert same.text.endswith("Reproduced: the outcome is the recorded one.")
    other = Comparison(differs(0.25), facts, differs(0.5), facts)
    assert other.same
    assert other.text.endswith("Reproduced: the outcome is the recorded one, other differences.")
