"""The time."""

from __future__ import annotations

import datetime as dt

__all__ = ["now"]


def now() -> str:
    """The time as records write it: UTC, ISO 8601, to the second."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
