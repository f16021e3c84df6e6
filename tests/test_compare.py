from __future__ import annotations

import msgspec
import pytest

from builders import CHECKPOINT_ERROR, PASSES, differs, ends, passes, raises, record, result, trouble, warns
from evidence_builders import call, recompute, watched
from recompat.compare import Side, compare, diff
from recompat.diff import COUNTED, Change, Part
from recompat.errors import NothingSelected
from recompat.mismatch import parse_disagreement, parse_mismatches
from recompat.model import CaseResult, Difference, Outcome, Phase, Replay, Trial
from scenes import CHECKPOINT, DEFAULT, MATH, MESSAGE, SAME, SAME_LATER, SCOPE_ENDED

CASE = "patterns::case"


def changed(
    a: Trial | CaseResult, b: Trial | CaseResult, *parts: Part, observing: tuple[str, ...] = ()
) -> list[Change]:
    """What differs between two results of one case."""
    one, other = (result(CASE, side) if isinstance(side, Trial) else side for side in (a, b))
    both = compare(record("2.9.1", one), record("2.11.0", other), parts or tuple(Part), observing=observing)
    return list(both.changes)


def side(*torch: str, name: str = "side", chosen: bool = False) -> Side:
    return Side(name, tuple(record(one, result(CASE)) for one in torch), chosen)


@pytest.mark.parametrize(
    "trial", [PASSES, CHECKPOINT, differs(), warns("w"), ends(Outcome.CRASH, "It died of SIGSEGV.")]
)
def test_a_result_is_as_itself(trial: Trial) -> None:
    assert changed(trial, msgspec.structs.replace(trial, seconds=9.0)) == []


def test_an_outcome_is_told_with_what_lies_behind_it_and_nothing_that_follows_from_it() -> None:
    assert changed(passes(1e-8), CHECKPOINT) == [
        Change(
            Part.OUTCOME,
            CASE,
            None,
            "pass",
            "raises",
            (f"+ {CHECKPOINT_ERROR} in backward: {MESSAGE.splitlines()[0]}",),
        )
    ]


@pytest.mark.parametrize(
    ("a", "b", "lines"),
    [
        (ends(Outcome.UNSUPPORTED, "No flex_attention."), PASSES, ("- No flex_attention.",)),
        (PASSES, ends(Outcome.CRASH, "It died of SIGSEGV."), ("+ It died of SIGSEGV.",)),
        (differs(0.5, "half"), PASSES, ("- q.grad not equal: half",)),
    ],
)
def test_an_outcome_without_an_exception_has_its_reason_too(a: Trial, b: Trial, lines: tuple[str, ...]) -> None:
    (change,) = changed(a, b)
    assert (change.part, change.lines) == (Part.OUTCOME, lines)


def test_what_follows_from_the_outcome_is_told_where_it_alone_is_asked_for() -> None:
    (change,) = changed(PASSES, CHECKPOINT, Part.EXCEPTION)
    assert (change.a, change.b) == (None, f"{CHECKPOINT_ERROR} in backward")


def test_an_exception_differs_by_type_or_phase() -> None:
    other = raises("builtins.RuntimeError", "no")
    (by_type,) = changed(raises(message="yes"), other)
    (by_phase,) = changed(other, raises("builtins.RuntimeError", "no", phase=Phase.FORWARD))
    assert (by_type.part, by_type.a, by_type.b) == (
        Part.EXCEPTION,
        f"{CHECKPOINT_ERROR} in backward",
        "builtins.RuntimeError in backward",
    )
    assert by_type.lines == ("- yes", "+ no")
    assert (by_phase.part, by_phase.b, by_phase.lines) == (Part.EXCEPTION, "builtins.RuntimeError in forward", ())


def test_the_signal_of_a_crash_counts_as_its_exception() -> None:
    a, b = (ends(Outcome.CRASH, f"It died of {signal}.") for signal in ("SIGSEGV", "SIGABRT"))
    assert changed(a, b, *COUNTED) == [Change(Part.EXCEPTION, CASE, None, "It died of SIGSEGV.", "It died of SIGABRT.")]


def test_by_which_exception_a_case_is_moot_is_of_no_interest() -> None:
    a, b = (msgspec.structs.replace(raises(type_), outcome=Outcome.MOOT) for type_ in ("a.A", "b.B"))
    assert changed(a, b, *COUNTED) == []


def test_tensors_are_told_position_by_position() -> None:
    later = MESSAGE.replace("[1, 2, 8, 4]", "[1, 2, 8, 8]")
    (change,) = changed(CHECKPOINT, raises(message=later, mismatches=parse_mismatches(later)))
    assert (change.part, change.a, change.b) == (Part.MISMATCH, None, None)
    assert change.lines == (
        "- position 0: saved [2, 4, 8] float32 cpu, recomputed [1, 2, 8, 4] bfloat16 cpu",
        "+ position 0: saved [2, 4, 8] float32 cpu, recomputed [1, 2, 8, 8] bfloat16 cpu",
    )


def test_counts_of_tensors_are_told() -> None:
    text = (
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
        "Number of tensors saved during forward: {}\nNumber of tensors saved during recomputation: 2"
    )
    a, b = (raises(message=text.format(n), disagreement=parse_disagreement(text.format(n))) for n in (3, 4))
    (change,) = changed(a, b)
    assert (change.part, change.a, change.b) == (
        Part.MISMATCH,
        "count: 3 saved, 2 recomputed",
        "count: 4 saved, 2 recomputed",
    )


def test_a_message_in_other_words_is_told_from_where_the_two_part() -> None:
    said = "This operation is not one that can be differentiated twice, "
    (change,) = changed(raises(message=f"{said}sorry at 0xdead"), raises(message=f"{said}alas at 0xbeef"))
    assert (change.part, change.part in COUNTED) == (Part.MESSAGE, False)
    assert change.lines == (
        "- …not one that can be differentiated twice, sorry at 0x…",
        "+ …not one that can be differentiated twice, alas at 0x…",
    )


def test_addresses_and_lines_of_source_files_are_no_other_words() -> None:
    assert changed(raises(message="at 0xdead in f.py:12"), raises(message="at 0xbeef in f.py:34")) == []


def test_a_log_of_operators_is_no_wording() -> None:
    head = "An error happened while unpacking tensors; dumping logs of latest computation\n"
    a, b = (raises(message=head + log, disagreement=parse_disagreement(head)) for log in ("one", "two"))
    assert changed(a, b) == []


def test_settings_that_are_restored_on_one_side_alone() -> None:
    (change,) = changed(
        watched(result(CASE), *SAME), watched(result(CASE), SAME[0], recompute(0, "aten.bmm aten._softmax", MATH))
    )
    assert (change.part, change.subject, change.a) == (
        Part.SETTINGS,
        "at recompute",
        "the same in forward and recompute",
    )
    assert change.b == "the SDPA policy MATH was in force in recompute and not yet in forward"


def test_a_setting_in_force_is_told_where_both_have_it() -> None:
    one, other = ({"sdpa.cudnn": value, "rng.cpu": value, **new} for value, new in (("off", {}), ("on", {"x": "1"})))
    a, b = (watched(result(CASE), call(0, "a", settings), recompute(0, "a", settings)) for settings in (one, other))
    assert changed(a, b) == [Change(Part.SETTINGS, CASE, "sdpa.cudnn", "off", "on")]


def test_the_address_in_the_name_of_a_context_variable_is_no_difference() -> None:
    names = (f"contextvar.config.Patch[{address}]" for address in (140182796729424, 140034840756432))
    a, b = (watched(result(CASE), call(0, "a", {name: "set"}), recompute(0, "a", {name: "unset"})) for name in names)
    assert changed(a, b) == []


def test_other_operators_are_told_with_those_that_did_the_attention() -> None:
    assert changed(watched(result(CASE), *SAME), watched(result(CASE), *SAME_LATER)) == [
        Change(
            Part.OPERATORS,
            CASE,
            "forward",
            "aten._softmax",
            "aten._safe_softmax",
            ("- aten._softmax", "+ aten._safe_softmax"),
        )
    ]


def test_without_evidence_settings_and_operators_are_not_compared_and_that_is_said() -> None:
    both = compare(record("2.9.1", result(CASE)), record("2.11.0", watched(result(CASE), *SCOPE_ENDED)))
    assert (both.changes, both.unwatched) == ((), (CASE,))


def test_evidence_of_a_trial_that_ended_otherwise_is_not_compared() -> None:
    seen = watched(result(CASE), *SAME)
    other = msgspec.structs.replace(seen, trials=result(CASE, CHECKPOINT).trials)
    both = compare(record("2.9.1", seen), record("2.11.0", other))
    assert ([change.part for change in both.changes], both.unwatched) == ([Part.OUTCOME], (CASE,))


def test_numbers_are_told_by_the_largest_and_its_factor() -> None:
    (change,) = changed(passes(1e-8), passes(3e-8))
    assert (change.part, change.part in COUNTED) == (Part.DIFFERENCES, False)
    assert (change.subject, change.a, change.b) == ("largest difference", "1e-08", "3e-08 (3 times as large)")
    assert changed(passes(3e-8), passes(1e-8))[0].b == "1e-08 (3 times as small)"
    assert changed(passes(0.0), passes(1e-8))[0].b == "1e-08"
    assert changed(passes(float("inf")), passes(1e-8)) == []


def test_a_value_that_is_not_equal_any_more_is_told_by_name() -> None:
    worse = msgspec.structs.replace(
        differs(), differences=(Difference("output", equal=False), differs().differences[1])
    )
    (change,) = changed(differs(), worse)
    assert (change.subject, change.a, change.b) == ("output", "within the tolerance", "not equal")


def test_numbers_that_never_repeat_are_not_compared() -> None:
    a, b = (msgspec.structs.replace(passes(number), varies=True) for number in (1e-8, 3e-8))
    assert changed(a, b) == []


def test_warnings_count_where_the_case_observes_them() -> None:
    gone, new = changed(warns("old"), warns("new"))
    assert (gone.a, gone.b, new.a, new.b) == ("old", None, None, "new")
    assert {gone.part, new.part} == {Part.WARNINGS}
    outcome, _ = changed(PASSES, warns("new"), observing=(CASE,))
    assert (outcome.part, outcome.a, outcome.b) == (Part.OUTCOME, "pass", "pass +builtins.UserWarning")


def test_a_case_that_depends_on_its_process_on_one_side_ends_otherwise() -> None:
    (change,) = changed(PASSES, result(CASE, PASSES, CHECKPOINT), *COUNTED)
    assert (change.part, change.a, change.b) == (Part.OUTCOME, "pass", "pass (warm: CheckpointError)")


def test_flaky_and_edited_cases_are_named_and_compared_all_the_same() -> None:
    flaky = result(CASE, PASSES, PASSES, CHECKPOINT)
    both = compare(record("2.9.1", flaky), record("2.11.0", result(CASE, differs(), sha256="b" * 64)))
    assert (both.flaky, both.edited, both.changed(Part.OUTCOME)) == ((CASE,), (CASE,), {CASE})


def test_cases_without_a_partner_or_a_result_are_named_and_not_compared() -> None:
    not_run = CaseResult("patterns::not_run", "a" * 64, {Replay.COLD: ends(Outcome.NOT_RUN)})
    both = compare(
        record("2.9.1", result("patterns::a"), result("patterns::b")), record("2.11.0", result("patterns::b"), not_run)
    )
    assert (both.cases, both.only_in_a, both.only_in_b) == (("patterns::b",), ("patterns::a",), ())


def test_what_was_installed_is_told_fact_by_fact() -> None:
    a, b = record("2.9.1", result(CASE)), record("2.11.0", result(CASE))
    both = compare(a, b)
    assert [(fact.name, fact.a, fact.b) for fact in both.differing_facts] == [("torch", "2.9.1+cpu", "2.11.0+cpu")]
    assert compare(a, a).differing_facts == ()


@pytest.mark.parametrize(
    ("a", "b", "pairs", "only"),
    [
        (side("2.9.1"), side("2.11.0"), [("2.9.1", "2.11.0")], ([], [])),
        (
            side("2.9.1", "2.10.0", "2.11.0"),
            side("2.11.0", "2.9.1", "2.12.0"),
            [("2.9.1", "2.9.1"), ("2.11.0", "2.11.0")],
            (["2.10.0"], ["2.12.0"]),
        ),
        (side("2.9.1", "2.10.0"), side("2.10.0", chosen=True), [("2.10.0", "2.10.0")], ([], [])),
    ],
    ids=["two that are alone", "two folders", "one out of a folder"],
)
def test_pairs(a: Side, b: Side, pairs: list[tuple[str, str]], only: tuple[list[str], list[str]]) -> None:
    def release(id_: str) -> str:
        return id_.removeprefix("torch").partition("-")[0]

    found = diff(a, b)
    assert [(release(pair.a), release(pair.b)) for pair in found.pairs] == pairs
    assert ([*map(release, found.only_in_a)], [*map(release, found.only_in_b)]) == only


def test_one_release_on_other_interpreters_is_a_pair_if_it_is_the_only_one() -> None:
    def python(*tags: str) -> Side:
        return Side("x", tuple(record("2.9.1", result(CASE), python=tag) for tag in tags) + side("2.8.0").records)

    assert [pair.b for pair in diff(python("cp311"), python("cp312")).pairs][1] == "torch2.9.1-cp312-linux_x86_64"
    assert len(diff(python("cp311"), python("cp312", "cp313")).pairs) == 1


def test_what_counts_makes_them_differ_and_only_narrows_it() -> None:
    a, b = (
        Side(name, (record("2.9.1", result(CASE, trial)),)) for name, trial in (("a", passes(0.0)), ("b", passes(1e-9)))
    )
    assert not diff(a, b).differs
    assert diff(a, b).number(Part.DIFFERENCES) == 1
    assert diff(a, b, [Part.DIFFERENCES]).differs
    assert not diff(a, b, [Part.OUTCOME, Part.FACTS]).differs


def test_cases_and_environments_without_a_partner_count_on_request() -> None:
    a, b = side("2.9.1", "2.10.0", name="a"), side("2.9.1", name="b")
    assert not diff(a, b).differs
    assert diff(a, b, [Part.CASES]).number(Part.CASES) == 1
    assert diff(a, b, [Part.CASES]).differs


def test_only_the_selected_cases_are_looked_at() -> None:
    a, b = (Side("x", (record("2.9.1", result("f::a", trial), result("f::b")),)) for trial in (PASSES, CHECKPOINT))
    assert diff(a, b).differs
    assert not diff(a, b, cases={"f::b"}).differs


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (
            side("2.8.0", "2.9.1", name="a"),
            side("2.11.0", name="b"),
            "no environment is on both sides.\n  - a has torch2.8.0",
        ),
        (
            side("2.9.1", name="a"),
            Side("b", (record("2.11.0", trouble=trouble()),)),
            "on both sides.\n  - torch2.9.1-cp311-linux_x86_64 of a: 1 case\n  - torch2.11.0-cp311-linux_x86_64 of b: 0 cases; There",
        ),
    ],
)
def test_nothing_to_compare_says_what_either_side_has(a: Side, b: Side, message: str) -> None:
    with pytest.raises(NothingSelected) as caught:
        diff(a, b)
    assert message in str(caught.value)


def test_a_setting_that_only_one_side_knows_is_still_told_if_it_is_not_restored() -> None:
    new = {**DEFAULT, "deterministic.fill": "on"}
    a = watched(result(CASE), call(0, "a", DEFAULT), recompute(0, "a", DEFAULT))
    b = watched(result(CASE), call(0, "a", new), recompute(0, "a", {**new, "deterministic.fill": "off"}))
    (change,) = changed(a, b)
    assert change.b == "filling uninitialised memory was on in forward and off in recompute"
