"""Temporary files and folders that tell whether their owner lives: it holds a lock on them, which ends with it however it ends.

So what a killed run left is told from what another one is using, and the next one to come this way removes it. Where nothing can be
locked (Windows, some network drives), nothing is taken for left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["TemporaryFolder", "hold", "temporary_file"]

ENDING: Final = ".recompat"  # of the names of temporary files
MARK: Final = ".recompat-temporary"
"""In a folder that was locked when this was put there: another one with such a name is somebody's."""
PREFIX: Final = "recompat-"


class TemporaryFolder:
    """A folder for as long as it is needed; others of its kind that were left are removed.

    Args:
        prefix: what its name begins with, and those of its kind.
        parent: where it stands, if not where temporary files do.
    """

    def __init__(self, prefix: str = PREFIX, parent: Path | None = None) -> None:
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        _remove_left_folders(parent, prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        self._handle = hold(self.path)
        if self._handle is not None:
            try:
                (self.path / MARK).touch()
            except OSError:  # a full disk may have room for a folder and not for a file
                self.remove()
                raise

    def remove(self) -> None:
        """Remove it, as far as the system lets us."""
        _remove(self.path)
        _let_go(self._handle)
        self._handle = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


@contextlib.contextmanager
def temporary_file(path: Path) -> Iterator[tuple[int, Path]]:
    """An open file beside ``path``, to become that; it is removed where it did not, as are those that were left."""
    _remove_left_files(path)
    opened, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=ENDING)
    temporary, handle = Path(name), hold(Path(name))
    try:
        yield opened, temporary
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    finally:
        _let_go(handle)


def _remove_left_files(path: Path) -> None:
    with contextlib.suppress(OSError):
        beside = [one for one in path.parent.iterdir() if one.name.startswith(f".{path.name}.")]
        for left in (one for one in beside if one.suffix == ENDING):
            if (handle := _taken_over(left)) is not None:
                left.unlink(missing_ok=True)
                _let_go(handle)


def _remove_left_folders(parent: Path, prefix: str) -> None:
    with contextlib.suppress(OSError):
        for left in (one for one in parent.iterdir() if one.name.startswith(prefix) and (one / MARK).is_file()):
            if (handle := _taken_over(left)) is not None:
                _remove(left)
                _let_go(handle)


def _remove(folder: Path) -> None:
    """Take a folder out of everybody's reach and empty it, its mark last: who is killed meanwhile leaves what is found again."""
    with contextlib.suppress(OSError):
        folder = folder.rename(folder.with_name(f"{folder.name}.gone"))
    with contextlib.suppress(OSError):
        for one in [one for one in folder.iterdir() if one.name != MARK]:
            if one.is_dir() and not one.is_symlink():
                _make_writable(one)
                shutil.rmtree(one, ignore_errors=True)
            else:
                one.unlink()
        if [one.name for one in folder.iterdir()] in ([MARK], []):
            (folder / MARK).unlink(missing_ok=True)
            folder.rmdir()


def _make_writable(folder: Path) -> None:
    """Take back the right to remove what is in there, which a case may have taken away."""
    folder.chmod(0o700)
    for place, names, _ in os.walk(folder):
        for inner in (Path(place, name) for name in names):
            if not inner.is_symlink():
                inner.chmod(0o700)


def hold(path: Path) -> int | None:
    """Lock a file or a folder for as long as what is returned stays open; None where another does, or that cannot be done."""
    if sys.platform == "win32":  # no folder can be opened there
        return None
    import fcntl

    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
        else:
            return handle
    return None


def _let_go(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)


def _taken_over(path: Path) -> int | None:
    """Lock what this user's process has left; None for what is somebody else's, or in use."""
    if sys.platform == "win32":
        return None
    with contextlib.suppress(OSError):
        if path.lstat().st_uid == os.getuid():
            return hold(path)
    return None
