"""``recompat restored``: a page of Markdown, which settings each release restores at recompute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.arguments import project_of
from recompat.errors import ExitCode

if TYPE_CHECKING:
    import argparse

HELP = "print, as Markdown, which settings each release restores"
EPILOG = """example:
  recompat restored > docs/restored.md"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has no options of its own."""


def run(given: argparse.Namespace) -> ExitCode:
    """Print it."""
    from recompat.pages import restored

    print(restored(project_of(given)), end="")  # noqa: T201
    return ExitCode.OK
