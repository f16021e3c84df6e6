"""Runs recorded cases again from scratch, before what they did is called a change."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

import msgspec

from recompat.choices import Rerun
from recompat.model import TroubleKind, Verification
from recompat.progress import Progress
from recompat.project import Project
from recompat.record import save_record
from recompat.runner import Spawn, start_probe
from recompat.tracks import target_of
from recompat.wheels import EnvironmentTrouble
from recompat.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from recompat.model import CaseResult, Record
    from recompat.setup import Setup
    from recompat.sources import Sources

__all__ = ["drop_left_verifications", "verify"]

PREFIX = ".verification-"


def verify(
    setup: Setup,
    record: Record,
    cases: Collection[str],
    sources: Callable[[], Sources],
    announce: Callable[[], None],
    spawn: Spawn = start_probe,
) -> None:
    """Run ``cases`` of ``record`` again in a fresh environment, and save the record with what came out.

    The environment is dropped; its logs stay under ``reports/logs/<environment>-verification/``.

    Args:
        setup: that of the run which ``record`` is of.
        record: one that stands.
        cases: ids of cases with a result in it.
        sources: where wheels come from.
        announce: called before a wheel of the default index is downloaded.

    Raises:
        EnvironmentTrouble: nothing could be run, or something else was installed than the record is of.
        Interrupted: by Ctrl-C or SIGTERM; the record is as it was.
    """
    target, name = target_of(record.environment), record.environment.id
    progress = Progress(f"torch {target} again", quiet=setup.options.quiet)
    with _folder(setup.project, name) as folder:
        work = Work(_alone(setup, folder, cases), target, folder / "environment", progress, spawn)
        again = work.run(sources, announce)
    if again.trouble is not None:
        reason = again.trouble.reason.replace(f"{again.environment.id}/", f"{name}-verification/")
        raise EnvironmentTrouble(again.trouble.kind, reason)
    if again.facts != record.facts:
        reason = f"torch {target} is another installation now than the recorded one; run it again: --rerun all."
        raise EnvironmentTrouble(TroubleKind.WRONG_VERSION, reason)
    seen = {result.case: result for result in again.results}
    results = (_with(result, seen.get(result.case)) for result in record.results)
    save_record(setup.project.records, msgspec.structs.replace(record, results=tuple(results)))


def drop_left_verifications(project: Project) -> None:
    """Remove what was left by a run that was killed; no other may be at work."""
    for left in project.reports.glob(f"{PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def _folder(project: Project, name: str) -> Iterator[Path]:
    """A folder of its own, of which the logs are kept; what a killed run left is removed."""
    folder, logs = project.reports / f"{PREFIX}{name}", project.logs / f"{name}-verification"
    drop_left_verifications(project)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(logs, ignore_errors=True)
            for made in Project(folder).logs.iterdir():
                shutil.move(made, logs)
        shutil.rmtree(folder, ignore_errors=True)


def _alone(setup: Setup, folder: Path, cases: Collection[str]) -> Setup:
    """The same terms for these cases alone, in a project that knows nothing yet."""
    return msgspec.structs.replace(
        setup,
        project=Project(folder),
        options=msgspec.structs.replace(setup.options, rerun=Rerun.ALL, keep=False),
        cases=tuple(case for case in setup.cases if case.id in cases),
    )


def _with(result: CaseResult, again: CaseResult | None) -> CaseResult:
    if again is None or again.sha256 != result.sha256:
        return result
    return msgspec.structs.replace(result, again=Verification(again.trials, again.evidence, again.finished))
