"""The file that carries the probe's events home."""

from __future__ import annotations

import errno
import json
import os
from typing import Any

__all__ = ["Wire"]


class Wire:
    """Appends events to a file, one JSON line and one ``write`` each.

    The file is opened for each event, so that no trial inherits a descriptor it could close or scribble on.
    """

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)

    @property
    def folder(self) -> str:
        """Where the file stands: a place that whoever reads it clears."""
        return os.path.dirname(self._path)

    def send(self, event: str, **content: Any) -> None:
        """Append one event; OSError if it cannot be written whole."""
        message: dict[str, Any] = {"event": event, **content}
        line = json.dumps(message, allow_nan=False).encode() + b"\n"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            if os.write(descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._path)
        finally:
            os.close(descriptor)
