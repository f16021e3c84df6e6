"""What the soak expects, which it holds a whole matrix against: `nox -s faults -- soak`."""

from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet

from faults.soak import KINDS, Kind, Size, _claims, _version


@pytest.mark.parametrize("releases", [4, 16, 40])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_one_claim_speaks_of_each_release_and_says_how_the_case_ends(kind: Kind, releases: int) -> None:
    for release in range(releases):
        told = [outcome for torch, outcome in _claims(kind, releases) if _version(release) in SpecifierSet(torch)]
        assert told == [kind.ends(release, releases)]


def test_all_outcomes_are_there_and_most_kinds_change_along_the_releases() -> None:
    cells = Size(1_000, 40).cells
    assert len(cells) == 40_000
    assert {*cells.values()} == {"pass", "raises", "differs"}
    ends = {kind: {kind.ends(release, 40) for release in range(40)} for kind in KINDS}
    assert sum(len(outcomes) > 1 for outcomes in ends.values()) == 4
