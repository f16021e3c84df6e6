from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from fake_probe import END, FakeSpawn, case_id, finished, started
from recompat.model import Outcome, Replay, TroubleKind
from recompat.trials import CaseAddress, Job, read_facts, run_trials
from recompat.wheels import EnvironmentTrouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.choices import Isolation
    from recompat.model import Trial


@pytest.fixture
def cases(tmp_path: Path) -> list[CaseAddress]:
    path = tmp_path / "file.py"
    path.write_text("# a case file")
    return [CaseAddress(f"file::{name}", path, "sha") for name in ("one", "two", "three")]


def job(spawn: FakeSpawn, isolation: Isolation = "fork", timeout: float = 5) -> Job:
    return Job(Path("python"), Path("logs/probe.log"), timeout, isolation, 2, spawn)


def everything_passes(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
    for address in addresses:
        yield started(address)
        yield finished(address)
    yield END


def outcomes(results: Sequence[object], replay: Replay = Replay.COLD) -> list[Outcome]:
    return [result.trials[replay].outcome for result in results]  # type: ignore[attr-defined]


def test_three_replays_of_all_cases(cases: list[CaseAddress]) -> None:
    spawn = FakeSpawn(everything_passes)
    heard: list[Replay] = []
    results = run_trials(job(spawn), cases, heard.append)
    assert [result.case for result in results] == ["file::one", "file::two", "file::three"]
    assert [set(result.trials) for result in results] == [set(Replay)] * 3
    assert sorted(heard) == sorted([*Replay] * 3)
    assert sorted("--warm" in call for call in spawn.calls) == [False, True, True]


def test_the_copied_replay_runs_other_files(cases: list[CaseAddress]) -> None:
    spawn = FakeSpawn(everything_passes)
    run_trials(job(spawn), cases, lambda _: None)
    folders = {Path(call[-1].rpartition("::")[0]).parent for call in spawn.calls}
    assert len(folders) == 2
    assert cases[0].path.parent in folders


def test_only_the_cold_replay_gets_all_the_cores(cases: list[CaseAddress]) -> None:
    spawn = FakeSpawn(everything_passes)
    run_trials(job(spawn), cases, lambda _: None)
    jobs = {"--warm" in call: call[call.index("--jobs") + 1] for call in spawn.calls}
    assert jobs == {False: "2", True: "1"}


def test_a_process_each(cases: list[CaseAddress]) -> None:
    spawn = FakeSpawn(everything_passes)
    run_trials(job(spawn, "process"), cases, lambda _: None)
    assert len(spawn.calls) == 3 * len(cases)
    assert all(call[call.index("--isolation") + 1] == "none" for call in spawn.calls)


def dies_at_two(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
    for address in addresses:
        yield started(address)
        if address.endswith("::two"):
            return
        yield finished(address)
    yield END


def test_what_a_probe_dies_of_is_a_crash_and_the_rest_is_run(cases: list[CaseAddress]) -> None:
    spawn = FakeSpawn(dies_at_two, status=-6)
    results = run_trials(job(spawn), cases, lambda _: None)
    assert outcomes(results) == [Outcome.PASS, Outcome.CRASH, Outcome.PASS]
    assert results[1].trials[Replay.COLD].detail == "ended by SIGABRT"


def test_of_several_suspects_the_guilty_one_is_found(cases: list[CaseAddress]) -> None:
    def together_and_then_alone(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
        if len(spawn.calls) <= len(Replay):
            yield from map(started, addresses[:2])
        else:
            yield from dies_at_two(addresses)

    spawn = FakeSpawn(together_and_then_alone, status=3)
    results = run_trials(job(spawn), cases, lambda _: None)
    assert outcomes(results) == [Outcome.PASS, Outcome.CRASH, Outcome.PASS]
    assert results[1].trials[Replay.COLD].detail == "exited with status 3"


def test_silence_is_a_timeout(cases: list[CaseAddress]) -> None:
    spawn = FakeSpawn(dies_at_two, status=None)
    results = run_trials(job(spawn, "process", timeout=0.1), cases, lambda _: None)
    assert outcomes(results) == [Outcome.PASS, Outcome.TIMEOUT, Outcome.PASS]
    assert results[1].trials[Replay.COLD].detail == "no result within 0.1 s"


def test_a_probe_that_begins_no_trial_is_trouble(cases: list[CaseAddress]) -> None:
    with pytest.raises(EnvironmentTrouble) as caught:
        run_trials(job(FakeSpawn(lambda _: [], status=-9)), cases, lambda _: None)
    assert caught.value.trouble.kind is TroubleKind.PROBE_FAILED
    assert caught.value.trouble.reason == (
        "The cases were not run: the probe ended by SIGKILL before its first trial. The log is logs/probe.log."
    )


def test_a_probe_that_fails_by_itself_blames_no_case(cases: list[CaseAddress]) -> None:
    with pytest.raises(EnvironmentTrouble) as caught:
        run_trials(job(FakeSpawn(dies_at_two, status=70)), cases, lambda _: None)
    assert caught.value.trouble.kind is TroubleKind.PROBE_FAILED
    assert "the probe itself failed" in caught.value.trouble.reason


def cold_trial(event: dict[str, object], cases: list[CaseAddress]) -> Trial:
    def script(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
        yield from (started(addresses[0]), finished(addresses[0], **event), END)  # type: ignore[arg-type]

    return run_trials(job(FakeSpawn(script)), cases[:1], lambda _: None)[0].trials[Replay.COLD]


def test_the_mismatch_is_read_from_the_message(cases: list[CaseAddress]) -> None:
    message = (
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the"
        " forward pass.\ntensor at position 0:\n"
        "saved metadata: {'shape': torch.Size([2, 4, 8]), 'dtype': torch.float32, 'device': device(type='cpu')}\n"
        "recomputed metadata: {'shape': torch.Size([1, 2, 8, 4]), 'dtype': torch.float32, 'device': device(type='cpu')}"
    )
    raised = {"type": "torch.utils.checkpoint.CheckpointError", "phase": "backward", "message": message, "frames": []}
    trial = cold_trial({"outcome": "raises", "raised": raised}, cases)
    assert trial.raised is not None
    (mismatch,) = trial.raised.mismatches
    assert (mismatch.saved.shape, mismatch.recomputed.shape) == ((2, 4, 8), (1, 2, 8, 4))


def test_another_file_than_the_one_that_was_read(cases: list[CaseAddress]) -> None:
    def script(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
        for address in addresses:
            yield started(address)
            yield finished(address, "other" if address.endswith("::two") else "sha")
        yield END

    results = run_trials(job(FakeSpawn(script)), cases, lambda _: None)
    assert [result.case for result in results] == ["file::one", "file::three"]


def test_a_result_that_cannot_be_read_is_a_crash(cases: list[CaseAddress]) -> None:
    trial = cold_trial({"outcome": "splendid"}, cases)
    assert trial.outcome is Outcome.CRASH
    assert "left a result that cannot be read" in str(trial.detail)


HEADER: dict[str, object] = {
    "event": "header",
    "python": "3.11.7",
    "tag": "cp311",
    "implementation": "cpython",
    "libc": "glibc 2.36",
}
TORCH: dict[str, object] = {
    "event": "torch",
    "imported": "9.0.0",
    "flavour": "cpu",
    "distribution_sha256": "d",
    "cpu_capability": "AVX2",
    "threads": 1,
    "packages": {"torch": "9.0.0"},
}


def test_facts() -> None:
    facts = read_facts(job(FakeSpawn(lambda _: [HEADER, TORCH, END])), "wheel folder")
    assert (facts.imported, facts.python_version, facts.source) == ("9.0.0", "3.11.7", "wheel folder")


def test_facts_that_cannot_be_read_are_trouble() -> None:
    with pytest.raises(EnvironmentTrouble, match="torch says of itself what cannot be read"):
        read_facts(job(FakeSpawn(lambda _: [HEADER, {**TORCH, "threads": None}, END])), "wheel folder")


def test_a_file_that_is_gone_is_trouble(cases: list[CaseAddress]) -> None:
    cases[0].path.unlink()
    with pytest.raises(EnvironmentTrouble, match=r"file\.py was removed"):
        run_trials(job(FakeSpawn(everything_passes)), cases, lambda _: None)


def test_alone_in_its_process_a_case_may_exit_as_a_failed_probe_does(cases: list[CaseAddress]) -> None:
    results = run_trials(job(FakeSpawn(dies_at_two, status=70), "process"), cases, lambda _: None)
    assert outcomes(results) == [Outcome.PASS, Outcome.CRASH, Outcome.PASS]


FAILED: dict[str, object] = {
    "event": "import-failed",
    "type": "builtins.ImportError",
    "message": "libcudnn.so.9: no such file",
}


@pytest.mark.parametrize(
    ("events", "status", "reason"),
    [
        ([HEADER, FAILED, END], 0, "import torch raised builtins.ImportError: libcudnn.so.9: no such file. "),
        ([HEADER], -6, "import torch ended by SIGABRT. "),
        ([HEADER], None, "import torch did not end within 0.5 s. "),
        ([HEADER, TORCH], -11, "import torch ended by SIGSEGV. "),
        ([HEADER], -40, "import torch ended by signal 40. "),
    ],
)
def test_an_import_that_fails_is_trouble(events: list[dict[str, object]], status: int | None, reason: str) -> None:
    with pytest.raises(EnvironmentTrouble) as caught:
        read_facts(job(FakeSpawn(lambda _: events, status), timeout=0.1), "wheel folder")
    assert caught.value.trouble.kind is TroubleKind.IMPORT_FAILED
    assert caught.value.trouble.reason == reason + "The log is logs/probe.log."


def test_a_case_with_a_process_of_its_own_comes_after_the_others_and_alone(cases: list[CaseAddress]) -> None:
    cases[0] = msgspec.structs.replace(cases[0], alone=True)
    spawn = FakeSpawn(everything_passes)
    results = run_trials(job(spawn), cases, lambda _: None)
    assert [result.case for result in results] == ["file::one", "file::two", "file::three"]
    assert outcomes(results) == [Outcome.PASS] * 3
    cold = [call for call in spawn.calls if "--warm" not in call]
    assert [[case_id(word) for word in call if "::" in word] for call in cold] == [
        ["file::two", "file::three"],
        ["file::one"],
    ]
    assert [call[call.index("--isolation") + 1] for call in cold] == ["fork", "none"]


def test_the_death_of_a_probe_is_that_of_the_case_that_had_it_alone(cases: list[CaseAddress]) -> None:
    cases[2] = msgspec.structs.replace(cases[2], alone=True)

    def dies(addresses: Sequence[str]) -> Iterator[dict[str, object]]:
        yield from everything_passes(addresses) if len(addresses) == 2 else [started(addresses[0])]

    results = run_trials(job(FakeSpawn(dies)), cases, lambda _: None)
    assert outcomes(results) == [Outcome.PASS, Outcome.PASS, Outcome.CRASH]
