"""``recompat try``: a file of a user's own along the releases."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from recompat.console import tell

if TYPE_CHECKING:
    import argparse

    from recompat.attempt import Attempt
    from recompat.errors import ExitCode
    from recompat.options import Options
    from recompat.project import Project

HELP = "run a case file or any script on releases, and say where it changes"
FORMATS = ("text", "markdown", "json")
EPILOG = """examples:
  recompat try repro.py                      where a bug report's script changes
  recompat try my_cases.py::dropout --torch ">=2.9" --with "transformers<5"

exit status: 0 every release tried gave a result, 4 bad options or files,
5 nothing selected, 6 some gave none."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    from recompat.arguments import existing_folder, index_url

    add = parser.add_argument
    add("file", metavar="FILE", help="a case file, FILE::case, any plain script, or - for stdin")
    add("--torch", action="append", metavar="SPEC", help="run these, all of them (default: as few as show each change)")
    add("-k", dest="keyword", metavar="EXPR", help="only these cases of a case file")
    add("--with", dest="more", action="append", default=[], metavar="REQ", help="a package besides, from a wheel")
    add("--env", action="append", default=[], metavar="NAME", help="pass this environment variable on")
    add("--timeout", metavar="SECONDS", help="limit of a run (default: 120; of a case, matrix.toml's)")
    add("--source", choices=("auto", "cpu", "default"), metavar="INDEX", help="auto, cpu or default")
    add("--find-links", action="append", type=existing_folder, metavar="DIR", help="a folder of wheels; asked first")
    add("--index-url", action="append", type=index_url, metavar="URL", help="a further index to take torch from")
    add("--again", action="store_true", help="run it again, whatever an earlier try found")
    add("--format", choices=FORMATS, default="text", metavar="NAME", help="text (the default), markdown or json")
    add("--table", choices=("text", "md"), metavar="FORMAT", help="md: as --format markdown, fit for an issue")


def run(given: argparse.Namespace) -> ExitCode:
    """Run it, and print what was found."""
    from pathlib import Path

    from recompat.run_folder import RunFolder
    from recompat.script import read_script, requirements
    from recompat.tried import attempt_of
    from recompat.trying import Trying, default_matrix

    project, options = _project(given), _options(given)
    matrix, more = default_matrix(project), requirements(given.more, "--with")
    script = read_script(given.file, project.reports if project else Path("reports"))
    listing, run_folder = project.listing if project else None, RunFolder()
    try:
        trying = Trying(script, matrix, options, run_folder, more=more, passed=given.env, listing=listing)
        trying.run((lambda _: None) if given.quiet else tell, shows=not given.quiet and sys.stdout.isatty())
    finally:
        run_folder.remove()
    found = attempt_of(trying, script.folder / "reports")
    print(_drawn(found, given), end="")  # noqa: T201
    return found.exit_code


def _project(given: argparse.Namespace) -> Project | None:
    """The project that was named, or the nearest one upwards; a file may be tried without any."""
    from recompat.arguments import nearest_project, project_of

    return project_of(given) if given.project is not None or nearest_project() is not None else None


def _options(given: argparse.Namespace) -> Options:
    from recompat.options import parse_options

    words = [
        f"--{name}={value}"
        for name in ("torch", "find-links", "index-url")
        for value in getattr(given, name.replace("-", "_")) or ()
    ]
    words += [f"-k={given.keyword}"] if given.keyword else []
    words += [f"--{name}={value}" for name in ("source", "timeout") if (value := getattr(given, name))]
    words += ["--rerun=all"] if given.again else []
    return parse_options(words)


def _drawn(found: Attempt, given: argparse.Namespace) -> str:
    match "markdown" if given.table == "md" else given.format:
        case "json":
            from recompat.report.json import render_json

            return render_json(found)
        case "markdown":
            from recompat.report.attempt import render_attempt_markdown

            return render_attempt_markdown(found)
        case _:
            from recompat.console import wants_colour, width
            from recompat.report.attempt import render_attempt_text
            from recompat.report.page import Paper

            return render_attempt_text(found, Paper(width(100), wants_colour(), given.verbose - given.quiet))
