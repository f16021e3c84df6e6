"""The options of a run, as they follow ``--`` on nox's command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast, get_args

import msgspec
from packaging.requirements import Requirement

from recompat.arguments import axis_selector, existing_folder, index_url
from recompat.choices import FailOn, Isolation, Rerun, SourceChoice, default_isolation
from recompat.errors import ConfigurationError
from recompat.memory import AVAILABLE, memory_size
from recompat.near import no_option
from recompat.report.formats import FORMATS, known_format

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Options", "parse_options", "parser", "torch_selector"]


class Options(msgspec.Struct, frozen=True):
    """What was asked for on the command line."""

    torch: str | None
    keyword: str | None
    source: SourceChoice
    find_links: tuple[Path, ...]
    isolation: Isolation
    timeout: float | None
    jobs: int | None
    rerun: Rerun | None
    keep: bool
    evidence: bool
    quiet: bool
    verbose: bool
    format: str | None = None
    out: Path | None = None
    index_urls: tuple[str, ...] = ()
    fail_on: FailOn | None = None
    exitfirst: bool = False
    axes: tuple[Requirement, ...] = ()
    require_hashes: bool | None = None
    memory: int | None = None


def parser() -> argparse.ArgumentParser:
    """The parser itself, so that the documentation can print its help."""
    made = _Parser(prog="nox -s matrix --", allow_abbrev=False, description=_DESCRIPTION, epilog=_EPILOG)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    add = made.add_argument
    add("--torch", action="append", metavar="SPEC", help=SELECTORS)
    add("--axis", action="append", type=axis_selector, default=[], metavar="SPEC", dest="axes", help=AXES)
    add("-k", dest="keyword", metavar="EXPR", help="cases: 'math and not rank3', family:attention, all")
    add("-j", dest="jobs", type=_count, metavar="N", help="how many releases at once, like nox -j")
    add("--rerun", choices=[*map(str, Rerun)], help="what to run, recorded or not; see below")
    add("--source", choices=["auto", "cpu", "default"], default="auto", help="which index to take wheels from")
    add(
        "--find-links",
        action="append",
        type=existing_folder,
        default=[],
        metavar="DIR",
        help="a folder of wheels; asked first",
    )
    add(
        "--index-url",
        action="append",
        type=index_url,
        default=[],
        metavar="URL",
        dest="index_urls",
        help="a further index, asked for torch before the others: PyTorch's test or nightly one",
    )
    add("-x", "--exitfirst", action="store_true", help="run no release after one that has an unexpected cell")
    add(
        "--require-hashes",
        action="store_true",
        default=None,
        help="install what matrix/lock.toml has, by its digests, and nothing else",
    )
    add("--keep", action="store_true", help="keep the environments, and use them again")
    add("--no-evidence", dest="evidence", action="store_false", help="do not watch: records then tell no cause")
    add("--isolation", choices=["fork", "process"], default=default_isolation(), help="how trials are kept apart")
    add("--timeout", type=_seconds, metavar="SECONDS", help="limit of a trial (matrix.toml says the default)")
    add("--memory", type=_memory, metavar="SIZE", help="memory of each process of a trial, such as '4 GiB'")
    add("-q", "--quiet", action="store_true", help="no progress")
    add("-v", "--verbose", action="store_true", help="also say where the logs are")
    only = made.add_argument_group("nox -s report alone")
    only.add_argument("--format", type=known_format, metavar="NAME", help="print this format, and write no site")
    only.add_argument("--out", type=Path, metavar="FILE", help="write it to a file instead")
    watch = made.add_argument_group("nox -s watch alone")
    watch.add_argument("--fail-on", choices=get_args(FailOn), help="what ends it with status 1 (default: unexpected)")
    return made


def parse_options(arguments: Sequence[str]) -> Options:
    """Read the options.

    Raises:
        ConfigurationError: an option that there is not, or a value that it does not take.
    """
    given = vars(parser().parse_args(arguments))
    if given["out"] and not given["format"]:
        raise ConfigurationError(f"--out needs --format; it takes one of {', '.join(FORMATS)}.")
    given["torch"] = None if given["torch"] is None else ",".join(given["torch"])
    given["find_links"] = tuple(given["find_links"])
    given["index_urls"] = tuple(given["index_urls"])
    given["axes"] = tuple(given["axes"])
    given["rerun"] = given["rerun"] and Rerun(given["rerun"])
    return Options(**given)


def torch_selector(arguments: Sequence[str]) -> str | None:
    """``--torch`` alone, from arguments that may belong to another session."""
    made = _Parser(add_help=False, allow_abbrev=False)
    made.add_argument("--torch", action="append")
    known, _ = made.parse_known_args(arguments)
    given = cast("list[str] | None", known.torch)
    return ",".join(given) if given else None


class _Parser(argparse.ArgumentParser):
    """Raises instead of exiting: only the outermost layer exits."""

    def error(self, message: str) -> NoReturn:
        _, unknown, rest = message.partition("unrecognized arguments: ")
        if unknown:
            raise ConfigurationError(no_option(self, rest.split()))
        raise ConfigurationError(f"{message[:1].upper()}{message[1:]}; nox -s matrix -- --help lists the options.")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def _memory(text: str) -> int:
    if not AVAILABLE:
        raise argparse.ArgumentTypeError("memory can be limited on Linux alone")
    try:
        return memory_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 86400:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 86400 seconds")
    return value


AXES = "versions of a package that is an [[axis]] of matrix.toml: 'transformers>=4.50'"
SELECTORS = "releases: 2.11.0,2.15.0, '>=2.9', latest, latest-minors, newest-3, new, pre"
_DESCRIPTION = "Run the cases on PyTorch releases, and hold what happened against matrix/expectations.toml."
_EPILOG = """examples:
  nox -s matrix                                  the default releases
  nox -s matrix -- --torch latest-minors         the newest patch of every minor
  nox -s matrix -- --torch ">=2.9" -k math -j 2  some releases, some cases, two at once
  nox -s "probe(torch='2.11.0')"                 one release, without the report
  nox -s watch                                   the releases that are new, and what changed in them

--rerun: what is missing, and what is recorded and does not stand (stale), is run in any case. failed adds what is not as
expected, crashed or timed out; changed what regressed, is fixed or changed; flaky what is flaky; all runs everything.
missing and stale run those alone.

exit status: 0 all as expected, 1 unexpected outcomes, 2 interrupted, 3 internal error, 4 bad options or files,
5 nothing selected, 6 incomplete; with nox -j too."""
