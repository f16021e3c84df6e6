from __future__ import annotations

import random
import time

import pytest

from builders import PASSES, differs, raises
from evidence_builders import call, evidence, recompute
from real_events import RELEASES, real_result
from recompat.evidence import attention, changes, drifts, operator_diff, pairs, telling_pair
from recompat.model import Change, Mismatch, Outcome, TensorMeta

FLASH = "aten._scaled_dot_product_flash_attention"
# What ../docs and the releases' own source say, not what the code says: kernels by default, and under MATH.
DEFAULT_KERNEL = {
    "2.0.1": "aten._softmax",
    "2.1.2": FLASH,
    "2.4.1": f"{FLASH}_for_cpu",
    "2.11.0": f"{FLASH}_for_cpu",
    "2.15.0": f"{FLASH}_for_cpu",
}
MATH_KERNEL = {torch: "aten._safe_softmax" if torch in {"2.11.0", "2.15.0"} else "aten._softmax" for torch in RELEASES}
MATH_SCOPE_ENDED = {"sdpa.flash", "sdpa.mem_efficient"}


@pytest.mark.parametrize("torch", RELEASES)
@pytest.mark.parametrize("name", ["math_around_forward_only", "reentrant_math_around_forward_only"])
def test_a_math_scope_around_the_forward_is_seen_to_end(torch: str, name: str) -> None:
    seen = real_result(torch, name).evidence
    assert seen is not None
    pair = telling_pair(seen.calls)
    assert pair is not None
    changed = {change.setting for change in seen.changes}
    assert changed - {"sdpa.cudnn"} == MATH_SCOPE_ENDED
    assert ("sdpa.cudnn" in changed) == (torch in {"2.11.0", "2.15.0"})
    assert {(change.forward, change.recompute) for change in seen.changes} == {("off", "on")}
    assert attention(pair.forward.operators) == MATH_KERNEL[torch]
    assert attention(pair.recompute.operators) == DEFAULT_KERNEL[torch]
    assert bool(pair.operator_diff) == (torch != "2.0.1")


@pytest.mark.parametrize("torch", RELEASES)
def test_the_default_policy_shows_no_difference(torch: str) -> None:
    result = real_result(torch, "default_policy")
    assert result.evidence is not None
    pair = telling_pair(result.evidence.calls)
    assert pair is not None
    assert not pair.differs
    assert attention(pair.forward.operators) == DEFAULT_KERNEL[torch]
    assert not drifts(PASSES, result.evidence)


@pytest.mark.parametrize("torch", RELEASES[1:])
def test_the_mismatch_of_the_first_row(torch: str) -> None:
    (trial,) = set(real_result(torch, "math_around_forward_only").trials.values())
    assert trial.raised is not None
    first, *_ = trial.raised.mismatches
    assert first == Mismatch(
        0, TensorMeta((2, 4, 8), "torch.float32", "cpu"), TensorMeta((1, 2, 8, 4), "torch.float32", "cpu")
    )
    assert first.fields == ("shape",)


@pytest.mark.parametrize("torch", RELEASES)
def test_the_reentrant_row_drifts_and_the_default_one_does_not(torch: str) -> None:
    rows = {name: real_result(torch, name) for name in ("reentrant_math_around_forward_only", "default_policy")}
    drift = {name: drifts(next(iter(row.trials.values())), row.evidence) for name, row in rows.items()}
    assert drift == {"reentrant_math_around_forward_only": True, "default_policy": False}


def test_changes_are_of_the_first_region_that_shows_one() -> None:
    calls = (
        call(0, a="1"),
        call(1, a="1", b="x"),
        call(2, a="1"),
        recompute(2, a="3"),
        recompute(1, a="1", b="y", c="new"),
        recompute(0, a="1"),
    )
    assert changes(calls) == (Change("b", "x", "y"), Change("c", None, "new"))
    assert changes(calls[:3]) == ()


def test_a_second_recomputation_may_be_the_one_that_differs() -> None:
    assert changes((call(0, a="1"), recompute(0, a="1"), recompute(0, a="2"))) == (Change("a", "1", "2"),)


def test_a_recomputation_without_its_forward_is_no_pair() -> None:
    assert not list(pairs((recompute(0, a="1"), call(1, a="1"))))


def test_grad_mode_is_a_change_but_for_a_reentrant_region_that_turns_it_on() -> None:
    def seen(before: str, after: str, *, reentrant: bool) -> bool:
        grad = [{"grad.enabled": value} for value in (before, after)]
        return bool(
            changes(
                (call(0, settings=grad[0], reentrant=reentrant), recompute(0, settings=grad[1], reentrant=reentrant))
            )
        )

    assert not seen("off", "on", reentrant=True)
    assert seen("on", "off", reentrant=True)
    assert seen("off", "on", reentrant=False)


def test_a_generator_that_was_not_there_yet_is_no_change() -> None:
    entry = {"rng.cpu": "1"}
    later = {"rng.cpu": "1", "rng.numpy": "2"}
    assert changes((call(settings=entry), recompute(settings=later))) == ()
    assert changes((call(settings=later), recompute(settings={**later, "rng.numpy": "3"}))) == (
        Change("rng.numpy", "2", "3"),
    )


def test_drift_is_of_what_passed() -> None:
    calls = (call(0, a="1"), recompute(0, a="2"))
    assert drifts(PASSES, evidence(*calls))
    assert not drifts(raises(), evidence(*calls, outcome=Outcome.RAISES))
    assert not drifts(differs(), evidence(*calls))
    assert not drifts(PASSES, evidence(*calls, outcome=Outcome.RAISES)), "what was seen is not what passed"
    assert not drifts(PASSES, None)


@pytest.mark.parametrize(
    ("operators", "expected"),
    [
        ([], None),
        (["aten.bmm", "aten._softmax"], "aten._softmax"),
        (["aten._softmax", "aten._safe_softmax"], "aten._safe_softmax"),
        (["aten._softmax", FLASH, "aten._safe_softmax"], FLASH),
        ([f"{FLASH}_backward"], None),
        (["aten._log_softmax"], None),
    ],
)
def test_the_operator_that_did_attention(operators: list[str], expected: str | None) -> None:
    assert attention(operators) == expected


@pytest.mark.parametrize(
    ("before", "after", "may_stop", "expected"),
    [
        ("a b c", "a b c", False, ()),
        ("a b c", "a b", True, ()),
        ("a b c", "a b", False, ("- c",)),
        ("a b b b", "a b", True, ()),
        ("a b b b", "a b", False, ("- b x3", "+ b")),
        ("a b", "a b b", True, ("- b", "+ b x2")),
        ("a b c", "a x", True, ("- b", "- c", "+ x")),
        ("a b c d", "a x c", True, ("- b", "+ x")),
        ("a", "", True, ()),
        ("", "a a", True, ("+ a x2",)),
        ("a aten.detach b", "a b aten.detach", False, ()),
        ("a b", "a b …(7)", False, ()),
    ],
)
def test_the_diff(before: str, after: str, may_stop: bool, expected: tuple[str, ...]) -> None:
    assert operator_diff(before.split(), after.split(), may_stop=may_stop) == expected


def test_a_long_diff_says_how_much_is_left_out() -> None:
    lines = operator_diff([f"a{n}" for n in range(30)], [], most=12)
    assert (len(lines), lines[-1]) == (13, "and 18 more")


def test_a_diff_of_anything_ends_soon_and_is_empty_only_for_the_same() -> None:
    generator = random.Random(1)
    for _ in range(300):
        before = generator.choices("abc", k=generator.randrange(12))
        after = generator.choices("abc", k=generator.randrange(12))
        diff = operator_diff(before, after)
        assert bool(diff) == (before != after)
        assert not operator_diff(before, before[: generator.randrange(13)], may_stop=True), "a beginning never differs"
        assert all(line[:2] in {"- ", "+ "} for line in diff if not line.startswith("and "))
    began = time.process_time()
    operator_diff(generator.choices("abcdef", k=20_000), generator.choices("abcdef", k=20_000))
    assert time.process_time() - began < 5
