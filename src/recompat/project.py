"""Where a project's files stand, and what its probe is."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from recompat.runner import probe_folder

__all__ = ["Project", "probe_digest"]


class Project(msgspec.Struct, frozen=True):
    """The places below the folder that holds the noxfile; ``elsewhere`` is where to read records, if not from there."""

    root: Path
    elsewhere: Path | None = None

    @property
    def matrix(self) -> Path:
        """Releases, sources, extras."""
        return self.root / "matrix" / "matrix.toml"

    @property
    def expectations(self) -> Path:
        """The reviewed claims."""
        return self.root / "matrix" / "expectations.toml"

    @property
    def lock(self) -> Path:
        """What environments are made of, by digest."""
        return self.root / "matrix" / "lock.toml"

    @property
    def cases(self) -> Path:
        """The case files."""
        return self.root / "matrix" / "cases"

    @property
    def reports(self) -> Path:
        """All that a run writes."""
        return self.root / "reports"

    @property
    def records(self) -> Path:
        """One record per environment."""
        return self.elsewhere or self.reports / "records"

    @property
    def baseline(self) -> Path:
        """The accepted records of the published matrix."""
        return self.root / "matrix" / "baseline"

    @property
    def listing(self) -> Path:
        """What the index offered when it was last asked."""
        return self.reports / "index.json"

    @property
    def logs(self) -> Path:
        """What uv and the probes print: for people, never parsed."""
        return self.reports / "logs"


def probe_digest() -> str:
    """One digest for all the probe's source."""
    parts = sorted((path.name, path.read_bytes()) for path in probe_folder().glob("*.py"))
    return hashlib.sha256(b"".join(name.encode() + b"\0" + content + b"\0" for name, content in parts)).hexdigest()
