"""Reading what a ``CheckpointError`` says of tensors whose recomputed twins differ.

The wording is that of ``_CheckpointFrame.check_recomputed_tensors_match`` in torch/utils/checkpoint.py, the same from 2.1
to 2.15 but for what follows it: nothing (2.1 to 2.4), or a lone full stop and a tip (later). The other messages of the
class (a different number of tensors, more tensors in recomputation, a second unpack, a log of operators) name no tensor.
"""

from __future__ import annotations

import re
from itertools import islice

from recompat.model import Mismatch, TensorMeta

__all__ = ["parse_mismatches"]

POSITION = re.compile(r"tensor at position ([0-9]{1,9}):\s*$")
SAVED, RECOMPUTED = "saved metadata: ", "recomputed metadata: "

SHAPE = re.compile(r"'shape': torch\.Size\(\[([0-9, ]*)\]\)")
DTYPE = re.compile(r"'dtype': (torch\.[a-z0-9_]{1,40})\b")
DEVICE = re.compile(r"'device': device\(type='([a-z]{1,40})'(?:, index=([0-9]{1,9}))?\)")

LONGEST_DIMENSION = 18  # digits; a longer one does not fit the 64 bits that torch has for it


def parse_mismatches(message: str) -> tuple[Mismatch, ...]:
    """Read every tensor that the message names, in its order; what cannot be read yields nothing.

    Takes linear time. A line may have a prefix, such as the ``[rank1]: `` of a launcher.
    """
    lines = message.split("\n")
    found = (_mismatch(*three) for three in zip(lines, islice(lines, 1, None), islice(lines, 2, None), strict=False))
    return tuple(mismatch for mismatch in found if mismatch is not None)


def _mismatch(position: str, saved: str, recomputed: str) -> Mismatch | None:
    if SAVED not in saved or RECOMPUTED not in recomputed:
        return None
    number, before, after = POSITION.search(position), _meta(saved), _meta(recomputed)
    if number is None or before is None or after is None:
        return None
    return Mismatch(int(number[1]), before, after)


def _meta(line: str) -> TensorMeta | None:
    shape, dtype, device = SHAPE.search(line), DTYPE.search(line), DEVICE.search(line)
    if shape is None or dtype is None or device is None:
        return None
    sizes = _sizes(shape[1])
    if sizes is None:
        return None
    return TensorMeta(sizes, dtype[1], device[1] if device[2] is None else f"{device[1]}:{device[2]}")


def _sizes(text: str) -> tuple[int, ...] | None:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if any(not part.isdigit() or len(part) > LONGEST_DIMENSION for part in parts):
        return None
    return tuple(int(part) for part in parts)
