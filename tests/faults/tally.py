"""What a campaign counts."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Tally"]


@dataclass
class Tally:
    """How often a fault was injected, and in a sentence each what came of it that should not have."""

    injected: int = 0
    lost: list[str] = field(default_factory=list)
    """Results that were there and are not any more, and runs that the next one did not complete."""
    wrong: list[str] = field(default_factory=list)
    """What was told and is not so: a cell of what was not run, trouble of the machine as a failing case, half a record."""
    left: list[str] = field(default_factory=list)
    """What stayed for good: processes, environments, temporary files."""

    @property
    def clean(self) -> bool:
        """Whether every promise was kept."""
        return not (self.lost or self.wrong or self.left)

    def line(self, name: str, seed: int, seconds: float) -> str:
        """The one line that a campaign ends with."""
        counts = f"{len(self.lost)} lost, {len(self.wrong)} wrongly reported, {len(self.left)} left behind"
        return f"{name}: {self.injected} injected, {counts} (seed {seed}, {seconds:.0f} s)"
