from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from builders import PASSES, case_file, ends, raises, record, result, summary, trouble
from evidence_builders import call, recompute, watched
from recompat.aspects import Aspect, answer_of
from recompat.model import Outcome, Record, Trial
from recompat.search import Answer, Skipped
from scenes import CHECKPOINT, DEFAULT, MATH, SAME, SCOPE_ENDED

if TYPE_CHECKING:
    from recompat.model import CaseResult
    from recompat.search import Found


def answered(one: CaseResult | Trial | Record, aspect: Aspect) -> Found:
    """What a cell of the case ``a::b`` answers."""
    one = result("a::b", one) if isinstance(one, Trial) else one
    made = one if isinstance(one, Record) else record("2.11.0", one)
    (cell,) = summary(made, file=case_file("a", "b")).cells
    return answer_of(cell, made.results[0].evidence if made.results else None, aspect)


def text(found: Found) -> str:
    return found.text if isinstance(found, Answer) else f"- {found.reason}"


@pytest.mark.parametrize(
    ("aspect", "shown"),
    [
        (Aspect.OUTCOME, "raises"),
        (Aspect.EXCEPTION, "CheckpointError"),
        (Aspect.MISMATCH, "1 tensor with another dtype, shape"),
        (Aspect.SETTINGS, "the SDPA policy MATH was in force in forward and gone in recompute"),
        (
            Aspect.OPERATORS,
            "aten._safe_softmax in forward, aten._scaled_dot_product_flash_attention_for_cpu in recompute",
        ),
        (Aspect.API, "there"),
    ],
)
def test_what_is_shown_of_each_aspect(aspect: Aspect, shown: str) -> None:
    assert text(answered(watched(result("a::b", CHECKPOINT), *SCOPE_ENDED), aspect)) == shown


def test_another_exception_is_another_answer_but_the_same_outcome() -> None:
    both = CHECKPOINT, raises("builtins.RuntimeError")
    assert len({answered(one, Aspect.OUTCOME) for one in both}) == 1
    assert len({answered(one, Aspect.EXCEPTION) for one in both}) == 2


def test_another_message_or_time_is_no_other_answer() -> None:
    both = CHECKPOINT, msgspec.structs.replace(CHECKPOINT, seconds=9.0, detail="otherwise")
    for aspect in (Aspect.OUTCOME, Aspect.EXCEPTION, Aspect.MISMATCH):
        assert len({answered(one, aspect) for one in both}) == 1


def test_operators_are_compared_beyond_what_is_shown() -> None:
    one = watched(result("a::b"), call(0, "aten.bmm aten._softmax"), recompute(0, "aten.bmm aten._softmax"))
    other = watched(result("a::b"), call(0, "aten.mm aten._softmax"), recompute(0, "aten.mm aten._softmax"))
    answers = [answered(each, Aspect.OPERATORS) for each in (one, other)]
    assert text(answers[0]) == text(answers[1]) == "aten._softmax in forward, aten._softmax in recompute"
    assert answers[0] != answers[1]


def test_settings_that_are_restored_are_the_same_whatever_they_are() -> None:
    plain, scoped = (
        watched(result("a::b"), call(0, "aten.bmm", settings), recompute(0, "aten.bmm", settings))
        for settings in (DEFAULT, MATH)
    )
    assert answered(plain, Aspect.SETTINGS) == answered(scoped, Aspect.SETTINGS)
    assert text(answered(plain, Aspect.SETTINGS)) == "the same in forward and recompute"


ABSENT = ends(Outcome.UNSUPPORTED, "There is no torch.x.")


def test_a_missing_api_is_an_answer_where_that_is_asked() -> None:
    assert text(answered(ABSENT, Aspect.API)) == "absent"
    assert answered(PASSES, Aspect.API) != answered(ABSENT, Aspect.API)
    assert answered(PASSES, Aspect.API) == answered(CHECKPOINT, Aspect.API)


@pytest.mark.parametrize(
    ("one", "reason", "is_trouble"),
    [
        (ABSENT, "n/a: There is no torch.x.", False),
        (ends(Outcome.MOOT, "The reference raises."), "moot: The reference raises.", False),
        (
            result("a::b", PASSES, PASSES, CHECKPOINT),
            "flaky: cold pass, warm pass, warm-copied CheckpointError",
            False,
        ),
        (record("2.11.0", trouble=trouble()), "There is no wheel for cp314.", True),
    ],
)
def test_what_says_nothing(one: CaseResult | Trial | Record, reason: str, is_trouble: bool) -> None:
    assert answered(one, Aspect.EXCEPTION) == Skipped(reason, is_trouble)


def test_what_was_not_watched_or_ended_otherwise_when_it_was_says_nothing_of_operators() -> None:
    assert answered(PASSES, Aspect.OPERATORS) == Skipped("no evidence is recorded")
    seen = watched(result("a::b", PASSES), *SAME)
    assert seen.evidence is not None
    otherwise = msgspec.structs.replace(seen, evidence=msgspec.structs.replace(seen.evidence, outcome=Outcome.DIFFERS))
    assert isinstance(answered(otherwise, Aspect.SETTINGS), Skipped)
    assert isinstance(answered(seen, Aspect.SETTINGS), Answer)
