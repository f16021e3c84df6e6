"""A watched trial: what each call of a checkpointed function found and did. It gives evidence and never the verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recompat_probe.places import Places
from recompat_probe.trial import run_trial
from recompat_probe.watch import Watch

if TYPE_CHECKING:
    from recompat_probe.casefile import Source

__all__ = ["run_watched"]

NOTHING_SEEN = "No call of a checkpointed function was seen: the case made none, or torch.compile traced it."


def run_watched(source: Source, name: str) -> dict[str, Any]:
    """Run one case in this process as a trial does, but watched; return its evidence as plain data."""
    watch = Watch()
    watch.install()
    trial = run_trial(source, name, watch.on)
    evidence = {
        "outcome": trial["outcome"],
        "exception": trial["raised"] and trial["raised"]["type"],
        "calls": [asdict(call) for call in watch.settled()],
        "unwatched": watch.unwatched,
        "detail": _detail(trial, watch),
    }
    cleaned: dict[str, Any] = Places(source.path).cleaned(evidence)
    return cleaned


def _detail(trial: dict[str, Any], watch: Watch) -> str | None:
    detail: str | None = trial["detail"]
    if trial["outcome"] in ("unsupported", "error"):
        return detail
    if trial["outcome"] == "crash":
        return f"The watched trial {detail}."
    return None if watch.calls else NOTHING_SEEN
