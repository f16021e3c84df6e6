"""Which settings each release restores at recompute: drawn from the cases that say so, and the records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.cases import read_case_files
from recompat.errors import NothingSelected
from recompat.judging import judged
from recompat.matrix import load_matrix
from recompat.record import load_records
from recompat.report.restored import render_restored

if TYPE_CHECKING:
    from recompat.project import Project

__all__ = ["restored"]


def restored(project: Project) -> str:
    """Draw the page.

    Raises:
        ConfigurationError: a file that cannot be used.
        NothingSelected: no case has a field ``:restores:``, or nothing is recorded.
    """
    files = read_case_files(project.cases)
    cases = [case for file in files for case in file.cases if case.about.restores]
    if not cases:
        raise NothingSelected("No case has a field such as :restores: default dtype (use_reentrant=True).")
    wanted = {case.id for case in cases}
    records = [one for one in load_records(project.records)[0] if wanted & {result.case for result in one.results}]
    if not records:
        raise NothingSelected(f"Nothing is recorded in {project.records} of the cases that say what is restored.")
    return render_restored(judged(project, load_matrix(project.matrix), files, cases, records, records))
