"""``matrix.json``: the summary itself, for machines. Its schema is ``recompat.schemas``' ``matrix-1.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from recompat.summary import Summary

__all__ = ["render_json"]


def render_json(summary: Summary) -> str:
    """Encode the summary; the same summary gives the same text. A number that JSON cannot hold is null."""
    return msgspec.json.format(msgspec.json.encode(summary, order="deterministic"), indent=2).decode() + "\n"
