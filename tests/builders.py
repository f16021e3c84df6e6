"""Records, case files, claims and summaries in a line each; every value has a default that a test need not read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.specifiers import SpecifierSet

from recompat.cases import Case, CaseFile
from recompat.expectations import Expectation, Expectations
from recompat.model import (
    CaseResult,
    Difference,
    Environment,
    Facts,
    Outcome,
    Phase,
    Raised,
    Record,
    Replay,
    Run,
    Trial,
    Trouble,
    TroubleKind,
    Verification,
    Warned,
)
from recompat.summarise import summarise

if TYPE_CHECKING:
    from recompat.listing import Listing
    from recompat.summary import Summary

CHECKPOINT_ERROR = "torch.utils.checkpoint.CheckpointError"
SHA = "a" * 64
NOW = "2026-11-29T15:00:00Z"

PASSES = Trial(Outcome.PASS, 0.02, differences=(Difference("output", equal=True, max_abs_diff=0.0),))


def case_file(stem: str, *names: str, fault: str | None = None, sha256: str = SHA) -> CaseFile:
    cases = tuple(Case(f"{stem}::{name}", f"The case {name}.") for name in names)
    return CaseFile(Path("matrix/cases") / f"{stem}.py", sha256, cases, fault)


def passes(max_abs_diff: float = 0.0) -> Trial:
    return Trial(Outcome.PASS, 0.02, differences=(Difference("output", equal=True, max_abs_diff=max_abs_diff),))


def raises(type_: str = CHECKPOINT_ERROR, message: str = "saved and recomputed differ", **more: object) -> Trial:
    fields: dict[str, object] = {"phase": Phase.BACKWARD, **more}
    return Trial(Outcome.RAISES, 0.03, raised=Raised(type_, message=message, **fields))  # type: ignore[arg-type]


def differs(max_abs_diff: float | None = 0.25, note: str | None = None) -> Trial:
    wrong = Difference("q.grad", equal=False, max_abs_diff=max_abs_diff, note=note)
    return Trial(Outcome.DIFFERS, 0.02, differences=(Difference("output", equal=True, max_abs_diff=1e-8), wrong))


def ends(outcome: Outcome, detail: str | None = None) -> Trial:
    return Trial(outcome, 0.01, detail=detail)


def warns(text: str) -> Trial:
    return msgspec.structs.replace(PASSES, warnings=(Warned("builtins.UserWarning", text),))


def result(
    case: str, cold: Trial = PASSES, warm: Trial | None = None, copied: Trial | None = None, sha256: str = SHA
) -> CaseResult:
    """A case whose warm replays are as the cold one, and as each other, unless said otherwise."""
    warm = warm or cold
    return CaseResult(case, sha256, {Replay.COLD: cold, Replay.WARM: warm, Replay.WARM_COPIED: copied or warm})


def again(found: CaseResult, cold: Trial, warm: Trial | None = None) -> CaseResult:
    """The same, with what the case did from scratch."""
    return msgspec.structs.replace(found, again=Verification(result(found.case, cold, warm).trials, finished=NOW))


def record(torch: str, *results: CaseResult, trouble: Trouble | None = None, python: str = "cp311") -> Record:
    environment = Environment(torch, python, "linux_x86_64", python)
    run = Run("0.1.0", "b" * 64, {}, "2026-11-29T14:00:00Z", "2026-11-29T14:01:00Z", {"installing": 20.0})
    facts = Facts(
        imported=f"{torch}+cpu",
        flavour="cpu",
        source="cpu-index",
        distribution_sha256="0123456789abcdef" * 4,
        python_version="3.11.7",
        implementation="cpython",
        libc="glibc 2.36",
        cpu_capability="AVX512",
        threads=1,
        packages={"torch": torch, "numpy": "1.26.4"},
    )
    return Record(environment, run, None if trouble and not results else facts, results, trouble)


def trouble(kind: TroubleKind = TroubleKind.NO_WHEEL, reason: str = "There is no wheel for cp314.") -> Trouble:
    return Trouble(kind, reason)


def claim(torch: str, outcome: Outcome, exception: str | None = None) -> Expectation:
    return Expectation(SpecifierSet(torch), outcome, f"Because of {outcome}.", exception, "https://example.org/why")


def claims(**by_case: Expectation) -> Expectations:
    """Claims for cases of the file ``patterns``, one each."""
    return Expectations({f"patterns::{name}": (expectation,) for name, expectation in by_case.items()})


def summary(
    *records: Record, file: CaseFile, expectations: Expectations | None = None, listing: Listing | None = None
) -> Summary:
    made = summarise(records, [file], file.cases, expectations or Expectations({}), NOW, listing)
    return msgspec.structs.replace(made, recompat="0.0.0")
