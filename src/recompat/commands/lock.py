"""``recompat lock``: writes down what environments are made of, by digest, for ``nox -s matrix -- --require-hashes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.arguments import axis_selector, existing_folder, index_url, project_of
from recompat.errors import ExitCode

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from recompat.plan import Plan
    from recompat.project import Project
    from recompat.run_folder import RunFolder

HELP = "write matrix/lock.toml: what is installed, by digest"
EPILOG = """examples:
  recompat lock                       what nox -s matrix runs by default
  recompat lock --torch latest        one more; what is locked stays
  nox -s matrix -- --require-hashes   installs that, and nothing else"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    add = parser.add_argument
    add("--torch", action="append", metavar="SPEC", help="only these releases: '>=2.9', latest-minors")
    add("--axis", action="append", type=axis_selector, default=[], metavar="SPEC", help="only these versions beside")
    add("--index-url", action="append", type=index_url, default=[], metavar="URL", help="a further index to ask")
    add("--find-links", action="append", type=existing_folder, default=[], metavar="DIR", help="a folder of wheels")
    add("--source", choices=("auto", "cpu", "default"), default="auto", metavar="INDEX", help="auto, cpu or default")


def run(given: argparse.Namespace) -> ExitCode:
    """Lock what was asked for; it is incomplete where something could not be."""
    from recompat.atomic import write_atomically
    from recompat.console import tell
    from recompat.lock import Lock, load_lock, render_lock
    from recompat.locking import lock_target
    from recompat.matrix import load_matrix
    from recompat.run_folder import RunFolder
    from recompat.wheels import EnvironmentTrouble

    project, run_folder = project_of(given), RunFolder()
    try:
        plan, matrix = _plan(given, project, run_folder), load_matrix(project.matrix)
        lock, locked, failed = load_lock(project.lock) if project.lock.exists() else Lock(), [], False
        for target in plan.targets:
            try:
                one = lock_target(target, plan.sources, matrix.packages_for(target.torch))
            except EnvironmentTrouble as trouble:
                tell(trouble.trouble.reason)
                failed = True
            else:
                locked.append(one)
                print(f"torch {target} for {one.python} on {one.platform}: {len(one.packages)} packages")  # noqa: T201
        if locked:
            write_atomically(project.lock, render_lock(lock.with_environments(locked)).encode())
    finally:
        run_folder.remove()
    return ExitCode.INCOMPLETE if failed else ExitCode.OK


def _plan(given: argparse.Namespace, project: Project, run_folder: RunFolder) -> Plan:
    import msgspec

    from recompat.options import parse_options
    from recompat.plan import Plan

    options = msgspec.structs.replace(parse_options(list(_words(given))), require_hashes=False)
    return Plan(project, run_folder, options)


def _words(given: argparse.Namespace) -> Iterator[str]:
    """What was asked for, as the options of a run."""
    yield f"--source={given.source}"
    for name in ("torch", "axis", "index_url", "find_links"):
        yield from (f"--{name.replace('_', '-')}={value}" for value in getattr(given, name) or ())
