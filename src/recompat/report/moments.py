"""Moments from records, which may hold anything where a time should be."""

from __future__ import annotations

import functools
from datetime import UTC, datetime

__all__ = ["EPOCH", "milliseconds", "moment"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""What stands for a time that cannot be read."""


@functools.lru_cache(4_096)  # many cells were run in the same second
def moment(text: str | None) -> datetime:
    """Read a time of ISO 8601, to the second; one without a zone is UTC already."""
    try:
        read = datetime.fromisoformat(text or "")
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)
    except (ValueError, OverflowError):
        return EPOCH


def milliseconds(when: datetime) -> int:
    """Count milliseconds since 1970."""
    return int((when - EPOCH).total_seconds()) * 1000
