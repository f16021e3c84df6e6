from __future__ import annotations

import pytest
from packaging.version import Version

from recompat.errors import ConfigurationError, NothingSelected
from recompat.versions import latest_minors, select_releases

INDEX = [Version(v) for v in ("1.13.1", "2.0.0", "2.0.1", "2.9.0", "2.9.1", "2.10.0", "2.11.0", "2.15.0")]


def select(selector: str) -> list[str]:
    return [str(release) for release in select_releases(selector, [], lambda: INDEX)]


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
        ("1.13.1", ["1.13.1"]),
        ("<2.1", ["2.0.0", "2.0.1"]),
    ],
)
def test_selectors(selector: str, releases: list[str]) -> None:
    assert select(selector) == releases


def test_a_release_that_is_known_here_needs_no_index() -> None:
    def unreachable() -> list[Version]:
        pytest.fail("the index was asked")

    assert select_releases("9.0", [Version("9.0")], unreachable) == (Version("9.0"),)


@pytest.mark.parametrize("selector", ["2.99.0", ">=3", "2.11.0,2.99.0"])
def test_a_selector_that_matches_nothing_says_what_there_is(selector: str) -> None:
    with pytest.raises(NothingSelected, match=r"There are: 2\.0\.0, .*2\.15\.0"):
        select(selector)


def test_two_spellings_are_one_release() -> None:
    (release,) = select_releases("9", [Version("9.0.0")], list)
    assert str(release) == "9.0.0"


@pytest.mark.parametrize("selector", ["", " , ", "newest", ">=x", "9" * 5000, ">=" + "9" * 5000])
def test_a_selector_that_cannot_be_read(selector: str) -> None:
    with pytest.raises(ConfigurationError, match="--torch"):
        select(selector)


def test_minors_are_ordered_as_numbers() -> None:
    assert latest_minors(map(Version, ("2.10.0", "2.9.0", "2.9.1"))) == [Version("2.9.1"), Version("2.10.0")]
