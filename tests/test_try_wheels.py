"""On a real PyTorch wheel: scripts that imitate bug reports end as a person would say, and no error is without a meaning.

``RECOMPAT_TORCH_PYTHONS`` may name an interpreter, as for the evidence: where it does not, the release is installed.
"""

from __future__ import annotations

import ast
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from recompat.model import Outcome, Trial
from recompat.other_errors import read_others
from recompat.pasted import read_messages
from recompat.report.attempt import NO_COMPILER
from recompat.sandbox import Sandbox, sandbox_folder
from recompat.script_work import run_script
from recompat.trials import Job
from support.real import real_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.wheels

RELEASE = "2.15.0"
PYTHONS = dict(pair.split("=", 1) for pair in filter(None, os.environ.get("RECOMPAT_TORCH_PYTHONS", "").split(",")))
SCRIPTS = Path(__file__).parent / "samples" / "scripts"
LIMITS = {"hangs": 15.0}
"""In seconds, of those that need another one than all others."""


class Ending(NamedTuple):
    """How a script ends: its outcome, its exception and what is said besides."""

    outcome: Outcome
    exception: str | None = None
    detail: str | None = None


ENDINGS = {
    "crashes": Ending(Outcome.CRASH, None, "ended by SIGSEGV at crashes.py:16 in backward"),
    "hangs": Ending(Outcome.TIMEOUT, None, "did not end within 15 s; it was at hangs.py:9 in <lambda>"),
    "prints_a_megabyte": Ending(Outcome.PASS),
    "needs_a_package": Ending(Outcome.RAISES, "builtins.ModuleNotFoundError"),
    "passes_on_newer_releases": Ending(Outcome.PASS),
    "reads_stdin": Ending(Outcome.RAISES, "builtins.EOFError"),
    "forks": Ending(Outcome.PASS),
    "writes_files": Ending(Outcome.PASS),
    "compiles": Ending(Outcome.PASS),
    "raises_at_exit": Ending(Outcome.RAISES, "builtins.AssertionError", "raised in an exit hook; the exit status is 0"),
    "exits_with_three": Ending(Outcome.RAISES, "builtins.SystemExit", "exited with status 3"),
    "sets_a_default_device": Ending(Outcome.PASS),
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if RELEASE in PYTHONS:
        yield Path(PYTHONS[RELEASE])
        return
    with real_environment(RELEASE, tmp_path_factory.mktemp("try")) as installed:
        yield installed


def tried(python: Path, name: str, folder: Path) -> Trial:
    """Run a script as ``recompat try`` does, in a sandbox of its own."""
    with sandbox_folder() as place:
        sandbox = Sandbox(place, [])
        job = Job(python, folder / "logs" / "probe.log", LIMITS.get(name, 300.0), "fork", 1, sandbox.probe)
        try:
            return run_script(job, SCRIPTS / f"{name}.py", sandbox.script)
        finally:
            sandbox.end_processes()


def test_every_script_has_an_ending() -> None:
    assert sorted(ENDINGS) == sorted(path.stem for path in SCRIPTS.glob("*.py"))


@pytest.mark.parametrize("name", ENDINGS)
def test_a_script_ends_as_a_person_would_say(name: str, python: Path, tmp_path: Path) -> None:
    if name == "compiles" and shutil.which("g++") is None:
        pytest.skip("there is no C++ compiler here")
    trial = tried(python, name, tmp_path)
    exception = None if trial.raised is None else trial.raised.type
    assert Ending(trial.outcome, exception, trial.detail) == ENDINGS[name], trial
    assert list(SCRIPTS.glob("*.pt")) == []
    if name == "prints_a_megabyte":
        assert (tmp_path / "logs" / "output.log").stat().st_size > 1_000_000


def test_without_a_compiler_it_is_told_that_there_is_none(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    trial = tried(python, "compiles", tmp_path)
    assert trial.outcome is Outcome.RAISES
    assert trial.raised is not None
    assert any(words in trial.raised.message for words in NO_COMPILER), trial.raised.message


def test_every_error_that_checkpointing_raises_has_a_meaning(python: Path) -> None:
    (source,) = python.parents[1].glob("lib/python*/site-packages/torch/utils/checkpoint.py")
    tree = ast.parse(source.read_text("utf-8"))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    messages = [text for call in calls if " " in (text := written(call))]
    assert len(messages) > 20
    frame = f'File "{source}", line 1, in checkpoint\n'
    assert [text for text in messages if not read_others(frame + text) and not read_messages(text)] == []


def written(call: ast.Call) -> str:
    """The text of a message that is written where it is raised; what is filled in is left out."""
    parts = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return "".join(parts)
