"""``recompat show``: a case along the releases, or what an environment holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.arguments import project_of
from recompat.console import tell
from recompat.errors import ExitCode

if TYPE_CHECKING:
    import argparse

HELP = "show a case along the releases, or what an environment holds"
EPILOG = """examples:
  recompat show kv_cache_grows                  along the releases, and why
  recompat show kv_cache_grows --torch 2.11.0   one of its cells in full
  recompat show 2.11.0                          what was tested there"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    parser.add_argument("target", metavar="CASE|ENVIRONMENT", help="an id or a part of one; a release such as 2.11.0")
    parser.add_argument("--torch", metavar="X", help="the release of which a case is told in full")


def run(given: argparse.Namespace) -> ExitCode:
    """Print it."""
    from recompat.console import wants_colour, width
    from recompat.report.page import Paper
    from recompat.show import read_known, show

    known = read_known(project_of(given), given.target, given.torch)
    tell(*known.set_aside)
    paper = Paper(width(100), wants_colour(), given.verbose - given.quiet)
    print(show(known, given.target, given.torch, paper), end="")  # noqa: T201
    return ExitCode.OK
