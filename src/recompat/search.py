"""Bisection along the releases: some say nothing, and there may be more changes than one. Pure.

What is known is a mapping from releases to what was found there, and nothing else: whoever asks again with what an
interrupted search had found goes on where it ended.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["Answer", "Change", "Found", "Skipped", "changes", "next_release", "outstanding", "recorded_ends"]


class Answer(msgspec.Struct, frozen=True):
    """What a release does: ``text`` says it to a person, and ``key`` is what is compared."""

    text: str
    key: str


class Skipped(msgspec.Struct, frozen=True):
    """A release that says nothing, and why; ``trouble`` if that is no property of the release's own."""

    reason: str
    trouble: bool = False


Found = Answer | Skipped


class Change(msgspec.Struct, frozen=True):
    """Two releases that answer differently; none of those between them, oldest first, says anything."""

    last: Version
    first: Version
    old: Answer
    new: Answer
    between: tuple[Version, ...]


def next_release(releases: Sequence[Version], found: Mapping[Version, Found]) -> Version | None:
    """The release to ask next, or None if nothing is left to ask.

    Both ends come first; an end that says nothing moves inwards. Then the newest change is narrowed down, and then those
    before it: where a third answer appeared, there are several. A release that says nothing is left out, so that its
    neighbours are next, until one answers or none is left.

    Args:
        releases: oldest first.
        found: what is known so far.
    """
    for end in (releases, releases[::-1]):
        outermost = next((release for release in end if not isinstance(found.get(release), Skipped)), None)
        if outermost is not None and outermost not in found:
            return outermost
    for gap in _gaps(releases, found):
        candidates = [release for release in gap.between if release not in found]
        if candidates:
            return candidates[_middle(len(candidates))]
    return None


def changes(releases: Sequence[Version], found: Mapping[Version, Found]) -> tuple[Change, ...]:
    """What is known to change, newest first.

    Between two releases that answer alike nothing is asked: what changed there and changed back stays unseen.
    """
    return tuple(_gaps(releases, found))


def outstanding(releases: Sequence[Version], found: Mapping[Version, Found]) -> tuple[int, int]:
    """How many releases may still be asked, and about how many will be."""
    counts = [sum(release not in found for release in gap.between) for gap in _gaps(releases, found)]
    return sum(counts), sum(count.bit_length() for count in counts)


def recorded_ends(
    found: Mapping[Version, Found], start: Version | None, end: Version | None
) -> tuple[Version, Version] | None:
    """The ends of the newest change that is known; None if there is none.

    Args:
        found: what is known.
        start: an end that was named; the other is then the nearest release beyond that is known to answer otherwise, or
            any that answers where this one is not known itself.
        end: the same, for the other end.
    """
    named = end if start is None else start
    if named is None:
        newest = next(_gaps(sorted(found), found), None)
        return None if newest is None else (newest.last, newest.first)
    answers = {release: answer for release, answer in found.items() if isinstance(answer, Answer)}
    others = [release for release in answers if answers[release] != answers.get(named)]
    if start is not None:
        later = [release for release in others if release > start]
        return (start, min(later)) if later else None
    earlier = [release for release in others if release < named]
    return (max(earlier), named) if earlier else None


def _gaps(releases: Sequence[Version], found: Mapping[Version, Found]) -> Iterator[Change]:
    answered = list(_answered(releases, found))
    for (number, old), (other, new) in reversed(list(pairwise(answered))):
        if old != new:
            yield Change(releases[number], releases[other], old, new, tuple(releases[number + 1 : other]))


def _answered(releases: Iterable[Version], found: Mapping[Version, Found]) -> Iterator[tuple[int, Answer]]:
    for number, release in enumerate(releases):
        answer = found.get(release)
        if isinstance(answer, Answer):
            yield number, answer


def _middle(count: int) -> int:
    """Which of ``count`` candidates to ask: where one part is a power of two, if that makes neither part's search longer.

    For one change that is as good as the middle; for two, 40 releases take at most 10 steps so, and not 11.
    """
    places = count + 1  # where the change may lie
    half = 1 << ((places - 1).bit_length() - 1)
    return (half // 2 if places - half // 2 <= half else places // 2) - 1
