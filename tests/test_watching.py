"""How the host runs and reads evidence: apart from the trials, whatever becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from fake_probe import END, FakeSpawn, evidence, finished, started
from recompat.model import CaseResult, Change, Evidence, Outcome, Replay, Trial
from recompat.trials import run_trials
from test_trials import cases, everything_passes, job, outcomes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.choices import Isolation
    from recompat.trials import CaseAddress

__all__ = ["cases"]

Events = dict[str, object]

MATH, DEFAULT = {"sdpa.math": "on", "sdpa.flash": "off"}, {"sdpa.math": "on", "sdpa.flash": "on"}
CALL: Events = {"region": 0, "during": "forward", "reentrant": False, "settings": MATH, "operators": ["aten.bmm"]}
CALLS = [
    {**CALL, "ending": "returned"},
    {**CALL, "during": "recompute", "settings": DEFAULT, "ending": "stopped early"},
]


def run(
    spawn: FakeSpawn, addresses: Sequence[CaseAddress], isolation: Isolation = "fork", *, watch: bool = True
) -> tuple[CaseResult, ...]:
    made = msgspec.structs.replace(job(spawn, isolation, timeout=0.5), evidence=watch)
    return run_trials(made, addresses, lambda _: None)


def details(results: Sequence[CaseResult]) -> list[str | None]:
    return [result.evidence.detail if result.evidence else "no evidence" for result in results]


def watches(addresses: Sequence[str]) -> Iterator[Events]:
    yield from list(everything_passes(addresses))[:-1]
    yield from (evidence(address, calls=CALLS) for address in addresses)
    yield END


def test_evidence_is_of_the_warm_replay_and_has_the_changes(cases: list[CaseAddress]) -> None:
    spawn = FakeSpawn(watches)
    results = run(spawn, cases)
    assert len(spawn.calls) == len(Replay)
    assert [("--warm" in call, "copies" in call[-1]) for call in spawn.calls if "--evidence" in call] == [(True, False)]
    for result in results:
        assert result.evidence is not None
        assert result.evidence.changes == (Change("sdpa.flash", "off", "on"),)
        assert [call.ending for call in result.evidence.calls] == ["returned", "stopped early"]


def test_no_evidence_is_asked_for_where_it_is_off(cases: list[CaseAddress]) -> None:
    spawn = FakeSpawn(watches)
    results = run(spawn, cases, watch=False)
    assert not any("--evidence" in call for call in spawn.calls)
    assert details(results) == ["no evidence"] * 3


@pytest.mark.parametrize("isolation", ["fork", "process"])
@pytest.mark.parametrize("status", [0, -11, None])
def test_the_trials_are_the_same_bytes_with_and_without(
    cases: list[CaseAddress], isolation: Isolation, status: int | None
) -> None:
    """Also where the probe dies or hangs while it watches."""

    def dies(addresses: Sequence[str]) -> Iterator[Events]:
        yield from list(everything_passes(addresses))[:-1]
        if status == 0 or "--evidence" not in spawn.calls[-1]:
            yield END

    spawn = FakeSpawn(dies, status)
    with_, without = (run(spawn, cases, isolation, watch=watch) for watch in (True, False))
    assert _trials(with_) == _trials(without)
    assert not {None, "no evidence"} & set(details(with_))


def _trials(results: Sequence[CaseResult]) -> bytes:
    """All of them but what they took, which the host measures."""
    return msgspec.json.encode([(result.case, result.sha256, _timeless(result)) for result in results])


def _timeless(result: CaseResult) -> dict[Replay, Trial]:
    return {replay: msgspec.structs.replace(trial, seconds=0.0) for replay, trial in result.trials.items()}


def test_a_probe_that_dies_while_watching_does_not_spoil_the_rest(cases: list[CaseAddress]) -> None:
    def dies_at_two(addresses: Sequence[str]) -> Iterator[Events]:
        for event in watches(addresses):
            if event["event"] == "evidence" and str(event["case"]).endswith("two"):
                return
            yield event

    spawn = FakeSpawn(dies_at_two, status=-11)
    results = run(spawn, cases)
    assert outcomes(results) == outcomes(results, Replay.WARM) == [Outcome.PASS] * 3
    ended = "The probe ended by SIGSEGV while it watched."
    assert details(results) == [None, ended, ended]
    alone = run(FakeSpawn(dies_at_two, status=-11), cases, "process")
    assert details(alone) == [None, ended, None]


def test_what_was_not_watched_because_another_case_ended_the_probe_is_watched_later(cases: list[CaseAddress]) -> None:
    def dies(addresses: Sequence[str]) -> Iterator[Events]:
        for event in watches(addresses):
            yield event
            if event == started("file.py::two"):
                return

    results = run(FakeSpawn(dies, status=-6), cases)
    assert outcomes(results) == [Outcome.PASS, Outcome.CRASH, Outcome.PASS]
    assert details(results) == [None, "It was not watched: its trial ended the probe.", None]


def test_silence_while_watching_costs_one_limit(cases: list[CaseAddress]) -> None:
    def hangs(addresses: Sequence[str]) -> Iterator[Events]:
        yield from list(everything_passes(addresses))[: None if "--evidence" not in spawn.calls[-1] else -1]

    spawn = FakeSpawn(hangs, status=None)
    results = run(spawn, cases, "process")
    assert details(results) == ["The probe ended for its silence while it watched."] * 3
    assert len(spawn.calls) == len(Replay) * len(cases)


MALFORMED: list[Events] = [
    {"outcome": "splendid"},
    {"calls": None},
    {"calls": [{"region": "first"}]},
    {"calls": [{**CALL, "ending": None}]},
    {"calls": [{**CALL, "ending": "returned", "settings": ["sdpa"]}]},
    {"unwatched": "many"},
    {"exception": 3},
    {"detail": {"nested": True}},
]


@pytest.mark.parametrize("seen", MALFORMED)
def test_a_malformed_event_is_a_detail(cases: list[CaseAddress], seen: Events) -> None:
    def writes(addresses: Sequence[str]) -> Iterator[Events]:
        yield from list(everything_passes(addresses))[:-1]
        yield from (evidence(address, **seen) for address in addresses)  # type: ignore[arg-type]
        yield END

    results = run(FakeSpawn(writes), cases)
    assert outcomes(results) == [Outcome.PASS] * 3
    assert all(str(detail).startswith("The probe left evidence that cannot be read (") for detail in details(results))


def test_evidence_of_other_bytes_or_of_nothing_we_asked_for_does_not_count(cases: list[CaseAddress]) -> None:
    def writes(addresses: Sequence[str]) -> Iterator[Events]:
        yield from list(everything_passes(addresses))[:-1]
        yield evidence(addresses[0], sha256="other", calls=CALLS)
        yield evidence("file.py::stranger")
        yield {"event": "evidence"}
        yield {"event": "evidence", "case": ["file::one"]}
        yield END

    results = run(FakeSpawn(writes), cases[:1])
    assert results[0].evidence == Evidence(
        Outcome.NOT_RUN, None, detail="The case file was changed while it was run; run it again."
    )


def test_what_the_probe_says_of_changes_does_not_count(cases: list[CaseAddress]) -> None:
    def writes(addresses: Sequence[str]) -> Iterator[Events]:
        (address,) = addresses
        yield from (started(address), finished(address))
        yield from (evidence(address, changes=[{"setting": "x", "forward": None, "recompute": "on"}]), END)

    (result,) = run(FakeSpawn(writes), cases[:1])
    assert result.evidence == Evidence(Outcome.PASS, None)
