"""Pages that are looked at, each with the summary that it was drawn of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from recompat.report.html import render_html
from recompat.summary import Summary

__all__ = ["Site", "drawn", "real_site"]

ROOT = Path(__file__).parent.parent.parent


class Site(msgspec.Struct, frozen=True):
    """A page on the disk."""

    page: Path
    summary: Summary

    @property
    def url(self) -> str:
        return self.page.as_uri()


def real_site(folder: Path) -> Site:
    """The site that ``recompat report`` writes of the accepted records, read back from its own ``matrix.json``."""
    (folder / "matrix").symlink_to(ROOT / "matrix")
    done = subprocess.run(
        [sys.executable, "-m", "recompat", "report", "-q", "--project", folder, "--records", ROOT / "matrix/baseline"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=120,
    )
    site = folder / "reports" / "site"
    assert (site / "index.html").exists(), done.stdout + done.stderr
    return Site(site / "index.html", msgspec.json.decode((site / "matrix.json").read_bytes(), type=Summary))


def drawn(folder: Path, summary: Summary) -> Site:
    """The page of a summary, alone."""
    page = folder / "index.html"
    page.write_text(render_html(summary), encoding="utf-8")
    return Site(page, summary)
