"""Machines that lack something, or have too much of it: what nox is started with there, and what has to come of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from faults.met import Start

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from faults.met import Met
    from support.project import Project

__all__ = ["CONDITIONS", "Condition"]

NOBODY: Final = 65534
PYTHONS: Final = ("python", "python3", "pip", "pip3", *(f"python3.{minor}" for minor in range(8, 16)))
BROKEN: Final = (
    "#!/bin/sh\nexit 1\n",
    "#!/bin/sh\necho junk\n",
    "#!/nowhere/python\n",
    "\x7fELF",
    "#!/bin/sh\nkill -SEGV $$\n",
)
NO_FORK: Final = """\
import os

for name in ("fork", "forkpty"):
    delattr(os, name)
"""


class Condition(NamedTuple):
    """A machine. With ``code`` 0 the matrix is as elsewhere; else nothing is changed, and one sentence has ``told`` in it."""

    name: str
    prepare: Callable[[Project, random.Random], contextlib.AbstractContextManager[Start]]
    folder: str = "project"
    code: int = 0
    told: str = ""

    def run(self, met: Met, rng: random.Random) -> None:
        """Run the matrix there."""
        with self.prepare(met.project, rng) as start:
            before = _content(met.project.reports)
            ran = met.ran(start)
            if self.code:
                met.is_refused(ran, self.code, self.told)
                met.see(_content(met.project.reports) == before, "something was written")
            else:
                met.is_right(ran)


def _content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _plain(start: Start) -> Callable[[Project, random.Random], contextlib.AbstractContextManager[Start]]:
    return lambda project, rng: contextlib.nullcontext(start)


@contextlib.contextmanager
def _without_fork(project: Project, rng: random.Random) -> Iterator[Start]:
    """A Python such as that of Windows; what runs in the environments is started as there, too."""
    folder = _beside(project, "no-fork")
    (folder / "sitecustomize.py").write_text(NO_FORK)
    yield Start({"PYTHONPATH": str(folder)})


@contextlib.contextmanager
def _without_uv(project: Project, rng: random.Random) -> Iterator[Start]:
    """All that is installed here but uv."""
    folder = _beside(project, "no-uv")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(("uv-", "uv.", "__")) and path.name != "uv":
            (folder / path.name).symlink_to(path)
    there = [part for part in os.environ["PATH"].split(os.pathsep) if not Path(part, "uv").exists()]
    base = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    yield Start({"PYTHONPATH": str(folder), "PATH": os.pathsep.join(there)}, python=str(base))


@contextlib.contextmanager
def _broken_pythons(project: Project, rng: random.Random) -> Iterator[Start]:
    folder = _beside(project, "broken")
    for name in PYTHONS:
        (folder / name).write_text(rng.choice(BROKEN))
        (folder / name).chmod(0o755)
    yield Start({"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"})


@contextlib.contextmanager
def _cache_of_another(project: Project, rng: random.Random) -> Iterator[Start]:
    """uv's cache belongs to another user; who runs nox may not do all that root may."""
    cache = Path(project.env["UV_CACHE_DIR"])
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    with _closed(cache) as before:
        yield Start(before=before)


@contextlib.contextmanager
def _reports_to_read(project: Project, rng: random.Random) -> Iterator[Start]:
    project.reports.mkdir(exist_ok=True)
    with _closed(project.reports) as before:
        yield Start(before=before)


@contextlib.contextmanager
def _closed(folder: Path) -> Iterator[tuple[str, ...]]:
    """Let nobody write into ``folder``; the words before a command that does not get around that as root."""
    folder.chmod(0o555)
    root = os.getuid() == 0
    if root:
        os.chown(folder, NOBODY, NOBODY)
    try:
        yield ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if root else ()
    finally:
        if root:
            os.chown(folder, 0, 0)
        folder.chmod(0o755)


def _beside(project: Project, name: str) -> Path:
    folder = project.root.parent / name
    folder.mkdir(exist_ok=True)
    return folder


UMASK: Final = ("sh", "-c", 'umask 077; exec "$@"', "sh")
C: Final = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
NO_HOME: Final = {"HOME": None, "USER": None, "LOGNAME": None}
PLAIN: Final = _plain(Start())

CONDITIONS: Final = (
    Condition("without fork", _without_fork),
    Condition("a broken Python first on PATH", _broken_pythons),
    Condition("no HOME", _plain(Start(dict(NO_HOME)))),
    Condition("a path with blanks", PLAIN, " two  blanks "),
    Condition("a path with quotes", PLAIN, 'it\'s "quoted" `here`'),
    Condition("a path that is not ASCII", PLAIN, "größer ✓ проект"),
    Condition("a path with signs", PLAIN, "$HOME %s {0} #1 & [x] ;"),
    Condition("a path of 200 characters", PLAIN, "x" * 200),
    Condition("the locale C", _plain(Start({**C})), "größer"),
    Condition("umask 077", _plain(Start(before=UMASK))),
    Condition("without uv", _without_uv, code=4, told="uv is missing; install it with: "),
    Condition("a cache of another user", _cache_of_another, code=6, told="cannot be written"),
    Condition("reports that cannot be written", _reports_to_read, code=6, told="cannot be written"),
)
