"""``recompat merge``: the records of several machines in one folder, judged and reported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recompat.arguments import existing_folder, project_of
from recompat.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from recompat.ci_matrix import JobMatrix
    from recompat.errors import ExitCode

HELP = "gather the records of several machines, judge and report them"
NEWEST = "newest"
EPILOG = """examples:
  recompat merge shards                      all that the jobs of a run left
  recompat merge shards matrix/baseline      and the accepted records
  recompat merge here there --prefer there   where they disagree, there counts"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    add = parser.add_argument
    add("folders", nargs="+", type=_folder, metavar="DIR", help="a folder of records, or of folders of records")
    add("--prefer", default=NEWEST, metavar="DIR", help="whose result to keep of two (default: newest)")
    add("--out", type=Path, metavar="DIR", help="where the records go (default: reports/records)")
    add(
        "--plan",
        type=Path,
        metavar="FILE",
        help="what ci-matrix printed; what left nothing is not run",
    )
    add(
        "--torch",
        action="append",
        metavar="SPEC",
        help="report only these, and those of --plan",
    )
    add("--format", metavar="NAME", help="print one format alone, as recompat report does")


def run(given: argparse.Namespace) -> ExitCode:
    """Merge, then do what ``recompat report`` does."""
    from recompat.ci_matrix import read_plan, unrecorded
    from recompat.options import parse_options
    from recompat.plan import Plan
    from recompat.project import Project
    from recompat.record import load_records, save_record
    from recompat.run_folder import RunFolder
    from recompat.shards import merge_folders, newest_listing

    project = project_of(given)
    target = given.out or project.records
    plan = read_plan(given.plan) if given.plan else None
    options = parse_options(_words(given, plan))
    remarks = merge_folders(given.folders, _preferred(given.prefer, [*given.folders, target]), target)
    newest_listing(given.folders, project.listing)
    for record in unrecorded(plan, load_records(target)[0]) if plan else ():
        save_record(target, record)
    run_folder = RunFolder()
    try:
        for remark in remarks:
            run_folder.tell(remark)
        return Plan(Project(project.root, target), run_folder, options).report(recorded=True)
    finally:
        run_folder.remove()


def _words(given: argparse.Namespace, plan: JobMatrix | None) -> list[str]:
    """Say what to report, as options of a session."""
    planned = [job.torch for job in plan.include] if plan else []
    words = [word for spec in (*given.torch, *planned) for word in ("--torch", spec)] if given.torch else []
    return [*words, *([f"--format={given.format}"] if given.format else [])]


def _folder(text: str) -> Path:
    """Read the name of a folder that is there, and keep it as it was given: reports name it."""
    existing_folder(text)
    return Path(text)


def _preferred(name: str, folders: Sequence[Path]) -> Path | None:
    if name == NEWEST:
        return None
    if not any(Path(name).resolve() == folder.resolve() for folder in folders):
        raise ConfigurationError(f"--prefer {name} is none of the folders; name one of {', '.join(map(str, folders))}.")
    return Path(name)
