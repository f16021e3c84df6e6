"""What an explanation says, as titles, sentences and commands. Formats lay it out."""

from __future__ import annotations

from itertools import takewhile
from shlex import quote
from typing import TYPE_CHECKING, Final

import msgspec

from recompat.disagreement import DisagreementKind
from recompat.explanation import OtherKind, ReleaseFrom, Where
from recompat.report.style import label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recompat.disagreement import Mismatch
    from recompat.explanation import Alike, Explained, Explanation, Frame, Other, Release

__all__ = [
    "Chapter",
    "Told",
    "chapters",
    "headline",
    "more_text",
    "other_chapters",
    "other_headline",
    "release_text",
]

TITLES: Final = {
    DisagreementKind.METADATA: "recomputed tensors have different metadata",
    DisagreementKind.COUNT: "a different number of tensors was saved",
    DisagreementKind.MORE_TENSORS: "recomputation saved more tensors than forward",
    DisagreementKind.UNPACKED_AGAIN: "a tensor was unpacked a second time",
    DisagreementKind.OPERATOR_LOG: "a log of operators (debug=True)",
}
OTHERS: Final = {
    OtherKind.SELECTIVE: "no CheckpointError, but an error of selective checkpointing",
    OtherKind.REENTRANT: "no CheckpointError: reentrant checkpointing",
    OtherKind.UNPACKING: "no CheckpointError, which torch 2.0 has not, but what came before it",
    OtherKind.ARGUMENTS: "no CheckpointError: what was asked of checkpoint() is not taken",
    OtherKind.INTERNAL: "no CheckpointError: a fault within torch",
    OtherKind.AUTOGRAD: "no error of checkpointing: autograd's own",
}
PLACES: Final = {
    Where.CHECKPOINT: "checkpoint() was called in",
    Where.UNPACKING: "backward reached a checkpointed region from",
    Where.RECOMPUTING: "recomputation had come to",
}
UNPLACED: Final = (
    "The traceback does not show which call of checkpoint() it was. Run it again with checkpoint(…, debug=True): "
    "the message then has the operators of both runs, each with its stack trace."
)
NOT_ALIKE: Final = "Nothing in the library looks like this."
MOST_ALIKE: Final = 3
MOST_TIED: Final = 5
MOST_TENSORS: Final = 8


class Told(msgspec.Struct, frozen=True):
    """A sentence, what is said below it, and commands. All of it is text from elsewhere: formats escape it."""

    text: str
    below: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


class Chapter(msgspec.Struct, frozen=True):
    """What is told under one heading."""

    title: str
    told: tuple[Told, ...]


def headline(number: int, explanation: Explanation) -> str:
    """Name a message, and how often it stands in the text."""
    explained = explanation.explained[number]
    several = len(explanation.explained)
    which = f"Message {number + 1} of {several}: " if several > 1 else "CheckpointError: "
    return f"{which}{TITLES[explained.message.disagreement.kind]}{_often(explained.message.times)}"


def other_headline(other: Other) -> str:
    """Say that an error is no ``CheckpointError``, and of what it is."""
    title = OTHERS[other.kind]
    return f"{title[:1].upper()}{title[1:]}{_often(other.times)}"


def other_chapters(other: Other) -> Iterator[Chapter]:
    """Tell of an error that is no ``CheckpointError``."""
    told = (
        Chapter("What it says", (Told(f"… {other.words} …"),)),
        Chapter("What it means", (Told(other.meaning),)),
        Chapter("Where in your code", tuple(_frames(other.own))),
    )
    return (chapter for chapter in told if chapter.told)


def chapters(explained: Explained, release: Release | None, *, everything: bool = False) -> Iterator[Chapter]:
    """Tell of one message; what differs and what looks alike is cut unless ``everything`` is wanted."""
    most = None if everything else MOST_TENSORS
    told = (
        Chapter("What differed", tuple(_differed(explained, most))),
        Chapter("What it means", tuple(map(Told, explained.meaning))),
        Chapter("Where in your code", tuple(_places(explained))),
        Chapter("Known cases that look alike", tuple(_cases(explained.alike, release, everything=everything))),
    )
    return (chapter for chapter in told if chapter.told)


def release_text(release: Release | None) -> str:
    """Say of which release repairs are told, and why of that."""
    if release is None:
        return "Nothing is recorded here, so no known case can be compared."
    pasted = ", ".join(release.pasted)
    match release.found:
        case ReleaseFrom.ASKED:
            return f"Outcomes and repairs are those of torch {release.torch}."
        case ReleaseFrom.NAMED:
            more = f" (the first that is recorded, of {pasted})" if len(release.pasted) > 1 else ""
            return f"Outcomes and repairs are those of torch {release.torch}, which the text names{more}."
        case ReleaseFrom.LINES:
            fit = "that one" if len(release.pasted) == 1 else f"{pasted}; the newest was taken"
            lines = f"the line numbers of torch in the traceback fit {fit}"
            return f"Outcomes and repairs are those of torch {release.torch}: {lines}. --torch names another."
        case _:
            named = f"The text names torch {pasted}, which is not recorded. " if pasted else ""
            newest = f"Outcomes and repairs are those of torch {release.torch}, the newest that is recorded"
            return f"{named}{newest}. --torch names another."


def more_text(explanation: Explanation) -> str:
    """Say how many messages were left out."""
    return f"{explanation.more} more distinct messages were left out." if explanation.more else ""


def _often(times: int) -> str:
    return f" ({times} times in the text)" if times > 1 else ""


def _differed(explained: Explained, most: int | None) -> Iterator[Told]:
    said, mismatches = explained.message.disagreement, explained.message.mismatches
    if said.saved is not None and said.recomputed is not None:
        yield Told(f"Forward saved {_tensors(said.saved)}, recomputation {said.recomputed}.")
    yield from (Told(f"position {one.position}: {_fields(one)}") for one in mismatches[:most])
    if most is not None and len(mismatches) > most:
        yield Told(f"and {len(mismatches) - most} more tensors")


def _fields(mismatch: Mismatch) -> str:
    pairs = ((name, getattr(mismatch.saved, name), getattr(mismatch.recomputed, name)) for name in mismatch.fields)
    return "; ".join(
        f"{name} {_value(before)} in forward, {_value(after)} in recomputation" for name, before, after in pairs
    )


def _value(value: tuple[int, ...] | str) -> str:
    return value if isinstance(value, str) else str(list(value))


def _places(explained: Explained) -> Iterator[Told]:
    yield from _frames(explained.own)
    if (
        Where.CHECKPOINT not in explained.own
        and explained.message.disagreement.kind is not DisagreementKind.OPERATOR_LOG
    ):
        yield Told(UNPLACED)


def _frames(own: Mapping[Where, Frame]) -> Iterator[Told]:
    for where, words in PLACES.items():
        frame = own.get(where)
        if frame is not None:
            yield Told(f"{words} {frame.name}", (frame.code,) if frame.code else ())


def _cases(alike: Sequence[Alike], release: Release | None, *, everything: bool) -> Iterator[Told]:
    shown = list(alike) if everything else _best(alike)
    if release is not None and not shown:
        yield Told(NOT_ALIKE)
    for one in shown:
        yield Told(f"{one.case}: {one.title}", tuple(_about(one, release)), tuple(_commands(one, release)))
    if len(alike) > len(shown):
        yield Told(f"and {len(alike) - len(shown)} that are less alike; -v and --format json tell them")


def _best(alike: Sequence[Alike]) -> list[Alike]:
    """The first ones, if they are half as much alike as the very first, and those that tie with the last of them."""
    least = max(alike[min(MOST_ALIKE, len(alike)) - 1].score, alike[0].score / 2) if alike else 0
    return list(takewhile(lambda one: one.score >= least, alike))[:MOST_TIED]


def _about(alike: Alike, release: Release | None) -> Iterator[str]:
    yield f"alike in this: {'; '.join(alike.reasons)}"
    if alike.cause:
        yield f"measured on {alike.seen_on}: {alike.cause}"
    if release is None:
        return
    if alike.outcome is None:
        yield f"on {release.torch}: no result; it ended with this message on {alike.seen_on}"
    else:
        yield f"on {release.torch}: {label(alike.outcome, alike.exception)}"
    yield from (f"repair that passes on {release.torch}: {one.title} ({one.case})" for one in alike.repairs)
    if not alike.repairs:
        yield f"no repair: {alike.unrepaired}" if alike.unrepaired else f"none of its repairs passes on {release.torch}"


def _commands(alike: Alike, release: Release | None) -> Iterator[str]:
    torch = release.torch if release and alike.outcome is not None else alike.seen_on
    yield f"recompat show {quote(alike.case)} --torch {torch}{_folder(alike.records)}"
    for one in alike.repairs:
        yield f"recompat reproduce {quote(one.case)} --torch {torch}{_folder(one.records)}"


def _folder(records: str | None) -> str:
    return f" --records {quote(records)}" if records else ""


def _tensors(count: int) -> str:
    return f"{count} tensor{'s' * (count != 1)}"
