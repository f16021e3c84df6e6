from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from recompat.errors import ConfigurationError, NothingSelected
from recompat.versions import Offered, covers, latest_minors, new_releases, select_releases


def versions(text: str) -> list[Version]:
    return [Version(word) for word in text.split()]


RELEASES = versions("1.13.1 2.0.0 2.0.1 2.9.0 2.9.1 2.10.0 2.11.0 2.15.0")
PREVIEWS = versions("2.15.0rc2 2.16.0.dev20261119 2.16.0.dev20261120 2.16.0rc1 2.16.0rc2")
YANKED = versions("2.12.0 2.16.1")
OFFERED = Offered.of([*RELEASES, *PREVIEWS], [*YANKED, Version("2.15.0")])


def select(selector: str, seen: str = "") -> list[str]:
    return [str(release) for release in select_releases(selector, [], lambda: OFFERED, lambda: versions(seen))]


@pytest.mark.parametrize(
    ("selector", "releases"),
    [
        ("2.11.0", ["2.11.0"]),
        ("2.15.0,2.11.0", ["2.11.0", "2.15.0"]),
        (">=2.9", ["2.9.0", "2.9.1", "2.10.0", "2.11.0", "2.15.0"]),
        (">=2.9,<2.11", ["2.9.0", "2.9.1", "2.10.0"]),
        (">=2.9, <2.10, 2.15.0", ["2.9.0", "2.9.1", "2.15.0"]),
        ("latest", ["2.15.0"]),
        ("latest-minors", ["2.0.1", "2.9.1", "2.10.0", "2.11.0", "2.15.0"]),
        ("newest-1", ["2.15.0"]),
        ("newest-3", ["2.10.0", "2.11.0", "2.15.0"]),
        ("newest-99", [str(release) for release in RELEASES]),
        ("1.13.1", ["1.13.1"]),
        ("<2.1", ["2.0.0", "2.0.1"]),
        ("2.16.0.dev20261120", ["2.16.0.dev20261120"]),
        ("2.16.0rc1", ["2.16.0rc1"]),
        ("2.16.0-RC.1", ["2.16.0rc1"]),
        (">=2.15,<2.17", ["2.15.0"]),
        (">=2.16.0rc1", ["2.16.0rc1", "2.16.0rc2"]),
        (">=2.16.0.dev20261120,<2.16.0rc2", ["2.16.0.dev20261120", "2.16.0rc1"]),
        ("pre", ["2.16.0.dev20261120", "2.16.0rc2"]),
        ("latest,pre", ["2.15.0", "2.16.0.dev20261120", "2.16.0rc2"]),
        ("2.16.1", ["2.16.1"]),
        ("2.12.0,latest", ["2.12.0", "2.15.0"]),
    ],
)
def test_selectors(selector: str, releases: list[str]) -> None:
    assert select(selector) == releases


def test_a_release_is_yanked_where_all_of_it_is() -> None:
    assert Version("2.15.0") in OFFERED.releases
    assert OFFERED.yanked == tuple(YANKED)


@pytest.mark.parametrize("selector", [">=2.12,<2.13", "==2.16.1", ">=2.15.1"])
def test_no_range_finds_what_is_yanked(selector: str) -> None:
    with pytest.raises(NothingSelected, match=r"Yanked: 2\.12\.0, 2\.16\.1\."):
        select(selector)


@pytest.mark.parametrize(
    ("listed", "seen", "new"),
    [
        ("2.8.0 2.13.0 2.14.0 2.14.1 2.15.0", "2.8.0 2.13.0", "2.14.1 2.15.0"),  # 2.14.0 was replaced meanwhile
        ("2.8.0 2.12.1 2.13.0", "2.8.0 2.13.0", ""),  # 2.12 was left out
        ("2.13.0 2.13.1 2.14.0", "2.13.0 2.14.0", "2.13.1"),  # a patch of a minor that was seen
        ("2.14.0 2.14.1", "2.14.1", ""),  # an earlier patch is no news
        ("2.14.0", "2.14.0", ""),
        ("2.15.0 2.16.0", "2.15.0 2.16.0rc1 2.17.0.dev20261120", "2.16.0"),  # pre-releases do not count
        ("1.13.1 2.0.0 2.0.1 2.1.0", "", "2.0.1 2.1.0"),
        ("", "2.0.0", ""),
    ],
)
def test_what_is_new(listed: str, seen: str, new: str) -> None:
    assert new_releases(versions(listed), versions(seen)) == versions(new)


def test_new_is_a_selector() -> None:
    assert select("new", "2.9.1 2.11.0") == ["2.15.0"]
    assert select("new,2.9.0", "2.9.1 2.11.0") == ["2.9.0", "2.15.0"]
    with pytest.raises(NothingSelected, match=r"^No release is new: the newest is 2\.15\.0, and all that"):
        select("new", "2.15.0")


def test_what_was_seen_is_asked_for_by_new_alone() -> None:
    def unread() -> list[Version]:
        pytest.fail("the records were read")

    assert select_releases("latest", [], lambda: OFFERED, unread) == (Version("2.15.0"),)


@pytest.mark.parametrize("local", ["9.0", "9.0rc1", "9.0.dev1"])
def test_a_release_that_is_known_here_needs_no_index(local: str) -> None:
    def unreachable() -> Offered:
        pytest.fail("the index was asked")

    assert select_releases(local, [Version(local)], unreachable) == (Version(local),)


@pytest.mark.parametrize("selector", ["2.99.0", ">=3", "2.11.0,2.99.0"])
def test_a_selector_that_matches_nothing_says_what_there_is(selector: str) -> None:
    with pytest.raises(
        NothingSelected, match=r"There are: 2\.0\.0, .*2\.15\.0\. Pre-releases: .*2\.16\.0rc2\. Yanked: "
    ):
        select(selector)


@pytest.mark.parametrize("selector", ["pre", "2.16.0rc1"])
def test_where_pre_releases_may_be(selector: str) -> None:
    with pytest.raises(NothingSelected, match=r"Pre-releases may be on another index; name it with --index-url\.$"):
        select_releases(selector, [], lambda: Offered.of(RELEASES))


def test_a_nightly_index_is_not_listed_in_full() -> None:
    days = [Version(f"2.16.0.dev202611{day:02}") for day in range(1, 31)]
    with pytest.raises(NothingSelected, match=r"Pre-releases: 2\.16\.0\.dev20261121, .*, 2\.16\.0\.dev20261130\."):
        select_releases("2.99.0", [], lambda: Offered.of(days))


def test_two_spellings_are_one_release() -> None:
    (release,) = select_releases("9", [Version("9.0.0")], Offered)
    assert str(release) == "9.0.0"


@pytest.mark.parametrize(
    "selector",
    ["", " , ", "newest", "newest-", "newest-0", "newest--1", "newest-x", ">=x", "9" * 5000, ">=" + "9" * 5000],
)
def test_a_selector_that_cannot_be_read(selector: str) -> None:
    with pytest.raises(ConfigurationError, match="--torch"):
        select(selector)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("latst", "latest"), ("latest-minor", "latest-minors"), ("newest", "newest-3"), ("nwe", "new"), ("prev", "pre")],
)
def test_a_word_that_is_near(word: str, meant: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"--torch {word} cannot be read; did you mean {meant}\? Write a rel"):
        select(word)


def test_minors_are_ordered_as_numbers() -> None:
    assert latest_minors(versions("2.10.0 2.9.0 2.9.1")) == versions("2.9.1 2.10.0")


@pytest.mark.parametrize(
    ("specifier", "covered", "others"),
    [
        (">=2.16", "2.16.0 2.16.0rc1 2.16.0.dev20261120 2.17.0.dev1", "2.15.0 2.15.0rc1"),
        ("<2.16", "2.15.0 2.15.0rc1", "2.16.0 2.16.0rc1 2.16.0.dev20261120"),
        ("==2.16.0", "2.16.0 2.16.0rc1", "2.16.1"),
        (">=2.16.0rc1", "2.16.0 2.16.0rc1 2.16.0rc2", "2.16.0.dev20261120 2.15.0"),
        ("<2.16.0.dev20261120", "2.15.0 2.16.0.dev20261119", "2.16.0.dev20261120 2.16.0rc1 2.16.0"),
    ],
)
def test_a_pre_release_counts_as_the_one_that_it_leads_to(specifier: str, covered: str, others: str) -> None:
    known = SpecifierSet(specifier)
    assert [version for version in versions(f"{covered} {others}") if covers(known, version)] == versions(covered)
