"""``recompat explain``: what a pasted ``CheckpointError`` means, which known cases look alike, and their repairs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recompat.arguments import project_of
from recompat.console import tell
from recompat.errors import ConfigurationError, ExitCode, NothingSelected

if TYPE_CHECKING:
    import argparse
    from typing import BinaryIO

    from recompat.explain import Library
    from recompat.explanation import Explanation
    from recompat.project import Project

HELP = "say what a pasted CheckpointError means, and what repairs it"
EPILOG = """examples:
  recompat explain train.log                 a log: prefixes, escapes and all
  python train.py 2>&1 | recompat explain    what a program prints
  recompat explain --torch 2.11.0 --format markdown < traceback.txt
exit status: 0 explained, 4 bad names, 5 no error of checkpointing in the text."""

FORMATS: Final = ("text", "markdown", "json")
MOST_READ: Final = 4 * 1024 * 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    add = parser.add_argument
    add(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="a text with the traceback; - (the default) is what is pasted",
    )
    add("--torch", metavar="X", help="the release of which repairs are told; it has to be recorded")
    add("--format", choices=FORMATS, default=FORMATS[0], metavar="NAME", help="text (the default), markdown or json")


def run(given: argparse.Namespace) -> ExitCode:
    """Print it."""
    from recompat.explain import explain
    from recompat.pasted import LOOKED_FOR, read_messages, read_text

    library = _library(given)
    text = read_text(_read(given.file))
    found = explain(read_messages(text), text, library, given.torch)
    if not found.explained and not found.others:
        looked_for = "".join(f"\n  - … {words}" for words in LOOKED_FOR)
        raise NothingSelected(
            "There is no message of CheckpointError in the text, and no other error of checkpointing that is known. "
            f"Paste all of it; a CheckpointError has one of these:{looked_for}"
        )
    print(_drawn(found, given), end="")  # noqa: T201
    return ExitCode.OK


def _library(given: argparse.Namespace) -> Library:
    """What is known in the project; nothing where none was named and there is none."""
    from recompat.explain import Library

    try:
        project = project_of(given)
    except ConfigurationError:
        if given.project is not None or given.torch is not None:
            raise
        tell("there is no project here to compare with; --project names the folder of one.")
        return Library()
    return _read_library(project)


def _read_library(project: Project) -> Library:
    from recompat.cases import read_case_files
    from recompat.explain import Library
    from recompat.record import load_records

    own, remarks = load_records(project.records)
    tell(*remarks)
    files = read_case_files(project.cases)
    if project.elsewhere is not None:
        return Library(files, {str(project.elsewhere): own})
    accepted, remarks = load_records(project.baseline)
    tell(*remarks)
    return Library(files, {None: own, Path(os.path.relpath(project.baseline)).as_posix(): accepted})


def _read(name: str) -> bytes:
    """Read as much as a pasted text may have.

    Raises:
        ConfigurationError: there is no such file or no standard input, or it cannot be read.
    """
    if name == "-":
        if sys.stdin is None:
            raise ConfigurationError("There is no standard input here; name a file with the traceback.")
        if sys.stdin.isatty():
            tell("paste the traceback, then press Ctrl-D (Ctrl-Z and Enter on Windows).")
        return _some(sys.stdin.buffer)
    try:
        with Path(name).open("rb") as file:
            return _some(file)
    except OSError as error:
        raise ConfigurationError(
            f"{name} cannot be read ({error.strerror}); name a file, or - for what is pasted."
        ) from error


def _some(file: BinaryIO) -> bytes:
    content = file.read(MOST_READ + 1)
    if len(content) > MOST_READ:
        tell(f"only the first {MOST_READ // 1024 // 1024} MiB were read; cut the text to the traceback.")
    return content[:MOST_READ]


def _drawn(found: Explanation, given: argparse.Namespace) -> str:
    match given.format:
        case "json":
            from recompat.report.json import render_json

            return render_json(found)
        case "markdown":
            from recompat.report.explain_markdown import render_explain_markdown

            return render_explain_markdown(found)
        case _:
            from recompat.console import wants_colour, width
            from recompat.report.explain_text import render_explain_text
            from recompat.report.page import Paper

            return render_explain_text(found, Paper(width(100), wants_colour(), given.verbose - given.quiet))
