"""What the processes of one run share: nox -j runs each session in a process of its own."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat.clock import now
from recompat.errors import ExitCode
from recompat.temporary import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from filelock import FileLock

    from recompat.sources import Sources

__all__ = ["LOCK", "RunFolder", "holder_of"]

LOCK = Path(".nox", "recompat.lock")
"""What the one run of a checkout that runs anything holds."""

VARIABLE = "RECOMPAT_RUN"
HOLDER = re.compile(r"([0-9]{1,10}) ([0-9T:+-]{19,25})")


class RunFolder:
    """A temporary folder that the first process of a run makes, and that its children find by an environment variable."""

    def __init__(self) -> None:
        self.parent = os.getppid()
        parent, _, folder = os.environ.get(VARIABLE, "").partition(":")
        self.mine = parent != str(self.parent) or not Path(folder).is_dir()
        self._made = TemporaryFolder() if self.mine else None
        self._holder: Path | None = None
        self.path = self._made.path if self._made else Path(folder)
        if self.mine:  # children find it; theirs, such as a nox within a test, do not
            os.environ[VARIABLE] = f"{os.getpid()}:{self.path}"

    def tell(self, trouble: str) -> None:
        """Leave a sentence for the end of the run: something was not run again, and what was recorded stands."""
        with (self.path / "told").open("a", encoding="utf-8") as file:
            file.write(f"{trouble}\n")

    @property
    def told(self) -> list[str]:
        """The sentences that were left."""
        with contextlib.suppress(FileNotFoundError):
            return (self.path / "told").read_text(encoding="utf-8").splitlines()
        return []

    def stop(self, why: str) -> None:
        """Have no further release run, because of this one; the first one counts."""
        with contextlib.suppress(FileExistsError), (self.path / "stopped").open("x", encoding="utf-8") as file:
            file.write(why)

    @property
    def stopped_by(self) -> str | None:
        """What the run was stopped by, if it was."""
        with contextlib.suppress(FileNotFoundError):
            return (self.path / "stopped").read_text(encoding="utf-8")
        return None

    @property
    def noted(self) -> ExitCode:
        """The exit code that a session noted."""
        try:
            return ExitCode(int((self.path / "exit").read_text()))
        except FileNotFoundError:
            return ExitCode.OK
        except ValueError:  # the disk had no room for it
            return ExitCode.INCOMPLETE

    def hold(self, lock: Path, waiting: Callable[[str], None]) -> None:
        """Keep other runs out of a checkout for as long as this process lives.

        Args:
            lock: the file that stands for the checkout.
            waiting: told once if another run is at work, before its end is waited for: which one, to stand after its name.
        """
        from filelock import Timeout

        self._lock = _lock(lock)
        holder = lock.with_suffix(".holder")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            waiting(holder_of(holder))
            self._lock.acquire()
        with contextlib.suppress(OSError):  # a full disk may cost us who it is
            holder.write_text(f"{os.getpid()} {now()}", encoding="utf-8")
            self._holder = holder
        with _children(lock, exclusively=True):
            pass

    def join(self, lock: Path) -> None:
        """Keep later runs out for as long as this process lives, a child of the one that holds the lock: that may be killed."""
        self._held = contextlib.ExitStack()
        self._held.enter_context(_children(lock, exclusively=False))

    def first(self, what: str) -> bool:
        """Whether this is the first time in the run that someone asks this of ``what``."""
        try:
            (self.path / what).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def note(self, code: ExitCode) -> None:
        """Note the exit code that the run should end with; the first one counts."""
        with contextlib.suppress(FileExistsError), (self.path / "exit").open("x") as file:
            file.write(str(int(code)))

    def sources(self, find: Callable[[], Sources]) -> Sources:
        """What the sources offer: asked once per run, whichever process needs it first."""
        from recompat.sources import Sources

        file = self.path / "sources.json"
        with _lock(self.path / "sources.lock"):
            with contextlib.suppress(FileNotFoundError):
                return msgspec.json.decode(file.read_bytes(), type=Sources)
            found = find()
            file.write_bytes(msgspec.json.encode(found))
            return found

    def releases(self, selector: str, select: Callable[[], Sequence[Version]]) -> Sequence[Version]:
        """What a selector stands for throughout the run: what was ``new`` is not any more once it has been run."""
        file = self.path / "releases.json"
        with _lock(self.path / "releases.lock"):
            known: dict[str, list[str]] = msgspec.json.decode(file.read_bytes()) if file.exists() else {}
            if selector not in known:
                known[selector] = [str(release) for release in select()]
                file.write_bytes(msgspec.json.encode(known))
        return [Version(release) for release in known[selector]]

    @property
    def selected(self) -> list[Version]:
        """All that was selected so far in the run."""
        with contextlib.suppress(FileNotFoundError):
            known = msgspec.json.decode((self.path / "releases.json").read_bytes(), type=dict[str, list[str]])
            return [Version(release) for releases in known.values() for release in releases]
        return []

    def remove(self) -> None:
        """Remove the folder, if this process made it."""
        if self._holder:
            self._holder.unlink(missing_ok=True)
        if self._made:
            self._made.remove()


def _lock(path: Path) -> FileLock:
    from filelock import FileLock  # a run that has nothing to do needs none

    return FileLock(path)


def holder_of(holder: Path) -> str:
    """Which process holds a lock, and since when, so far as it told."""
    with contextlib.suppress(OSError, ValueError):
        found = HOLDER.fullmatch(holder.read_text(encoding="utf-8"))
        return f" (process {found[1]}, since {found[2]})" if found else ""
    return ""


@contextlib.contextmanager
def _children(lock: Path, *, exclusively: bool) -> Iterator[None]:
    """Be one of the children of a run, or wait until there are none; on Windows nobody waits."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a run that has nothing to do needs no folder for it
            file = stack.enter_context(lock.with_suffix(".children").open("ab"))
            fcntl.flock(file, fcntl.LOCK_EX if exclusively else fcntl.LOCK_SH)
        yield
