"""``recompat ci-matrix``: the jobs that run a matrix on other machines, as a line of JSON for GitHub Actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.arguments import project_of
from recompat.console import tell
from recompat.errors import ConfigurationError, ExitCode, Incomplete, NothingSelected

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from packaging.tags import Tag
    from packaging.version import Version

    from recompat.plan import Plan

SOURCES = ("auto", "cpu", "default")
HELP = "print the jobs of a matrix, for GitHub Actions"
EPILOG = """examples:
  recompat ci-matrix                             where [ci] of matrix.toml says
  recompat ci-matrix --torch new --os macos-15   what is new, on one system
  recompat ci-matrix -k all --python 3.11,3.13   all cases, on two interpreters
Each job runs, of its own values:
  nox -s "$SESSION" -- --torch "$TORCH" -k "$CASES" --source "$SOURCE\""""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    add = parser.add_argument
    add("--torch", action="append", metavar="SPEC", help="releases (default: those of matrix.toml)")
    add("--axis", action="append", metavar="SPEC", help="versions of what stands beside torch (default: all)")
    add("--os", action="append", metavar="LABEL", help="such as ubuntu-24.04,macos-15 (default: [ci] os)")
    add("--python", action="append", metavar="X", help="such as 3.11,3.13 (default: [ci] python)")
    add("-k", dest="keyword", metavar="EXPR", help="cases: 'math and not rank3', family:attention, all")
    add("--source", choices=SOURCES, default="auto", metavar="INDEX", help="of wheels: auto, cpu or default")


def run(given: argparse.Namespace) -> ExitCode:
    """Print it."""
    from recompat.ci_matrix import jobs
    from recompat.matrix import load_matrix
    from recompat.options import parse_options
    from recompat.plan import Plan
    from recompat.run_folder import RunFolder
    from recompat.runners import known_os, known_python

    project = project_of(given)
    ci = load_matrix(project.matrix).ci
    systems, pythons = _names("--os", given.os, known_os), _names("--python", given.python, known_python)
    words = [word for value in given.torch or () for word in ("--torch", value)]
    words += [word for value in given.axis or () for word in ("--axis", value)]
    words += ["-k", given.keyword] if given.keyword else []
    run_folder = RunFolder()
    try:
        plan = Plan(project, run_folder, parse_options([*words, "--source", given.source]))
        places = systems or ci.os, pythons or ci.python
        matrix, remarks = jobs(_wheels(plan), *places, given.keyword or "", given.source, plan.besides)
    finally:
        run_folder.remove()
    tell(*remarks)
    print(matrix.line)  # noqa: T201
    return ExitCode.OK


def _wheels(plan: Plan) -> dict[Version, list[Tag]]:
    """The tags of all wheels of each release that was asked for; none where there is nothing new.

    Raises:
        Incomplete: no index told which wheels there are.
    """
    try:
        releases = plan.selected
    except NothingSelected as error:
        if plan.options.torch != "new":
            raise
        tell(str(error))
        return {}
    if not plan.sources.reached:
        why = "; ".join(plan.sources.silent.values())
        raise Incomplete(f"Which wheels there are is not known: {why}. Check the network and run it again.")
    offers = [offer for held in plan.sources.offers.values() for offer in held]
    return {release: [tag for o in offers if o.release == release for tag in o.tags] for release in releases}


def _names(option: str, given: Sequence[str] | None, known: Callable[[str], str]) -> list[str]:
    """Read names that are joined by commas, in an option that may be given several times."""
    names = [name.strip() for text in given or () for name in text.split(",")]
    try:
        return [known(name) for name in names if name]
    except ValueError as error:
        raise ConfigurationError(f"{option} names {error}") from None
