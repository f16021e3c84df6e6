"""``matrix.json``: the summary itself, for machines, and so are other findings. The schemas are in ``recompat.schemas``."""

from __future__ import annotations

import msgspec

__all__ = ["render_json"]


def render_json(summary: msgspec.Struct) -> str:
    """Encode the summary; the same summary gives the same text. A number that JSON cannot hold is null."""
    content = msgspec.json.format(msgspec.json.encode(summary, order="deterministic"), indent=2)
    content += b"\n"  # to the bytes: a text of so much takes twice as much
    return content.decode()
