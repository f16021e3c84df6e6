"""The command line: reads the arguments, hands over to the module of the subcommand, and ends with its exit code."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from recompat import __version__
from recompat.arguments import existing_folder
from recompat.collection import collect_seldom
from recompat.commands import COMMANDS
from recompat.console import readers_may_leave
from recompat.ending import ends_well, leave
from recompat.errors import ConfigurationError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    Commands = argparse._SubParsersAction  # argparse has no public name for it

__all__ = ["parser", "run"]

SHELLS = ("bash", "zsh", "fish")


def run(arguments: Sequence[str]) -> None:
    """Do what ``arguments`` ask for.

    Raises:
        SystemExit: with the exit code, unless that is 0.
    """
    collect_seldom()
    with ends_well():
        given = _read(arguments)
        code = ExitCode.OK
        with readers_may_leave():
            code = given.command(given)
        leave(code, lambda _: None)


def _read(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments; where a shell asks how they may go on, answer it instead, and end.

    Raises:
        ConfigurationError: they have what no option takes.
    """
    made = parser()
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(made)
    given, rest = made.parse_known_args(arguments)
    if rest:
        from recompat.near import no_option

        raise ConfigurationError(no_option(given.parser, rest))
    return given


def parser() -> argparse.ArgumentParser:
    """The parser itself, so that the documentation can print its help."""
    made = _parser("recompat", "Which PyTorch releases does a checkpointing pattern break on, and why?")
    made.epilog = _EPILOG
    made.formatter_class = _narrow
    made.usage = "%(prog)s [options] COMMAND ..."
    made.add_argument("--version", action="version", version=f"recompat {__version__}")
    made.add_argument(
        "--print-completion", choices=SHELLS, metavar="SHELL", help="print its completion for bash, zsh or fish"
    )
    made.set_defaults(command=_help, parser=made, project=None, records=None, quiet=False, verbose=False)
    commands = made.add_subparsers(prog="recompat", metavar="COMMAND", parser_class=_Parser, title="commands")
    for name, command in COMMANDS.items():
        _add(commands, name, command)
    return made


def _narrow(prog: str) -> argparse.HelpFormatter:
    """A line for each command, whatever the longest option."""
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=17)


def _help(given: argparse.Namespace) -> ExitCode:
    if given.print_completion:
        from argcomplete.shell_integration import shellcode

        print(shellcode(["recompat"], shell=given.print_completion), end="")  # noqa: T201
    else:
        given.parser.print_help()
    return ExitCode.OK


class _Parser(argparse.ArgumentParser):
    """Raises instead of exiting: only the outermost layer exits."""

    def error(self, message: str) -> NoReturn:
        mistyped = re.search(r"^argument COMMAND: invalid choice: '?(.*?)'? \(choose from (.*?)\)", message)
        if mistyped is not None:
            from recompat.near import close_to

            there = re.findall(r"[\w-]+", mistyped[2])
            raise ConfigurationError(f"There is no command {mistyped[1]}; {close_to(mistyped[1], there)}")
        raise ConfigurationError(f"{message[:1].upper()}{message[1:]}; {self.prog} --help lists the options.")


def _parser(prog: str, description: str) -> _Parser:
    made = _Parser(prog=prog, description=description, allow_abbrev=False, parents=[_common()])
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    return made


def _add(commands: Commands[_Parser], name: str, command: ModuleType) -> None:
    description = f"{command.HELP[:1].upper()}{command.HELP[1:]}."
    made = commands.add_parser(
        name, help=command.HELP, description=description, allow_abbrev=False, parents=[_common()]
    )
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.epilog = getattr(command, "EPILOG", None)
    command.add_arguments(made)
    made.usage = _usage(made)
    made.set_defaults(command=command.run, parser=made)


def _usage(command: _Parser) -> str:
    """The usage without the options that may be left out: the lines below it list them."""
    words = ["%(prog)s [options]"]
    for action in sorted(
        (one for one in command._actions if one.required or not one.option_strings), key=_is_positional
    ):
        name = " ".join((*action.option_strings[:1], str(action.metavar)))
        words.append({"?": f"[{name}]", "+": f"{name} [{name} ...]"}.get(str(action.nargs), name))
    return " ".join(words)


def _is_positional(action: argparse.Action) -> bool:
    return not action.option_strings


def _common() -> _Parser:
    """What may stand before a subcommand and after it; without a default, or the one would undo the other."""
    made = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    made.add_argument(
        "--project", type=Path, metavar="DIR", help="the folder of matrix/ (default: the nearest upwards)"
    )
    made.add_argument(
        "--records",
        type=existing_folder,
        metavar="DIR",
        help="where the records are (default: reports/records)",
    )
    made.add_argument("-q", "--quiet", action="store_true", help="the essence alone")
    made.add_argument("-v", "--verbose", action="store_true", help="everything, uncut")
    return made


_EPILOG = """examples:
  recompat show kv_cache_grows                  along the releases, and why
  recompat show kv_cache_grows --torch 2.11.0   one of its cells in full
  recompat explain train.log                    what the error in it means

exit status: 0 all is well, 1 unexpected outcomes, 2 interrupted, 3 internal
error, 4 bad options or files, 5 nothing selected, 6 incomplete.
nox -s matrix runs what has to be run: nox -s matrix -- --help."""
