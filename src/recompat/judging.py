"""From records to the summary: what is recorded, held against what is expected."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import msgspec

from recompat.claim_remarks import remarks
from recompat.clock import now
from recompat.expectations import load_expectations
from recompat.listing import load_listing
from recompat.record import releases_of
from recompat.summarise import summarise
from recompat.tracks import besides_of, target_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from packaging.version import Version

    from recompat.cases import Case, CaseFile
    from recompat.expectations import Expectations
    from recompat.matrix import Matrix
    from recompat.model import Record
    from recompat.project import Project
    from recompat.summary import Summary

__all__ = ["claims", "judged"]


def judged(
    project: Project,
    matrix: Matrix,
    files: Sequence[CaseFile],
    cases: Sequence[Case],
    chosen: Sequence[Record],
    known: Sequence[Record],
) -> Summary:
    """Hold ``chosen`` records against the expectations, which may speak of every release of ``matrix`` and of ``known``.

    Boundaries rest on what is ``known`` between the chosen releases, too. A claim that has expired by today does not count,
    and a notice says so.

    Raises:
        ConfigurationError: ``expectations.toml`` cannot be used.
    """
    generated = now()
    today = dt.date.fromisoformat(generated[:10])
    expectations = claims(project, matrix, files, known)
    summary = summarise(chosen, files, cases, expectations.on(today), generated, load_listing(project.listing), known)
    targets = {target_of(record.environment) for record in chosen}
    told = remarks(expectations, today, [case.id for case in cases], targets)
    return msgspec.structs.replace(summary, notices=told)


def claims(
    project: Project,
    matrix: Matrix,
    files: Sequence[CaseFile],
    records: Sequence[Record],
    releases: Iterable[Version] = (),
) -> Expectations:
    """Read the expectations, which may speak of all that ``matrix`` names or ``records`` have, and of ``releases``.

    Raises:
        ConfigurationError: ``expectations.toml`` cannot be used.
    """
    recorded = besides_of(records)
    axes = {name: {*matrix.axes.get(name, ()), *recorded.get(name, ())} for name in {*matrix.axes, *recorded}}
    return load_expectations(project.expectations, files, {*matrix.releases, *releases, *releases_of(records)}, axes)
