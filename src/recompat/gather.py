"""From records to reports: what ``matrix`` and ``report`` do once nothing is left to run. Offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from recompat.console import wants_colour, width
from recompat.interpreters import platform_id, running
from recompat.judging import claims, judged
from recompat.model import Environment, Record, Run, Trouble, TroubleKind
from recompat.record import releases_of, write_atomically
from recompat.report.json import render_json
from recompat.report.markdown import render_markdown
from recompat.report.terminal import render_terminal
from recompat.standing import most_telling, record_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.expectations import Expectations
    from recompat.project import Setup
    from recompat.summary import Summary

__all__ = ["gather", "publish", "read_claims"]


def gather(setup: Setup, records: Sequence[Record], releases: Sequence[Version], *, anywhere: bool = False) -> Summary:
    """Judge the records of ``releases`` against the expectations.

    Args:
        setup: what was asked for.
        records: all there are.
        releases: the columns.
        anywhere: where nothing was recorded here, take what was by another interpreter or on another platform.

    Raises:
        ConfigurationError: ``expectations.toml`` cannot be used.
    """
    chosen = [_record(setup, records, release, anywhere=anywhere) for release in releases]
    return judged(setup.project, setup.matrix, setup.files, setup.cases, chosen, (*records, *chosen))


def read_claims(setup: Setup, releases: Sequence[Version], records: Sequence[Record]) -> Expectations:
    """Read the expectations, which may speak of every release that is named, asked for or recorded.

    Raises:
        ConfigurationError: ``expectations.toml`` cannot be used.
    """
    return claims(setup.project, setup.matrix, setup.files, {*releases, *releases_of(records)})


def publish(setup: Setup, summary: Summary) -> str:
    """Write the reports, and return the table for the terminal."""
    reports = setup.project.reports
    write_atomically(reports / "matrix.json", render_json(summary).encode())
    write_atomically(reports / "matrix.md", render_markdown(summary).encode())
    return render_terminal(summary, width=width(), colour=wants_colour())


def _record(setup: Setup, records: Sequence[Record], release: Version, *, anywhere: bool) -> Record:
    found = record_of(records, release, running(), platform_id())
    if found is None and anywhere:
        found = most_telling(record for record in records if Version(record.environment.torch) == release)
    if found is not None:
        return found
    reason = f"torch {release} has not been run yet; nox -s matrix -- --torch {release} runs it."
    return Record(
        Environment(str(release), running(), platform_id(), running()),
        Run("", setup.probe_sha256, setup.terms(release), "", "", {}),
        trouble=Trouble(TroubleKind.NOT_TRIED, reason),
    )
