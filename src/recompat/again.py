"""Runs a recorded case again in a fresh environment, and compares what happens with what is recorded."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from recompat.errors import Incomplete
from recompat.judge import Finding, finding
from recompat.matrix import Extra
from recompat.model import Facts, Trial, TroubleKind
from recompat.options import parse_options
from recompat.progress import Progress
from recompat.project import Project
from recompat.replays import stable
from recompat.report.text import clean
from recompat.reproduce import how_it_ended
from recompat.runner import Spawn, start_probe
from recompat.setup import Setup, load_setup
from recompat.sources import Sources, configured_folders, find_sources
from recompat.temporary import TemporaryFolder
from recompat.tracks import Target
from recompat.wheels import EnvironmentTrouble
from recompat.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recompat.model import Record
    from recompat.reproduce import Reproduction

__all__ = ["Comparison", "run_again"]


class Comparison(msgspec.Struct, frozen=True):
    """A recorded trial and one of now, each with what it ran on."""

    recorded: Trial
    recorded_on: Facts
    now: Trial
    now_on: Facts

    @property
    def same(self) -> bool:
        """Whether the outcome is the recorded one: how it ended, with which exception, and when."""
        return _ending(self.recorded) == _ending(self.now)

    @property
    def text(self) -> str:
        """Both, and the conclusion."""
        lines = [
            f"recorded  {how_it_ended(self.recorded)} ({_on(self.recorded_on)})",
            f"now       {how_it_ended(self.now)} ({_on(self.now_on)})",
        ]
        for name, trial in (("recorded", self.recorded), ("now", self.now)):
            if not self.same and (said := trial.detail or (trial.raised and trial.raised.message)):
                lines.append(f"{name:<8}  {clean(said)}")
        return "\n".join((*lines, self._conclusion()))

    def _conclusion(self) -> str:
        if not self.same:
            return "Not reproduced: the outcome is another one."
        one, other = stable(self.recorded), stable(self.now)
        parts = [name for name in one.__struct_fields__ if getattr(one, name) != getattr(other, name)]
        return "Reproduced: the outcome is the recorded one" + (f", other {' and '.join(parts)}." if parts else ".")


def run_again(
    found: Reproduction,
    tell: Callable[[str], None],
    *,
    index_urls: Sequence[str] = (),
    quiet: bool = False,
    spawn: Spawn = start_probe,
) -> Comparison:
    """Run the case file that ``found`` wrote, in a fresh environment that is dropped afterwards.

    The record of this run and its logs stay beside the file, under ``reports/``.

    Args:
        tell: what has to be known before anything is installed.
        index_urls: further indexes to ask. What a record names is never asked for that: it may be anybody's.

    Raises:
        Incomplete: trouble with the environment.
    """
    setup = _setup(found)
    release = Version(found.record.environment.torch)
    progress = Progress(f"torch {release}", quiet=quiet)
    with TemporaryFolder(".run-", found.folder) as folder:
        work = Work(setup, Target(release), folder / "environment", progress, spawn)
        sources = functools.cache(lambda: _sources(found, index_urls))
        record = work.run(sources, lambda: tell(f"NOTE: {sources().notice}") if sources().notice else None)
    try:
        if work.kept:  # what an earlier run of this left is not an answer
            raise EnvironmentTrouble(work.kept.kind, work.kept.reason)
        return Comparison(found.trial, found.facts, *_result(record, found.case))
    except EnvironmentTrouble as error:
        logs = setup.project.logs.relative_to(found.folder.resolve())
        raise Incomplete(f"It could not be run again: {error} (Logs are in {found.folder / logs}.)") from None


def _setup(found: Reproduction) -> Setup:
    """The project's own, but for one case, in the folder of the reproduction, beside the packages that were recorded."""
    terms = found.record.run.options
    words = ["--rerun", "all", "--no-evidence"]
    words += [
        word
        for name in ("timeout", "isolation", "source", "memory")
        if name in terms
        for word in (f"--{name}", terms[name])
    ]
    setup = load_setup(found.known.project, parse_options(words))
    case = next(case for case in found.file.cases if case.id == found.case)
    file = msgspec.structs.replace(found.file, path=found.path.resolve(), cases=(case,))
    requirements = tuple(Requirement(text) for text in found.packages)
    extra = Extra(SpecifierSet(f"=={found.record.environment.torch}"), requirements, "As they were recorded.")
    return msgspec.structs.replace(
        setup,
        project=Project(found.folder.resolve()),
        matrix=msgspec.structs.replace(setup.matrix, extras=(extra,)),
        files=(file,),
        cases=(case,),
        lock=None,  # the versions are the recorded ones
    )


def _sources(found: Reproduction, index_urls: Sequence[str]) -> Sources:
    matrix, choice = found.known.matrix, found.record.run.options.get("source", "auto")
    folders = configured_folders(matrix.find_links)
    urls = (*index_urls, *matrix.index_urls)
    return find_sources(choice, folders, matrix.cpu_index, urls)  # type: ignore[arg-type]


def _result(record: Record, case: str) -> tuple[Trial, Facts]:
    if record.trouble is not None:
        raise EnvironmentTrouble(record.trouble.kind, record.trouble.reason)
    seen = finding(next((result for result in record.results if result.case == case), None))
    if not isinstance(seen, Finding) or record.facts is None:
        raise EnvironmentTrouble(TroubleKind.PROBE_FAILED, "The probe left no result.")
    return seen.trial, record.facts


def _ending(trial: Trial) -> tuple[object, ...]:
    raised = trial.raised
    return (trial.outcome, raised and raised.type, raised and raised.phase)


def _on(facts: Facts) -> str:
    return clean(f"torch {facts.imported}, Python {facts.python_version}")
