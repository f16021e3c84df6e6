"""Summaries that reports are drawn of: one of everything, and one that is hostile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from builders import (
    CHECKPOINT_ERROR,
    NOW,
    PASSES,
    case_file,
    claim,
    claims,
    differs,
    ends,
    passes,
    raises,
    record,
    result,
    summary,
    trouble,
)
from evidence_builders import call, recompute, watched
from recompat.listing import Listing
from recompat.mismatch import parse_mismatches
from recompat.model import CaseResult, Outcome, Trial, TroubleKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recompat.model import Call
    from recompat.summary import Summary

MESSAGE = """torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during \
the forward pass.
tensor at position 0:
saved metadata: {'shape': torch.Size([2, 4, 8]), 'dtype': torch.float32, 'device': device(type='cpu')}
recomputed metadata: {'shape': torch.Size([1, 2, 8, 4]), 'dtype': torch.bfloat16, 'device': device(type='cpu')}
"""
CHECKPOINT = raises(message=MESSAGE, mismatches=parse_mismatches(MESSAGE))
RUNTIME = raises("builtins.RuntimeError", "batch1 must be a 3D tensor")

DEFAULT = {"sdpa.flash": "on", "sdpa.mem_efficient": "on", "sdpa.math": "on"}
MATH = {**DEFAULT, "sdpa.flash": "off", "sdpa.mem_efficient": "off"}
FLASH = "aten._scaled_dot_product_flash_attention_for_cpu"
SCOPE_ENDED = (call(0, "aten.bmm aten._safe_softmax aten.bmm", MATH), recompute(0, FLASH, DEFAULT))
SAME = (call(0, "aten.bmm aten._softmax", DEFAULT), recompute(0, "aten.bmm aten._softmax", DEFAULT))
SAME_LATER = (call(0, "aten.bmm aten._safe_softmax", DEFAULT), recompute(0, "aten.bmm aten._safe_softmax", DEFAULT))

OLD = {
    "passes": passes(5e-7),
    "raises": PASSES,
    "differs": PASSES,
    "regresses": PASSES,
    "is_fixed": RUNTIME,
    "changes": CHECKPOINT,
    "is_new": PASSES,
    "needs_missing_api": ends(Outcome.UNSUPPORTED, "torch.nn.attention.sdpa_kernel is absent."),
    "is_flaky": PASSES,
    "depends_on_process": PASSES,
    "aborts": ends(Outcome.CRASH, "It died of SIGABRT."),
    "hangs": ends(Outcome.TIMEOUT, "It took longer than 60 s."),
    "is_moot": ends(Outcome.MOOT, "The reference raises builtins.TypeError."),
    "is_broken": ends(Outcome.ERROR, "The reference is missing."),
}
NEW = {
    **OLD,
    "raises": CHECKPOINT,
    "differs": differs(0.25),
    "regresses": CHECKPOINT,
    "is_fixed": PASSES,
    "changes": RUNTIME,
    "needs_missing_api": PASSES,
}
CLAIMS = {
    "passes": claim(">=2", Outcome.PASS),
    "raises": claim(">=2.11", Outcome.RAISES, CHECKPOINT_ERROR),
    "differs": claim(">=2.11", Outcome.DIFFERS),
    "regresses": claim(">=2", Outcome.PASS),
    "is_fixed": claim(">=2", Outcome.RAISES, "builtins.RuntimeError"),
    "changes": claim(">=2", Outcome.RAISES, CHECKPOINT_ERROR),
    "needs_missing_api": claim("<2.11", Outcome.UNSUPPORTED),
    "is_flaky": claim(">=2", Outcome.PASS),
    "depends_on_process": claim(">=2", Outcome.RAISES, "builtins.RuntimeError"),
    "aborts": claim(">=2", Outcome.CRASH),
    "hangs": claim(">=2", Outcome.TIMEOUT),
    "is_moot": claim(">=2", Outcome.MOOT),
    "is_broken": claim(">=2", Outcome.ERROR),
}


SEEN_OLD = {"passes": SAME, "raises": SAME, "regresses": SAME, "is_fixed": SAME}
SEEN_NEW = {
    "passes": SCOPE_ENDED,
    "raises": SCOPE_ENDED,
    "regresses": SCOPE_ENDED,
    "differs": SAME_LATER,
    "is_new": SAME,
}


def everything() -> Summary:
    """Every outcome, every verdict, causes, drift, an environment with trouble, and a record that stopped half way."""
    records = [
        record("2.11.0", *_results(NEW, SEEN_NEW)),
        record("2.9.1", *_results(OLD, SEEN_OLD)),
        record("2.15.0", trouble=trouble()),
        record("2.13.0", *_results(NEW, SEEN_NEW)[:6]),
    ]
    listing = Listing(NOW, ("2.9.1", "2.10.0", "2.11.0", "2.13.0"))
    return summary(*records, file=case_file("patterns", *OLD), expectations=claims(**CLAIMS), listing=listing)


def as_expected() -> Summary:
    """The mission's first rows on a few releases, all as claimed."""
    raises_ = watched(result("patterns::raises", CHECKPOINT), *SCOPE_ENDED)
    old = record("2.9.1", watched(result("patterns::passes"), *SAME), raises_)
    new = record("2.11.0", watched(result("patterns::passes"), *SAME_LATER), raises_)
    expected = claims(passes=claim(">=2", Outcome.PASS), raises=claim(">=2", Outcome.RAISES, CHECKPOINT_ERROR))
    return summary(old, new, file=case_file("patterns", "passes", "raises"), expectations=expected)


HOSTILE = (
    "<script>alert(1)</script> `tick` | pipe \\ [x](javascript:alert(1)) ![i](http://evil.example/i.png) www.evil.example "
    "@everyone #1 **bold** __under__ ~~gone~~ $math$ :tada: &amp; \x00 \x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J "
    "\u202eoverride\u2069 zero\u200bwidth\r\n\t# heading\n- item\n| a | b |\n" + "A" * 1_000_000
)


def hostile() -> Summary:
    """Records whose every text tries to act as something else."""
    name = "Evil<b>|`\x1b[31m\u202e"
    cold = msgspec.structs.replace(
        raises(f"evil.{name}", HOSTILE, frames=(HOSTILE,)),
        detail=HOSTILE,
        differences=differs(None, HOSTILE).differences,
    )
    calls = (call(0, "a", {HOSTILE: "x"}), recompute(0, "a", {HOSTILE: HOSTILE}, ending=f"raised {HOSTILE}"))
    odd = (call(0, operators=HOSTILE), recompute(0, ending=HOSTILE))
    passes_ = watched(result(f"patterns::{name}"), *odd)
    records = (
        record("2.9.1", passes_),
        record("2.10.0", watched(result(f"patterns::{name}"), *calls)),
        record("2.11.0", watched(result(f"patterns::{name}", cold), *calls)),
        record("2.12.0", trouble=trouble(reason=HOSTILE)),
    )
    return summary(*records, file=case_file("patterns", name), listing=Listing(HOSTILE, ("2.9.1", "2.12.0")))


def many(cases: int, releases: int) -> Summary:
    """A large matrix, all of it new."""
    names = [f"case_{number}" for number in range(cases)]
    results = tuple(result(f"patterns::{name}", CHECKPOINT) for name in names)
    records = [record(f"2.{minor}.0", *results) for minor in range(releases)]
    return summary(*records, file=case_file("patterns", *names))


def unreachable() -> Summary:
    """Nothing could be run anywhere."""
    reason = "The index did not answer within 3 s; check the network."
    records = [record(torch, trouble=trouble(TroubleKind.UNREACHABLE, reason)) for torch in ("2.9.1", "2.11.0")]
    return summary(*records, file=case_file("patterns", "passes", "raises"))


def _results(trials: dict[str, Trial], seen: Mapping[str, tuple[Call, ...]]) -> list[CaseResult]:
    special = {
        "is_flaky": result("patterns::is_flaky", PASSES, PASSES, CHECKPOINT),
        "depends_on_process": result("patterns::depends_on_process", RUNTIME, PASSES),
    }
    results = {name: special.get(name) or result(f"patterns::{name}", trial) for name, trial in trials.items()}
    return [watched(found, *seen[name]) if name in seen else found for name, found in results.items()]
