"""``recompat bisect``: the releases where a case changes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from recompat.arguments import project_of
from recompat.console import tell

if TYPE_CHECKING:
    import argparse

    from packaging.version import Version

    from recompat.bisection import Bisection
    from recompat.errors import ExitCode
    from recompat.span import Request

HELP = "find the releases where a case changes"
EPILOG = """examples:
  recompat bisect rank3_math                         the newest change known
  recompat bisect rank3_math --from 2.8.0 --to 2.15.0   what changes between

exit status: 0 found, 4 bad options or files, 5 nothing to find, 6 releases
between could not be tried."""
FORMATS = ("text", "markdown", "json")
ASPECTS = ("outcome", "exception", "mismatch", "settings", "operators", "api")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    from recompat.arguments import index_url

    add = parser.add_argument
    add("case", metavar="CASE", help="an id, or an unambiguous part of one")
    add("--from", dest="start", metavar="X", help="one end (default: where the records know of a change)")
    add("--to", dest="end", metavar="Y", help="the other end")
    add(
        "--on",
        choices=ASPECTS,
        default="exception",
        metavar="WHAT",
        help="follow the outcome, the exception (default), mismatch, settings, operators or api",
    )
    add("--axis", action="append", metavar="SPEC", help="what stands beside torch: transformers==4.57.1")
    add("--torch", action="append", metavar="SPEC", help="try these releases alone: '>=2.9', latest-minors")
    add(
        "--source",
        choices=("auto", "cpu", "default"),
        metavar="INDEX",
        help="auto, cpu or default, as for nox -s matrix",
    )
    add(
        "--index-url",
        action="append",
        type=index_url,
        metavar="URL",
        help="a further index; pre-releases are tried too",
    )
    add("--keep", action="store_true", help="keep the environments, and use them again")
    add("--verify", action="store_true", help="run both ends and every step again, whatever is recorded")
    add("--format", choices=FORMATS, default="text", metavar="NAME", help="text, markdown (fit for an issue) or json")


def run(given: argparse.Namespace) -> ExitCode:
    """Find them, and print what is known of them."""
    from recompat.bisecting import bisect
    from recompat.run_folder import RunFolder

    project, request, run_folder = project_of(given), _request(given), RunFolder()
    try:
        say, shows = (_nothing, False) if given.quiet else (tell, sys.stdout.isatty())
        found = bisect(project, run_folder, request, say, shows=shows)
    finally:
        run_folder.remove()
    print(_drawn(found, given), end="")  # noqa: T201
    return found.exit_code


def _nothing(sentence: str) -> None:
    """Where steps are not told."""


def _request(given: argparse.Namespace) -> Request:
    from recompat.aspects import Aspect
    from recompat.options import parse_options
    from recompat.span import Request

    words = [
        f"--{name}={value}"
        for name in ("torch", "axis", "index-url")
        for value in getattr(given, name.replace("-", "_")) or ()
    ]
    words += [f"--source={given.source}"] if given.source else []
    words += ["--keep"] if given.keep else []
    words += ["--rerun=all"] if given.verify else []
    return Request(
        case=given.case,
        options=parse_options(words),
        aspect=Aspect(given.on),
        start=_release(given.start, "--from"),
        end=_release(given.end, "--to"),
        verify=given.verify,
    )


def _release(text: str | None, option: str) -> Version | None:
    """Read a release.

    Raises:
        ConfigurationError: it is none.
    """
    from packaging.version import Version

    from recompat.errors import ConfigurationError

    try:
        return None if text is None else Version(text.removeprefix("torch"))
    except ValueError:
        raise ConfigurationError(f"{option} {text} is no release; write one such as 2.11.0.") from None


def _drawn(found: Bisection, given: argparse.Namespace) -> str:
    match given.format:
        case "json":
            from recompat.report.json import render_json

            return render_json(found)
        case "markdown":
            from recompat.report.bisect import render_bisection_markdown

            return render_bisection_markdown(found)
        case _:
            from recompat.console import wants_colour, width
            from recompat.report.bisect import render_bisection_text
            from recompat.report.page import Paper

            return render_bisection_text(found, Paper(width(100), wants_colour(), given.verbose - given.quiet))
