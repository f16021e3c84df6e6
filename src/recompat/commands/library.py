"""``recompat library``: a page of Markdown, every case and how it ends along the releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.arguments import project_of
from recompat.errors import ExitCode

if TYPE_CHECKING:
    import argparse

HELP = "print, as Markdown, how every case ends along the releases"
EPILOG = """example:
  recompat library > docs/library.md"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has no options of its own."""


def run(given: argparse.Namespace) -> ExitCode:
    """Print it."""
    from recompat.pages import library

    print(library(project_of(given)), end="")  # noqa: T201
    return ExitCode.OK
