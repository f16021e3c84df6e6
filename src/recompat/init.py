"""What ``recompat init`` lays into a folder, so that ``nox -s matrix`` runs there. What is there already is left alone."""

from __future__ import annotations

import json
import os
import re
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from recompat import __version__
from recompat.matrix import Matrix, load_matrix
from recompat.templates import template, template_path
from recompat.versions import latest_minors

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Laid", "State", "lay"]

RELEASES = 4
IGNORED = ("/.nox/", "/reports/")
SESSIONS = ("from recompat.nox import define_sessions", "define_sessions(__file__)")
WORKFLOW = Path(".github", "workflows", "recompat.yml")
CASES = Path("matrix", "cases")
HEADER = f"""# Runs the cases on every PyTorch release that is new, publishes the page, and keeps one issue up to date.
# Written by recompat {__version__}, of its own. For the page, choose "GitHub Actions" once under Settings, Pages.
"""


class State(StrEnum):
    """What became of a file."""

    WRITTEN = "written"
    KEPT = "kept"
    LEFT_OUT = "left out"


class Laid(msgspec.Struct, frozen=True):
    """A file of the project: what it is for, or why it was left out, and lines that a person has to add to it."""

    path: Path
    state: State
    what: str
    by_hand: tuple[str, ...] = ()


class _Piece(NamedTuple):
    """A file that may be written: ``lacking`` finds the lines that one which is there lacks, ``hindrance`` why it is not."""

    path: Path
    what: str
    content: Callable[[], str]
    lacking: Callable[[str], tuple[str, ...]] = lambda _: ()
    hindrance: str | None = None


def lay(root: Path, requirement: str, *, write: bool = True) -> tuple[Laid, ...]:
    """Write what is not there yet, or only say what would be written.

    Args:
        root: the folder, made if need be.
        requirement: by which another machine gets recompat.
        write: whether to.
    """
    return tuple(_lay(root, piece, write=write) for piece in _pieces(root, requirement))


def _pieces(root: Path, requirement: str) -> tuple[_Piece, ...]:
    known = load_matrix(template_path("library.toml"))
    releases = [str(release) for release in latest_minors(known.releases)[-RELEASES:]]
    return (
        _Piece(Path("noxfile.py"), "the sessions", lambda: _noxfile(requirement), _no_sessions),
        _Piece(Path("matrix", "matrix.toml"), f"releases: {', '.join(releases)}", lambda: _matrix(known, releases)),
        _Piece(
            Path("matrix", "expectations.toml"), "what is claimed: nothing yet", lambda: template("expectations.toml")
        ),
        _Piece(
            CASES / "block.py",
            "a case and its repair: put your own code in",
            lambda: template("block.py"),
            hindrance=_cases(root),
        ),
        _Piece(Path("matrix", "baseline", "README.md"), "where accepted records go", lambda: template("baseline.md")),
        _Piece(WORKFLOW, "a daily run of new releases", lambda: _workflow(requirement), hindrance=_above(root)),
        _Piece(
            Path(".gitignore"), "of what runs leave", lambda: "".join(f"{line}\n" for line in IGNORED), _not_ignored
        ),
    )


def _lay(root: Path, piece: _Piece, *, write: bool) -> Laid:
    path = root / piece.path
    if os.path.lexists(path):
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        lacking = piece.lacking(text)
        return Laid(piece.path, State.KEPT, "lacks what follows" if lacking else "is there already", lacking)
    if piece.hindrance is not None:
        return Laid(piece.path, State.LEFT_OUT, piece.hindrance)
    if write:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(piece.content())
    return Laid(piece.path, State.WRITTEN, piece.what)


def _noxfile(requirement: str) -> str:
    return template("noxfile.py").format(requirement=json.dumps(requirement))


def _matrix(known: Matrix, releases: list[str]) -> str:
    rows = [
        f"[[extras]]\ntorch = {json.dumps(str(extra.torch))}\npackages = {json.dumps(list(map(str, extra.packages)))}\n"
        f"reason = {json.dumps(extra.reason, ensure_ascii=False)}\n"
        for extra in known.extras
    ]
    return template("matrix.toml").format(
        releases=json.dumps(releases),
        os=json.dumps(known.ci.os),
        python=json.dumps(known.ci.python),
        timeout=f"{known.timeout:g}",
        cpu_index=known.cpu_index,
        extras="\n".join(rows).rstrip(),
    )


def _workflow(requirement: str) -> str:
    """Our own, with recompat from elsewhere than its checkout."""
    install = f"- run: python -m pip install {shlex.quote(requirement)}\n"
    text = re.sub(r"\A(#.*\n)+", lambda _: HEADER, template("recompat.yml"))
    return re.sub(r"- run: python -m pip install .*\n", lambda _: install, text)


def _no_sessions(noxfile: str) -> tuple[str, ...]:
    return () if "define_sessions(" in noxfile else SESSIONS


def _not_ignored(text: str) -> tuple[str, ...]:
    lines = {line.strip().strip("/") for line in text.splitlines()}
    return tuple(line for line in IGNORED if line.strip("/") not in lines)


def _cases(root: Path) -> str | None:
    """Why no example is needed, if so."""
    return "there are cases already" if any((root / CASES).glob("*.py")) else None


def _above(root: Path) -> str | None:
    """Why a workflow would not be found, if so."""
    above = next((folder for folder in root.resolve().parents if (folder / ".git").exists()), None)
    if above is None or (root / ".git").exists():
        return None
    return "GitHub reads workflows in the repository's own folder alone"
