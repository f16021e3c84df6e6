"""``expectations.toml`` as text, a block for each claim: what is not changed keeps its bytes, comments included. Pure."""

from __future__ import annotations

import itertools
import re
import tomllib
from typing import TYPE_CHECKING, Any

import msgspec
import tomlkit

from recompat.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tomlkit.items import Item

__all__ = ["Block", "Blocks", "edited", "inline", "new_body"]

LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Block(msgspec.Struct, frozen=True):
    """A claim: the lines above it that are blank or comments, and its own, from ``[[file.case]]`` on."""

    case: str
    lead: str
    body: str


class Blocks:
    """The file, to be edited; each claim has a place, where new ones may stand beside it.

    Raises:
        ConfigurationError: it is not written as one ``[[file.case]]`` table for each claim.
    """

    def __init__(self, text: str, name: str) -> None:
        self._end = "\r\n" if "\r\n" in text else "\n"
        self._empty = not text
        whole = text if text.endswith("\n") or not text else text + self._end
        blocks, rest = _read(whole)
        if _content(blocks) != tomllib.loads(text):
            raise ConfigurationError(f"{name} does not have a [[file.case]] table for each claim; write it so.")
        self._head, self._rest = ("", rest) if blocks else (rest, "")
        self._claims = [[block] for block in blocks]
        self._added: list[list[Block]] = [[] for _ in blocks]
        self._places: dict[str, list[int]] = {}
        for place, block in enumerate(blocks):
            self._places.setdefault(block.case, []).append(place)

    @property
    def text(self) -> str:
        """What the file is to be."""
        places = zip(self._claims, self._added, strict=True)
        blocks = itertools.chain.from_iterable(claims + added for claims, added in places)
        text = self._head + "".join(block.lead + block.body for block in blocks) + self._rest
        return text.removeprefix(self._end) if self._empty else text

    def body(self, case: str, number: int) -> str:
        """The lines of a claim, by its number in its case."""
        return self._claims[self._places[case][number]][0].body

    def torch(self, case: str, number: int) -> str:
        """The range of a claim, as it is written."""
        stem, _, name = case.partition("::")
        return str(tomllib.loads(self.body(case, number))[stem][name][0]["torch"])

    def rewrite(self, case: str, bodies: Iterable[tuple[int | None, str]]) -> None:
        """Give a case that has claims others, in order: the number of the claim that each was, or none, and its lines.

        A claim stays in its place; what is new, or its copy, stands below the one before. One that is not named goes.
        """
        places = self._places[case]
        old = [self._claims[place][0] for place in places]
        for place in places:
            self._claims[place] = []
        place, left = places[0], set(range(len(old)))
        for number, body in bodies:
            lead = self._end
            if number in left:
                place = places[number]
                lead = lead if self._claims[place] else old[number].lead
                left.remove(number)
            self._claims[place].append(Block(case, lead, body if number is not None else self._ended(body)))
        first = next(self._claims[place] for place in places if self._claims[place])
        first[0] = msgspec.structs.replace(first[0], lead=old[0].lead)  # what stands above the case stays there

    def add(self, case: str, beside: Iterable[str], heading: tuple[str, str], bodies: Sequence[str]) -> None:
        """Give a case its first claims: below the first of the cases ``beside`` that has some, or at the end.

        Args:
            heading: comments that stand above them: for the section, if they begin one, and for the case.
        """
        place = next((self._places[other][-1] for other in beside if other in self._places), None)
        comments = heading if place is None else heading[1:]
        if place is None and not self._claims:
            self._claims, self._added = [[]], [[]]
        if place is None:
            place = len(self._claims) - 1
        self._places[case] = [place]
        above = "".join(f"{self._end}# {comment}{self._end}" for comment in comments) + self._end
        leads = itertools.chain([above], itertools.repeat(self._end))
        self._added[place] += [Block(case, lead, self._ended(body)) for lead, body in zip(leads, bodies, strict=False)]

    def _ended(self, body: str) -> str:
        return body.replace("\n", self._end)


def edited(
    case: str, body: str, torch: str | None, *, lasting: bool = False, beside: Mapping[str, str] | None = None
) -> str:
    """Write a claim with another range or packages beside it, if given, and if ``lasting`` without a last day."""
    document: Any = tomlkit.parse(body)
    stem, _, name = case.partition("::")
    row = document[stem][name][0]
    if torch is not None:
        row["torch"] = torch
    if beside is not None:
        row["beside"] = inline(beside)
    if lasting:
        row.remove("until")
    return str(document.as_string())


def inline(values: Mapping[str, str]) -> Item:
    """Write a table on one line."""
    pairs = (f"{tomlkit.key(key).as_string()} = {tomlkit.item(value).as_string()}" for key, value in values.items())
    return tomlkit.value(f"{{ {', '.join(pairs)} }}")


def new_body(case: str, values: Mapping[str, object]) -> str:
    """Write a claim; keys without a value are left out."""
    name = tomlkit.key(case.split("::")).as_string()
    given = {key: value for key, value in values.items() if value is not None}
    return "".join([f"[[{name}]]\n", *(f"{key} = {tomlkit.item(value).as_string()}\n" for key, value in given.items())])


def _read(text: str) -> tuple[list[Block], str]:
    """Cut a text into its claims, and the comments behind the last."""
    parts: list[list[str]] = [[]]
    cases: list[str] = []
    for line in LINE.findall(text):
        case = _case_of(line)
        if case is not None:
            cases.append(case)
            parts.append([])
        parts[-1].append(line)
    blocks, lead = [], "".join(parts[0])
    for case, lines in zip(cases, parts[1:], strict=True):
        length = _length(lines)
        blocks.append(Block(case, lead, "".join(lines[:length])))
        lead = "".join(lines[length:])
    return blocks, lead


def _case_of(line: str) -> str | None:
    """The case of a line such as ``[[file.case]]``; None of any other."""
    if not line.lstrip().startswith("[["):
        return None
    try:
        ((stem, cases),) = tomllib.loads(line).items()
        ((name, _),) = cases.items()
    except (ValueError, AttributeError):  # [[file]], or a line of a longer string; the content then tells
        return None
    return f"{stem}::{name}"


def _length(lines: Sequence[str]) -> int:
    """How many of the lines below a head are the claim's: all keys, and comments right below the last."""
    number = max(number for number, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#"))
    return number + sum(1 for _ in itertools.takewhile(str.strip, lines[number:]))


def _content(blocks: Iterable[Block]) -> dict[str, dict[str, list[object]]]:
    """What the blocks say one by one, put together; nothing where one cannot be read by itself."""
    content: dict[str, dict[str, list[object]]] = {}
    for block in blocks:
        stem, _, name = block.case.partition("::")
        try:
            row = tomllib.loads(block.body)[stem][name]
        except (ValueError, LookupError):
            return {}
        content.setdefault(stem, {}).setdefault(name, []).extend(row)
    return content
