"""What a diff says, as sentences and where they hold: the same change of many cases is told once. Formats lay it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from recompat.diff import Part
from recompat.report.entries import listing
from recompat.report.notes import counted
from recompat.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from recompat.diff import Change, Compared, Diff, Fact

__all__ = ["Chapter", "Held", "Told", "chapters", "conclusion", "fact_rows", "headline", "remarks", "same_facts"]

TITLES: Final = {
    Part.OUTCOME: "Outcome",
    Part.EXCEPTION: "Exception",
    Part.MISMATCH: "Mismatch: what CheckpointError says of the tensors",
    Part.SETTINGS: "Settings",
    Part.OPERATORS: "Operators",
    Part.MESSAGE: "Wording of messages",
    Part.DIFFERENCES: "Differences from the reference",
    Part.WARNINGS: "Warnings",
    Part.FACTS: "What was installed, and how it was run",
}
OF_THE_GROUND: Final = frozenset({Part.FACTS, Part.CASES})  # what is told of these is no sum
OF_EVIDENCE: Final = frozenset({Part.SETTINGS, Part.OPERATORS})
RESERVATIONS: Final = {  # and which cases of a pair they are about
    "in A alone": "only_in_a",
    "in B alone": "only_in_b",
    "compared although the case file is not the same bytes on both sides": "edited",
    "flaky: the replays of a side differ from each other, so what is told here may be chance": "flaky",
    "without settings and operators to compare: a side did not watch, or the watched trial ended otherwise": "unwatched",
}
NOTHING: Final = "none"
EDITED, FLAKY = "(case file edited)", "(flaky)"
DIGESTS: Final = ("RECORD", "probe")
DIGEST: Final = 16  # hexadecimal digits that are shown
MOST_PACKAGES: Final = 6
OF_CUDA: Final = ("package cuda", "package nvidia")


class Held(msgspec.Struct, frozen=True):
    """A case for which a sentence holds, or an environment, and what has to be known there; either may be empty."""

    name: str
    note: str = ""


class Told(msgspec.Struct, frozen=True):
    """A sentence, more about it line by line, and where it holds. All of it is text from records: formats escape it."""

    text: str
    lines: tuple[str, ...]
    places: tuple[Held, ...]


class Chapter(msgspec.Struct, frozen=True):
    """What differs in one part, and whether that counts."""

    title: str
    counted: bool
    told: tuple[Told, ...]


def headline(diff: Diff) -> str:
    """Name the two sides."""
    return f"{diff.a} (A) against {diff.b} (B)"


def conclusion(diff: Diff) -> str:
    """Say in two sentences at most what the exit code says, and what else differs."""
    several = f" in {len(diff.pairs)} pairs of environments" if len(diff.pairs) > 1 else ""
    total = sum(len(pair.cases) for pair in diff.pairs)
    of = counted(total, "result" if several else "case") + several
    numbers = {part: diff.number(part) for part in diff.told}
    found = [f"{part} ({numbers[part]})" for part in diff.counted if numbers[part]]
    beside = [part for part in diff.told if part not in {*diff.counted, *OF_THE_GROUND} and numbers[part]]
    rest = [f"{part} ({numbers[part]})" for part in beside]
    more = f" Not counted: {joined(rest)}." if rest else ""
    if not found:
        return f"The same: {of}, by {joined([*diff.counted])}.{more}"
    differing = sum(len(pair.changed(*diff.counted)) for pair in diff.pairs)
    return f"Different: {differing} of {of}, by {joined(found)}.{more}"


def chapters(diff: Diff) -> Iterator[Chapter]:
    """Tell what differs, part by part, first what counts; parts in which nothing does are left out."""
    names = _names(diff)
    order = (*diff.counted, *(part for part in diff.told if part not in diff.counted))
    for part in (part for part in order if part in TITLES):
        mark = "" if part in diff.counted else " (not counted)"
        found = _facts(diff, names) if part is Part.FACTS else _changes(diff, names, part)
        told = sorted(_once(found, diff), key=_rank)
        if told:
            yield Chapter(TITLES[part] + mark, part in diff.counted, tuple(told))


def remarks(diff: Diff) -> Iterator[Told]:
    """Say what was not compared, or only with a reservation; ``places`` are cases or environments."""
    for side, environments in (("A", diff.only_in_a), ("B", diff.only_in_b)):
        if environments:
            text = f"{counted(len(environments), 'environment')} in {side} alone"
            yield Told(text, (), tuple(map(Held, environments)))
    for text, cases, names in _reserved(diff):
        where = _where(names, diff)
        said = f"{counted(len(cases), 'case')} {text}{'; ' if where else ''}{where}"
        yield Told(said, (), tuple(map(Held, cases)))


def _reserved(diff: Diff) -> Iterator[tuple[str, tuple[str, ...], list[str]]]:
    """Each reservation with the cases that it is about, and the pairs where it is about just these."""
    for text, of in RESERVATIONS.items():
        if of == "unwatched" and not OF_EVIDENCE & {*diff.told}:
            continue
        alike: dict[tuple[str, ...], list[str]] = {}
        for pair, name in zip(diff.pairs, _names(diff).values(), strict=True):
            alike.setdefault(getattr(pair, of), []).append(name)
        yield from ((text, cases, names) for cases, names in alike.items() if cases)


def fact_rows(diff: Diff, *, everything: bool = False) -> list[tuple[str, str, str]]:
    """The rows of a table of what was installed: what is not the same. Empty where there is more than one pair."""
    if len(diff.pairs) != 1:
        return []
    (pair,) = diff.pairs
    facts = [fact for fact in pair.differing_facts if not fact.name.startswith("package ")]
    packages = [fact for fact in pair.differing_facts if fact not in facts]
    packages.sort(key=lambda fact: fact.name.startswith(OF_CUDA))  # these come with the build of torch
    shown = packages if everything or len(packages) <= MOST_PACKAGES else packages[:MOST_PACKAGES]
    rows = [("environment", pair.a, pair.b), ("run", *pair.finished)]
    rows += [(fact.name, _value(fact, fact.a), _value(fact, fact.b)) for fact in (*facts, *shown)]
    if len(shown) < len(packages):
        rows.append((f"and {len(packages) - len(shown)} more packages", "", ""))
    return rows


def same_facts(diff: Diff) -> str:
    """Name what is the same in the two environments, where they are the only pair."""
    if len(diff.pairs) != 1:
        return ""
    same = [fact for fact in diff.pairs[0].facts if fact.a == fact.b]
    packages = sum(fact.name.startswith("package ") for fact in same)
    named = [
        fact.name if fact.name in DIGESTS else f"{fact.name} {fact.a}"
        for fact in same
        if not fact.name.startswith("package ")
    ]
    return ", ".join([*named, counted(packages, "package")] if packages else named)


def _names(diff: Diff) -> dict[int, str]:
    """What the pairs are called, by their number: by the release where that names one; an only one needs no name."""
    if len(diff.pairs) == 1:
        return {0: ""}
    releases = [pair.a.removeprefix("torch").partition("-")[0] for pair in diff.pairs]
    return {
        number: release if releases.count(release) == 1 else pair.a
        for number, (pair, release) in enumerate(zip(diff.pairs, releases, strict=True))
    }


Found = tuple[str, tuple[str, ...], tuple[str, str], str]
"""Text, lines, the case with its marks, and the environments where they hold."""


def _changes(diff: Diff, names: Mapping[int, str], part: Part) -> Iterator[Found]:
    for number, pair in enumerate(diff.pairs):
        for change in pair.changes:
            if change.part is part:
                yield _text(change), change.lines, (change.case, _marks(change.case, pair)), names[number]


def _facts(diff: Diff, names: Mapping[int, str]) -> Iterator[Found]:
    """What a table has no room for: the facts of several pairs."""
    for number, pair in enumerate(diff.pairs if len(diff.pairs) > 1 else ()):
        for fact in pair.differing_facts:
            yield f"{fact.name}: {_value(fact, fact.a)} → {_value(fact, fact.b)}", (), ("", ""), names[number]


def _once(found: Iterable[Found], diff: Diff) -> list[Told]:
    alike: dict[tuple[str, tuple[str, ...]], dict[tuple[str, str], list[str]]] = {}
    for text, lines, case, where in found:
        alike.setdefault((text, lines), {}).setdefault(case, []).append(where)
    return [
        Told(text, lines, tuple(Held(case, _joined(marks, _where(names, diff))) for (case, marks), names in by.items()))
        for (text, lines), by in alike.items()
    ]


def _where(names: Sequence[str], diff: Diff) -> str:
    """List pairs of environments; nothing where there is one alone."""
    if len(diff.pairs) == 1:
        return ""
    return f"on all {len(diff.pairs)}" if len(names) == len(diff.pairs) else f"on {listing(names)}"


def _rank(told: Told) -> tuple[bool, bool, int]:
    """What no longer passes comes first, what passes now last, and what many cases share before what one has."""
    a, _, b = told.text.partition(" → ")
    return a != "pass", b == "pass", -len(told.places)


def _text(change: Change) -> str:
    both = f"{change.a or NOTHING} → {change.b or NOTHING}" if (change.a, change.b) != (None, None) else ""
    match change.part:
        case Part.WARNINGS:
            return f"{'gone' if change.b is None else 'new'}: {change.subject}: {change.a or change.b}"
        case Part.MESSAGE:
            return "in other words"
        case Part.MISMATCH:
            return both or "other tensors"
        case Part.OPERATORS:
            return f"in {change.subject}{': attention by ' if both else ''}{both}"
        case _:
            return f"{change.subject}: {both}" if change.subject else both


def _marks(case: str, pair: Compared) -> str:
    return _joined(EDITED if case in pair.edited else "", FLAKY if case in pair.flaky else "")


def _joined(*words: str) -> str:
    return " ".join(filter(None, words))


def _value(fact: Fact, value: str | None) -> str:
    if value is None:
        return "-"
    return value[:DIGEST] if fact.name in DIGESTS else value
