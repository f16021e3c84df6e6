"""What a replay runs, and the events that tell of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from recompat_probe.wire import Wire

__all__ = ["Task", "Watching"]


@dataclass(frozen=True)
class Task:
    """A trial to run. ``sha256`` is known beforehand, so that a child which dies need not have told it."""

    case: str
    sha256: str
    run: Callable[[], dict[str, Any]]

    def started(self, wire: Wire) -> None:
        """Tell that it begins."""
        wire.send("started", case=self.case)

    def finished(self, wire: Wire, seconds: float, result: dict[str, Any]) -> None:
        """Tell what came of it."""
        wire.send("finished", case=self.case, sha256=self.sha256, seconds=round(seconds, 4), **result)

    def lost(self, outcome: str, detail: str) -> dict[str, Any]:
        """Return the result of a trial that could not tell its own."""
        return {
            "outcome": outcome,
            "raised": None,
            "differences": [],
            "warnings": [],
            "detail": detail,
            "varies": False,
        }


class Watching(Task):
    """A watched trial to run: the verdict was given before, so that only its evidence is told."""

    def started(self, wire: Wire) -> None:
        """Tell nothing: what was started and not finished would be taken for what a probe died of."""

    def finished(self, wire: Wire, seconds: float, result: dict[str, Any]) -> None:
        """Tell what was seen."""
        wire.send("evidence", case=self.case, sha256=self.sha256, **result)

    def lost(self, outcome: str, detail: str) -> dict[str, Any]:
        """Return the evidence of a watched trial that could not tell its own."""
        verb = "gave " if outcome == "timeout" else ""
        said = f"The watched trial {verb}{detail}."
        return {"outcome": outcome, "exception": None, "calls": [], "unwatched": 0, "detail": said}
