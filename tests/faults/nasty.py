"""Mutation that knows the form of a file: one value is made nasty, and the rest stays what a reader accepts.

What is drawn is drawn from the generator that is handed in, so that a seed repeats it.
"""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from recompat.record import _digest

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    Mutate = Callable[[bytes, random.Random, Sequence[str]], bytes]

__all__ = ["FORMS", "TEXTS", "VALUES", "digested"]

TEXTS: Final = (
    "",
    " ",
    "\0",
    "a\nb\r\nc",
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    "\u202egnp.exe",
    "\ufeff\u200b",
    "\ud800",
    "\U0010ffff",
    "e\u0301" * 5,
    "<script>alert(1)</script>",
    "]]>--><!--",
    "{{ 7 * 7 }}{% raw %}",
    "| a | b |\n|---|",
    "../../../etc/passwd",
    "/etc/passwd",
    "C:\\con\\nul",
    "$(touch evil)`touch evil`",
    "a" * 3000,
    "/a" * 300,
    "::",
    "1!2.dev999999999999",
    "2.11.0",
    ">=2.1,<2.2",
    ">=2," * 300 + "<3",
    "===\0",
    "9" * 400,
    "99999-01-01T00:00:00Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2026-02-30T12:00:00Z",
    "NaN",
    "\u0662.\u0661",
    "torch.utils.checkpoint.CheckpointError",
    "%s%n%(x)s{0!r:>{1}}",
)
VALUES: Final[tuple[Any, ...]] = (
    *TEXTS,
    *(None, True, False, 0, -1, 1.5, -0.0, 1e308, 5e-324),
    *(float("nan"), float("inf"), float("-inf")),
    *(2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**400, 10**4000),
    *([], {}, [[]], [{}], {"": ""}, {"\0": 0}, [0] * 200),
)
RAW: Final = (
    b"[" * 2000,
    b'{"a":' * 2000,
    b'"schema":"recompat/record/2",',
    b"\xff\xfe",
    b"\0",
    b",",
    b"}",
    b"\\ud800",
)
TOML: Final = (
    "[" * 300,
    "{a=" * 300,
    "{}",
    "[]",
    "[[1]]",
    "nan",
    "-inf",
    "1e999",
    "1" + "0" * 5000,
    "0x" + "f" * 3000,
    "99999-01-01",
    "2026-02-30",
    "00:00:60",
    "1979-05-27T00:32:00.999999999999-07:00",
    "'''",
    '"""',
    '"\\ud800"',
    '"\\U0010ffff"',
    "true",
    "0o0",
    "1__0",
    ".5",
    "{a.b.c = 1, a.b = 2}",
)


def mutated_json(content: bytes, draw: random.Random, words: Sequence[str]) -> bytes:
    """Change a value, a key or a length somewhere in a JSON text."""
    try:
        tree = msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return mutated_bytes(content, draw, words)
    held = [tree]
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        _change(held, draw, words)
    made = json.dumps(held[0]).encode()
    return mutated_bytes(made, draw, words) if draw.random() < 0.05 else made


def mutated_record(content: bytes, draw: random.Random, words: Sequence[str]) -> bytes:
    """The same, mostly with the digest of what it says now, so that it is read to its end."""
    made = mutated_json(content, draw, words)
    return digested(made) if draw.random() < 0.9 else made


def digested(content: bytes) -> bytes:
    """Give a record the digest of what it says; what is no JSON object stays as it is."""
    try:
        found = msgspec.json.decode(content)
        return msgspec.json.encode({**found, "digest": _digest(found)})
    except (msgspec.MsgspecError, RecursionError, OverflowError, AttributeError, TypeError, ValueError):
        return content


def mutated_lines(content: bytes, draw: random.Random, words: Sequence[str]) -> bytes:
    """Change one of several lines of JSON, each a value of its own; or their order."""
    lines = content.split(b"\n")
    place = draw.randrange(len(lines))
    if draw.random() < 0.2:
        lines.insert(draw.randrange(len(lines) + 1), lines[place])
    else:
        lines[place] = mutated_json(lines[place], draw, words)
    return b"\n".join(lines)


def mutated_toml(content: bytes, draw: random.Random, words: Sequence[str]) -> bytes:
    """Give a key another value, or a table another name; or put lines elsewhere."""
    lines = content.decode("utf-8", "replace").split("\n")
    places = [number for number, line in enumerate(lines) if "=" in line or line.startswith("[")]
    place = draw.choice(places) if places else 0
    key, equals, _ = lines[place].partition("=")
    match draw.randrange(6):
        case 0:
            lines.insert(draw.randrange(len(lines) + 1), lines[place])
        case 1:
            del lines[place]
        case 2 if not equals:
            name = draw.choice((*words, _quoted(draw.choice(TEXTS)), ".".join(["a"] * draw.choice((2, 9, 300)))))
            lines[place] = f"[[{name}]]" if draw.random() < 0.5 else f"[{name}]"
        case 3:
            lines[place] = f"{draw.choice((*words, 'a.b.c', _quoted(draw.choice(TEXTS))))} ={_toml(draw)}"
        case 4:
            return mutated_bytes(content, draw, words)
        case _:
            lines[place] = f"{key}= {_toml(draw)}"
    return "\n".join(lines).encode("utf-8", "replace")


def mutated_text(content: bytes, draw: random.Random, words: Sequence[str]) -> bytes:
    """Move, repeat, join or break lines, and put words of the format between them."""
    lines = content.split(b"\n")
    place, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    word = draw.choice((*words, *TEXTS)).encode("utf-8", "replace")
    match draw.randrange(7):
        case 0:
            lines[place] *= draw.choice((2, 3, 30))
        case 1:
            lines.insert(place, word)
        case 2:
            at = draw.randrange(len(lines[place]) + 1)
            lines[place] = lines[place][:at] + word + lines[place][at:]
        case 3:
            lines[place], lines[other] = lines[other], lines[place]
        case 4:
            lines = [draw.choice((b"[rank0]: ", b"> ", b"\xe2\x94\x82 ", word)) + line for line in lines]
        case 5:
            at = draw.randrange(len(content) + 1)
            return content[:at] + draw.choice((b"\n", b"\r", b"\\n", b" ", b"\n\n")) + content[at:]
        case _:
            del lines[min(place, other) : max(place, other)]
    return b"\n".join(lines)


def mutated_bytes(content: bytes, draw: random.Random, words: Sequence[str]) -> bytes:
    """Put something raw somewhere, or cut."""
    at = draw.randrange(len(content) + 1)
    piece = draw.choice((*RAW, *(word.encode("utf-8", "replace") for word in words), b""))
    return content[:at] + piece + content[at + draw.choice((0, 0, 1, len(piece), len(content))) :]


FORMS: Final[dict[str, Mutate]] = {
    "json": mutated_json,
    "record": mutated_record,
    "lines": mutated_lines,
    "toml": mutated_toml,
    "text": mutated_text,
}
"""How a file of each form is mutated."""


def _change(held: list[Any], draw: random.Random, words: Sequence[str]) -> None:
    """Go down from ``held[0]`` at random, and change what is there."""
    parent: Any = held
    key: Any = 0
    while isinstance(parent[key], (dict, list)) and parent[key] and draw.random() < 0.9:
        parent = parent[key]
        key = draw.choice(list(parent)) if isinstance(parent, dict) else draw.randrange(len(parent))
    value = parent[key]
    match draw.randrange(8):
        case 0 if isinstance(parent, dict):
            del parent[key]
        case 1 if isinstance(parent, dict):
            parent[draw.choice((*words, *TEXTS))] = value
        case 2 if isinstance(value, list) and value:
            value.extend(value[:1] * draw.choice((1, 3, 100)))
        case 3 if isinstance(value, list):
            draw.shuffle(value)
        case 4 if words:
            parent[key] = draw.choice(words)
        case 5 if isinstance(value, str):
            at = draw.randrange(len(value) + 1)
            parent[key] = value[:at] + draw.choice(TEXTS) + value[at:]
        case _:
            parent[key] = copy.deepcopy(draw.choice(VALUES))


def _toml(draw: random.Random) -> str:
    literal = draw.choice((*TOML, _quoted(draw.choice(TEXTS)), _quoted(draw.choice(TEXTS))))
    return f"[{literal}]" if draw.random() < 0.3 else literal


def _quoted(text: str) -> str:
    """As a basic string of TOML; what that cannot hold is left as it is, to be refused."""
    plain = re.sub(r"[\ud800-\udfff]", "", text)
    return json.dumps(plain, ensure_ascii=max(plain, default="") < "\U00010000")  # TOML has no pairs of surrogates
