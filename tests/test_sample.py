"""The published sample: the default cases on the newest patch of every minor release, drawn from the accepted records."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from golden import check_golden
from recompat.cases import read_case_files
from recompat.expectations import load_expectations
from recompat.listing import Listing
from recompat.matrix import load_matrix
from recompat.project import Project
from recompat.record import load_records
from recompat.report.formats import SITE
from recompat.selection import default_cases
from recompat.summarise import summarise

if TYPE_CHECKING:
    from recompat.summary import Summary

PROJECT = Project(Path(__file__).parents[1])
SAMPLE = PROJECT.reports / "sample"


@cache
def summary() -> Summary:
    """As ``nox -s matrix -- --torch latest-minors`` made it; its date is that of the last record."""
    files, matrix = read_case_files(PROJECT.cases), load_matrix(PROJECT.matrix)
    known = [case for file in files for case in file.cases]
    records = load_records(PROJECT.baseline)[0]
    whole = [record for record in records if len(record.results) == len(known)]
    last = max(record.run.finished for record in records)
    return summarise(
        whole,
        files,
        default_cases(known, matrix.default_cases),
        load_expectations(PROJECT.expectations, files, matrix.releases),
        last,
        Listing(last, tuple(map(str, sorted(matrix.releases)))),
        records,
    )


@pytest.mark.parametrize("name", sorted(SITE))
def test_the_sample_is_what_the_records_make(name: str) -> None:
    check_golden(name, SITE[name].render(summary()).decode(), SAMPLE)


def test_nothing_else_is_in_it_and_what_its_page_links_to_is_there() -> None:
    assert {path.name for path in SAMPLE.iterdir()} == {*SITE, "cases", "records"}
    for column in summary().environments:
        assert (SAMPLE / "records" / f"{column.id}.json").is_file()
    for row in summary().cases:
        assert (SAMPLE / "cases" / row.file).is_file()


def test_it_shows_what_recompat_is_for() -> None:
    assert summary().exit_code == 0
    assert not any(boundary.not_run for boundary in summary().boundaries)
    assert all(boundary.exact for boundary in summary().boundaries if not boundary.unsupported)
    assert len(summary().environments) == 16
