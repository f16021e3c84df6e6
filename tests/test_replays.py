from __future__ import annotations

import msgspec
import pytest

from builders import PASSES, again, differs, ends, passes, raises, result, warns
from recompat.model import Difference, Outcome, Phase, Replay, Trial, Verification
from recompat.replays import (
    VERIFICATION,
    bare_name,
    flaky,
    label,
    process_dependent,
    stable,
    unsteady,
    verified,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PASSES, msgspec.structs.replace(PASSES, seconds=9.0)),
        (raises(message="<object at 0x7f3a10>"), raises(message="<object at 0x7F00ff>")),
        (raises(message="worker pid 12 died"), raises(message="worker pid 4711 died")),
        (raises(message="pid=12"), raises(message="pid=4711")),
        (raises(message="subprocess 12 is still running"), raises(message="subprocess 4711 is still running")),
        (raises(message="Process 12"), raises(message="Process 4711")),
        (raises(frames=("at 0x1",)), raises(frames=("at 0x2",))),
        (warns("tensor at 0x1"), warns("tensor at 0x2")),
        (ends(Outcome.CRASH, "pid 1 got SIGSEGV"), ends(Outcome.CRASH, "pid 2 got SIGSEGV")),
        (differs(note="<a at 0x1>"), differs(note="<a at 0x2>")),
    ],
)
def test_what_never_repeats_is_dropped(one: Trial, other: Trial) -> None:
    assert one != other
    assert stable(one) == stable(other)
    assert not flaky(result("a::b", warm=one, copied=other))


@pytest.mark.parametrize(
    ("one", "other", "parts"),
    [
        (PASSES, ends(Outcome.CRASH), ("outcome", "differences")),
        (raises(), raises("builtins.RuntimeError"), ("raised",)),
        (raises(), raises(phase=Phase.FORWARD), ("raised",)),
        (raises(message="position 0"), raises(message="position 3"), ("raised",)),
        (passes(1e-7), passes(2e-7), ("differences",)),
        (warns("this"), PASSES, ("warnings",)),
        (ends(Outcome.CRASH, "SIGSEGV"), ends(Outcome.CRASH, "SIGABRT"), ("detail",)),
    ],
)
def test_warm_replays_that_differ_are_flaky(one: Trial, other: Trial, parts: tuple[str, ...]) -> None:
    replayed = result("a::b", warm=one, copied=other)
    assert flaky(replayed)
    assert unsteady(replayed) == parts


def test_numbers_that_never_repeat_are_no_sign_of_flakiness_and_the_outcome_is() -> None:
    one, other, sound = (msgspec.structs.replace(trial, varies=True) for trial in (differs(0.1), differs(0.7), PASSES))
    assert not flaky(result("a::b", warm=one, copied=other))
    assert unsteady(result("a::b", warm=one, copied=sound)) == ("outcome",)


def test_a_number_that_is_nan_twice_repeats() -> None:
    trial = Trial(Outcome.DIFFERS, 0.0, differences=(Difference("output", equal=False, note="NaN at 0"),))
    assert not flaky(result("a::b", trial))


@pytest.mark.parametrize("absent", [Replay.WARM, Replay.WARM_COPIED])
def test_without_two_warm_replays_nothing_is_flaky(absent: Replay) -> None:
    replayed = result("a::b", warm=PASSES, copied=raises())
    trials = {replay: trial for replay, trial in replayed.trials.items() if replay is not absent}
    assert not flaky(msgspec.structs.replace(replayed, trials=trials))


@pytest.mark.parametrize(
    ("cold", "warm", "expected"),
    [
        (raises("builtins.RuntimeError"), PASSES, True),
        (raises("builtins.RuntimeError"), raises("builtins.AttributeError"), True),
        (raises(phase=Phase.FORWARD), raises(phase=Phase.BACKWARD), True),
        (raises(message="one"), raises(message="other"), False),
        (warns("from a lazy import"), PASSES, False),
        (passes(1e-7), passes(2e-7), False),
    ],
)
def test_a_cold_outcome_that_the_warm_one_does_not_have(cold: Trial, warm: Trial, expected: bool) -> None:
    assert process_dependent(result("a::b", cold, warm)) is expected


def test_process_dependence_is_no_flakiness() -> None:
    assert not flaky(result("a::b", raises(), PASSES))


@pytest.mark.parametrize("absent", [Replay.COLD, Replay.WARM])
def test_with_one_of_both_nothing_is_process_dependent(absent: Replay) -> None:
    replayed = result("a::b", raises(), PASSES)
    trials = {replay: trial for replay, trial in replayed.trials.items() if replay is not absent}
    assert not process_dependent(msgspec.structs.replace(replayed, trials=trials))


def test_a_trial_is_named_by_its_exception_or_its_outcome() -> None:
    assert label(raises()) == "CheckpointError"
    assert label(PASSES) == "pass"
    assert label(ends(Outcome.TIMEOUT)) == "timeout"
    assert bare_name("pkg.Outer.Inner") == "Inner"
    assert bare_name("Bare") == "Bare"


def test_a_result_that_comes_out_the_same_from_scratch_is_verified() -> None:
    assert verified(result("a::b")) is None
    assert verified(again(result("a::b", raises(message="position 0")), raises(message="position 3"))) is True
    assert unsteady(again(result("a::b"), passes(0.1))) == ()


@pytest.mark.parametrize(
    ("first", "cold", "warm"),
    [
        (raises(), PASSES, raises()),
        (raises(), raises("builtins.RuntimeError"), raises()),
        (raises(), raises(phase=Phase.FORWARD), raises()),
        (raises(), ends(Outcome.CRASH), raises()),
        (raises(), raises(), PASSES),
        (PASSES, warns("this"), PASSES),
    ],
)
def test_a_result_that_ends_otherwise_from_scratch_is_flaky(first: Trial, cold: Trial, warm: Trial) -> None:
    found = again(result("a::b", first), cold, warm)
    assert verified(found) is False
    assert unsteady(found) == (VERIFICATION,)
    assert flaky(found)


def test_a_replay_that_the_verification_lacks_was_not_the_same() -> None:
    found = again(result("a::b"), PASSES)
    assert found.again is not None
    less = {Replay.COLD: found.again.trials[Replay.COLD]}
    assert verified(msgspec.structs.replace(found, again=Verification(less))) is False
