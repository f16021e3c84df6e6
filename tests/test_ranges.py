from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import msgspec
import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from recompat.boundary import Ending
from recompat.expectations import Expectation, shared
from recompat.model import Outcome
from recompat.ranges import Range, settle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

P, D = Ending(Outcome.PASS), Ending(Outcome.DIFFERS)
R, S = Ending(Outcome.RAISES, "builtins.RuntimeError"), Ending(Outcome.RAISES, "builtins.TypeError")
U, W = Ending(Outcome.UNSUPPORTED), Ending(Outcome.PASS, None, ("builtins.UserWarning",))
RELEASES = [
    "2.0.0",
    "2.0.1",
    "2.1.0",
    "2.1.1",
    "2.1.2",
    "2.2.0",
    "2.3.0",
    "2.3.1",
    "2.4.0",
    "2.5.0",
    "2.6.0",
    "2.7.1",
    "2.8.0",
    "2.9.0",
    "2.10.0",
    "2.11.0",
]

Claims = dict[str, Ending]


def claim(torch: str, ending: Ending) -> Expectation:
    return Expectation(SpecifierSet(torch), ending.outcome, "Why.", ending.exception, warns=ending.warned)


def settled(claims: Claims, seen: Mapping[str, Ending], accepted: str = "", known: str = "") -> list[Range]:
    held = [claim(torch, ending) for torch, ending in claims.items()]
    endings = {Version(release): ending for release, ending in seen.items()}
    chosen = [Version(name) for name in accepted.split()] or list(endings)
    return [*settle(held, endings, chosen, map(Version, known.split()))]


def said(claims: Claims, seen: Mapping[str, Ending], accepted: str = "", known: str = "") -> list[tuple[str, Ending]]:
    """All ranges, and what is said of them."""
    names, endings = list(claims), list(claims.values())
    return [
        (one.torch or names[one.by], endings[one.by]) if isinstance(one.by, int) else (one.torch or "", one.by)
        for one in settled(claims, seen, accepted, known)
    ]


@pytest.mark.parametrize(
    ("seen", "known", "ranges"),
    [
        ({"2.0.1": P, "2.1.0": P, "2.11.0": P}, "", [(">=2.0", P)]),
        ({"2.0.1": P, "2.1.0": R}, "", [(">=2.0,<2.1", P), (">=2.1", R)]),
        ({"2.1.0": P, "2.1.1": R}, "", [(">=2.1,<2.1.1", P), (">=2.1.1", R)]),
        ({"2.9.1": P, "2.10.0": R, "2.11.0": P}, "", [(">=2.9,<2.10", P), (">=2.10,<2.11", R), (">=2.11", P)]),
        ({"2.0.1": R, "2.1.0": S}, "", [(">=2.0,<2.1", R), (">=2.1", S)]),
        ({"2.0.1": P, "2.1.0": W}, "", [(">=2.0,<2.1", P), (">=2.1", W)]),
        ({"2.11.0.post1": R, "2.11.0": P}, "", [(">=2.11,<2.11.0.post1", P), (">=2.11.0.post1", R)]),
        ({"1!2.0": R, "2.11.0": P}, "", [(">=2.11,<1!2.0", P), (">=1!2.0", R)]),
    ],
)
def test_ranges_begin_with_a_minor_where_they_can_and_the_newest_is_open(
    seen: dict[str, Ending], known: str, ranges: list[tuple[str, Ending]]
) -> None:
    assert said({}, seen, known=known) == ranges


@pytest.mark.parametrize(
    ("seen", "known", "ranges"),
    [
        ({"2.1.0": P, "2.4.0": P}, "2.2.0 2.3.0", [(">=2.1", P)]),
        ({"2.1.0": P, "2.4.0": R}, "2.2.0 2.3.0", [(">=2.1,<2.2", P), (">=2.4", R)]),
        ({"2.1.0": P, "2.4.0": R}, "2.1.1 2.3.0", [(">=2.1,<2.1.1", P), (">=2.4", R)]),
        ({"2.1.0": P, "2.4.0": R}, "", [(">=2.1,<2.4", P), (">=2.4", R)]),
        ({"2.4.0": R}, "2.0.0 2.3.0 2.5.0", [(">=2.4", R)]),
        ({"2.0.1": R}, "1.13.1 2.0.0", [(">=2.0", R)]),
    ],
)
def test_what_nobody_observed_belongs_to_neighbours_that_agree(
    seen: dict[str, Ending], known: str, ranges: list[tuple[str, Ending]]
) -> None:
    assert said({}, seen, known=known) == ranges


@pytest.mark.parametrize(
    ("seen", "ranges"),
    [
        ({"2.15.0": P, "2.16.0rc1": R}, [(">=2.15,<2.16", P), (">=2.16", R)]),
        ({"2.15.0": P, "2.16.0rc1": R, "2.16.0": R}, [(">=2.15,<2.16", P), (">=2.16", R)]),
        ({"2.15.0": P, "2.16.0rc1": P, "2.16.0": R}, [(">=2.15,<=2.16.0rc1", P), (">2.16.0rc1", R)]),
        ({"2.15.0": P, "2.16.0rc1": R, "2.16.0": P}, [(">=2.15,<2.16", P), ("==2.16.0rc1", R), (">2.16.0rc1", P)]),
        (
            {"2.16.0.dev20261119": P, "2.16.0.dev20261120": R},
            [(">=2.16.0.dev20261119,<2.16.0.dev20261120", P), (">=2.16.0.dev20261120", R)],
        ),
    ],
)
def test_a_prerelease_is_told_from_its_release_where_it_ended_otherwise(
    seen: dict[str, Ending], ranges: list[tuple[str, Ending]]
) -> None:
    assert said({}, seen) == ranges


@pytest.mark.parametrize(
    ("claims", "seen", "known", "ranges"),
    [
        pytest.param(
            {">=2.0": P}, {"2.14.0": P, "2.15.0": R}, "2.16.0", [(">=2.0,<2.15", P), (">=2.15", R)], id="narrowed"
        ),
        pytest.param({">=2.0,<2.14": P}, {"2.13.0": P, "2.14.0": P}, "", [(">=2.0", P)], id="grown"),
        pytest.param({">=2.1": P}, {"2.0.1": P, "2.1.0": P}, "2.2.0", [(">=2.0", P)], id="grown downwards"),
        pytest.param({">=2.0,<2.13": P}, {"2.12.0": P, "2.14.0": P}, "2.13.0", [(">=2.0", P)], id="grown over a gap"),
        pytest.param({">=2.0": P}, {"2.14.0": R}, "", [(">=2.0", R)], id="another outcome"),
        pytest.param(
            {">=2.0,<2.3": P, ">=2.3,<2.4": R, ">=2.4": D},
            {"2.2.0": P, "2.3.0": P, "2.4.0": D},
            "",
            [(">=2.0,<2.4", P), (">=2.4", D)],
            id="one goes",
        ),
        pytest.param(
            {">=2.0": P},
            {"2.2.0": P, "2.3.0": R, "2.4.0": P},
            "",
            [(">=2.0,<2.3", P), (">=2.3,<2.4", R), (">=2.4", P)],
            id="split",
        ),
        pytest.param(
            {">=2.0,!=2.3.*": P, ">=2.3,<2.4": R},
            {"2.2.0": P, "2.3.0": R, "2.4.0": P, "2.5.0": D},
            "2.3.1",
            [(">=2.0,<2.5,!=2.3.*", P), (">=2.3,<2.4", R), (">=2.5", D)],
            id="a gap is kept",
        ),
        pytest.param(
            {">=2.0,!=2.3.*": P, ">=2.3,<2.4": R},
            {"2.2.0": P, "2.3.0": R, "2.5.0": D},
            "2.4.0",
            [(">=2.0,<2.5,!=2.3.*", P), (">=2.3,<2.4", R), (">=2.5", D)],
            id="a gap is kept around one that nobody observed",
        ),
    ],
)
def test_claims_are_changed_as_little_as_what_was_observed_asks_for(
    claims: Claims, seen: dict[str, Ending], known: str, ranges: list[tuple[str, Ending]]
) -> None:
    assert said(claims, seen, known=known) == ranges


@pytest.mark.parametrize(
    ("claims", "seen", "known"),
    [
        ({">=2.0,<2.3": P, ">=2.3": P}, {"2.2.0": P, "2.3.0": P}, "2.4.0"),
        ({">=2.0,<2.3": P, ">=2.4": P}, {"2.2.0": P, "2.4.0": P}, "2.3.0"),
        ({">=2.0,<2.5": P}, {"2.4.0": P}, "2.5.0"),
        ({">=2.3,<2.4": R, ">=2.0,!=2.3.*": P}, {"2.3.0": R, "2.4.0": P}, ""),
        ({">=2.0": P}, {}, "2.0.0"),
        ({">=2.0": P}, {"1.13.1": R}, ""),
    ],
)
def test_claims_that_hold_are_not_touched(claims: Claims, seen: dict[str, Ending], known: str) -> None:
    assert settled(claims, seen, accepted="2.0.0 2.2.0 2.3.0 2.4.0", known=known) == [
        Range(None, number) for number in range(len(claims))
    ]


def test_a_claim_beside_one_that_changes_is_not_touched() -> None:
    claims = {">=2.0,<2.3": P, ">=2.3,<2.10": R, ">=2.10": P}
    assert settled(claims, {"2.2.0": P, "2.9.0": R, "2.10.0": P, "2.11.0": D}) == [
        Range(None, 0),
        Range(None, 1),
        Range(">=2.10,<2.11", 2),
        Range(">=2.11", D),
    ]


def test_a_reviewed_claim_about_releases_that_nobody_observed_stays() -> None:
    claims = {">=2.0,<2.3": P, ">=2.3,<2.4": R, ">=2.4": P}
    assert said(claims, {"2.2.0": D, "2.4.0": D}, known="2.3.0") == [(">=2.0,<2.3", D), (">=2.3,<2.4", R), (">=2.4", D)]


def test_only_what_is_accepted_is_claimed() -> None:
    seen = {"2.1.0": P, "2.2.0": R, "2.3.0": R}
    assert said({}, seen, accepted="2.1.0") == [(">=2.1,<2.2", P)]
    assert said({}, seen, accepted="2.3.0") == [(">=2.3", R)]
    assert said({">=2.0": P}, seen, accepted="2.3.0") == [(">=2.0,<2.3", P), (">=2.3", R)]
    assert said({}, {"2.1.0": P, "2.2.0": R, "2.3.0": P}, accepted="2.1.0 2.3.0") == [(">=2.1,<2.2", P), (">=2.3", P)]


def history(chance: random.Random, endings: Sequence[Ending] = (P, R, S, D, U, W)) -> dict[Version, Ending]:
    """How a case ended on some of the releases, mostly as on the one before."""
    names = sorted(chance.sample(RELEASES, chance.randint(1, len(RELEASES))), key=Version)
    seen, ending = {}, chance.choice(endings)
    for name in names:
        ending = chance.choice(endings) if chance.random() < 0.3 else ending
        seen[Version(name)] = ending
    return seen


def written(held: Sequence[Expectation], ranges: Sequence[Range]) -> list[Expectation]:
    """The claims that the ranges make."""
    made = []
    for one in ranges:
        was = held[one.by] if isinstance(one.by, int) else claim(">=0", one.by)
        torch = was.torch if one.torch is None else SpecifierSet(one.torch)
        made.append(Expectation(torch, was.outcome, was.reason, was.exception, was.link, was.warns))
    return made


def with_reasons(claims: Sequence[Expectation]) -> list[Expectation]:
    """The same, each for a reason of its own."""
    return [msgspec.structs.replace(one, reason=f"Why {number}.") for number, one in enumerate(claims)]


def check(claims: Sequence[Expectation], seen: Mapping[Version, Ending]) -> None:
    """Each release has one claim, which says what was observed, and no two ranges meet."""
    for release, ending in seen.items():
        (one,) = [one for one in claims if one.covers(release)]
        assert one.allows(ending.outcome, ending.exception, ending.warned), (str(one.torch), release)
    for one, other in itertools.combinations(claims, 2):
        assert shared(one.torch, other.torch, map(Version, RELEASES)) is None, (str(one.torch), str(other.torch))


@pytest.mark.parametrize("seed", range(100))
def test_any_history_is_claimed_exactly_in_the_fewest_ranges_and_once_and_for_all(seed: int) -> None:
    seen = history(random.Random(seed))
    known = [*map(Version, RELEASES)]
    claims = written([], settle([], seen, seen, known))
    check(claims, seen)
    assert len(claims) == len([*itertools.groupby(seen.values())])
    assert settle(claims, seen, seen, known) == tuple(Range(None, number) for number in range(len(claims)))


@pytest.mark.parametrize("seed", range(100))
def test_any_claims_come_to_say_what_was_observed_and_those_that_said_it_stay(seed: int) -> None:
    chance = random.Random(seed)
    before, seen, known = history(chance, (P, R, D)), history(chance, (P, R, D)), [*map(Version, RELEASES)]
    held = with_reasons(written([], settle([], before, before, known)))
    ranges = settle(held, seen, seen, known)
    check(written(held, ranges), seen)
    for number, one in enumerate(held):
        covered = {release: ending for release, ending in seen.items() if one.covers(release)}
        if covered and all(one.allows(e.outcome, e.exception, e.warned) for e in covered.values()):
            assert any(other.by == number for other in ranges), str(one.torch)
    again = written(held, ranges)
    assert settle(again, seen, seen, known) == tuple(Range(None, number) for number in range(len(again)))


@pytest.mark.parametrize("seed", range(100))
def test_accepted_bit_by_bit_it_comes_to_the_same_as_at_once(seed: int) -> None:
    chance = random.Random(seed)
    seen, known = history(chance, (P, R, D)), [*map(Version, RELEASES)]
    order = chance.sample(sorted(seen), len(seen))
    claims: list[Expectation] = []
    for release in order:
        claims = written(claims, settle(claims, seen, {release}, known))
    check(claims, seen)
    assert len(claims) == len([*itertools.groupby(seen.values())])


def test_a_claim_that_grows_takes_in_a_neighbour_only_if_that_says_the_same_for_the_same_reason() -> None:
    held = [claim(">=2.0,<2.3", P), claim(">=2.4", P)]
    seen, known = {Version("2.3.0"): P, Version("2.4.0"): P}, [Version("2.2.0")]
    assert settle(held, seen, seen, known) == (Range(">=2.0", 0),)
    assert settle(with_reasons(held), seen, seen, known) == (Range(">=2.0,<2.4", 0), Range(None, 1))
