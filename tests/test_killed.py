"""What another process has ended is tried again before it is blamed; what is so ended twice is as it seems."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fake_probe import END, FakeSpawn, evidence, finished, started
from recompat.events import was_killed
from recompat.model import Outcome, Replay, TroubleKind
from recompat.replay import ReplayRun
from recompat.trials import CaseAddress, Job, read_facts
from recompat.wheels import EnvironmentTrouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from recompat.model import Evidence, Trial

    Script = Callable[[Sequence[str]], Iterable[dict[str, object]]]

KILLED = {"outcome": "crash", "detail": "ended by SIGKILL"}
NAMES = ("one", "two", "three")


def after(times: int, first: Script) -> FakeSpawn:
    """Probes that end by SIGKILL: so many times by ``first``, and then not at all."""

    def script(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
        yield from (first if len(spawn.calls) <= times else whole)(addresses)

    spawn = FakeSpawn(script, status=-signal.SIGKILL)
    return spawn


def whole(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
    for address in addresses:
        yield from (started(address), finished(address))
    yield from map(evidence, addresses)
    yield END


def killed_in_two(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
    """The probe is ended while the second case is tried."""
    yield from (started(addresses[0]), finished(addresses[0]), started(addresses[-1]))


def trial_killed(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
    """The first trial is ended, and its probe goes on."""
    yield from (started(addresses[0]), finished(addresses[0], **KILLED))
    yield from whole(addresses[1:])


def watched_killed(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
    """A watched trial is ended, and the probe goes on."""
    for address in addresses:
        yield from (started(address), finished(address))
    detail = "The watched trial ended by SIGKILL."
    yield evidence(addresses[0], outcome="crash", detail=detail)
    yield from map(evidence, addresses[1:])
    yield END


def killed_watching(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
    """The probe is ended before it has watched anything."""
    for address in addresses:
        yield from (started(address), finished(address))


def job(spawn: FakeSpawn) -> Job:
    return Job(Path("python"), Path("logs/probe.log"), 5, "fork", 1, spawn)


def replayed(spawn: FakeSpawn, folder: Path) -> tuple[Mapping[str, Trial], Mapping[str, Evidence]]:
    cases = [CaseAddress(f"file::{name}", Path("file.py"), "sha") for name in NAMES]
    run = ReplayRun(job(spawn), Replay.WARM, folder / "warm", cases, lambda _: None, threading.Event())
    return run.run()


@pytest.mark.parametrize("first", [lambda _: [], killed_in_two, trial_killed, watched_killed, killed_watching])
def test_ended_once_it_is_as_if_it_had_not_been(first: Script, tmp_path: Path) -> None:
    spawn = after(1, first)
    trials, seen = replayed(spawn, tmp_path)
    assert {case: trial.outcome for case, trial in trials.items()} == dict.fromkeys(
        (f"file::{name}" for name in NAMES), Outcome.PASS
    )
    assert {case: (one.outcome, one.detail) for case, one in seen.items()} == dict.fromkeys(
        (f"file::{name}" for name in NAMES), (Outcome.PASS, None)
    )
    assert len(spawn.calls) <= 3  # the last may watch what the first had tried


def test_a_case_that_ends_its_probe_each_time_is_to_blame(tmp_path: Path) -> None:
    trials, seen = replayed(after(9, killed_in_two), tmp_path)
    assert [trial.outcome for trial in trials.values()].count(Outcome.CRASH) == 1
    assert trials["file::three"].detail == "ended by SIGKILL"
    assert seen["file::three"].detail == "It was not watched: its trial ended the probe."


def test_a_trial_that_is_ended_each_time_is_a_crash(tmp_path: Path) -> None:
    trials, _ = replayed(after(9, trial_killed), tmp_path)
    assert trials["file::one"].outcome is Outcome.CRASH
    assert trials["file::two"].outcome is Outcome.PASS


@pytest.mark.parametrize("first", [watched_killed, killed_watching])
def test_what_is_ended_each_time_it_is_watched_is_not_watched(first: Script, tmp_path: Path) -> None:
    trials, seen = replayed(after(9, first), tmp_path)
    assert {trial.outcome for trial in trials.values()} == {Outcome.PASS}
    assert "SIGKILL" in str(seen["file::one"].detail)


def test_a_case_that_ends_by_itself_is_not_tried_again(tmp_path: Path) -> None:
    spawn = FakeSpawn(killed_in_two, status=-signal.SIGABRT)
    trials, _ = replayed(spawn, tmp_path)
    assert trials["file::three"].detail == "ended by SIGABRT"
    assert sum("file.py::three" in call for call in spawn.calls) == 1


def torch_is_there(_: Sequence[str]) -> Iterator[dict[str, object]]:
    about = {
        "python": "3.11.7",
        "tag": "cp311",
        "implementation": "cpython",
        "platform": "linux_x86_64",
        "libc": "glibc",
    }
    build = {"imported": "9.0.0", "flavour": "cpu", "distribution_sha256": "", "cpu_capability": "", "threads": 1}
    yield {"event": "header", "wire": 1, **about}
    yield {"event": "torch", **build, "packages": {}, "seconds": 0.1}
    yield END


def test_what_is_installed_is_asked_again(tmp_path: Path) -> None:
    def script(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
        yield from torch_is_there(addresses) if len(spawn.calls) == 2 else ()

    spawn = FakeSpawn(script, status=-signal.SIGTERM)
    assert read_facts(job(spawn), "default index").imported == "9.0.0"


def test_where_an_import_is_ended_twice_the_release_is_not_to_blame() -> None:
    spawn = FakeSpawn(lambda _: [], status=-signal.SIGKILL)
    with pytest.raises(EnvironmentTrouble, match="import torch ended by SIGKILL") as caught:
        read_facts(job(spawn), "default index")
    assert caught.value.trouble.kind is TroubleKind.PROBE_FAILED
    assert len(spawn.calls) == 2


@pytest.mark.parametrize("detail", [None, "", "ended by SIGABRT", "no result within 5 s", "ended by signal 40"])
def test_other_endings_are_a_trials_own(detail: str | None) -> None:
    assert not was_killed(detail)
