"""What is installed for the next release while the cases of this one run: a run takes as long as the slower of the two."""

from __future__ import annotations

import contextlib
import shutil
import threading
from typing import TYPE_CHECKING, Final

from recompat.reaper import end_reaped

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.environment import Build

__all__ = ["Ahead"]

PATIENCE: Final = 5.0  # seconds, for what was ended
NAME: Final = "probe-torch-ahead"  # among nox's own, so that the next run removes what a killed one left


class Ahead:
    """Installs one environment in the background, in a folder of its own; when its turn comes, it is moved to its place.

    Whatever hinders it is told by nobody: its turn meets that too, and tells it.

    Args:
        log: what the installer prints, until then.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._place: Path | None = None
        self._thread: threading.Thread | None = None
        self._built: Build | None = None

    @property
    def busy(self) -> bool:
        """Whether it is being installed."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, build: Build, location: Path) -> None:
        """Begin to install ``build`` beside ``location``, unless another one has not been taken yet."""
        if self._place is None:
            self._place = location.with_name(NAME)
            self._thread = threading.Thread(target=self._install, args=(self._place, build), daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait until it is installed, or cannot be."""
        if self._thread is not None:
            self._thread.join()

    def take(self, build: Build, location: Path, log: Path) -> bool:
        """Move what was installed to ``location``, if it is ``build``; else it is removed."""
        self.wait()
        with contextlib.suppress(OSError):
            if self._place is not None and self._built == build:
                _drop(location)
                self._place.rename(location)
                log.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(self._log, log)
                self._forget()
                return True
        self.drop()
        return False

    def drop(self) -> None:
        """Remove what was not taken; what is being installed is ended. Called when nothing else runs any more."""
        if self._thread is not None and self._thread.is_alive():
            end_reaped()
            self._thread.join(PATIENCE)
        if self._place is not None:
            _drop(self._place)
        self._log.unlink(missing_ok=True)
        self._forget()

    def _forget(self) -> None:
        self._place, self._thread, self._built = None, None, None

    def _install(self, place: Path, build: Build) -> None:
        from recompat.environment import build_environment  # whoever installs nothing, which is most runs, does without
        from recompat.wheels import EnvironmentTrouble

        with contextlib.suppress(EnvironmentTrouble, OSError):
            build_environment(place, build, self._log, tries=1)
            self._built = build


def _drop(place: Path) -> None:
    from recompat.environment import drop_environment

    drop_environment(place)
