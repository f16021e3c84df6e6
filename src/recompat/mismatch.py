"""Reading what a ``CheckpointError`` says: which of its messages it is, and the tensors that it names.

All wordings are those of torch/utils/checkpoint.py, read in 2.1.2, 2.4.1, 2.11.0, 2.13.0 and 2.15.0:

- Tensors whose recomputed twins have other metadata (``_CheckpointFrame.check_recomputed_tensors_match``): the same in
  all, but for what follows: nothing (2.1 to 2.4), or a lone full stop and a tip (later).
- A different number of tensors (same place): later with a full stop and the tip.
- More tensors during recomputation (``_recomputation_hook``): later with the tip.
- A second unpack (``_checkpoint_hook``): later with a sentence more within a ``GraphExecGroup``.
- With ``debug=True`` all of them are replaced by a log of operators (``_checkpoint_error_template``).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from recompat.model import Disagreement, DisagreementKind, Mismatch, TensorMeta

__all__ = ["parse_disagreement", "parse_mismatches"]

KINDS: Final = {
    DisagreementKind.METADATA: "have different metadata than during the forward pass",
    DisagreementKind.COUNT: "A different number of tensors was saved during the original forward and recomputation",
    DisagreementKind.MORE_TENSORS: "trying to save more tensors during recomputation than during the original forward",
    DisagreementKind.UNPACKED_AGAIN: "Unpack is being triggered for a tensor that was already unpacked once",
    DisagreementKind.OPERATOR_LOG: "An error happened while unpacking tensors; dumping logs of latest computation",
}
HEAD: Final = 1000  # characters: how far into a message its own words begin, after a launcher's prefix or a compiler's
SAVED_COUNT = re.compile(r"Number of tensors saved during forward: ([0-9]{1,9})(?![0-9])")
RECOMPUTED_COUNT = re.compile(r"Number of tensors saved during recomputation: ([0-9]{1,9})(?![0-9])")

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


def parse_disagreement(message: str) -> Disagreement | None:
    """Tell which message of ``CheckpointError`` this is, and how many tensors it counts; None if it is another."""
    head = message[:HEAD]
    found = [(head.find(words), kind) for kind, words in KINDS.items() if words in head]
    if not found:
        return None
    _, kind = min(found)
    if kind is not DisagreementKind.COUNT:
        return Disagreement(kind)
    saved, recomputed = SAVED_COUNT.search(message), RECOMPUTED_COUNT.search(message)
    if saved is None or recomputed is None:
        return Disagreement(kind)
    return Disagreement(kind, int(saved[1]), int(recomputed[1]))


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
