"""Summaries that reports are drawn of: one of everything, and one that is hostile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from builders import (
    CHECKPOINT_ERROR,
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
from recompat.mismatch import parse_mismatches
from recompat.model import CaseResult, Outcome, Trial, TroubleKind

if TYPE_CHECKING:
    from recompat.summary import Summary

MESSAGE = """torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during \
the forward pass.
tensor at position 0:
saved metadata: {'shape': torch.Size([2, 4, 8]), 'dtype': torch.float32, 'device': device(type='cpu')}
recomputed metadata: {'shape': torch.Size([1, 2, 8, 4]), 'dtype': torch.bfloat16, 'device': device(type='cpu')}
"""
CHECKPOINT = raises(message=MESSAGE, mismatches=parse_mismatches(MESSAGE))
RUNTIME = raises("builtins.RuntimeError", "batch1 must be a 3D tensor")

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


def everything() -> Summary:
    """Every outcome, every verdict, an environment with trouble, and a record that stopped half way."""
    records = [
        record("2.11.0", *_results(NEW)),
        record("2.9.1", *_results(OLD)),
        record("2.15.0", trouble=trouble()),
        record("2.13.0", *_results(NEW)[:6]),
    ]
    return summary(*records, file=case_file("patterns", *OLD), expectations=claims(**CLAIMS))


def as_expected() -> Summary:
    """The mission's first rows on a few releases, all as claimed."""
    results = (result("patterns::passes"), result("patterns::raises", CHECKPOINT))
    expected = claims(passes=claim(">=2", Outcome.PASS), raises=claim(">=2", Outcome.RAISES, CHECKPOINT_ERROR))
    file = case_file("patterns", "passes", "raises")
    return summary(*(record(torch, *results) for torch in ("2.9.1", "2.11.0")), file=file, expectations=expected)


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
    records = (record("2.11.0", result(f"patterns::{name}", cold)), record("2.12.0", trouble=trouble(reason=HOSTILE)))
    return summary(*records, file=case_file("patterns", name))


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


def _results(trials: dict[str, Trial]) -> list[CaseResult]:
    special = {
        "is_flaky": result("patterns::is_flaky", PASSES, PASSES, CHECKPOINT),
        "depends_on_process": result("patterns::depends_on_process", RUNTIME, PASSES),
    }
    return [special.get(name) or result(f"patterns::{name}", trial) for name, trial in trials.items()]
