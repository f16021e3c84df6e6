from __future__ import annotations

import random

import pytest
from packaging.version import Version

from builders import CHECKPOINT_ERROR
from recompat.boundary import Boundary, BoundaryKind, Ending, Point, boundaries
from recompat.model import Outcome

PASS = Ending(Outcome.PASS)
RAISES = Ending(Outcome.RAISES, CHECKPOINT_ERROR)
RUNTIME = Ending(Outcome.RAISES, "builtins.RuntimeError")
ABSENT = Ending(Outcome.UNSUPPORTED)
UNRUN = Ending(Outcome.NOT_RUN)
LETTERS = {"p": PASS, "c": RAISES, "r": RUNTIME, "u": ABSENT, "n": UNRUN, "d": Ending(Outcome.DIFFERS)}


def releases(*names: str) -> list[Version]:
    return [Version(name) for name in names]


def along(letters: str, listed: list[Version] | None = None, unsteady: str = "") -> tuple[Boundary, ...]:
    """Releases 2.0, 2.1, … that ended as the letters say; a blank is a release that nobody selected."""
    points = [
        Point(Version(f"2.{minor}"), LETTERS[letter], str(minor) not in unsteady)
        for minor, letter in enumerate(letters)
        if letter != " "
    ]
    random.Random(0).shuffle(points)
    return boundaries("f::case", "linux_x86_64", points, listed)


def told(found: tuple[Boundary, ...]) -> list[tuple[str, str, str, bool | None]]:
    return [(boundary.kind.value, boundary.last, boundary.first, boundary.exact) for boundary in found]


FULL = releases(*(f"2.{minor}" for minor in range(12)))


def test_a_change_between_neighbours_on_the_index_is_exact() -> None:
    (boundary,) = along("ppccc", FULL)
    assert boundary == Boundary(
        case="f::case",
        platform="linux_x86_64",
        kind=BoundaryKind.OUTCOME,
        old=PASS,
        new=RAISES,
        last="2.1",
        first="2.2",
        exact=True,
    )


def test_what_lies_between_and_was_not_run_is_named() -> None:
    (boundary,) = along("p  c", FULL)
    assert (boundary.exact, boundary.not_run) == (False, ("2.1", "2.2"))


def test_versions_are_compared_as_versions() -> None:
    points = [Point(Version("2.9.1"), PASS), Point(Version("2.10.0"), RAISES)]
    (boundary,) = boundaries("f::case", "p", points, releases("2.9.1", "2.10.0", "2.11.0", "2.13.0+cpu"))
    assert (boundary.last, boundary.first, boundary.exact) == ("2.9.1", "2.10.0", True)


@pytest.mark.parametrize("listed", [None, [], releases("2.1", "2.2"), releases("2.0", "2.0.5")])
def test_without_a_listing_that_reaches_so_far_exactness_is_unknown(listed: list[Version] | None) -> None:
    points = [Point(Version("2.0"), PASS), Point(Version("2.0.1"), RAISES)]
    assert boundaries("f::case", "p", points, releases("2.0", "2.0.1"))[0].exact is True
    points = [Point(Version("2.0"), PASS), Point(Version("2.3"), RAISES)]
    expected = False if listed and any(Version("2.0") < release < Version("2.3") for release in listed) else None
    assert boundaries("f::case", "p", points, listed)[0].exact is expected


@pytest.mark.parametrize(
    ("last", "first", "exact", "not_run"),
    [
        ("2.15.0", "2.16.0", True, ()),
        ("2.15.0", "2.16.0rc1", False, ("2.16.0.dev1", "2.16.0.dev2")),
        ("2.16.0.dev1", "2.16.0.dev2", True, ()),
        ("2.16.0.dev1", "2.16.0rc1", False, ("2.16.0.dev2",)),
        ("2.16.0rc1", "2.16.0", True, ()),
        ("2.16.0", "2.17.0.dev1", None, ()),
    ],
)
def test_pre_releases_lie_between_where_one_of_them_is_an_end(
    last: str, first: str, exact: bool | None, not_run: tuple[str, ...]
) -> None:
    listed = releases("2.14.0", "2.15.0", "2.16.0.dev1", "2.16.0.dev2", "2.16.0rc1", "2.16.0")
    points = [Point(Version(last), PASS), Point(Version(first), RAISES)]
    (boundary,) = boundaries("f::case", "p", points, listed)
    assert (boundary.exact, boundary.not_run) == (exact, not_run)


def test_without_a_listing_what_is_known_to_lie_between_still_counts() -> None:
    (boundary,) = along("pnc", None)
    assert (boundary.exact, boundary.not_run) == (False, ("2.1",))


def test_there_may_be_several() -> None:
    assert told(along("pcrrp", FULL)) == [
        ("outcome", "2.0", "2.1", True),
        ("outcome", "2.1", "2.2", True),
        ("outcome", "2.3", "2.4", True),
    ]


def test_another_exception_is_a_change_and_the_same_is_none() -> None:
    assert told(along("cc", FULL)) == []
    assert told(along("cr", FULL)) == [("outcome", "2.0", "2.1", True)]


def test_an_api_that_appears_or_disappears_is_a_boundary_of_its_own() -> None:
    assert told(along("uuppuu", FULL)) == [("api-appears", "2.1", "2.2", True), ("api-disappears", "2.3", "2.4", True)]


def test_what_is_not_supported_is_not_jumped_silently() -> None:
    found = along("puc", FULL)
    assert told(found) == [
        ("api-disappears", "2.0", "2.1", True),
        ("api-appears", "2.1", "2.2", True),
        ("outcome", "2.0", "2.2", False),
    ]
    assert found[-1].unsupported == ("2.1",)
    assert not found[-1].not_run


def test_what_was_not_run_is_not_jumped_silently_either() -> None:
    found = along("unnp", FULL)
    assert told(found) == [("api-appears", "2.0", "2.3", False)]
    assert found[0].not_run == ("2.1", "2.2")
    assert told(along("pnp", FULL)) == []


def test_a_release_whose_replays_ended_differently_bounds_nothing_and_is_named() -> None:
    (boundary,) = along("pdc", FULL, unsteady="1")
    assert (boundary.last, boundary.first, boundary.exact, boundary.unsteady) == ("2.0", "2.2", False, ("2.1",))


def test_interpreters_that_differ_about_a_release_make_it_unsteady() -> None:
    points = [
        Point(Version("2.0"), PASS),
        Point(Version("2.1"), PASS),
        Point(Version("2.1"), RAISES),
        Point(Version("2.2"), RAISES),
        Point(Version("2.2"), UNRUN),
        Point(Version("2.2"), RAISES),
    ]
    (boundary,) = boundaries("f::case", "p", points, releases("2.0", "2.1", "2.2"))
    assert (boundary.last, boundary.first, boundary.unsteady) == ("2.0", "2.2", ("2.1",))


def test_along_any_releases_the_boundaries_retell_them() -> None:
    """From the first ending and the outcome boundaries alone, the ending of every release that was run follows."""
    generator = random.Random(7)
    for _ in range(500):
        letters = "".join(generator.choices("pcrdun ", k=generator.randrange(1, 12)))
        listed = generator.choice([None, FULL, releases("2.2", "2.5")])
        found = along(letters, listed)
        ran = {f"2.{n}": LETTERS[letter] for n, letter in enumerate(letters) if letter in "pcrd"}
        outcomes = [boundary for boundary in found if boundary.kind is BoundaryKind.OUTCOME]
        ending = next(iter(ran.values()), None)
        firsts = {boundary.first: boundary for boundary in outcomes}
        for release, expected in ran.items():
            if release in firsts:
                assert firsts[release].old == ending
                ending = firsts[release].new
            assert ending == expected
        for boundary in found:
            _check_between(boundary, letters, listed)


def _check_between(boundary: Boundary, letters: str, listed: list[Version] | None) -> None:
    last, first = Version(boundary.last), Version(boundary.first)
    known = {Version(f"2.{n}") for n, letter in enumerate(letters) if letter != " "}
    between = {release for release in known | set(listed or ()) if last < release < first}
    named = {Version(name) for name in (*boundary.not_run, *boundary.unsupported, *boundary.unsteady)}
    assert named == between, "all that is known to lie between is named, and nothing else"
    assert (boundary.exact is False) == bool(between)
    if boundary.exact:
        assert listed
        assert min(listed) <= last
        assert first <= max(listed)


def test_the_same_points_in_another_order_give_the_same() -> None:
    points = [Point(Version(f"2.{n}"), LETTERS[letter]) for n, letter in enumerate("pucrn c".replace(" ", "u"))]
    assert boundaries("f::c", "p", points, FULL) == boundaries("f::c", "p", points[::-1], FULL)
