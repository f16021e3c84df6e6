"""``recompat diff``: what differs between two releases, runs, machines or builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.arguments import project_of
from recompat.console import tell
from recompat.errors import ConfigurationError, ExitCode

if TYPE_CHECKING:
    import argparse

    from recompat.diff import Diff, Part

HELP = "compare two releases, runs, machines or builds, case by case"
EPILOG = """examples:
  recompat diff 2.13.0 2.14.1                      what a release changed
  recompat diff matrix/baseline reports/records    what was accepted, and here
  recompat diff cpu:2.14.1 cuda:2.14.1             one of each of two folders

exit status: 0 nothing differs that counts, 1 something does, 4 bad names,
5 nothing to compare."""

FORMATS = ("text", "markdown", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    add = parser.add_argument
    what = "a release, environment, record, folder, or DIR:RELEASE"
    add("a", metavar="A", help=what)
    add("b", metavar="B", help="the same")
    add(
        "--only",
        type=_parts,
        default=(),
        metavar="PARTS",
        help="tell and count these alone: outcome, exception, mismatch, settings, operators (which count without it), "
        "message, differences, warnings, facts, cases",
    )
    add("-k", dest="keyword", metavar="EXPR", help="only these cases: 'math and not rank3', family:attention")
    add("--format", choices=FORMATS, default=FORMATS[0], metavar="NAME", help="text (the default), markdown or json")


def run(given: argparse.Namespace) -> ExitCode:
    """Print it."""
    from recompat.cases import read_case_files
    from recompat.compare import diff
    from recompat.sides import read_sides, selected

    project = project_of(given)
    sides = read_sides(project, given.a, given.b)
    tell(*sides.remarks)
    known = [case for file in read_case_files(project.cases) for case in file.cases]
    found = diff(
        sides.a,
        sides.b,
        given.only,
        cases=selected(sides, known, given.keyword),
        observing={case.id for case in known if case.about.observes_warnings},
    )
    print(_drawn(found, given), end="")  # noqa: T201
    return ExitCode.UNEXPECTED if found.differs else ExitCode.OK


def _drawn(found: Diff, given: argparse.Namespace) -> str:
    match given.format:
        case "json":
            from recompat.report.json import render_json

            return render_json(found)
        case "markdown":
            from recompat.report.diff_markdown import render_diff_markdown

            return render_diff_markdown(found)
        case _:
            from recompat.console import wants_colour, width
            from recompat.report.diff_text import render_diff_text
            from recompat.report.page import Paper

            return render_diff_text(found, Paper(width(100), wants_colour(), given.verbose - given.quiet))


def _parts(text: str) -> tuple[Part, ...]:
    """Read the words of ``--only``.

    Raises:
        ConfigurationError: one of them is none.
    """
    from recompat.diff import Part
    from recompat.tables import close_to

    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = next((word for word in words if word not in {*Part}), None)
    if unknown is not None or not words:
        raise ConfigurationError(
            f"There is no part {unknown or repr(text)} for --only; {close_to(unknown or '', [*Part])}"
        )
    return tuple(Part(word) for word in words)
