"""The only place that catches and exits: a user's mistake ends in one sentence and the right exit code."""

from __future__ import annotations

import contextlib
import errno
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from recompat.console import accept_all_text, tell
from recompat.errors import ExitCode, RecompatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["ends_well", "heed_sigterm", "leave"]

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
IN_THE_WAY = {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.ELOOP, errno.ENAMETOOLONG}
IN_THE_WAY |= {errno.EBUSY, errno.EXDEV}  # something is mounted there
LOCKED = {errno.EROFS, errno.EACCES, errno.EPERM}
EXTRA = 'python -m pip install "recompat[run]" brings it.'


@contextlib.contextmanager
def ends_well(note: Callable[[ExitCode], None] = lambda _: None) -> Iterator[None]:
    """Turn faults and interrupts into a sentence on stderr and ``SystemExit``. ``note`` is told the code."""
    heed_sigterm()
    accept_all_text()
    try:
        yield
    except RecompatError as error:
        _end(str(error), error.exit_code, note)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in {"", "recompat", "recompat_probe", *sys.stdlib_module_names}:
            _fail(error, note)
        else:
            _end(f"This needs more than recompat alone: {package} is not installed; {EXTRA}", ExitCode.USAGE, note)
    except KeyboardInterrupt:
        _end("Interrupted; finished records stay.", ExitCode.INTERRUPTED, note)
    except OSError as error:
        fault = _storage(error)
        if fault is None:
            _fail(error, note)
        else:
            _end(fault, ExitCode.INCOMPLETE, note)
    except Exception as error:  # noqa: BLE001 - a fault of ours: the traceback is what mends it
        _fail(error, note)


def heed_sigterm() -> None:
    """Take SIGTERM for Ctrl-C, so that nothing that was started is left behind."""
    with contextlib.suppress(ValueError):  # only the main thread may set a handler
        signal.signal(signal.SIGTERM, _terminated)


def leave(code: ExitCode, note: Callable[[ExitCode], None]) -> None:
    """End with ``code``, unless all is well."""
    if code is not ExitCode.OK:
        with contextlib.suppress(OSError):
            note(code)
        raise SystemExit(int(code))


def _end(sentence: str, code: ExitCode, note: Callable[[ExitCode], None]) -> None:
    tell(sentence)
    leave(code, note)


def _fail(error: Exception, note: Callable[[ExitCode], None]) -> None:
    import traceback  # seldom needed, and 5 ms of each start

    traceback.print_exception(error)
    _end("this is a fault in recompat itself; please report it with what stands above.", ExitCode.INTERNAL, note)


def _storage(error: OSError) -> str | None:
    if error.errno in FULL:
        return f"The disk is full: {error.filename or 'a report'} was not written; free some space and run it again."
    if error.errno in LOCKED and error.filename:
        return f"{error.filename} cannot be written ({error.strerror}); make it writable and run it again."
    if error.errno in IN_THE_WAY and error.filename:
        return f"{error.filename} is in the way or gone ({error.strerror}); put that right and run it again."
    return None


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
