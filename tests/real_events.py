"""Events that the probe wrote on real releases, as records have them."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from recompat.events import evidence_of, trial_of
from recompat.model import CaseResult, Replay

__all__ = ["RELEASES", "real_result", "real_results"]

FOLDER = Path(__file__).parent / "samples"
RELEASES = ("2.0.1", "2.1.2", "2.4.1", "2.11.0", "2.15.0")


@functools.cache
def real_results(torch: str) -> dict[str, CaseResult]:
    """The results of ``sdpa_policy`` on a release, by the name of the case."""
    events = [json.loads(line) for line in (FOLDER / f"{torch}.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {(event["event"], event["case"]): event for event in events}
    results = {}
    for (kind, case), event in found.items():
        if kind == "finished":
            digests = {case: event["sha256"]}
            trials = dict.fromkeys(Replay, trial_of(event, digests))
            evidence = evidence_of(found["evidence", case], digests)
            results[case.partition("::")[2]] = CaseResult(case, event["sha256"], trials, evidence)
    return results


def real_result(torch: str, name: str) -> CaseResult:
    """The result of one case of ``sdpa_policy``."""
    return real_results(torch)[name]
