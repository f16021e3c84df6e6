"""One of what ``nox -s faults -- index`` has an index do wrong: it is told, and gone in the next run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faults import index
from faults.tally import Tally
from support.index import Fault

if TYPE_CHECKING:
    from pathlib import Path


def test_a_wheel_of_another_version_is_told_and_the_next_run_is_whole(tmp_path: Path) -> None:
    tally = Tally()
    with index.ground(tmp_path, ["CPU"]) as made:
        index.inject(made, index.Blow(index.OTHER_VERSION, index.TORCH, 0, "CPU"), tally)
    assert (tally.injected, tally.lost, tally.wrong, tally.left) == (1, [], [], [])


def test_everything_that_can_be_wrong_is_among_them() -> None:
    blows = index.blows()
    assert len(set(blows)) == len(blows)
    assert {blow.fault for blow in blows} == {*Fault, index.OTHER_VERSION, index.REPLACED, index.GONE}
    assert {blow.subject for blow in blows} == {*index.SUBJECTS, "all"}
