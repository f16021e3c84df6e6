"""From a try that is done to what is told of it: each release with its cell, and the commands that run it again."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import msgspec

from recompat import __version__
from recompat.attempt import Attempt, Ran, Row, Step
from recompat.interpreters import platform_id
from recompat.judge import Finding, finding
from recompat.private import scrub
from recompat.reproduce import ENVIRONMENT, Reproduction, pinned
from recompat.search import Answer, changes
from recompat.show import Known, read_source
from recompat.sources import Source

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.version import Version

    from recompat.cases import Case
    from recompat.search import Change
    from recompat.trying import Trying

__all__ = ["attempt_of"]


class _ScriptReproduction(Reproduction, frozen=True):
    """A plain script is run as it is."""

    def _run(self) -> str:
        python = rf"{ENVIRONMENT}\Scripts\python" if os.name == "nt" else f"{ENVIRONMENT}/bin/python"
        name = self.file.path.name
        return f"{python} {shlex.quote(f'./{name}' if name.startswith('-') else name)}"


def attempt_of(trying: Trying, folder: Path) -> Attempt:
    """Tell what was found; ``folder`` is what the user calls the folder of the try."""
    script = trying.script
    return Attempt(
        recompat=__version__,
        file=script.file.name,
        sha256=script.file.sha256,
        plain=script.plain,
        platform=platform_id(),
        releases=tuple(map(str, trying.releases)),
        rows=tuple(_row(trying, case) for case in trying.setup.cases),
        folder=str(folder),
        packages=tuple(scrub(trying.packages)),
        python=str(script.python),
    )


def _row(trying: Trying, case: Case) -> Row:
    found = trying.found(case)
    ran = tuple(_ran(trying, case, release) for release in sorted(found))
    known = changes(sorted({*trying.releases, *found}), found)
    return Row(case.id, case.title, ran, tuple(_step(trying, change) for change in known))


def _step(trying: Trying, change: Change) -> Step:
    between = [one for one in trying.offered.releases if change.last < one < change.first]
    return Step(
        last=str(change.last),
        first=str(change.first),
        old=change.old.text,
        new=change.new.text,
        silent=tuple(map(str, change.between)),
        not_run=tuple(str(one) for one in between if one not in change.between),
    )


def _ran(trying: Trying, case: Case, release: Version) -> Ran:
    record, answer = trying.records[release], trying.answer(case, release)
    ran = Ran(torch=str(release), cell=trying.cell(case, release), python=record.environment.python)
    if record.facts is not None:
        ran = msgspec.structs.replace(ran, build=record.facts.packages.get("torch", record.facts.imported))
    reproduction = _reproduction(trying, case, release)
    if reproduction is not None:
        install, run = reproduction.commands.splitlines()
        ran = msgspec.structs.replace(ran, install=install, run=run)
    if isinstance(answer, Answer):
        return msgspec.structs.replace(ran, answer=answer.text)
    return msgspec.structs.replace(ran, skipped=answer.reason, trouble=answer.trouble)


def _reproduction(trying: Trying, case: Case, release: Version) -> Reproduction | None:
    """What runs it again, for whoever has the file and nothing of ours: torch is then no local wheel's."""
    record, setup, file = trying.records[release], trying.setup, trying.script.file
    seen = finding(next((result for result in record.results if result.case == case.id), None))
    if not isinstance(seen, Finding) or record.facts is None:
        return None
    facts = record.facts
    if facts.source == Source.FOLDER:
        facts = msgspec.structs.replace(facts, source=Source.CPU)
    kind = _ScriptReproduction if trying.script.plain else Reproduction
    return kind(
        known=Known(setup.project, setup.matrix, setup.files, (record,), ()),
        case=case.id,
        file=file,
        content=b"",
        inputs="inputs" if trying.script.plain else read_source(setup.project, file, case.id).inputs,
        record=record,
        facts=facts,
        trial=seen.trial,
        packages=pinned(setup.matrix.packages_for(release), facts),
        folder=type(file.path)(),
    )
