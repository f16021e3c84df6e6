"""With ``--evidence`` the probe runs each case once more, watched, and tells what it saw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support import probing as fixtures

if TYPE_CHECKING:
    from support.probing import Probing

probing, standin_python = fixtures.probing, fixtures.standin_python

CHECKPOINTED = """
import torch
from torch.utils.checkpoint import checkpoint

def inputs(): return (torch.ones(3, requires_grad=True),)
def double(x): return x * 2
def recomputed_differently(x): return x * 2
def refuses(x): raise NotImplementedError("not for you")
def reference(x): return finish(double(x), x)

def finish(output, x):
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}
"""
KEYS = {"event", "case", "sha256", "outcome", "exception", "calls", "unwatched", "detail"}


def evidence(probing: Probing, case: str, *options: str, head: str = CHECKPOINTED) -> dict[str, Any]:
    """Run a case ``it`` and return its ``evidence`` event."""
    path = probing.write(f"{head}\n{case}")
    events = probing.run("--evidence", *options, f"{path}::it")
    assert probing.status == 0, probing.log
    assert [event["event"] for event in events[2:]] == ["started", "finished", "evidence", "end"]
    return events[4]


@pytest.mark.parametrize("isolation", ["fork", "none"])
def test_every_call_of_a_checkpointed_function(probing: Probing, isolation: str) -> None:
    case = "def case_it(x): return finish(checkpoint(double, x), x)"
    event = evidence(probing, case, "--isolation", isolation)
    assert set(event) == KEYS
    assert (event["case"], event["outcome"], event["exception"]) == ("file::it", "pass", None)
    assert (event["unwatched"], event["detail"]) == (0, None)
    forward, recompute = event["calls"]
    for call in (forward, recompute):
        assert call["operators"] == ["aten.pairwise"]
        assert (call["region"], call["reentrant"], call["ending"]) == (0, False, "returned")
    assert (forward["during"], recompute["during"]) == ("forward", "recompute")
    assert (forward["settings"]["grad.enabled"], recompute["settings"]["grad.enabled"]) == ("on", "on")


def test_the_outcome_is_judged_as_a_trial_s_is(probing: Probing) -> None:
    event = evidence(probing, "def case_it(x): return finish(checkpoint(recomputed_differently, x), x)")
    assert (event["outcome"], event["exception"]) == ("raises", "torch.utils.checkpoint.CheckpointError")
    assert len(event["calls"]) == 2


def test_what_left_the_function(probing: Probing) -> None:
    event = evidence(probing, "def case_it(x): return checkpoint(refuses, x)")
    assert event["exception"] == "builtins.NotImplementedError"
    assert [call["ending"] for call in event["calls"]] == ["raised builtins.NotImplementedError"]


def test_the_reentrant_variant_is_known_by_how_it_calls(probing: Probing) -> None:
    event = evidence(probing, "def case_it(x): return finish(checkpoint(double, x, use_reentrant=True), x)")
    assert [call["reentrant"] for call in event["calls"]] == [True, True]


@pytest.mark.parametrize(
    ("case", "outcome", "detail"),
    [
        (
            "def case_it(x): return finish(double(x), x)",
            "pass",
            "No call of a checkpointed function was seen: the case made none, or torch.compile traced it.",
        ),
        ("def case_it(x):\n    ':requires: torch.nothing'", "unsupported", "There is no torch.nothing."),
        ("case_it = 3", "error", "file.py: there is no function case_it."),
        ("import os\ndef case_it(x): os.abort()", "crash", "The watched trial ended by SIGABRT."),
        ("def case_it(x): raise SystemExit(3)", "crash", "The watched trial exited with status 3."),
        ("def case_it(x):\n    while True: pass", "timeout", "The watched trial gave no result within 0.5 s."),
    ],
)
def test_the_detail_says_why_there_is_nothing_to_see(probing: Probing, case: str, outcome: str, detail: str) -> None:
    event = evidence(probing, case, "--timeout", "0.5")
    assert (event["outcome"], event["calls"], event["detail"]) == (outcome, [], detail)


def test_nested_regions_keep_their_numbers_when_the_outer_one_is_recomputed(probing: Probing) -> None:
    event = evidence(
        probing,
        "def inner(x): return x * 3\n"
        "def outer(x): return checkpoint(inner, x) + checkpoint(inner, x)\n"
        "def reference(x): return finish(inner(x) + inner(x), x)\n"
        "def case_it(x): return finish(checkpoint(outer, x), x)",
    )
    seen = [(call["region"], call["during"]) for call in event["calls"]]
    assert seen[:3] == [(0, "forward"), (1, "forward"), (2, "forward")]
    assert sorted(seen[3:6]) == [(0, "recompute"), (1, "recompute"), (2, "recompute")]
    assert {during for _, during in seen[3:]} == {"recompute"}


def test_no_verdict_trial_meets_the_watching(probing: Probing) -> None:
    source = """
import sys
from torch.utils.checkpoint import checkpoint
WATCHED = [name for name in sys.modules if name in ("recompat_probe.watch", "recompat_probe.settings")]
def reference(): return [[], False]
def case_it(): return [WATCHED, hasattr(checkpoint, "__wrapped__")]
case_other = case_it
"""
    path = probing.write(source)
    events = probing.run("--evidence", "--jobs", "2", f"{path}::it", f"{path}::other")
    names = [event["event"] for event in events]
    assert names[-3:] == ["evidence", "evidence", "end"]
    assert [event["outcome"] for event in events if event["event"] == "finished"] == ["pass", "pass"]
    assert [event["outcome"] for event in events if event["event"] == "evidence"] == ["differs", "differs"]


def test_the_trials_are_the_same_with_and_without(probing: Probing) -> None:
    path = probing.write(f"{CHECKPOINTED}\ndef case_it(x): return finish(checkpoint(recomputed_differently, x), x)")
    without, with_evidence = (
        [{**event, "seconds": 0} for event in probing.run(*options, f"{path}::it") if event["event"] == "finished"]
        for options in ((), ("--evidence",))
    )
    assert without == with_evidence


def test_the_reference_is_not_watched(probing: Probing) -> None:
    event = evidence(
        probing,
        "def reference(x): return finish(checkpoint(double, x), x)\ndef case_it(x): return finish(double(x), x)",
    )
    assert (event["outcome"], event["calls"]) == ("pass", [])


def test_operators_and_calls_are_bounded(probing: Probing) -> None:
    many = "def many(x):\n    for _ in range(500): x = x * 1\n    return x\n"
    case = "def case_it(x):\n    for _ in range(9): checkpoint(many, x).sum().backward()\n    return {}"
    event = evidence(probing, f"{many}def reference(x): return {{}}\n{case}")
    assert (len(event["calls"]), event["unwatched"]) == (16, 2)
    assert event["calls"][0]["operators"][399:] == ["aten.pairwise", "… (100 more)"]
