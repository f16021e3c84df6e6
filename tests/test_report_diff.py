from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import msgspec
import pytest

from builders import PASSES, differs, ends, passes, raises, record, result, trouble, warns
from evidence_builders import watched
from golden import check_golden
from recompat.compare import Side, diff
from recompat.diff import Diff, Part
from recompat.model import CaseResult, Outcome, Record, Trial
from recompat.report.diff_markdown import render_diff_markdown
from recompat.report.diff_text import render_diff_text
from recompat.report.json import render_json
from recompat.report.page import Paper
from scenes import CHECKPOINT, HOSTILE, SAME, SAME_LATER, SCOPE_ENDED
from test_schemas import validator

if TYPE_CHECKING:
    from collections.abc import Callable

OLD = {
    "regresses": watched(result("patterns::regresses"), *SAME),
    "is_fixed": result("patterns::is_fixed", differs(0.25)),
    "says_more": result("patterns::says_more", raises(message="no")),
    "runs_others": watched(result("patterns::runs_others"), *SAME),
    "runs_others_too": watched(result("patterns::runs_others_too"), *SAME),
    "rounds": result("patterns::rounds", passes(1e-8)),
    "is_flaky": result("patterns::is_flaky", PASSES, PASSES, CHECKPOINT),
    "is_gone": result("patterns::is_gone"),
}
NEW = {
    "regresses": watched(result("patterns::regresses", CHECKPOINT), *SCOPE_ENDED),
    "is_fixed": result("patterns::is_fixed", warns("careful"), sha256="b" * 64),
    "says_more": result("patterns::says_more", raises(message="no, since")),
    "runs_others": watched(result("patterns::runs_others"), *SAME_LATER),
    "runs_others_too": watched(result("patterns::runs_others_too"), *SAME_LATER),
    "rounds": result("patterns::rounds", passes(4e-8)),
    "is_flaky": result("patterns::is_flaky", ends(Outcome.CRASH, "It died of SIGSEGV.")),
}


def ran(torch: str, results: dict[str, CaseResult], **packages: str) -> Record:
    made = record(torch, *results.values())
    assert made.facts is not None
    facts = msgspec.structs.replace(made.facts, packages={**made.facts.packages, **packages})
    return msgspec.structs.replace(made, facts=facts)


def two_releases() -> Diff:
    cuda = {f"nvidia-{number}": "13.0" for number in range(8)}
    a, b = ran("2.9.1", OLD, setuptools="80.0"), ran("2.11.0", NEW, setuptools="81.0", triton="3.5", **cuda)
    return settled(diff(Side("2.9.1", (a,), chosen=True), Side("2.11.0", (b,), chosen=True)))


def two_folders() -> Diff:
    releases = ("2.9.1", "2.10.0", "2.11.0")
    a = Side("one", (*(ran(torch, OLD) for torch in releases), record("2.12.0", trouble=trouble())))
    b = Side("other", tuple(ran(torch, NEW if torch != "2.9.1" else OLD, numpy="2.4.6") for torch in releases))
    return settled(diff(a, b))


def alike() -> Diff:
    side = Side("2.9.1", (ran("2.9.1", OLD),), chosen=True)
    return settled(diff(side, side))


def hostile() -> Diff:
    a = record("2.9.1", result("patterns::case", raises("a.A", "short")), result("patterns::case2"))
    b = record(
        "2.11.0",
        result("patterns::case", raises(f"evil.{HOSTILE}", HOSTILE)),
        result("patterns::case2", warns(HOSTILE)),
    )
    assert b.facts is not None
    facts = msgspec.structs.replace(b.facts, libc=HOSTILE, packages={HOSTILE: HOSTILE})
    return settled(diff(Side(HOSTILE, (a,)), Side("b", (msgspec.structs.replace(b, facts=facts),))))


def settled(made: Diff) -> Diff:
    return msgspec.structs.replace(made, recompat="0.0.0")


@pytest.mark.parametrize("scene", [two_releases, two_folders, alike])
def test_goldens(scene: Callable[[], Diff]) -> None:
    name = scene.__name__
    check_golden(f"diff_{name}.txt", render_diff_text(scene(), Paper(width=100)))
    check_golden(f"diff_{name}.md", render_diff_markdown(scene()))


@pytest.mark.parametrize("scene", [two_releases, two_folders, alike, hostile])
def test_the_json_is_valid(scene: Callable[[], Diff]) -> None:
    validator("diff-1.json").validate(json.loads(render_json(scene())))


def test_the_essence_is_what_counts() -> None:
    quiet = render_diff_text(two_releases(), Paper(detail=-1))
    assert "Outcome\n" in quiet
    assert "installed" not in quiet
    assert "not counted)" not in quiet
    assert "Reservations" not in quiet


def test_everything_is_uncut() -> None:
    made = diff(Side("a", (record("2.9.1", *many(PASSES)),)), Side("b", (record("2.11.0", *many(CHECKPOINT)),)))
    assert "patterns::case_29" not in render_diff_text(made, Paper())
    assert "and 18 more" in render_diff_text(made, Paper())
    assert "patterns::case_29" in render_diff_text(made, Paper(detail=1))
    assert "nvidia-7" in render_diff_text(two_releases(), Paper(detail=1))


def test_what_is_asked_for_alone_is_told_alone() -> None:
    a, b = (Side(torch, (ran(torch, results),)) for torch, results in (("2.9.1", OLD), ("2.11.0", NEW)))
    text = render_diff_text(diff(a, b, [Part.OPERATORS]), Paper())
    assert "Different: 3 of 7 cases, by operators (3)." in text
    assert "Outcome" not in text


@pytest.mark.parametrize("render", [render_diff_markdown, lambda made: render_diff_text(made, Paper())])
def test_hostile_text_does_nothing(render: Callable[[Diff], str]) -> None:
    began = time.process_time()
    text = render(hostile())
    assert time.process_time() - began < 5
    assert len(text) < 20_000
    assert not {"\x1b", "\x00", "\x07", "\x9b", "\u202e", "\u200b"} & {*text}
    if text.startswith("# "):
        assert "<script>" not in text
        assert "](javascript" not in text


def many(trial: Trial) -> list[CaseResult]:
    return [result(f"patterns::case_{number}", trial) for number in range(30)]
