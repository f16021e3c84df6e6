"""``recompat reproduce``: a case file, and the two commands that run it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from recompat.arguments import axis_selector, index_url, project_of
from recompat.console import tell
from recompat.errors import ExitCode

if TYPE_CHECKING:
    import argparse

HELP = "write a case file, and the two commands that run it"
EPILOG = """example:
  recompat reproduce default_policy --torch 2.11.0 --run"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    add = parser.add_argument
    add("case", metavar="CASE", help="an id, or an unambiguous part of one")
    add("--torch", metavar="X", required=True, help="the release; it has to be recorded")
    add(
        "--axis",
        action="append",
        type=axis_selector,
        metavar="SPEC",
        help="what stands beside it: transformers==4.57.1",
    )
    add("--out", type=Path, metavar="DIR", help="where to (default: reproduce/torchX)")
    add(
        "--index-url",
        action="append",
        type=index_url,
        metavar="URL",
        help="with --run: a further index to take torch from",
    )
    add("--run", action="store_true", help="run it in a fresh environment, and compare with the record")


def run(given: argparse.Namespace) -> ExitCode:
    """Write it, print the commands, and with ``--run`` do what they say."""
    import shutil

    from recompat.reproduce import find_reproduction
    from recompat.show import read_known

    known = read_known(project_of(given), given.case, given.torch)
    tell(*known.set_aside)
    found = find_reproduction(known, given.case, given.torch, given.out, given.axis or ())
    found.write()
    print(found.commands if given.quiet else found.text)  # noqa: T201
    if shutil.which("uv") is None:
        tell("uv is not on PATH; python -m pip install uv brings it.")
    if not given.run:
        return ExitCode.OK
    from recompat.again import run_again

    sys.stdout.flush()
    comparison = run_again(found, tell, index_urls=given.index_url or (), quiet=given.quiet)
    print(comparison.text)  # noqa: T201
    return ExitCode.OK if comparison.same else ExitCode.UNEXPECTED
