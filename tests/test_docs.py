"""The pages: those that are made are as they would be made today."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from golden import check_golden
from recompat import cli, options
from recompat.commands import COMMANDS

if TYPE_CHECKING:
    import argparse

    import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
CLI = """\
# The command line

Made from the parsers themselves. [reference.md](reference.md) says what each command does.
"""


def test_the_page_of_the_command_line_is_what_the_parsers_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "112")
    whole = cli.parser()
    parts = [help_of("recompat", whole)]
    parts += [help_of(f"recompat {name}", subparsers(whole)[name]) for name in COMMANDS]
    parts += [help_of("nox -s matrix", options.parser(), "nox -s matrix -- --help")]
    check_golden("cli.md", "\n".join([CLI, *parts]), DOCS)


def help_of(title: str, parser: argparse.ArgumentParser, command: str = "") -> str:
    return f"## {title}\n\n```text\n$ {command or f'{title} --help'}\n{parser.format_help()}```\n"


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    assert parser._subparsers is not None
    (action,) = parser._subparsers._group_actions
    assert isinstance(action.choices, dict)
    return action.choices
