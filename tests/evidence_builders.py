"""Calls and evidence in a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.evidence import changes
from recompat.model import Call, CaseResult, Evidence, Outcome, Pass

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["call", "evidence", "recompute", "watched"]


def call(
    region: int = 0,
    operators: str = "",
    settings: Mapping[str, str] | None = None,
    *,
    reentrant: bool = False,
    ending: str = "returned",
    **more: str,
) -> Call:
    """A forward; ``operators`` are divided by blanks."""
    return Call(region, Pass.FORWARD, reentrant, {**(settings or {}), **more}, tuple(operators.split()), ending)


def recompute(
    region: int = 0,
    operators: str = "",
    settings: Mapping[str, str] | None = None,
    *,
    reentrant: bool = False,
    ending: str = "stopped early",
    **more: str,
) -> Call:
    """A recomputation that stopped early, as most do."""
    return Call(region, Pass.RECOMPUTE, reentrant, {**(settings or {}), **more}, tuple(operators.split()), ending)


def evidence(
    *calls: Call,
    outcome: Outcome = Outcome.PASS,
    exception: str | None = None,
    unwatched: int = 0,
    detail: str | None = None,
) -> Evidence:
    """What a watched trial saw, with the changes that the host derives."""
    return Evidence(outcome, exception, calls, unwatched, changes(calls), detail)


def watched(result: CaseResult, *calls: Call) -> CaseResult:
    """A result with evidence of a trial that ended as the cold one did."""
    trial = next(iter(result.trials.values()))
    exception = None if trial.raised is None else trial.raised.type
    return msgspec.structs.replace(result, evidence=evidence(*calls, outcome=trial.outcome, exception=exception))
