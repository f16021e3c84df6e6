"""``matrix.json``: the summary itself, for machines, and so are other findings. The schemas are in ``recompat.schemas``."""

from __future__ import annotations

import msgspec

__all__ = ["encode_json", "render_json"]


def render_json(summary: msgspec.Struct) -> str:
    """Encode the summary; the same summary gives the same text. A number that JSON cannot hold is null."""
    return encode_json(summary).decode()


def encode_json(summary: msgspec.Struct) -> bytes:
    """Encode it for a file: the text of a large matrix takes twice as much memory."""
    return msgspec.json.format(msgspec.json.encode(summary, order="deterministic"), indent=2) + b"\n"
