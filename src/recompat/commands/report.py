"""``recompat report``: the reports again, from what is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.arguments import project_of

if TYPE_CHECKING:
    import argparse

    from recompat.errors import ExitCode

HELP = "write the reports again, from what is recorded"
EPILOG = """examples:
  recompat report --format junit --out junit.xml   one format, into a file
  recompat report --torch ">=2.9" -k attention     some releases, some cases"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    from recompat.report.formats import FORMATS

    add = parser.add_argument
    add("--torch", action="append", metavar="SPEC", help="only these releases (default: all recorded)")
    add("--axis", action="append", metavar="SPEC", help="only these versions beside torch: 'transformers>=4.50'")
    add("-k", dest="keyword", metavar="EXPR", help="only these cases: 'math and not rank3', family:attention")
    add("--format", metavar="NAME", help=f"print one format alone, and write no site: {', '.join(FORMATS)}")
    add("--out", metavar="FILE", help="with --format: write it to a file instead")


def run(given: argparse.Namespace) -> ExitCode:
    """Write the site and print the table, or one format alone."""
    from recompat.options import parse_options
    from recompat.plan import Plan
    from recompat.run_folder import RunFolder

    words = [word for value in given.torch or () for word in ("--torch", value)]
    words += [word for value in given.axis or () for word in ("--axis", value)]
    words += ["-k", given.keyword] if given.keyword else []
    words += [f"--{name}={value}" for name in ("format", "out") if (value := getattr(given, name)) is not None]
    run_folder = RunFolder()
    try:
        return Plan(project_of(given), run_folder, parse_options(words)).report(recorded=True)
    finally:
        run_folder.remove()
