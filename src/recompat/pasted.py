"""Reading a pasted text: the messages of ``CheckpointError`` in it, whatever terminals, launchers and mail did to them.

Lines are freed of what stands before each of them, and then of all blanks, so that it is the same wherever they were
broken. Everything takes linear time.
"""

from __future__ import annotations

import functools
import html
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from recompat.disagreement import DisagreementKind
from recompat.explanation import Message
from recompat.frames import read_frames
from recompat.mismatch import KINDS, parse_disagreement, parse_mismatches
from recompat.report.text import ESCAPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recompat.disagreement import Disagreement

__all__ = ["BEGINS", "LOOKED_FOR", "read_blocks", "read_messages", "read_text", "squashed"]

LOOKED_FOR: Final = tuple(KINDS.values())
"""The words by which a message is recognised."""

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffd]")
QUOTES = str.maketrans({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
WRITTEN_END = re.compile(r"\\r?\\n|\\n(?=[ .]|tensor at|saved meta|recomputed meta|Number of tensors|Tip)")

HEADER: Final = "Traceback (most recent call last)"
LANDMARK = re.compile(
    rf"{re.escape(HEADER)}|tensor at position [0-9]|(?:saved|recomputed) metadata: |Number of tensors saved|File \""
)
BARS: Final = " \t|│┃"  # of a box, and of a table
OF_A_MESSAGE = re.compile(r"position|metadata|pass\b|torch\.|[a-z]Error:")
OF_A_PREFIX = re.compile(r"[0-9:>|)\]}]")
OF_A_RANK = re.compile(r"\[([A-Za-z]+ ?[0-9]+)\]:|\(\w+ (pid=[0-9]+)")

MOST_PREFIXES: Final = 8
LONGEST_PREFIX: Final = 100
MOST_MESSAGES: Final = 1_000

SQUASHED: Final = {"".join(words.split()): kind for kind, words in KINDS.items()}
TENSOR_BEGINS: Final = "tensoratposition"
COUNT_BEGINS: Final = "Numberoftensorssavedduring"
BEGINS = re.compile("|".join(map(re.escape, (*SQUASHED, TENSOR_BEGINS, COUNT_BEGINS))))
META: Final = r"(\{[^{}]{1,400}\})"
TENSOR = re.compile(rf"{TENSOR_BEGINS}([0-9]{{1,9}}):savedmetadata:{META}recomputedmetadata:{META}")
COUNTED = re.compile(rf"{COUNT_BEGINS}(forward|recomputation):([0-9]{{1,9}})(?![0-9])")
OPERATOR = re.compile(
    r"torch\._ops\.([a-z_]\w{0,60}\.\w{1,80})\.\w{1,80}\((?:(?!torch\._ops).){0,2000}?"
    r"\([0-9]{1,9}of[0-9]{1,9}in(original|recompute)"
)


def read_text(content: bytes) -> str:
    """Decode what was pasted, also as PowerShell writes it; what is no text becomes a mark."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    return content.decode("utf-8", "replace")


def read_messages(text: str) -> tuple[Message, ...]:
    """Read every distinct message, in the order of the text; none where it has none."""
    found: dict[tuple[Disagreement, object], Message] = {}
    for message in _limited(message for block in read_blocks(text) for message in _messages(block)):
        key = (message.disagreement, message.mismatches)
        known = found.get(key)
        found[key] = message if known is None else _both(known, message)
    return tuple(message for message in found.values() if not _is_part(message, found.values()))


@functools.lru_cache(1)  # one text is read for one thing after the other
def read_blocks(text: str) -> Sequence[Sequence[str]]:
    """The lines of each traceback with what follows it, freed of what stands before them; all where there is no header."""
    lines = _grouped(_lines(text))
    starts = [number for number, line in enumerate(lines) if HEADER in line] or [0]
    bounds = zip([0, *starts], [*starts, len(lines)], strict=True)
    return [lines[start:end] for start, end in bounds if start < end]


def squashed(lines: Iterable[str]) -> str:
    """Put lines together without any blank."""
    return "".join("".join(line.split()) for line in lines)


def _both(known: Message, message: Message) -> Message:
    fuller = known if len(known.frames) >= len(message.frames) else message
    return msgspec.structs.replace(fuller, times=known.times + message.times, cut=known.cut and message.cut)


def _is_part(message: Message, others: Iterable[Message]) -> bool:
    """Whether it is a beginning of one that says more, as where a program prints the first line of it again."""
    if message.mismatches or message.disagreement.saved is not None:
        return False
    return any(
        other.disagreement.kind is message.disagreement.kind
        and bool(other.mismatches or other.disagreement.saved is not None)
        for other in others
    )


def _lines(text: str) -> list[str]:
    if "&#" in text or "&quot;" in text:
        text = html.unescape(text)
    text = UNSEEN.sub("", ESCAPE.sub("", text).replace("\r", "\n").replace('\\"', '"')).translate(QUOTES)
    return [line for line in WRITTEN_END.sub("\n", text).split("\n") if line]  # a million empty ones cost nothing


def _grouped(lines: Sequence[str]) -> list[str]:
    """Put the lines of each rank together, each freed of what stands before it."""
    groups: dict[str, list[str]] = {}
    rank = ""
    for line in lines:
        found = OF_A_RANK.search(line[:LONGEST_PREFIX]) if "[" in line or "pid=" in line else None
        rank = (found[1] or found[2]) if found else rank
        groups.setdefault(rank, []).append(_unquoted(line))
    together = [line for group in groups.values() for line in group]
    prefix = _prefix(together)
    return together if prefix is None else [_without(prefix, line) for line in together]


def _unquoted(line: str) -> str:
    return line.lstrip(f"{BARS}>").rstrip(BARS)


def _without(prefix: re.Pattern[str], line: str) -> str:
    found = prefix.match(line)
    return _unquoted(line[found.end() :]) if found else line


def _prefix(lines: Iterable[str]) -> re.Pattern[str] | None:
    """Match what stands before line after line, such as ``[rank0]:`` or a time; numbers may vary."""
    heads: Counter[str] = Counter()
    for line in lines:
        found = LANDMARK.search(line[: LONGEST_PREFIX * 2])
        head = line[: found.start()].strip() if found else ""
        if head and len(head) <= LONGEST_PREFIX and OF_A_PREFIX.search(head) and not OF_A_MESSAGE.search(head):
            heads["".join(map(_varying, re.findall(r"[0-9]+|\s+|[^0-9\s]+", head)))] += 1
    known = sorted((head for head, count in heads.most_common(MOST_PREFIXES) if count > 1), key=len, reverse=True)
    return re.compile("|".join(known)) if known else None


def _varying(part: str) -> str:
    if part.isspace():
        return r"\s+"
    return "[0-9]+" if part.isdecimal() else re.escape(part)


def _messages(lines: Sequence[str]) -> Iterator[Message]:
    sections = list(_sections(squashed(lines)))
    frames = read_frames(lines) if sections else ()
    for words, text in sections:
        message = _message(words, text)
        if message is not None:
            yield msgspec.structs.replace(message, frames=frames)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Each message by the words that begin it; of one whose beginning lacks, by what its details are of."""
    begun: list[tuple[int, str]] = []
    for found in BEGINS.finditer(text):
        kind = SQUASHED.get(found[0])
        if kind is not None:
            begun.append((found.start(), KINDS[kind]))
        elif not begun:
            lacking = DisagreementKind.METADATA if found[0] == TENSOR_BEGINS else DisagreementKind.COUNT
            begun.append((found.start(), KINDS[lacking]))
    ends = [*(start for start, _ in begun), len(text)][1:]
    return ((words, text[start:end]) for (start, words), end in zip(begun, ends, strict=True))


def _message(words: str, text: str) -> Message | None:
    """Write a message as torch does, and read that."""
    tensors = [line for found in TENSOR.finditer(text) for line in _tensor(*found.groups())]
    counts = [f"Number of tensors saved during {during}: {number}" for during, number in COUNTED.findall(text)]
    written = "\n".join((words, *tensors, *counts))
    disagreement = parse_disagreement(written)
    if disagreement is None:
        return None
    mismatches = parse_mismatches(written) if disagreement.kind is DisagreementKind.METADATA else ()
    ran: dict[str, list[str]] = {"original": [], "recompute": []}
    if disagreement.kind is DisagreementKind.OPERATOR_LOG:
        for name, during in OPERATOR.findall(text):
            ran[during].append(name)
    cut = _is_cut(disagreement, len(mismatches), text)
    return Message(disagreement, mismatches, (), tuple(ran["original"]), tuple(ran["recompute"]), cut=cut)


def _is_cut(disagreement: Disagreement, read: int, text: str) -> bool:
    match disagreement.kind:
        case DisagreementKind.METADATA:
            return not read or text.count(TENSOR_BEGINS) > read
        case DisagreementKind.COUNT:
            return disagreement.saved is None
        case _:
            return False


def _tensor(position: str, saved: str, recomputed: str) -> tuple[str, str, str]:
    before, after = (meta.replace("':", "': ").replace(",index=", ", index=") for meta in (saved, recomputed))
    return f"tensor at position {position}:", f"saved metadata: {before}", f"recomputed metadata: {after}"


def _limited(messages: Iterator[Message]) -> Iterator[Message]:
    for _, message in zip(range(MOST_MESSAGES), messages, strict=False):
        yield message
