"""The frames of a pasted traceback, and which of them are of the user's own code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from recompat.explanation import Frame, Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["is_own", "own_frames", "read_frames", "torch_name"]

PLAIN = re.compile(r'File "([^"\n]{1,400})",\s?line ([0-9]{1,9}),?\s?in ([\w<>.]{1,200})')
SHORT = re.compile(r"(?<=\.py):([0-9]{1,9}),? in ([\w<>]{1,200})")  # as rich, IPython and records write it
PARTS: Final = "_|utils|autograd|nn|optim|amp|cuda|distributed|fx|func|compiler|library|overrides|random"
TORCH = re.compile(rf"(?:^|[\\/])(torch[\\/](?:{PARTS}).*)")
LIBRARY = re.compile(r"(?:^|[\\/])(?:site-packages|dist-packages|lib[\\/]python3(?:\.[0-9]+)?)[\\/]|^<|^torch[\\/]")
CHECKPOINT: Final = "torch/utils/checkpoint.py"
ENTRIES: Final = frozenset({"checkpoint", "checkpoint_sequential"})

MOST_FRAMES: Final = 400
LONGEST_LINE: Final = 2_000
LONGEST_NAME: Final = 400
LONGEST_CODE: Final = 200


def read_frames(lines: Sequence[str]) -> tuple[Frame, ...]:
    """Read the last frames, innermost last."""
    found: list[Frame] = []
    for number in range(len(lines) - 1, -1, -1):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        found += reversed(list(_frames(lines[number][:LONGEST_LINE], below[:LONGEST_CODE])))
        if len(found) >= MOST_FRAMES:
            break
    return tuple(reversed(found[:MOST_FRAMES]))


def own_frames(frames: Sequence[Frame]) -> dict[Where, Frame]:
    """The user's innermost frames: before torch unpacked a tensor, in recomputation, where checkpoint was called."""
    hook = next((number for number, frame in enumerate(frames) if _is_hook(frame)), len(frames))
    entry = next((number for number, frame in enumerate(frames) if _is_entry(frame)), 0)
    told = {
        Where.UNPACKING: frames[:hook] if hook < len(frames) else (),
        Where.RECOMPUTING: frames[hook:],
        Where.CHECKPOINT: frames[:entry],
    }
    innermost = ((where, next((one for one in reversed(part) if is_own(one)), None)) for where, part in told.items())
    return {where: frame for where, frame in innermost if frame is not None}


def is_own(frame: Frame) -> bool:
    """Whether a frame is neither of torch nor of what was installed."""
    return not (LIBRARY.search(frame.file) or TORCH.search(frame.file))


def torch_name(frame: Frame) -> str | None:
    """The frame as records have it, if it is torch's."""
    found = TORCH.search(frame.file)
    file = found[1].replace("\\", "/") if found else None
    return f"{file}:{frame.line} in {frame.function}" if file else None


def _is_hook(frame: Frame) -> bool:
    return (torch_name(frame) or "").startswith(CHECKPOINT) and "unpack" in frame.function


def _is_entry(frame: Frame) -> bool:
    return (torch_name(frame) or "").startswith(CHECKPOINT) and frame.function in ENTRIES


def _frames(line: str, below: str) -> Iterator[Frame]:
    found = PLAIN.search(line)
    if found is None and 'File "' in line:  # broken where a terminal or a mail ended the line
        found, below = PLAIN.search(line + below.lstrip()), ""
    if found is not None:
        code = below.strip()
        is_code = bool(code) and not PLAIN.search(below) and code.strip("^~ ") != ""
        yield Frame(found[1], int(found[2]), found[3], code if is_code else None)
        return
    for short in SHORT.finditer(line):
        words = line[max(short.start() - LONGEST_NAME, 0) : short.start()].replace(",", " ").split()
        if words:
            yield Frame(words[-1].strip("\"'(["), int(short[1]), short[2])
