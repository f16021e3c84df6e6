"""On real PyTorch wheels: each setting shows as the cause where it is one, and watching changes no outcome.

``RECOMPAT_TORCH_PYTHONS`` may name interpreters of environments with torch, as in ``2.1.2=/path/python,2.4.1=/path/python``;
of the releases that the table is for, those that it does not name are installed.
"""

from __future__ import annotations

import ast
import os
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from support.probing import Probing
from support.real import real_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "support" / "evidence"
POLICY = ROOT / "matrix" / "cases" / "sdpa_policy.py"
EXPECTED = tomllib.loads((FOLDER / "expected.toml").read_text("utf-8"))["case"]
PYTHONS = dict(pair.split("=", 1) for pair in filter(None, os.environ.get("RECOMPAT_TORCH_PYTHONS", "").split(",")))
SETTINGS_ON = ("2.1.2", "2.11.0", "2.15.0")
RELEASES = sorted({*SETTINGS_ON, *PYTHONS})

FLASH, FOR_CPU = "aten._scaled_dot_product_flash_attention", "aten._scaled_dot_product_flash_attention_for_cpu"
KERNELS = {  # by default, under MATH
    "2.0.1": ("aten._softmax", "aten._softmax"),
    "2.1.2": (FLASH, "aten._softmax"),
    "2.4.1": (FOR_CPU, "aten._softmax"),
    "2.11.0": (FOR_CPU, "aten._safe_softmax"),
    "2.13.0": (FOR_CPU, "aten._safe_softmax"),
    "2.15.0": (FOR_CPU, "aten._safe_softmax"),
}
FIRST, AGAIN = "forward", "recompute"
NESTED = [(0, FIRST), (1, FIRST), (0, AGAIN), (1, AGAIN), (1, AGAIN)]
CALLS = {  # region and pass of each call, and by region whether it is reentrant
    "omitted": ([(0, FIRST), (0, AGAIN)], [True]),
    "by_keyword": ([(0, FIRST), (0, AGAIN)], [False]),
    "backward_twice": ([(0, FIRST), (0, AGAIN), (0, AGAIN)], [False]),
    "sequential": ([(0, FIRST), (1, FIRST), (1, AGAIN), (0, AGAIN)], [False, False]),
    "wrapped_module": ([(0, FIRST), (0, AGAIN)], [False]),
    "decorated": ([(0, FIRST), (0, AGAIN)], [False]),
    "selective": ([(0, FIRST), (0, AGAIN)], [False]),
    "nested": (NESTED, [False, False]),
    "nested_reentrant": (NESTED, [True, True]),
    "nested_reentrant_in_other": (NESTED, [False, True]),
}
OPENED = {"sdpa.flash": ("off", "on"), "sdpa.mem_efficient": ("off", "on")}


class Watched(NamedTuple):
    """A release, and what its probe told of each case: how the trial ended and what the watched trial saw."""

    release: str
    finished: dict[str, dict[str, Any]]
    evidence: dict[str, dict[str, Any]]

    def changes(self, case: str) -> dict[str, tuple[str, str]]:
        """The settings that the first two calls of a case did not share; "" where one was not there."""
        forward, recompute = (call["settings"] for call in self.evidence[case]["calls"][:2])
        both = {name: (forward.get(name, ""), recompute.get(name, "")) for name in {**forward, **recompute}}
        return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def addresses(path: Path) -> list[str]:
    """Every case of a file, as the probe wants it named."""
    functions = (node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef))
    return [f"{path}::{function.name[5:]}" for function in functions if function.name.startswith("case_")]


@pytest.fixture(scope="module", params=RELEASES)
def watched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """All cases on a release."""
    release, folder = request.param, tmp_path_factory.mktemp("probe")
    if release in PYTHONS:
        return watch(release, Path(PYTHONS[release]), folder)
    with real_environment(release, folder) as python:
        return watch(release, python, folder)


def watch(release: str, python: Path, folder: Path) -> Watched:
    """Run all cases on a release, and watch them."""
    probing = Probing(python, folder)
    cases = [address for path in (POLICY, *sorted(FOLDER.glob("*.py"))) for address in addresses(path)]
    subprocess.run(probing.command("--warm", "--evidence", *cases), check=True, timeout=600)
    events = probing.events()
    assert [event["event"] for event in events[-len(cases) - 1 :]] == ["evidence"] * len(cases) + ["end"]
    found = ({e["case"]: e for e in events if e["event"] == kind} for kind in ("finished", "evidence"))
    return Watched(release, *found)


def rows(release: str) -> Iterator[dict[str, Any]]:
    """The rows of the table that a release can show."""
    yield from (row for row in EXPECTED if release not in row.get("lacking", ()))


def test_every_case_is_expected_to_show_something() -> None:
    files = FOLDER.glob("setting_*.py")
    cases = [f"{path.stem}::{address.rpartition('::')[2]}" for path in files for address in addresses(path)]
    assert sorted(cases) == sorted(row["case"] for row in EXPECTED)


def test_a_setting_shows_as_the_cause(watched: Watched) -> None:
    if watched.release not in SETTINGS_ON:
        pytest.skip("the table is of other releases")
    for row in rows(watched.release):
        shown = {name: " -> ".join(pair) for name, pair in watched.changes(row["case"]).items()}
        ((setting, change),) = row["changes"].items()
        assert shown.pop(setting, "nothing") == change or (change == "*" and setting not in shown), row
        assert shown.items() <= row.get("companions", {}).items(), row


def test_every_setting_that_the_release_has_is_in_the_table(watched: Watched) -> None:
    if watched.release not in SETTINGS_ON:
        pytest.skip("the table is of other releases")
    names = {name for found in watched.evidence.values() for call in found["calls"] for name in call["settings"]}
    shown = {name for row in rows(watched.release) for name in row["changes"]}
    unchangeable = {"autocast.cpu.dtype"} if watched.release == "2.1.2" else set()  # it refuses all others
    assert names - unchangeable - {name for name in names if name.startswith("training.")} <= shown
    assert shown <= names


def test_watching_changes_no_outcome(watched: Watched) -> None:
    for case, trial in watched.finished.items():
        seen = watched.evidence[case]
        assert (seen["outcome"], seen["exception"]) == (trial["outcome"], trial["raised"] and trial["raised"]["type"])
        assert seen["unwatched"] == 0


def test_the_policy_of_each_call(watched: Watched) -> None:
    early = watched.release in (
        "2.0.1",
        "2.1.2",
        "2.4.1",
    )  # the first two have no such kernel; in 2.4.1 it is off anyway
    opened = OPENED if early else {**OPENED, "sdpa.cudnn": ("off", "on")}
    for case, seen in watched.evidence.items():
        name = case.partition("::")[2]
        if not case.startswith("sdpa_policy::") or not seen["calls"]:
            continue
        reentrant = {"grad.enabled": ("off", "on")} if name.startswith("reentrant") else {}
        expected = opened if name.endswith("forward_only") else {}
        assert watched.changes(case) == {**expected, **reentrant}, case
        assert {call["reentrant"] for call in seen["calls"]} == {bool(reentrant)}


def test_the_kernel_of_each_call(watched: Watched) -> None:
    default, math = KERNELS[watched.release]
    kernels = {
        "math_around_forward_only": (math, default),
        "math_around_forward_and_backward": (math, math),
        "math_through_context_fn": (math, math),
        "math_inside_function": (math, math),
        "default_policy": (default, default),
        "reentrant_math_around_forward_only": (math, default),
        "unchecked_math_around_forward_only": (math, default),
    }
    for name, expected in kernels.items():
        seen = watched.evidence[f"sdpa_policy::{name}"]
        if seen["outcome"] == "unsupported":
            assert (watched.release, seen["calls"]) == ("2.0.1", [])
            continue
        assert [call["during"] for call in seen["calls"]] == ["forward", "recompute"]
        for call, kernel in zip(seen["calls"], expected, strict=True):
            assert {default, math} & set(call["operators"]) == {kernel}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_attributed(watched: Watched, name: str) -> None:
    seen = watched.evidence[f"calls::{name}"]
    if seen["outcome"] == "unsupported":
        assert (seen["calls"], "no" in seen["detail"]) == ([], True)  # the release lacks what the case needs
        return
    passes, reentrant = CALLS[name]
    if (watched.release, name) == ("2.0.1", "backward_twice"):
        passes = passes[:2]  # it keeps what the first recomputation gave
    assert [(call["region"], call["during"]) for call in seen["calls"]] == passes
    assert {(call["region"], call["reentrant"]) for call in seen["calls"]} == set(enumerate(reentrant))
    if not any(reentrant):
        assert watched.changes(f"calls::{name}") == {}
