"""``recompat show``: a case or an environment as a person would want it, from what is recorded. Offline."""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from recompat.casedoc import read_fields
from recompat.cases import PREFIX, Case, CaseFile, read_case_files
from recompat.errors import ConfigurationError
from recompat.judging import judged
from recompat.lookup import bare_case, find_target, records_of
from recompat.matrix import Matrix, load_matrix
from recompat.model import CaseResult, Record
from recompat.project import Project
from recompat.record import load_records
from recompat.report.entries import environment_names
from recompat.report.repairs import holds
from recompat.report.show_case import render_case
from recompat.report.show_environment import render_environment
from recompat.views import CaseView, EnvironmentView, Repair, Seen, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.model import Environment, Evidence
    from recompat.report.page import Paper
    from recompat.summary import Summary

__all__ = ["Known", "case_view", "environment_view", "read_known", "read_source", "show"]


class Known(msgspec.Struct, frozen=True):
    """All that is known of a project; a case that has results and no file any more is known by a file without bytes."""

    project: Project
    matrix: Matrix
    files: tuple[CaseFile, ...]
    records: tuple[Record, ...]
    set_aside: tuple[str, ...]

    @property
    def cases(self) -> list[str]:
        """The ids of all cases, in the order of their files, and then of those that have results alone."""
        return [case.id for file in self.files for case in file.cases]


def read_known(project: Project, target: str | None = None, torch: str | None = None) -> Known:
    """Read the case files and the records; where none says anything of ``target``, those of the baseline.

    Args:
        target: a case or an environment, as a user names it.
        torch: the release of which something is to be said.

    Raises:
        ConfigurationError: a file that cannot be used.
    """
    records, set_aside = load_records(project.records)
    if project.elsewhere is None and target is not None and not _tells(records, target, torch):
        baseline, more = load_records(project.baseline)
        if _tells(baseline, target, torch):
            where = project.baseline.relative_to(project.root).as_posix()
            on = f" on torch {torch.removeprefix('torch')}" if torch else ""
            note = f"nothing is recorded here of {target}{on}; what follows is from the records in {where}."
            records, set_aside = baseline, (*set_aside, *more, note)
    files = read_case_files(project.cases)
    there = {case.id for file in files for case in file.cases}
    gone = {
        result.case: _stand_in(project, files, result)
        for record in records
        for result in record.results
        if result.case not in there
    }
    return Known(project, load_matrix(project.matrix), (*files, *gone.values()), records, set_aside)


def show(known: Known, target: str, torch: str | None, paper: Paper) -> str:
    """Draw what ``target`` names: a case, or one environment or more.

    Args:
        torch: the release of which a case is told in full.

    Raises:
        ConfigurationError: ``target`` may be several cases, or a file cannot be used.
        NothingSelected: there is no such case, environment or release.
    """
    found = find_target(target, known.cases, known.records)
    if isinstance(found, str):
        return render_case(case_view(known, found, torch), paper)
    if torch is not None:
        raise ConfigurationError(f"--torch goes with a case, and {target} is an environment; leave it out.")
    return "\n".join(render_environment(view, paper) for view in environment_view(known, found))


def case_view(known: Known, case_id: str, torch: str | None = None) -> CaseView:
    """Draw a case from what is known; ``torch`` is the release that is told in full."""
    chosen = {record.environment.id for record in records_of(known.records, torch)} if torch else set()
    file, case = next((file, case) for file in known.files for case in file.cases if case.id == case_id)
    beside = [other for other in file.cases if case.id in other.about.repairs]
    records = _telling(known.records, case_id)
    everything = judged(known.project, known.matrix, known.files, [case, *beside], records, known.records)
    summary = everything.of(case.id)
    evidence = _evidence(known.records, case_id)
    seen = tuple(
        Seen(column, cell, evidence.get(column.id))
        for column, cell in zip(summary.environments, summary.cells, strict=True)
    )
    return CaseView(
        id=case.id,
        title=case.title,
        about=case.about,
        family=case.family,
        repairs=tuple(_repair(everything, other) for other in beside),
        source=read_source(known.project, file, case_id),
        seen=seen,
        boundaries=summary.boundaries,
        operator_changes=summary.operator_changes,
        chosen=tuple(one for one in seen if one.column.id in chosen),
    )


def _telling(records: Sequence[Record], case_id: str) -> Sequence[Record]:
    """The records that have a result of a case, or say why not: a run of other cases tells nothing. If none does, all."""
    telling = [one for one in records if one.trouble or any(result.case == case_id for result in one.results)]
    return telling or records


def _repair(summary: Summary, case: Case) -> Repair:
    return Repair(case.id, case.title, holds(environment_names(summary), summary.of(case.id).cells))


def environment_view(known: Known, environments: Sequence[Environment]) -> list[EnvironmentView]:
    """Draw environments from what is known, in the order of their records."""
    wanted = {one.id for one in environments}
    records = [record for record in known.records if record.environment.id in wanted]
    cases = [case for file in known.files for case in file.cases]
    cells = judged(known.project, known.matrix, known.files, cases, records, known.records).cells
    return [
        EnvironmentView(record, tuple(cell for cell in cells if cell.environment == record.environment.id))
        for record in records
    ]


def read_source(project: Project, file: CaseFile, case_id: str) -> Source:
    """Read a case's function, and what its docstring's fields say."""
    name = Path("matrix", "cases", file.path.name).as_posix()
    try:
        content = file.path.read_bytes()
    except OSError as error:
        return Source(name, file.sha256, None, f"{name} is not here any more ({error.strerror}).")
    sha256 = hashlib.sha256(content).hexdigest()
    if file.fault is not None:
        return Source(name, sha256, None, file.fault)
    node = _function(content, PREFIX + case_id.partition("::")[2])
    if node is None:
        return Source(name, sha256, None, f"{name} has no such case any more.")
    fields = dict(read_fields(ast.get_docstring(node) or ""))
    return Source(name, sha256, _lines_of(content, node), inputs=fields.get("inputs") or "inputs")


def _tells(records: Sequence[Record], target: str, torch: str | None) -> bool:
    """Whether a record is of an environment that ``target`` is a part of, or has results of such a case, on a release."""
    name = bare_case(target.lower())
    telling = [one for one in records if torch is None or one.environment.torch == torch.removeprefix("torch")]
    environments = {record.environment.id for record in records}
    return any(name in id_.lower() for id_ in environments | {r.case for record in telling for r in record.results})


def _function(content: bytes, name: str) -> ast.FunctionDef | None:
    functions = (node for node in ast.parse(content).body if isinstance(node, ast.FunctionDef))
    return next((node for node in functions if node.name == name), None)


def _lines_of(content: bytes, node: ast.FunctionDef) -> str:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return b"\n".join(content.splitlines()[first - 1 : node.end_lineno]).decode("utf-8", "replace")


def _stand_in(project: Project, files: Sequence[CaseFile], result: CaseResult) -> CaseFile:
    """A file for a case that has results and that no file has any more, or none that can be read."""
    stem, _, name = result.case.partition("::")
    case = Case(result.case, name.replace("_", " "))
    faulty = next((file for file in files if file.path.stem == stem and file.fault is not None), None)
    if faulty is not None:
        return msgspec.structs.replace(faulty, cases=(case,))
    name = re.sub(r"\W", "_", stem)[
        :100
    ]  # a record may call its case as it likes; what is read is a file of the folder
    return CaseFile(project.cases / f"{name}.py", result.sha256, (case,))


def _evidence(records: Sequence[Record], case_id: str) -> dict[str, Evidence | None]:
    return {
        record.environment.id: result.evidence
        for record in records
        for result in record.results
        if result.case == case_id
    }
