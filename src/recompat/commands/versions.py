"""``recompat versions``: what the index offers for this platform, and what of it has been run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.arguments import existing_folder, index_url, project_of
from recompat.errors import ExitCode

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from packaging.version import Version

    from recompat.listing import Listing
    from recompat.sources import Sources

SOURCES = ("auto", "cpu", "default")
FORMATS = ("text", "markdown", "json")
HELP = "list what the index offers here, and what of it has been run"
EPILOG = """examples:
  recompat versions                   all releases from 2.0 on, newest first
  recompat versions --torch new -q    what was released, and was not run here
  recompat versions --torch pre --index-url \\
      https://download.pytorch.org/whl/nightly/cpu"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    add = parser.add_argument
    add(
        "--torch",
        action="append",
        metavar="SPEC",
        help="only these: '>=2.9', latest-minors, newest-3, new, pre",
    )
    add("--index-url", action="append", type=index_url, default=[], metavar="URL", help="a further index to ask")
    add("--find-links", action="append", type=existing_folder, default=[], metavar="DIR", help="a folder of wheels")
    add("--source", choices=SOURCES, default="auto", metavar="INDEX", help="which to ask: auto, cpu or default")
    add("--format", choices=FORMATS, default="text", metavar="NAME", help="text (the default), markdown or json")


def run(given: argparse.Namespace) -> ExitCode:
    """Print it; it is incomplete where an index that should have been asked did not answer."""
    from recompat.catalogue import Ground, catalogue
    from recompat.clock import now
    from recompat.console import wants_colour, width
    from recompat.listing import load_listing
    from recompat.matrix import load_matrix
    from recompat.record import load_records
    from recompat.report.json import render_json
    from recompat.report.page import Paper
    from recompat.report.versions import render_versions, render_versions_markdown
    from recompat.sources import Source

    project = project_of(given)
    listing = load_listing(project.listing)  # as it was before the index is asked
    sources, wanted = _asked(given, listing)
    matrix, records = load_matrix(project.matrix), load_records(project.records)[0]
    made = catalogue(sources, matrix, records, listing, wanted, ground=Ground.here(), generated=now())
    match given.format:
        case "json":
            text = render_json(made)
        case "markdown":
            text = render_versions_markdown(made)
        case _:
            text = render_versions(made, Paper(width(), wants_colour(), given.verbose - given.quiet))
    print(text, end="")  # noqa: T201
    return ExitCode.OK if sources.reached and Source.NAMED not in sources.silent else ExitCode.INCOMPLETE


def _asked(given: argparse.Namespace, listing: Listing | None) -> tuple[Sources, Sequence[Version] | None]:
    """What the sources offer, and the releases that were asked for; where no index answers, of those that one listed."""
    from recompat.options import parse_options
    from recompat.plan import Plan
    from recompat.run_folder import RunFolder
    from recompat.versions import Offered, select_releases

    words = [f"--torch={value}" for value in given.torch or ()]
    words += [f"--index-url={url}" for url in given.index_url] + [
        f"--find-links={folder}" for folder in given.find_links
    ]
    run_folder = RunFolder()
    try:
        plan = Plan(project_of(given), run_folder, parse_options([*words, f"--source={given.source}"]))
        sources, selector = plan.sources, plan.options.torch
        if selector is None or sources.reached or listing is None:
            return sources, None if selector is None else plan.selected
        known = Offered.of((*listing.versions, *plan.local, *sources.offered.named))
        return sources, select_releases(selector, plan.local, lambda: known, lambda: plan.seen)
    finally:
        run_folder.remove()
