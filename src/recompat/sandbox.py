"""Where a file from elsewhere runs: a home and a temporary folder of its own, and none of the caller's secrets."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from recompat.errors import ConfigurationError
from recompat.marked import end_marked
from recompat.runner import Started, passed_on, start_logged, start_probe
from recompat.temporary import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["PASSED_ON", "Sandbox", "sandbox_folder"]

PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "SYSTEMROOT", "LD_LIBRARY_PATH", "CXX")
RUNNER = Path(__file__).with_name("script_runner.py")
MARK = "RECOMPAT_TRY"
"""The variable that all has that runs in a sandbox; its value is the sandbox's folder."""
ROOM = 103 - len("/recompat-12345678/tmp/pymp-12345678/listener-12345678")
"""In bytes, for the path of a temporary folder: that of a socket has 103 on macOS, and 107 on Linux."""


def sandbox_folder() -> TemporaryFolder:
    """A folder for a sandbox: in ``/tmp`` where the path of the usual one has no room for the sockets of ``multiprocessing``.

    The workers of a ``DataLoader`` would print "AF_UNIX path too long", and their parent wait for them for ever.
    """
    usual = os.fsencode(tempfile.gettempdir())
    return TemporaryFolder(parent=Path("/tmp") if sys.platform != "win32" and len(usual) > ROOM else None)


class Sandbox:
    """Starts probes and scripts with an environment of a few variables.

    It keeps the caller's variables and nothing else away: a script may read whatever files its user may.

    Args:
        folder: a temporary folder, for ``HOME`` and ``TMPDIR``, and the working folder of scripts.
        passed: names of variables to pass on besides.

    Raises:
        ConfigurationError: one of them is not set.
    """

    def __init__(self, folder: Path, passed: Sequence[str]) -> None:
        absent = [name for name in passed if name not in os.environ]
        if absent:
            raise ConfigurationError(f"--env {absent[0]}: there is no such variable here; set it, or leave it out.")
        self._folder = folder
        self._named = {name: os.environ[name] for name in passed}

    def probe(self, python: Path, arguments: Sequence[str], log: Path) -> Started:
        """Start a probe."""
        return start_probe(python, arguments, log, self._environ())

    def script(self, python: Path, arguments: Sequence[str], log: Path) -> Started:
        """Start the runner of scripts; the script is its last argument, and its folder is the working folder."""
        command = [str(python), "-I", "-B", "-X", "faulthandler", str(RUNNER), *arguments]
        return start_logged(command, log, self._environ(), Path(arguments[-1]).parent)

    def end_processes(self) -> None:
        """End what is left of all that ran in here, also in a session of its own."""
        end_marked(MARK, str(self._folder))

    def _environ(self) -> Mapping[str, str]:
        home, temporary = self._folder / "home", self._folder / "tmp"
        home.mkdir(exist_ok=True)
        temporary.mkdir(exist_ok=True)
        own = {"HOME": str(home), **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(temporary))}
        return {**passed_on(PASSED_ON), **own, **self._named, MARK: str(self._folder)}
