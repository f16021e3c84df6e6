"""The probe, started by path in an environment with the stand-in torch, writes the events that its docstring promises."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from support.environment import isolated, make_environment
from support.project import CHECKPOINT_ERROR, PROBE, add_case
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


class Ended(NamedTuple):
    """How a probe ended, and what it wrote."""

    status: int
    events: list[dict[str, Any]]
    log: str

    @property
    def names(self) -> list[str]:
        return [event["event"] for event in self.events]

    def only(self, name: str) -> dict[str, Any]:
        (event,) = (event for event in self.events if event["event"] == name)
        return event

    @property
    def finished(self) -> dict[str, dict[str, Any]]:
        return {event["case"]: event for event in self.events if event["event"] == "finished"}


def run_probe(python: Path, out: Path, *arguments: str, timeout: float = 20) -> Ended:
    """Run the probe as the host does; what it leaves behind is ended with it."""
    command = [str(python), "-I", "-B", "-X", "faulthandler", str(PROBE), "--out", str(out), *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            log, _ = process.communicate(timeout=timeout)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    lines = out.read_bytes().splitlines() if out.exists() else []
    return Ended(process.returncode, [json.loads(line) for line in lines], log.decode())


@pytest.fixture(scope="session")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes an environment with a build of the stand-in, once per behaviour; gives its python."""
    made: dict[Behaviour, Path] = {}

    def make(behaviour: Behaviour = Behaviour.NORMAL) -> Path:
        if behaviour not in made:
            folder = tmp_path_factory.mktemp("standin")
            wheel = build_torch(folder, behaviour=behaviour, imports_as="9.0.0+cu130")
            made[behaviour] = make_environment(folder / "venv", str(wheel), env=isolated(folder / "home"))
        return made[behaviour]

    return make


# Case -> outcome; the cases that end their process come first, so that what follows shows that it went on.
OUTCOMES = {
    "aborts::aborts": "crash",
    "aborts::after": "pass",
    "exits::os_exit": "crash",
    "exits::os_exit_zero": "crash",
    "exits::sys_exit": "crash",
    "exits::after": "pass",
    "passes::square": "pass",
    "regresses::regresses": "pass",
    "raises::recomputes_flat": "raises",
    "raises::forward": "raises",
    "differs::counts_calls": "differs",
    "differs::side_effect": "differs",
    "accepts::accepts": "differs",
    "moot::refuses": "moot",
    "needs_missing_api::never_runs": "unsupported",
    "needs_context_fn::with_context_fn": "pass",
    "needs_context_fn::without": "pass",
    "floods::floods": "pass",
    "warns::warns": "pass",
    "import_fails::never_runs": "error",
    "no_reference::alone": "error",
    "no_cases::absent": "error",
    "syntax_error::unfinished": "error",
}
DYING = {"aborts::aborts", "exits::os_exit", "exits::os_exit_zero"}
KEYS = {"event", "case", "sha256", "outcome", "seconds", "raised", "differences", "warnings", "detail", "varies"}


def addresses(folder: Path, cases: Sequence[str]) -> list[str]:
    """Copy the files of ``cases`` into ``folder`` and name the cases as the probe wants them named."""
    folder.mkdir(exist_ok=True)
    add_case(folder, *sorted({case.partition("::")[0] for case in cases}))
    return [str(folder / "{}.py::{}".format(*case.split("::"))) for case in cases]


@pytest.fixture(scope="session")
def forked(standin: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """All cases, each in a forked child of one probe."""
    folder = tmp_path_factory.mktemp("forked")
    named = addresses(folder, list(OUTCOMES))
    return run_probe(standin(), folder / "out", "--isolation", "fork", "--jobs", "2", *named)


@pytest.fixture(scope="session")
def alone(standin: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """Each case in a probe of its own."""
    folder = tmp_path_factory.mktemp("alone")
    python = standin()

    def run(number: int, address: str) -> Ended:
        return run_probe(python, folder / f"out{number}", "--isolation", "none", address)

    with ThreadPoolExecutor(2) as threads:
        ended = threads.map(run, range(len(OUTCOMES)), addresses(folder, list(OUTCOMES)))
        return dict(zip(OUTCOMES, ended, strict=True))


def test_the_frame_of_events(forked: Ended, alone: dict[str, Ended]) -> None:
    trials = ["started", "finished"] * len(OUTCOMES)
    assert sorted(forked.names) == sorted(["header", "torch", *trials, "end"])
    assert [*forked.names[:2], forked.names[-1]] == ["header", "torch", "end"]
    assert forked.status == 0
    assert [event["case"] for event in forked.events if event["event"] == "started"] == list(OUTCOMES)
    assert alone["passes::square"].names == ["header", "torch", "started", "finished", "end"]
    assert alone["passes::square"].status == 0


def test_header_and_torch(forked: Ended, standin: Callable[..., Path]) -> None:
    header, torch = forked.only("header"), forked.only("torch")
    assert header["wire"] == 1
    assert header["tag"] == f"cp3{sys.version_info[1]}"
    assert (torch["imported"], torch["flavour"]) == ("9.0.0+cu130", "cu130")
    assert (torch["threads"], torch["cpu_capability"]) == (1, "DEFAULT")
    assert torch["packages"] == {"torch": "9.0.0"}
    (record,) = standin().parents[1].rglob("torch-9.0.0.dist-info/RECORD")
    assert torch["distribution_sha256"] == hashlib.sha256(record.read_bytes()).hexdigest()


@pytest.mark.parametrize(("case", "outcome"), OUTCOMES.items())
def test_outcome_in_a_forked_child(forked: Ended, case: str, outcome: str) -> None:
    event = forked.finished[case]
    assert event["outcome"] == outcome, event
    assert set(event) == KEYS


@pytest.mark.parametrize(("case", "outcome"), OUTCOMES.items())
def test_outcome_in_a_process_of_its_own(alone: dict[str, Ended], case: str, outcome: str) -> None:
    ended = alone[case]
    if case in DYING:  # read by the host as that case's death
        assert ended.names == ["header", "torch", "started"]
        assert (ended.status == -signal.SIGABRT) is (case == "aborts::aborts")
    else:
        assert ended.finished[case]["outcome"] == outcome, ended.log
        assert ended.names[-1] == "end"


def test_a_hang_in_a_forked_child(standin: Callable[..., Path], tmp_path: Path) -> None:
    named = addresses(tmp_path, ["hangs::sleeps"])
    ended = run_probe(standin(), tmp_path / "out", "--isolation", "fork", "--timeout", "0.3", *named)
    assert ended.names == ["header", "torch", "started", "finished", "end"]
    assert ended.finished["hangs::sleeps"]["outcome"] == "timeout"
    assert "0.3 s" in ended.finished["hangs::sleeps"]["detail"]


def test_a_hang_in_a_process_of_its_own(standin: Callable[..., Path], tmp_path: Path) -> None:
    named = addresses(tmp_path, ["hangs::sleeps"])
    out = tmp_path / "out"
    with pytest.raises(subprocess.TimeoutExpired):  # here the host holds the clock
        run_probe(standin(), out, "--isolation", "none", "--timeout", "0.1", *named, timeout=1)
    assert json.loads(out.read_bytes().splitlines()[-1]) == {"event": "started", "case": "hangs::sleeps"}


def test_isolation_changes_no_trial(forked: Ended, alone: dict[str, Ended]) -> None:
    for case in OUTCOMES.keys() - DYING:
        one, other = ({**ended.finished[case], "seconds": 0} for ended in (forked, alone[case]))
        assert one == other


def test_the_digest_is_that_of_the_file(forked: Ended, tmp_path: Path) -> None:
    for path in add_case(tmp_path, "passes", "aborts", "syntax_error"):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert {event["sha256"] for case, event in forked.finished.items() if case.startswith(path.stem)} == {digest}


def test_what_was_raised(forked: Ended) -> None:
    mismatch, forward = (forked.finished[f"raises::{name}"]["raised"] for name in ("recomputes_flat", "forward"))
    assert (mismatch["type"], mismatch["phase"]) == (CHECKPOINT_ERROR, "backward")
    assert "recomputed metadata: {'shape': torch.Size([6]), 'dtype': torch.float32" in mismatch["message"]
    assert mismatch["frames"][-1].startswith("torch/utils/checkpoint.py:")
    assert (forward["type"], forward["phase"]) == ("builtins.LookupError", "forward")
    assert (forward["message"], len(forward["frames"])) == ("no such row", 1)


def test_what_differs(forked: Ended) -> None:
    (gradient,) = forked.finished["differs::counts_calls"]["differences"]
    assert (gradient["name"], gradient["equal"], gradient["max_abs_diff"]) == ("x.grad", False, 6.0)
    effects = {found["name"]: found["equal"] for found in forked.finished["differs::side_effect"]["differences"]}
    assert effects == {"calls[0]": True, "calls[1]": False, "first": True, "number": False}
    assert [found["equal"] for found in forked.finished["passes::square"]["differences"]] == [True, True]


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("aborts::aborts", "SIGABRT"),
        ("exits::os_exit", "3"),
        ("accepts::accepts", "in-place operation"),
        ("moot::refuses", "not implemented for 'Half'"),
        ("needs_missing_api::never_runs", "torch.utils.no_such_module"),
        ("import_fails::never_runs", "no_such_module"),
        ("no_reference::alone", "reference"),
        ("no_cases::absent", "case_absent"),
        ("syntax_error::unfinished", "line 8"),
    ],
)
def test_the_detail_says_why(forked: Ended, case: str, said: str) -> None:
    assert said in forked.finished[case]["detail"]


def test_warnings_of_the_reference_are_taken_off(forked: Ended) -> None:
    assert forked.finished["warns::warns"]["warnings"] == [{"category": "builtins.FutureWarning", "text": "a new one"}]


def test_what_a_trial_leaves_behind_is_ended(standin: Callable[..., Path], tmp_path: Path) -> None:
    named = addresses(tmp_path, ["leaves_process::leaves_process"])
    ended = run_probe(standin(), tmp_path / "out", "--isolation", "fork", *named)  # would wait for the helper's minute
    assert ended.finished["leaves_process::leaves_process"]["outcome"] == "pass"


@pytest.mark.parametrize("isolation", ["fork", "none"])
def test_cold_and_warm(standin: Callable[..., Path], tmp_path: Path, isolation: str) -> None:
    named = addresses(tmp_path, ["passes::square"])
    python = standin(Behaviour.PROCESS_DEPENDENT)
    cold = run_probe(python, tmp_path / "cold", "--isolation", isolation, *named).finished["passes::square"]
    warm = run_probe(python, tmp_path / "warm", "--isolation", isolation, "--warm", *named).finished["passes::square"]
    assert (cold["outcome"], cold["raised"]["type"], cold["raised"]["phase"]) == (
        "raises",
        "builtins.AttributeError",
        "forward",
    )
    assert warm["outcome"] == "pass"


def test_a_parameter_that_is_lacking(standin: Callable[..., Path], tmp_path: Path) -> None:
    named = addresses(tmp_path, ["needs_context_fn::with_context_fn", "needs_context_fn::without"])
    finished = run_probe(standin(Behaviour.LACKS_CONTEXT_FN), tmp_path / "out", *named).finished
    assert [event["outcome"] for event in finished.values()] == ["unsupported", "pass"]
    assert "context_fn" in finished["needs_context_fn::with_context_fn"]["detail"]


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        (Behaviour.RAISES, "raises"),
        (Behaviour.DIFFERS, "differs"),
        (Behaviour.ABORTS, "crash"),
        (Behaviour.HANGS, "timeout"),
        (Behaviour.NEEDS_SETUPTOOLS, "raises"),
        (Behaviour.RECOMPUTES_LESS, "raises"),
    ],
)
def test_a_build_that_misbehaves(
    standin: Callable[..., Path], tmp_path: Path, behaviour: Behaviour, outcome: str
) -> None:
    named = addresses(tmp_path, ["passes::square"])
    limit = ["--timeout", "0.3"] if behaviour is Behaviour.HANGS else []
    ended = run_probe(standin(behaviour), tmp_path / "out", *limit, *named)
    assert ended.finished["passes::square"]["outcome"] == outcome
    assert ended.names[-1] == "end"


def test_facts_alone(standin: Callable[..., Path], tmp_path: Path) -> None:
    ended = run_probe(standin(), tmp_path / "out", "--facts")
    assert (ended.names, ended.status) == (["header", "torch", "end"], 0)


def test_an_import_that_fails(standin: Callable[..., Path], tmp_path: Path) -> None:
    ended = run_probe(standin(Behaviour.IMPORT_RAISES), tmp_path / "out", "--facts")
    assert (ended.names, ended.status) == (["header", "import-failed", "end"], 0)
    failed = ended.only("import-failed")
    assert failed["type"] == "builtins.ImportError"
    assert failed["message"].startswith("libstandin.so.9")


def test_an_import_that_aborts(standin: Callable[..., Path], tmp_path: Path) -> None:
    ended = run_probe(standin(Behaviour.IMPORT_ABORTS), tmp_path / "out", "--facts")
    assert (ended.names, ended.status) == (["header"], -signal.SIGABRT)
