"""The pages: those that are made are as they would be made today, and whoever follows one sees what it says.

Where a page installs PyTorch, the records that its commands left stand for that; ``-m tutorial`` follows it without them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
import yaml

from followed import Command, File, follow, steps
from golden import check_golden
from recompat import __version__, cli, options
from recompat.commands import COMMANDS
from recompat.project import probe_digest
from recompat.record import load_records, save_record
from recompat.schemas import KINDS
from recompat.trying import _digest as tried_digest
from support.environment import isolated
from support.index import Index
from support.wheels import build_torch

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RECORDS = Path(__file__).parent / "samples" / "tutorial"
CLI = """\
# The command line

Made from the parsers themselves. [reference.md](reference.md) says what each command does.
"""
PAGES = [path for path in sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")]) if "```console" in path.read_text("utf-8")]
NOT_FOLLOWED = {  # how a command begins, and why it is not run here
    "python -m pip install": "asks the index, and the tests run with what it would install",
    "uv ": "installs torch; test_guard_wheels.py holds what the guard says",
    ".venv/bin/python ": "needs that torch",
}
RECORDED_ON = ("linux-x86_64", (3, 11))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a clone has, and nothing that was run in it."""
    made = tmp_path / "clone"
    for name in ("matrix", "reports/sample"):
        shutil.copytree(ROOT / name, made / name, symlinks=True)
    for name in ("noxfile.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, made)
    (made / "src").symlink_to(ROOT / "src")
    return made


@pytest.fixture
def offline(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a reader whose index has the releases that the pages speak of, as stand-ins."""
    for release in ("2.13.0", "2.14.0", "2.14.1", "2.15.0"):
        build_torch(tmp_path / "wheels", release)
    with Index(tmp_path / "wheels") as index:
        yield isolated(tmp_path / "home", index.url)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_can_be_followed_word_for_word(path: Path, clone: Path, offline: dict[str, str]) -> None:
    taken = list(steps(path.read_text(encoding="utf-8")))
    if any(isinstance(step, File) and step.path == "matrix/cases/my_block.py" for step in taken):
        if (sysconfig.get_platform(), sys.version_info[:2]) != RECORDED_ON:
            pytest.skip("its records are those of another platform or interpreter")
        stage(taken, clone)
    walk(taken, clone, offline)


@pytest.mark.tutorial
def test_the_tutorial_can_be_followed_on_real_wheels(clone: Path) -> None:
    walk(list(steps((DOCS / "tutorial.md").read_text(encoding="utf-8"))), clone, {**os.environ, "NO_COLOR": "1"})


def test_no_command_is_left_out_for_nothing() -> None:
    commands = [
        step.command for page in PAGES for step in steps(page.read_text(encoding="utf-8")) if isinstance(step, Command)
    ]
    assert [start for start in NOT_FOLLOWED if not any(command.startswith(start) for command in commands)] == []


def test_the_page_of_the_command_line_is_what_the_parsers_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "112")
    whole = cli.parser()
    parts = [help_of("recompat", whole)]
    parts += [help_of(f"recompat {name}", subparsers(whole)[name]) for name in COMMANDS]
    parts += [help_of("nox -s matrix", options.parser(), "nox -s matrix -- --help")]
    check_golden("cli.md", "\n".join([CLI, *parts]), DOCS)


@pytest.mark.parametrize(("name", "version"), [(name, version) for name, _, version, _ in KINDS])
def test_every_schema_has_its_row(name: str, version: str) -> None:
    row = f"| `{version}` | [{name}-1.json](../src/recompat/schemas/{name}-1.json) | "
    assert row in (DOCS / "schemas.md").read_text(encoding="utf-8")


def test_the_citation_names_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["title"], citation["version"]) == ("recompat", __version__)


def walk(taken: list[File | Command], folder: Path, environment: dict[str, str]) -> None:
    """Follow the steps in a terminal of 100 columns, with the interpreter of the tests in front of all others."""
    path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    environment = {**environment, "PATH": path, "COLUMNS": "100", "NOX_SCRIPT_MODE": "none"}
    status = 0
    for step in taken:
        if not (isinstance(step, Command) and step.command.startswith(tuple(NOT_FOLLOWED))):
            status = follow(step, folder, environment, status)


def stage(taken: list[File | Command], folder: Path) -> None:
    """Put the records where the commands of the tutorial would: they stand, so that these install nothing."""
    (case_file,) = (step for step in taken if isinstance(step, File) and step.path.startswith("matrix/cases/"))
    digest = hashlib.sha256(case_file.text.encode()).hexdigest()
    tried = folder / "reports" / "try" / digest[:16]
    for record in load_records(RECORDS)[0]:
        assert {result.sha256 for result in record.results} == {digest}, (
            "tests/samples/README.md says how to renew them"
        )
        for reports, probe in ((folder / "reports", probe_digest()), (tried / "reports", tried_digest(()))):
            run = msgspec.structs.replace(record.run, probe_sha256=probe)
            save_record(reports / "records", msgspec.structs.replace(record, run=run))


def help_of(title: str, parser: argparse.ArgumentParser, command: str = "") -> str:
    return f"## {title}\n\n```text\n$ {command or f'{title} --help'}\n{parser.format_help()}```\n"


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    assert parser._subparsers is not None
    (action,) = parser._subparsers._group_actions
    assert isinstance(action.choices, dict)
    return action.choices
