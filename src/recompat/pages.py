"""The pages that are drawn from the records and the case files: the library, and what each release restores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.cases import read_case_files
from recompat.errors import NothingSelected
from recompat.judging import judged
from recompat.matrix import load_matrix
from recompat.record import load_records
from recompat.report.library import render_library
from recompat.report.restored import render_restored

if TYPE_CHECKING:
    from collections.abc import Callable

    from recompat.cases import Case
    from recompat.project import Project
    from recompat.summary import Summary

__all__ = ["library", "restored"]


def library(project: Project) -> str:
    """Draw the page of all cases.

    Raises:
        ConfigurationError: a file that cannot be used.
        NothingSelected: nothing is recorded.
    """
    return render_library(_summary(project, lambda _: True, whole=False))


def restored(project: Project) -> str:
    """Draw the page of the settings that are restored, of the releases on which all those cases were run.

    Raises:
        ConfigurationError: a file that cannot be used.
        NothingSelected: no case has a field ``:restores:``, or nothing is recorded.
    """
    return render_restored(_summary(project, lambda case: case.about.restores is not None, whole=True))


def _summary(project: Project, chosen: Callable[[Case], bool], *, whole: bool) -> Summary:
    files = read_case_files(project.cases)
    cases = [case for file in files for case in file.cases if chosen(case)]
    if not cases:
        raise NothingSelected("No case has a field such as :restores: default dtype (use_reentrant=True).")
    wanted = {case.id for case in cases}
    held = [(one, wanted & {result.case for result in one.results}) for one in load_records(project.records)[0]]
    records = [one for one, cases_of_it in held if cases_of_it and (cases_of_it == wanted or not whole)]
    if not records:
        mend = "nox -s matrix -- -k all runs them, and --records matrix/baseline takes the accepted records."
        raise NothingSelected(f"Nothing is recorded of these cases in {project.records}; {mend}")
    return judged(project, load_matrix(project.matrix), files, cases, records, records)
