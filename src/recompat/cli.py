"""The command line: reads the arguments, hands over to one function per subcommand, and ends with its exit code."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from recompat import __version__
from recompat.arguments import existing_folder
from recompat.console import readers_may_leave, tell
from recompat.ending import ends_well, leave
from recompat.errors import ConfigurationError, ExitCode
from recompat.report.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.project import Project

    Commands = argparse._SubParsersAction  # argparse has no public name for it

__all__ = ["parser", "run"]

MATRIX = Path("matrix", "matrix.toml")


def run(arguments: Sequence[str]) -> None:
    """Do what ``arguments`` ask for.

    Raises:
        SystemExit: with the exit code, unless that is 0.
    """
    with ends_well():
        given = parser().parse_args(arguments)
        code = ExitCode.OK
        with readers_may_leave():
            code = given.command(given)
        leave(code, lambda _: None)


def parser() -> argparse.ArgumentParser:
    """The parser itself, so that the documentation can print its help."""
    made = _parser("recompat", "Which PyTorch releases does an activation-checkpointing pattern break on, and why?")
    made.epilog = _EPILOG
    made.add_argument("--version", action="version", version=f"recompat {__version__}")
    made.set_defaults(command=_help, project=None, records=None, quiet=False, verbose=False)
    commands = made.add_subparsers(metavar="COMMAND", parser_class=_Parser, title="commands")
    for add in (_add_report, _add_show, _add_reproduce, _add_pages):
        add(commands)
    return made


def _add_report(commands: Commands[_Parser]) -> None:
    made = _subparser(commands, "report", "write the reports again, from what is recorded", _report)
    made.add_argument("--torch", action="append", metavar="SPEC", help="only these releases (default: all recorded)")
    made.add_argument(
        "-k", dest="keyword", metavar="EXPR", help="only these cases: 'math and not rank3', family:attention"
    )
    made.add_argument(
        "--format", metavar="NAME", help=f"print one format alone, and write no site: {', '.join(FORMATS)}"
    )
    made.add_argument("--out", metavar="FILE", help="with --format: write it to a file instead")


def _add_show(commands: Commands[_Parser]) -> None:
    made = _subparser(commands, "show", "show a case along the releases, or what an environment holds", _show)
    made.add_argument("target", metavar="CASE|ENVIRONMENT", help="an id or a part of one; a release such as 2.11.0")
    made.add_argument("--torch", metavar="X", help="the release of which a case is told in full")


def _add_reproduce(commands: Commands[_Parser]) -> None:
    made = _subparser(commands, "reproduce", "write a case file, and the two commands that run it", _reproduce)
    made.add_argument("case", metavar="CASE", help="an id, or an unambiguous part of one")
    made.add_argument("--torch", metavar="X", required=True, help="the release; it has to be recorded")
    made.add_argument("--out", type=Path, metavar="DIR", help="where to (default: reproduce/torchX)")
    made.add_argument("--run", action="store_true", help="run it in a fresh environment, and compare with the record")


def _add_pages(commands: Commands[_Parser]) -> None:
    for name, holds in (
        ("restored", "which settings each release restores at recompute"),
        ("library", "every case and how it ends along the releases"),
    ):
        _subparser(commands, name, f"print, as Markdown, {holds}", _page).set_defaults(page=name)


def _help(given: argparse.Namespace) -> ExitCode:
    parser().print_help()
    return ExitCode.OK


def _report(given: argparse.Namespace) -> ExitCode:
    from recompat.options import parse_options
    from recompat.plan import Plan
    from recompat.run_folder import RunFolder

    words = [word for value in given.torch or () for word in ("--torch", value)]
    words += ["-k", given.keyword] if given.keyword else []
    words += [f"--{name}={value}" for name in ("format", "out") if (value := getattr(given, name)) is not None]
    run_folder = RunFolder()
    try:
        return Plan(_project(given), run_folder, parse_options(words)).report(recorded=True)
    finally:
        run_folder.remove()


def _show(given: argparse.Namespace) -> ExitCode:
    from recompat.console import wants_colour, width
    from recompat.report.page import Paper
    from recompat.show import read_known, show

    known = read_known(_project(given), given.target)
    tell(*known.set_aside)
    paper = Paper(width(100), wants_colour(), given.verbose - given.quiet)
    print(show(known, given.target, given.torch, paper), end="")  # noqa: T201
    return ExitCode.OK


def _reproduce(given: argparse.Namespace) -> ExitCode:
    import shutil

    from recompat.reproduce import find_reproduction
    from recompat.show import read_known

    known = read_known(_project(given))
    tell(*known.set_aside)
    found = find_reproduction(known, given.case, given.torch, given.out)
    found.write()
    print(found.commands if given.quiet else found.text)  # noqa: T201
    if shutil.which("uv") is None:
        tell("uv is not on PATH; python -m pip install uv brings it.")
    if not given.run:
        return ExitCode.OK
    from recompat.again import run_again

    sys.stdout.flush()
    comparison = run_again(found, tell, quiet=given.quiet)
    print(comparison.text)  # noqa: T201
    return ExitCode.OK if comparison.same else ExitCode.UNEXPECTED


def _page(given: argparse.Namespace) -> ExitCode:
    from recompat.pages import PAGES

    print(PAGES[given.page](_project(given)), end="")  # noqa: T201
    return ExitCode.OK


def _project(given: argparse.Namespace) -> Project:
    """The project that was named, or the nearest one from here upwards.

    Raises:
        ConfigurationError: there is none.
    """
    from recompat.project import Project

    if given.project is not None:
        if not (given.project / MATRIX).is_file():
            raise ConfigurationError(f"{given.project} has no {MATRIX.as_posix()}; name the folder that has it.")
        return Project(given.project.resolve(), given.records)
    here = Path.cwd()
    found = next((folder for folder in (here, *here.parents) if (folder / MATRIX).is_file()), None)
    if found is None:
        raise ConfigurationError(
            f"There is no {MATRIX.as_posix()} here or in a folder above; go to a project, or name one with --project."
        )
    return Project(found, given.records)


class _Parser(argparse.ArgumentParser):
    """Raises instead of exiting: only the outermost layer exits."""

    def error(self, message: str) -> NoReturn:
        mistyped = re.search(r"invalid choice: '?(.*?)'? \(choose from (.*?)\)", message)
        if mistyped is not None:
            from recompat.tables import close_to

            there = re.findall(r"[\w-]+", mistyped[2])
            raise ConfigurationError(f"There is no command {mistyped[1]}; {close_to(mistyped[1], there)}")
        raise ConfigurationError(f"{message[:1].upper()}{message[1:]}; {self.prog} --help lists the options.")


def _parser(prog: str, description: str) -> _Parser:
    made = _Parser(prog=prog, description=description, allow_abbrev=False, parents=[_common()])
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    return made


def _subparser(commands: Commands[_Parser], name: str, does: str, command: object) -> _Parser:
    description = f"{does[:1].upper()}{does[1:]}."
    made = commands.add_parser(name, help=does, description=description, allow_abbrev=False, parents=[_common()])
    made.set_defaults(command=command)
    return made


def _common() -> _Parser:
    """What may stand before a subcommand and after it; without a default, or the one would undo the other."""
    made = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    made.add_argument(
        "--project", type=Path, metavar="DIR", help="the folder of matrix/ (default: the nearest one upwards)"
    )
    made.add_argument(
        "--records",
        type=existing_folder,
        metavar="DIR",
        help="read the records in this folder (default: reports/records)",
    )
    made.add_argument("-q", "--quiet", action="store_true", help="the essence alone")
    made.add_argument("-v", "--verbose", action="store_true", help="everything, uncut")
    return made


_EPILOG = """examples:
  recompat show math_around_forward_only                 a case along the releases, and why
  recompat show math_around_forward_only --torch 2.11.0  one of its cells in full
  recompat show 2.11.0                                   what was tested there
  recompat reproduce default_policy --torch 2.11.0       the case file, and the commands that run it

exit status: 0 all is well, 1 unexpected outcomes, 2 interrupted, 3 internal error, 4 bad options or files,
5 nothing selected, 6 incomplete. nox -s matrix runs what has to be run: nox -s matrix -- --help."""
