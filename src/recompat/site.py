"""The site: ``reports/site/``, a folder that may be uploaded as it is, and that nobody sees half written.

A new site is written completely into a hidden folder beside the old one; one renaming then swaps the two. Where the kernel or the
file system cannot do that (Windows, some network drives), the old one is renamed away and the new one into its place: whoever
looks in between finds none, and if the run is killed in between, the next one puts the old one back before it writes its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import sys
from typing import TYPE_CHECKING, Final

from recompat.atomic import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["NAME", "exchange", "replace_site"]

NAME: Final = "site"
NEW, OLD = f".{NAME}.new", f".{NAME}.old"
AT_FDCWD = -100  # Linux: a path is relative to the current folder
SWAP = 2  # Linux' RENAME_EXCHANGE and macOS' RENAME_SWAP


def exchange(one: Path, other: Path) -> bool:
    """Swap what two names stand for, in one step. False where that cannot be done: then nothing has changed."""
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None)
        if sys.platform == "darwin":
            return bool(library.renamex_np(first, second, SWAP) == 0)
        return bool(library.renameat2(AT_FDCWD, first, AT_FDCWD, second, SWAP) == 0)
    except (AttributeError, OSError, TypeError):  # a C library without it, or none to be had
        return False


def replace_site(
    reports: Path,
    files: Iterable[tuple[str, bytes]],
    names: Sequence[str] = (),
    *,
    swap: Callable[[Path, Path], bool] = exchange,
    link: Callable[[str, Path], None] = os.symlink,
) -> None:
    """Write the site anew. If that fails, what was there before is there still, and whole.

    Args:
        reports: the folder that it stands in.
        files: all that it is to hold, paths with contents; each may be made when it is asked for.
        names: its files and folders that are to be found in ``reports`` too: as links, so that all of them change at once.
            Where links are refused, files are copied; a folder or a link of somebody else stays.
        swap: what exchanges two names.
        link: what makes a link.

    Raises:
        OSError: it cannot be written, or is a file or a link of somebody else; ``filename`` says what.
    """
    reports.mkdir(parents=True, exist_ok=True)
    new, old, site = reports / NEW, reports / OLD, reports / NAME
    with _turn(reports):
        try:
            _require_folder(site)
            _clear(new, old, site)
            _write(new, files)
            if not swap(new, site):
                _take_place(new, old, site)
        except OSError as error:  # it names the hidden folder, or nothing
            error.filename, error.filename2 = str(error.filename or site).replace(str(new), str(site)), None
            raise
        finally:
            _remove(new)  # which is the old site by now, if all went well
        for name in names:
            _link(reports / name, site / name, link)


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Wait for another process that writes into ``folder``; on Windows, and where no folder can be locked, nobody waits."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _require_folder(site: Path) -> None:
    """Refuse what is no folder of ours: a link may lead to a folder that has much else, and nothing of it is to go."""
    if site.is_symlink() or site.is_file():
        raise FileExistsError(errno.EEXIST, "a link" if site.is_symlink() else "a file", str(site))


def _clear(new: Path, old: Path, site: Path) -> None:
    """Put right what a killed run left."""
    if old.exists() and not site.exists():
        old.rename(site)
    _remove(old)
    _remove(new)


def _write(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    folder.mkdir()
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def _take_place(new: Path, old: Path, site: Path) -> None:
    with contextlib.suppress(FileNotFoundError):  # the first one
        site.rename(old)
    try:
        new.rename(site)
    except BaseException:
        with contextlib.suppress(OSError):
            old.rename(site)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    """Remove a file or a folder, so far as that can be done: what is left of it, the next run removes."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def _link(path: Path, target: Path, link: Callable[[str, Path], None]) -> None:
    if path.is_symlink() or path.is_dir() or not target.exists() or (target.is_dir() and path.exists()):
        return  # it leads there already, or is somebody else's
    hidden = path.with_name(f".{path.name}.link")
    _remove(hidden)
    try:
        link(f"{target.parent.name}/{target.name}", hidden)
        hidden.replace(path)
    except (OSError, NotImplementedError):
        if target.is_file():
            write_atomically(path, target.read_bytes())
