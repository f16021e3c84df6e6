"""``recompat init``: a project of one's own, ready for ``nox -s matrix``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recompat.console import tell
from recompat.errors import ExitCode

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from recompat.init import Laid

HELP = "lay the files of a project of your own, for nox -s matrix"
EPILOG = """examples:
  recompat init                    here; what is there already is left as it is
  recompat init checks --dry-run   what would be written into the folder checks
  recompat init --from 'recompat @ git+https://example.org/recompat@main'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its options."""
    add = parser.add_argument
    add("folder", nargs="?", type=Path, metavar="FOLDER", help="where to (default: here); made if need be")
    add("--from", dest="source", metavar="REQ", help="where others get recompat from (default: as it was installed)")
    add("--dry-run", action="store_true", help="say what would be written, and write nothing")


def run(given: argparse.Namespace) -> ExitCode:
    """Lay them, and say what comes next."""
    from recompat.init import lay
    from recompat.origin import of_this_machine, read_requirement, requirement

    folder = given.folder or given.project or Path()
    wanted = read_requirement(given.source) if given.source else requirement()
    laid = lay(folder, wanted, write=not given.dry_run)
    print(*_lines(laid, dry=given.dry_run), sep="\n")  # noqa: T201
    if not given.quiet and not given.source and of_this_machine():
        tell(f"noxfile.py and the workflow ask an index for {wanted}; --from names another place.")
    if not given.quiet and not given.dry_run:
        print(*_next(folder, laid, wanted), sep="\n")  # noqa: T201
    return ExitCode.OK


def _lines(laid: tuple[Laid, ...], *, dry: bool) -> Iterator[str]:
    width = max(len(one.path.as_posix()) for one in laid)
    for one in laid:
        state = "would be written" if dry and one.state == "written" else str(one.state)
        yield f"{state:<{16 if dry else 8}}  {one.path.as_posix():<{width}}  {one.what}"
        yield from (f"            {line}" for line in one.by_hand)


def _next(folder: Path, laid: tuple[Laid, ...], wanted: str) -> Iterator[str]:
    import shlex

    yield "\nNext:"
    if folder.resolve() != Path.cwd():
        yield f"  cd {shlex.quote(str(folder))}"
    if any(one.path.name == "noxfile.py" and one.by_hand for one in laid):
        yield f"  python -m pip install {shlex.quote(wanted)}    where your nox is"
    yield "  nox -s matrix                     runs the cases; nothing is claimed, so all is new: status 1"
    yield '  recompat accept --reason "..."    claims what was recorded; review matrix/expectations.toml'
    yield "  nox -s matrix                     now ends with 0, until something changes"
    yield "  recompat accept --baseline        keeps the records, by which the workflow knows what is new"
