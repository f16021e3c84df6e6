"""``recompat accept``: what is recorded becomes what is claimed in ``expectations.toml``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.arguments import project_of
from recompat.console import tell
from recompat.errors import ConfigurationError, ExitCode

if TYPE_CHECKING:
    import argparse

    from recompat.accept import Acceptance
    from recompat.project import Project

HELP = "write what is recorded into expectations.toml, to be reviewed"
EPILOG = """examples:
  recompat accept --torch 2.16.0 --dry-run    what a new release would change
  recompat accept -k my_case --reason "..."   claims for a new case, with reason
  recompat accept --check                     whether all that is said there"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    add = parser.add_argument
    add("--torch", action="append", metavar="SPEC", help="only these of the releases that are recorded")
    add("-k", dest="keyword", metavar="EXPR", help="only these cases: 'math and not rank3', family:attention")
    add("--reason", type=_reason, metavar="TEXT", help="the reason of what is new (default: a TODO, told at each run)")
    add("--link", type=_link, metavar="URL", help="where to read more about it")
    add("--even-errors", action="store_true", help="accept crashes, timeouts and errors too")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--dry-run", action="store_true", help="say what would change, and write nothing")
    how.add_argument("--check", action="store_true", help="print what would change as a diff; status 1 if anything")
    how.add_argument("--baseline", action="store_true", help="copy whole records into matrix/baseline instead")


def run(given: argparse.Namespace) -> ExitCode:
    """Write, or say what would be written."""
    import datetime as dt

    from recompat.accept import Asked, accept

    project, torch = project_of(given), ",".join(given.torch) if given.torch else None
    if given.baseline:
        return _baseline(project, torch, given)
    asked = Asked(torch, given.keyword, given.reason, given.link, given.even_errors)
    found = accept(project, asked, dt.datetime.now(dt.UTC).date())
    if not given.quiet:
        tell(*found.remarks)
    if given.check:
        print(found.diff, end="")  # noqa: T201
        return ExitCode.UNEXPECTED if found.changes else ExitCode.OK
    if not given.dry_run:
        found.write()
    print(*found.changes, _conclusion(found, written=not given.dry_run), sep="\n")  # noqa: T201
    return ExitCode.OK


def _conclusion(found: Acceptance, *, written: bool) -> str:
    name, count = f"{found.path.parent.name}/{found.path.name}", len(found.changes)
    if not count:
        return f"{name} says what is recorded; nothing changes."
    cases = "1 case" if count == 1 else f"{count} cases"
    return f"{name}: {cases} written, to be reviewed." if written else f"{name}: {cases} would change."


def _baseline(project: Project, torch: str | None, given: argparse.Namespace) -> ExitCode:
    from recompat.baseline import accept_records

    for name in ("keyword", "reason", "link", "even_errors"):
        if getattr(given, name):
            raise ConfigurationError("--baseline copies whole records; it goes with --torch and --records alone.")
    taken = accept_records(project, torch)
    tell(*taken.remarks)
    print(*taken.changes, sep="\n")  # noqa: T201
    return ExitCode.OK


def _reason(text: str) -> str:
    import argparse

    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError("it is empty or no plain line; say in a sentence what in torch makes it so")
    return text


def _link(text: str) -> str:
    import argparse

    from recompat.expectations import is_web_address

    if not is_web_address(text) or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r} is no http or https URL")
    return text
