"""Records of several machines become one of each, whatever the order and however often."""

from __future__ import annotations

import itertools
import random

import msgspec
import pytest

from builders import PASSES, SHA, ends, raises, record, result, trouble
from recompat.merge import Found, merge
from recompat.model import CaseResult, Outcome, Record

ID = "torch2.11.0-cp311-linux_x86_64"
NOON, EVENING = "2026-11-29T12:00:00Z", "2026-11-29T18:00:00+00:00"


def at(finished: str, *results: CaseResult, **facts: object) -> Record:
    """A record of torch 2.11.0 whose results were finished then."""
    made = record("2.11.0", *(msgspec.structs.replace(one, finished=finished) for one in results))
    changed = msgspec.structs.replace(made.facts, **facts)  # type: ignore[type-var]
    return msgspec.structs.replace(made, run=msgspec.structs.replace(made.run, finished=finished), facts=changed)


def outcomes(made: Record) -> dict[str, str]:
    return {one.case: str(one.trials[next(iter(one.trials))].outcome) for one in made.results}


def test_equal_records_are_one_and_nothing_is_said() -> None:
    one = at(NOON, result("a::x"))
    merged = merge([Found(one, "here"), Found(one, "there")])
    assert (merged.records, merged.remarks) == ((one,), ())


def test_the_same_results_of_a_later_run_are_no_conflict() -> None:
    slower = msgspec.structs.replace(PASSES, seconds=9.0)
    earlier, later = at(NOON, result("a::x")), at(EVENING, result("a::x", slower))
    merged = merge([Found(later, "there"), Found(earlier, "here")])
    assert merged.remarks == ()
    assert merged.records[0].results == later.results


def test_shards_of_one_environment_are_put_together() -> None:
    merged = merge([Found(at(NOON, result("a::x")), "here"), Found(at(EVENING, result("a::y", raises())), "there")])
    (made,) = merged.records
    assert outcomes(made) == {"a::x": "pass", "a::y": "raises"}
    assert [one.finished for one in made.results] == [NOON, EVENING]
    assert made.run.finished == EVENING
    assert merged.remarks == ()


@pytest.mark.parametrize(
    ("preferred", "kept", "sentence"),
    [
        (None, "raises", "a::x on {}: pass in here, but CheckpointError in there, which is the newest and is kept."),
        ("here", "pass", "a::x on {}: CheckpointError in there, but pass in here, which is preferred and is kept."),
    ],
)
def test_a_conflict_is_named_and_the_newest_or_the_preferred_is_kept(
    preferred: str | None, kept: str, sentence: str
) -> None:
    found = [
        Found(at(NOON, result("a::x")), "here", preferred == "here"),
        Found(at(EVENING, result("a::x", raises())), "there"),
    ]
    merged = merge(found)
    assert outcomes(merged.records[0]) == {"a::x": kept}
    assert merged.remarks == (sentence.format(ID),)


def test_results_of_other_bytes_are_no_conflict() -> None:
    other = result("a::x", raises(), sha256="c" * 64)
    merged = merge([Found(at(NOON, result("a::x")), "here"), Found(at(EVENING, other), "there")])
    assert outcomes(merged.records[0]) == {"a::x": "raises"}
    assert merged.remarks == ()


def test_what_another_machine_measured_is_not_mixed_in_but_named() -> None:
    found = [
        Found(at(NOON, result("a::x"), result("a::y"), cpu_capability="AVX2"), "here"),
        Found(at(EVENING, result("a::x", raises())), "there"),
    ]
    merged = merge(found)
    assert merged.records == (found[1].record,)
    assert merged.remarks[0].startswith(f"a::x on {ID}: pass in here, but CheckpointError in there")
    assert merged.remarks[1].startswith(f"{ID}: here has 1 more than there (a::y), recorded with another build")


def test_trouble_does_not_take_the_place_of_results() -> None:
    told = at(NOON, result("a::x"))
    failed = msgspec.structs.replace(record("2.11.0", trouble=trouble()), run=at(EVENING).run)
    assert merge([Found(failed, "there"), Found(told, "here")]).records == (told,)
    assert merge([Found(failed, "there")]).records == (failed,)


def some(seed: int) -> list[Found]:
    """Records of a few environments, cases and machines, from a few folders, at random."""
    pick = random.Random(seed)
    trials = (PASSES, raises(), raises("builtins.RuntimeError"), ends(Outcome.CRASH))
    found = []
    for number in range(pick.randint(1, 7)):
        cases = pick.sample(["a::x", "a::y", "b::z"], pick.randint(0, 3))
        results = [result(case, pick.choice(trials), sha256=pick.choice([SHA, "c" * 64])) for case in cases]
        made = at(pick.choice([NOON, EVENING, ""]), *results, cpu_capability=pick.choice(["AVX2", "AVX512"]))
        place = msgspec.structs.replace(made.environment, torch=pick.choice(["2.11.0", "2.9.1"]))
        made = msgspec.structs.replace(made, environment=place)
        found.append(Found(made, f"folder{number}", preferred=number == 0 and pick.random() < 0.3))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_neither_order_nor_repetition_matters(seed: int) -> None:
    found = some(seed)
    once = merge(found)
    for order in itertools.islice(itertools.permutations(found), 0, 5040, 97):
        assert merge(order) == once
    assert merge([*found, *found]).records == once.records
    again = merge([*found, *(Found(made, "target") for made in once.records)])
    assert again.records == once.records
    assert merge([Found(made, "target") for made in once.records]).records == once.records


@pytest.mark.parametrize("seed", range(60))
def test_every_environment_has_a_record_and_no_result_is_made_up(seed: int) -> None:
    found = some(seed)
    made = {one.environment.id: one for one in merge(found).records}
    assert set(made) == {one.record.environment.id for one in found}
    for one in made.values():
        mine = [other.record for other in found if other.record.environment == one.environment]
        there = {(result.case, result.sha256, str(result.trials)) for other in mine for result in other.results}
        assert {(result.case, result.sha256, str(result.trials)) for result in one.results} <= there
        assert bool(one.results) == any(other.results for other in mine)
