"""From records to the site: what ``matrix`` and ``report`` do once nothing is left to run. Offline."""

from __future__ import annotations

import contextlib
import hashlib
from itertools import chain
from typing import TYPE_CHECKING

from packaging.version import Version

from recompat.interpreters import platform_id, running
from recompat.judging import claims, judged
from recompat.model import Environment, Record, Run, Trouble, TroubleKind
from recompat.record import encode_record
from recompat.report.formats import SITE
from recompat.site import replace_site
from recompat.standing import record_of, superseded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from recompat.expectations import Expectations
    from recompat.project import Project
    from recompat.setup import Setup
    from recompat.summary import Summary
    from recompat.tracks import Target

__all__ = ["gather", "publish", "read_claims"]


def gather(setup: Setup, records: Sequence[Record], releases: Sequence[Version], *, anywhere: bool = False) -> Summary:
    """Judge the records of ``releases`` against the expectations.

    Args:
        setup: what was asked for.
        records: all there are.
        releases: the columns.
        anywhere: take every record of a release, by whichever interpreter, on whichever platform and beside whatever is
            selected.

    Raises:
        ConfigurationError: ``expectations.toml`` cannot be used.
    """
    chosen = [
        record
        for release in releases
        for record in (anywhere and _everywhere(setup, records, release)) or _planned(setup, records, release)
    ]
    return judged(setup.project, setup.matrix, setup.files, setup.cases, chosen, (*records, *chosen))


def read_claims(setup: Setup, releases: Sequence[Version], records: Sequence[Record]) -> Expectations:
    """Read the expectations, which may speak of every release that is named, asked for or recorded.

    Raises:
        ConfigurationError: ``expectations.toml`` cannot be used.
    """
    return claims(setup.project, setup.matrix, setup.files, records, releases)


def publish(project: Project, summary: Summary, records: Iterable[Record]) -> None:
    """Draw every page, one after the other, and when all are drawn, put them in the place of those that were there.

    Args:
        project: where to.
        summary: what to draw.
        records: those that it was made of, and maybe others.

    Raises:
        OSError: the site cannot be written; it is as it was.
    """
    pages = ((name, page.render(summary)) for name, page in SITE.items())
    files = chain(pages, _recorded(summary, records), _tested(summary, project.cases))
    replace_site(project.reports, files, [*SITE, "cases"])


def _recorded(summary: Summary, records: Iterable[Record]) -> Iterator[tuple[str, bytes]]:
    """The records of the columns; one that was not run has none."""
    shown = {column.id for column in summary.environments}
    for record in records:
        if record.environment.id in shown:
            yield f"records/{record.environment.id}.json", encode_record(record)


def _tested(summary: Summary, cases: Path) -> Iterator[tuple[str, bytes]]:
    """The case files, so far as they are still what the summary speaks of; one that could not be read has no digest."""
    for name, sha256 in {row.file: row.sha256 for row in summary.cases if row.sha256}.items():
        with contextlib.suppress(OSError):
            content = (cases / name).read_bytes()
            if hashlib.sha256(content).hexdigest() == sha256:
                yield f"cases/{name}", content


def _everywhere(setup: Setup, records: Sequence[Record], release: Version) -> list[Record]:
    """All records of a release, but for those without a result that only stood in for another."""
    own = (record for record in records if Version(record.environment.torch) == release)
    held = [record for record in own if setup.selects(record.environment)]
    gone = {stood_in.environment.id for record in held if record.results for stood_in in superseded(held, record)}
    return [record for record in held if record.environment.id not in gone]


def _planned(setup: Setup, records: Sequence[Record], release: Version) -> list[Record]:
    return [_record(setup, records, target) for target in setup.targets([release])]


def _record(setup: Setup, records: Sequence[Record], target: Target) -> Record:
    found = record_of(records, target, running(), platform_id())
    if found is not None:
        return found
    reason = f"torch {target} has not been run yet; nox -s matrix -- {target.options} runs it."
    return Record(
        Environment(str(target.torch), running(), platform_id(), running(), dict(target.beside)),
        Run("", setup.probe_sha256, setup.terms(target.torch), "", "", {}),
        trouble=Trouble(TroubleKind.NOT_TRIED, reason),
    )
