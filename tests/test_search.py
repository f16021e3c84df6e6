from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from recompat.search import Answer, Skipped, changes, next_release, outstanding, recorded_ends

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recompat.search import Found

RELEASES = [Version(f"2.{minor}.0") for minor in range(40)]
SEEDS = range(300)


def line(text: str) -> dict[Version, Found]:
    """What each release answers, a letter each: `-` says nothing, and `!` is trouble."""
    special: dict[str, Found] = {"-": Skipped("an API is absent"), "!": Skipped("broken wheel", trouble=True)}
    return {RELEASES[number]: special.get(letter) or Answer(letter, letter) for number, letter in enumerate(text)}


def search(truth: Mapping[Version, Found], known: Mapping[Version, Found] | None = None) -> dict[Version, Found]:
    """What is known at the end; a release that is asked twice fails the test, and so does one that is known."""
    releases, found = list(truth), dict(known or {})
    while (release := next_release(releases, found)) is not None:
        assert release not in found
        assert release in truth
        found[release] = truth[release]
    return found


def told(truth: Mapping[Version, Found], found: Mapping[Version, Found]) -> list[str]:
    """Each change in a few words, newest first."""
    return [f"{one.old.text} {one.last.minor} {one.new.text} {one.first.minor}" for one in changes(list(truth), found)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AB", ["A 0 B 1"]),
        ("AAAAABBB", ["A 4 B 5"]),
        ("ABBBBBBB", ["A 0 B 1"]),
        ("AAAACCBB", ["C 5 B 6", "A 3 C 4"]),
        ("AAA---BB", ["A 2 B 6"]),
        ("AA!-ABBB", ["A 4 B 5"]),
        ("--AABB--", ["A 3 B 4"]),
        ("A------B", ["A 0 B 7"]),
        ("AAAAAAAA", []),
        ("--------", []),
        ("---A----", []),
        ("A", []),
        ("", []),
    ],
)
def test_where_the_answer_changes(text: str, expected: list[str]) -> None:
    assert told(line(text), search(line(text))) == expected


def test_both_ends_are_asked_first() -> None:
    assert list(search(line("AAAAABBB")))[:2] == [RELEASES[0], RELEASES[7]]
    assert list(search(line("AAAAAAAA"))) == [RELEASES[0], RELEASES[7]]


def test_an_end_that_says_nothing_moves_inwards() -> None:
    assert list(search(line("--AABB-!")))[:6] == [RELEASES[number] for number in (0, 1, 2, 7, 6, 5)]


def test_the_neighbours_of_a_release_that_says_nothing_are_tried_in_turn() -> None:
    asked = list(search(line("AAAAAAA-----BBBB")))
    assert [release.minor for release in asked[2:5]] == [7, 8, 6]


def test_releases_between_that_say_nothing_are_named() -> None:
    (change,) = changes(RELEASES[:8], search(line("AAA-!-BB")))
    assert change.between == tuple(RELEASES[3:6])


def test_what_changed_and_changed_back_is_seen_only_where_a_step_lands_in_it() -> None:
    hidden = line("A" * 10 + "C" + "A" * 9 + "B" * 20)
    assert told(hidden, search(hidden)) == ["A 19 B 20"]
    seen = search(hidden, {RELEASES[10]: hidden[RELEASES[10]]})
    assert told(hidden, seen) == ["A 19 B 20", "C 10 A 11", "A 9 C 10"]


def test_what_is_known_is_not_asked_and_narrows_the_search() -> None:
    truth = line("A" * 17 + "B" * 23)
    known = {release: truth[release] for release in (RELEASES[0], RELEASES[16], RELEASES[17], RELEASES[39])}
    assert search(truth, known) == known
    assert told(truth, known) == ["A 16 B 17"]


def test_an_interrupted_search_goes_on_where_it_ended() -> None:
    truth = line("AAA-AAAAAA!CCCCCCC-BBBBBBBBBBBBB")
    whole = search(truth)
    for done in range(len(whole)):
        assert list(search(truth, dict(list(whole.items())[:done]))) == list(whole)


def test_how_much_is_left() -> None:
    truth = line("A" * 17 + "B" * 23)
    assert outstanding(RELEASES, {}) == (0, 0)
    assert outstanding(RELEASES, {RELEASES[0]: truth[RELEASES[0]], RELEASES[39]: truth[RELEASES[39]]}) == (38, 6)
    assert outstanding(RELEASES, search(truth)) == (0, 0)


@pytest.mark.parametrize("count", [3, 4, 5, 8, 9, 17, 20, 33, 40])
def test_steps_of_one_change_and_of_two(count: int) -> None:
    one, two = 0, 0
    for cut in range(1, count):
        one = max(one, len(search(line("A" * cut + "B" * (count - cut)))))
        for end in range(cut + 1, count):
            two = max(two, len(search(line("A" * cut + "C" * (end - cut) + "B" * (count - end)))))
    assert one - 2 == math.ceil(math.log2(count - 1))
    assert two - 2 <= 2 * math.log2(count)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_line_of_releases(seed: int) -> None:
    """Changes of up to three answers, and any releases that say nothing: the true places, and no more steps than needed."""
    chance = random.Random(seed)
    count, number = chance.randint(2, 40), chance.randint(1, 3)
    cuts = sorted(chance.sample(range(1, count), min(number, count - 1)))
    whole = "".join("ABCD"[sum(place >= cut for cut in cuts)] for place in range(count))
    silent = set(chance.sample(range(count), chance.randint(0, count // 2)))
    truth = line("".join("-" if place in silent else letter for place, letter in enumerate(whole)))
    found = search(truth)
    answered = [(release, answer) for release, answer in truth.items() if isinstance(answer, Answer)]
    expected = [
        f"{old.text} {last.minor} {new.text} {first.minor}"
        for (last, old), (first, new) in pairwise(answered)
        if old != new
    ]
    assert told(truth, found) == expected[::-1]
    assert len(found) <= 2 + len(expected) * math.ceil(math.log2(count)) + len(silent)


def minors(ends: tuple[Version, Version] | None) -> tuple[int, int] | None:
    return None if ends is None else (ends[0].minor, ends[1].minor)


@pytest.mark.parametrize(
    ("text", "start", "end", "expected"),
    [
        ("AABBCC", None, None, (3, 4)),
        ("AA--BB", None, None, (1, 4)),
        ("AAAAAA", None, None, None),
        ("AABBCC", 1, None, (1, 2)),
        ("AABBCC", 2, None, (2, 4)),
        ("AABBCC", None, 3, (1, 3)),
        ("A-BB-C", 1, None, (1, 2)),
        ("A-BB-C", None, 4, (3, 4)),
        ("AABB", 2, None, None),
        ("AABB", None, 1, None),
    ],
)
def test_ends_that_the_records_know(
    text: str, start: int | None, end: int | None, expected: tuple[int, int] | None
) -> None:
    named = (None if number is None else RELEASES[number] for number in (start, end))
    assert minors(recorded_ends(line(text), *named)) == expected
