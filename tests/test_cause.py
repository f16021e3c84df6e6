from __future__ import annotations

import pytest

from builders import CHECKPOINT_ERROR, PASSES, differs, ends, raises
from evidence_builders import call, evidence, recompute
from real_events import RELEASES, real_result
from recompat.cause import cause, watched_otherwise
from recompat.model import Disagreement, DisagreementKind, Evidence, Mismatch, Outcome, Replay, TensorMeta, Trial

RAISES = raises()
MATH = {"sdpa.flash": "off", "sdpa.mem_efficient": "off", "sdpa.math": "on", "sdpa.cudnn": "off"}
ALL = dict.fromkeys(MATH, "on")


def told(*calls: object, trial: Trial = RAISES) -> str | None:
    exception = None if trial.raised is None else trial.raised.type
    return cause(trial, evidence(*calls, outcome=trial.outcome, exception=exception))  # type: ignore[arg-type]


def changed(before: dict[str, str], after: dict[str, str]) -> str:
    """What the change of these settings is told as, without what the operators did."""
    sentence = str(told(call(settings=before), recompute(settings=after)))
    assert sentence.endswith("; the operators were the same.")
    return sentence.removesuffix("; the operators were the same.")


@pytest.mark.parametrize("torch", RELEASES[1:])
@pytest.mark.parametrize("name", ["math_around_forward_only", "unchecked_math_around_forward_only"])
def test_the_first_row_is_told_as_it_is(torch: str, name: str) -> None:
    result = real_result(torch, name)
    before = "aten._safe_softmax" if torch in {"2.11.0", "2.15.0"} else "aten._softmax"
    after = "aten._scaled_dot_product_flash_attention" + ("" if torch == "2.1.2" else "_for_cpu")
    assert cause(result.trials[Replay.COLD], result.evidence) == (
        "The SDPA policy MATH was in force in forward and gone in recompute; "
        f"attention ran as {before} and was recomputed as {after}."
    )


def test_where_the_kernels_are_the_same_the_change_is_told_all_the_same() -> None:
    result = real_result("2.0.1", "math_around_forward_only")
    assert cause(result.trials[Replay.COLD], result.evidence) == (
        "The SDPA policy MATH was in force in forward and gone in recompute; the operators were the same."
    )


@pytest.mark.parametrize("torch", RELEASES)
@pytest.mark.parametrize("name", ["default_policy", "math_through_context_fn"])
def test_nothing_is_told_of_a_plain_pass(torch: str, name: str) -> None:
    result = real_result(torch, name)
    trial = result.trials[Replay.COLD]
    assert (cause(trial, result.evidence), watched_otherwise(trial, result.evidence)) == (None, None)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (ALL, MATH, "The SDPA policy MATH was in force in recompute and not yet in forward"),
        (
            {**MATH, "sdpa.flash": "on"},
            {**MATH, "sdpa.mem_efficient": "on"},
            "The SDPA policy allowed FLASH_ATTENTION and MATH in forward and EFFICIENT_ATTENTION and MATH in recompute",
        ),
        (
            {**MATH, "sdpa.math": "off"},
            {**ALL, "sdpa.flash": "off"},
            "The SDPA policy allowed none in forward and EFFICIENT_ATTENTION, MATH and CUDNN_ATTENTION in recompute",
        ),
        (
            {"sdpa.priority": "MATH, FLASH_ATTENTION"},
            {"sdpa.priority": "FLASH_ATTENTION, MATH"},
            "The SDPA priority order was MATH, FLASH_ATTENTION in forward and FLASH_ATTENTION, MATH in recompute",
        ),
        (
            {"autocast.cpu.enabled": "on", "autocast.cpu.dtype": "torch.float16"},
            {"autocast.cpu.enabled": "off", "autocast.cpu.dtype": "torch.bfloat16"},
            "Autocast for cpu was on (torch.float16) in forward and off in recompute",
        ),
        (
            {"autocast.cuda.dtype": "torch.float16"},
            {"autocast.cuda.dtype": "torch.bfloat16"},
            "The autocast dtype for cuda was torch.float16 in forward and torch.bfloat16 in recompute",
        ),
        (
            {"autocast.cache": "on"},
            {"autocast.cache": "off"},
            "The autocast cache was on in forward and off in recompute",
        ),
        ({"grad.enabled": "off"}, {"grad.enabled": "on"}, "Grad mode was off in forward and on in recompute"),
        ({"grad.inference": "on"}, {"grad.inference": "off"}, "Inference mode was on in forward and off in recompute"),
        (
            {"default.dtype": "torch.float64"},
            {"default.dtype": "torch.float32"},
            "The default dtype was torch.float64 in forward and torch.float32 in recompute",
        ),
        (
            {"default.device": "meta", "modes.function": "DeviceContext"},
            {"default.device": "cpu", "modes.function": "none"},
            "The default device was meta in forward and cpu in recompute",
        ),
        (
            {"default.device": "meta", "modes.function": "DeviceContext, Mine"},
            {"default.device": "cpu", "modes.function": "none"},
            (
                "The default device was meta in forward and cpu in recompute and "
                "the stack of torch-function modes was Mine in forward and none in recompute"
            ),
        ),
        (
            {"matmul.float32_precision": "high"},
            {"matmul.float32_precision": "highest"},
            "The float32 matmul precision was high in forward and highest in recompute",
        ),
        (
            {"deterministic.enabled": "on"},
            {"deterministic.enabled": "off"},
            "Deterministic algorithms were on in forward and off in recompute",
        ),
        (
            {"mkldnn.enabled": "off"},
            {"mkldnn.enabled": "on"},
            "The mkldnn setting enabled was off in forward and on in recompute",
        ),
        (
            {"threads.intraop": "2"},
            {"threads.intraop": "1"},
            "The number of threads was 2 in forward and 1 in recompute",
        ),
        (
            {"modes.dispatch": "Swap"},
            {"modes.dispatch": "none"},
            "The stack of torch-dispatch modes was Swap in forward and none in recompute",
        ),
        (
            {"rng.cpu": "1", "rng.python": "2"},
            {"rng.cpu": "3", "rng.python": "4"},
            "The random state of torch (CPU) and Python was not the same when recompute began",
        ),
        (
            {"training.dropout": "train"},
            {"training.dropout": "eval"},
            "The mode of module dropout was train in forward and eval in recompute",
        ),
        (
            {f"training.layer.{number}": "train" for number in range(9)},
            {f"training.layer.{number}": "eval" for number in range(9)},
            ("The mode of modules layer.0, layer.1, layer.2 and 6 more was train in forward and eval in recompute"),
        ),
        (
            {"contextvar.branch": "set #1"},
            {},
            "The context variable branch was set #1 in forward and absent in recompute",
        ),
        ({"unheard.of": "a"}, {"unheard.of": "b"}, "The setting unheard.of was a in forward and b in recompute"),
    ],
)
def test_each_group_of_settings_has_its_words(before: dict[str, str], after: dict[str, str], words: str) -> None:
    assert changed(before, after) == words


def test_several_groups_are_joined_and_many_are_counted() -> None:
    before = {f"setting{number}": "a" for number in range(9)}
    sentence = changed(before, dict.fromkeys(before, "b"))
    assert sentence.startswith("The setting setting0 was a in forward and b in recompute, the setting setting1 was")
    assert sentence.endswith(" and 3 more settings differed")


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        (
            (call(0, "a b c"), recompute(0, "a x c")),
            "The settings were the same, and the function ran other operators: where forward ran b, recompute ran x.",
        ),
        (
            (call(0, "a"), recompute(0, "a x x")),
            "The settings were the same, and the function ran other operators: recompute ran x x2, which forward did not.",
        ),
        (
            (call(0, "a b"), recompute(0, "a", ending="returned")),
            "The settings were the same, and the function ran other operators: forward ran b, which recompute did not.",
        ),
        (
            (
                call(0, "a", {"grad.enabled": "off"}, reentrant=True),
                recompute(0, "b", {"grad.enabled": "on"}, reentrant=True, ending="returned"),
            ),
            (
                "The settings were the same but for grad mode, which reentrant checkpoint turns on, and the function ran "
                "other operators: where forward ran a, recompute ran b."
            ),
        ),
        (
            (call(0, "a"), recompute(0, ending="raised builtins.IndexError")),
            "Settings and operators were the same; recompute itself raised builtins.IndexError.",
        ),
        (
            (call(0, "a"), recompute(0, "a")),
            "The evidence does not tell why: settings and operators were the same in forward and recompute.",
        ),
        (
            (call(0, ending="raised builtins.ValueError"),),
            (
                "The evidence does not tell why: no checkpointed function was recomputed; the last call raised "
                "builtins.ValueError."
            ),
        ),
    ],
)
def test_what_is_told_where_no_setting_changed(calls: tuple[object, ...], words: str) -> None:
    assert told(*calls) == words


@pytest.mark.parametrize(
    ("disagreement", "words"),
    [
        (
            Disagreement(DisagreementKind.COUNT, 5, 1),
            "Settings and operators were the same; forward saved 5 tensors and recompute 1 tensor.",
        ),
        (
            Disagreement(DisagreementKind.MORE_TENSORS),
            "Settings and operators were the same; recompute went on to save more tensors than forward had.",
        ),
        (
            Disagreement(DisagreementKind.UNPACKED_AGAIN),
            "Settings and operators were the same; backward asked a second time for a tensor that it had unpacked.",
        ),
        (
            Disagreement(DisagreementKind.OPERATOR_LOG),
            "The evidence does not tell why: settings and operators were the same in forward and recompute.",
        ),
    ],
)
def test_what_the_message_counts_is_told(disagreement: Disagreement, words: str) -> None:
    assert told(call(0, "a"), recompute(0, "a"), trial=raises(disagreement=disagreement)) == words


def test_tensors_that_came_out_otherwise_are_told_where_nothing_else_differs() -> None:
    float32, bfloat16 = (TensorMeta((4, 3), f"torch.{name}", "cpu") for name in ("float32", "bfloat16"))
    longer = TensorMeta((4, 6), "torch.float32", "cpu")
    calls = call(0, "a"), recompute(0, "a")
    one = raises(mismatches=(Mismatch(1, float32, bfloat16),))
    assert told(*calls, trial=one) == (
        "Settings and operators were the same in forward and recompute, yet the saved tensor at position 1 came out with "
        "another dtype (torch.float32, then torch.bfloat16): what the function reads was not the same."
    )
    many = raises(mismatches=tuple(Mismatch(place, float32, longer) for place in range(7)))
    words = told(*calls, trial=many) or ""
    assert "the saved tensors at positions 0, 1, 2, 3, 4 and 2 more came out with another shape" in words
    assert "(the first [4, 3], then [4, 6])" in words
    assert "came out" not in (told(call(0, "a"), recompute(0, "b"), trial=one) or "")


@pytest.mark.parametrize(
    "trial",
    [PASSES, ends(Outcome.UNSUPPORTED, "absent"), ends(Outcome.MOOT), ends(Outcome.ERROR), ends(Outcome.NOT_RUN)],
)
def test_there_is_nothing_to_tell_of_other_outcomes(trial: Trial) -> None:
    assert told(call(0, "a"), recompute(0, "a"), trial=trial) is None


def test_without_evidence_nothing_is_told() -> None:
    assert cause(RAISES, None) is None
    assert watched_otherwise(RAISES, None) is None


def test_evidence_without_a_call_says_why() -> None:
    seen = Evidence(Outcome.CRASH, None, detail="The watched trial ended by SIGSEGV.")
    assert cause(differs(), seen) == "The evidence does not tell why. The watched trial ended by SIGSEGV."


def test_what_was_not_watched_is_said() -> None:
    seen = evidence(call(0, "a"), recompute(0, "a"), outcome=Outcome.RAISES, exception=CHECKPOINT_ERROR, unwatched=7)
    assert str(cause(RAISES, seen)).endswith("recompute, in the 1 that were watched (7 more calls were not).")


def test_watching_that_changes_the_outcome_is_said() -> None:
    passed = evidence(outcome=Outcome.PASS)
    assert watched_otherwise(RAISES, passed) == (
        f"Watching changed the outcome from {CHECKPOINT_ERROR} to pass; this evidence is of the watched run."
    )
    other = evidence(outcome=Outcome.RAISES, exception="builtins.RuntimeError")
    assert "to builtins.RuntimeError;" in str(watched_otherwise(RAISES, other))
    assert watched_otherwise(RAISES, evidence(outcome=Outcome.NOT_RUN, detail="It was not watched.")) is None


def test_what_a_warm_process_changes_is_not_blamed_on_the_watching() -> None:
    note = watched_otherwise(RAISES, evidence(outcome=Outcome.PASS), warm=PASSES)
    assert note == f"A warm process changed the outcome from {CHECKPOINT_ERROR} to pass; this evidence is of one."
