from __future__ import annotations

import pytest
from packaging.version import Version

from evidence_builders import call, evidence, recompute
from real_events import RELEASES, real_result
from recompat.boundary import Ending
from recompat.model import Call, Outcome, Pass, Replay
from recompat.operators import OperatorChange, Watched, operator_changes

PASS = Ending(Outcome.PASS)


def seen(torch: str, *calls: Call, ending: Ending = PASS) -> Watched:
    return Watched(Version(torch), ending, evidence(*calls, outcome=ending.outcome, exception=ending.exception))


def changes(*watched: Watched) -> tuple[OperatorChange, ...]:
    return operator_changes("f::case", "linux_x86_64", watched)


def test_a_kernel_that_was_replaced_is_told() -> None:
    (change,) = changes(
        seen("2.10.0", call(0, "a aten._safe_softmax b"), recompute(0, "a aten._safe_softmax")),
        seen("2.9.1", call(0, "a aten._softmax b"), recompute(0, "a aten._softmax")),
    )
    assert change == OperatorChange(
        case="f::case",
        platform="linux_x86_64",
        last="2.9.1",
        first="2.10.0",
        during=Pass.FORWARD,
        before="aten._softmax",
        after="aten._safe_softmax",
        diff=("- aten._softmax", "+ aten._safe_softmax"),
    )


def test_recomputation_is_told_if_it_changed_in_another_way() -> None:
    first, second = changes(
        seen("2.0", call(0, "a"), recompute(0, "a")), seen("2.1", call(0, "b"), recompute(0, "c a"))
    )
    assert (first.during, second.during, second.diff) == (Pass.FORWARD, Pass.RECOMPUTE, ("+ c",))


@pytest.mark.parametrize(
    "pair",
    [
        (seen("2.0", call(0, "a")), seen("2.1", call(0, "a"))),
        (seen("2.0", call(0, "a")), seen("2.1", call(0, "b"), ending=Ending(Outcome.DIFFERS))),
        (seen("2.0"), seen("2.1", call(0, "b"))),
        (seen("2.0", recompute(0, "a b c")), seen("2.1", recompute(0, "a b"))),
        (seen("2.0", recompute(0, "a b")), seen("2.1", recompute(0, "a b c"))),
    ],
    ids=["the same", "the outcome changed", "nothing seen", "stops sooner", "stopped sooner"],
)
def test_there_is_nothing_to_tell(pair: tuple[Watched, Watched]) -> None:
    assert changes(*pair) == ()


def test_only_neighbours_are_compared() -> None:
    found = changes(
        *(seen(torch, call(0, operators)) for torch, operators in (("2.0", "a"), ("2.2", "b"), ("2.1", "a")))
    )
    assert [(change.last, change.first) for change in found] == [("2.1", "2.2")]


def test_what_watching_changed_is_not_compared() -> None:
    other = Watched(
        Version("2.1"), PASS, evidence(call(0, "b"), outcome=Outcome.RAISES, exception="builtins.TypeError")
    )
    assert changes(seen("2.0", call(0, "a")), other) == ()


def real(name: str) -> tuple[OperatorChange, ...]:
    watched = []
    for torch in RELEASES:
        result = real_result(torch, name)
        trial, shown = result.trials[Replay.COLD], result.evidence
        assert shown is not None
        exception = None if trial.raised is None else trial.raised.type
        watched.append(Watched(Version(torch), Ending(trial.outcome, exception), shown))
    return changes(*watched)


def test_the_known_changes_of_the_kernels_are_found() -> None:
    by_default = [(change.last, change.first, change.before, change.after) for change in real("default_policy")]
    flash = "aten._scaled_dot_product_flash_attention"
    assert by_default == [("2.0.1", "2.1.2", "aten._softmax", flash), ("2.1.2", "2.4.1", flash, f"{flash}_for_cpu")]
    math = [(c.last, c.first, c.during) for c in real("math_around_forward_only") if c.after == "aten._safe_softmax"]
    assert math == [("2.4.1", "2.11.0", Pass.FORWARD)]
