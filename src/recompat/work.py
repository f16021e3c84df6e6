"""One release from start to record: look it up, build its environment, prove what is in it, run the cases."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
from typing import TYPE_CHECKING, Final

import msgspec
from packaging.utils import canonicalize_name, canonicalize_version
from packaging.version import Version

from recompat import __version__
from recompat.clock import now
from recompat.environment import (
    Build,
    build_environment,
    drop_environment,
    drop_unused_environment,
    keep_environment,
    python_of,
    stamp,
    take_environment,
    wheel_digest,
)
from recompat.errors import Interrupted
from recompat.interpreters import platform_id, running
from recompat.judging import claims
from recompat.lock import FILE
from recompat.model import CaseResult, Environment, Facts, Outcome, Record, Replay, Run, Trouble, TroubleKind
from recompat.record import load_record, load_records, save_record
from recompat.report.text import clean
from recompat.rerun import chosen
from recompat.room import says_full, was_full
from recompat.runner import Spawn, importing, start_probe
from recompat.sources import Source
from recompat.standing import dated, merge_results, pending_cases, record_of, superseded
from recompat.trials import CaseAddress, Job, read_facts, run_trials
from recompat.wheels import EnvironmentTrouble, Wheel, choose_wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from recompat.ahead import Ahead
    from recompat.expectations import Expectations
    from recompat.progress import Progress
    from recompat.setup import Setup
    from recompat.sources import Sources
    from recompat.tracks import Target

__all__ = ["Work", "build_of", "pending_of", "standing_record"]

SYMPY: Final = "sympy"  # of what torch imports, a third is its files, and it needs nothing of torch


def standing_record(setup: Setup, target: Target) -> Record | None:
    """What is recorded of ``target`` for the interpreter that runs this; damaged records are set aside on the way."""
    records, _ = load_records(setup.project.records, target.torch)
    return record_of(records, target, running(), platform_id())


def pending_of(setup: Setup, release: Version, record: Record | None) -> Sequence[CaseAddress]:
    """The selected cases that have to be run on ``release``, of which ``record`` is what there is."""
    terms, wanted = setup.terms(release), setup.addresses
    pending = pending_cases(record, wanted, setup.probe_sha256, terms, named=bool(setup.index_urls))
    return chosen(setup.options.rerun, wanted, pending, record, lambda: _claims(setup, release))


def _claims(setup: Setup, release: Version) -> Expectations:
    records, _ = load_records(setup.project.records)
    return claims(setup.project, setup.matrix, setup.files, records, {release})


def build_of(setup: Setup, target: Target, wheel: Wheel) -> Build:
    """What is installed for ``target`` where ``wheel`` was chosen.

    Raises:
        EnvironmentTrouble: the lock has something else, or nothing.
    """
    packages = (*setup.matrix.packages_for(target.torch), *target.requirements)
    locked = setup.lock.environment(target, wheel, platform_id(), packages).packages if setup.lock else ()
    return Build(str(target.torch), wheel, packages, stamp(wheel.offer.url), locked)


def _nothing() -> None:
    """What is done where nothing is."""


class Work:
    """The making of one record.

    Args:
        setup: what a run is about.
        target: what the record is of.
        location: where its environment is made.
        progress: told each step.
        spawn: starts a probe.
        ahead: what may have installed it already.
        meanwhile: called once all is installed, before the cases run.
    """

    def __init__(
        self,
        setup: Setup,
        target: Target,
        location: Path,
        progress: Progress,
        spawn: Spawn = start_probe,
        ahead: Ahead | None = None,
        meanwhile: Callable[[], None] = _nothing,
    ) -> None:
        self._setup = setup
        self._target = target
        self._release = target.torch
        self._location = location
        self._progress = progress
        self._spawn = spawn
        self._ahead = ahead
        self._meanwhile = meanwhile
        self._started = now()
        self._built: Build | None = None
        self.kept: Trouble | None = None
        """Why what stands was not run again, where that was asked for and did not succeed."""

    def run(self, sources: Callable[[], Sources], announce: Callable[[], None]) -> Record:
        """Run what has to be run, and write the record; one that stands is returned as it is.

        Args:
            sources: asked only if something has to be run.
            announce: called before a wheel of the default index is downloaded.

        Raises:
            Interrupted: by Ctrl-C or SIGTERM; no record was written.
        """
        self._announce = announce
        earlier = standing_record(self._setup, self._target)
        pending = pending_of(self._setup, self._release, earlier)
        if not pending:
            drop_unused_environment(self._location)
            return earlier or self._left_out()
        try:
            record = self._attempt(earlier, pending, sources)
        except KeyboardInterrupt:
            raise Interrupted(f"Interrupted at torch {self._target}; finished records stay.") from None
        finally:
            if not self._setup.options.keep:
                drop_environment(self._location)
            elif self._built:
                keep_environment(self._location, self._built)
        if record.trouble and earlier is not None and self._stands(earlier):
            self.kept = record.trouble
            return earlier
        return self._save(record, earlier)

    def _left_out(self) -> Record:
        """What stands for a release of which nothing is recorded, and of which nothing was to be run."""
        reason = f"torch {self._target} was left out by --rerun {self._setup.options.rerun}."
        return self._record(self._environment(running()), trouble=Trouble(TroubleKind.NOT_TRIED, reason))

    def _stands(self, earlier: Record) -> bool:
        """Whether nothing of ``earlier`` had to be run again but for ``--rerun``."""
        setup, terms = self._setup, self._setup.terms(self._release)
        return not pending_cases(earlier, setup.addresses, setup.probe_sha256, terms, named=bool(setup.index_urls))

    def _attempt(
        self, earlier: Record | None, pending: Sequence[CaseAddress], sources: Callable[[], Sources]
    ) -> Record:
        environment = self._environment(running())
        try:
            with self._progress.step("resolving"):
                wheel = choose_wheel(self._release, sources())
            environment = self._environment(wheel.python)
            log = self._setup.project.logs / environment.id
            shutil.rmtree(log, ignore_errors=True)
            self._install(wheel, log / "install.log")
            job = self._job(log / "probe.log")
            with self._progress.step("importing", "and byte-compiling torch"):
                facts = self._facts(job, wheel)
            record = self._record(environment, facts=facts)
            pending = self._also_stale(pending, earlier, facts)
            self._meanwhile()
            results = self._trials(job, pending)
            self._check_room(results, job.log)
        except EnvironmentTrouble as error:
            trouble = self._of_the_disk(error.trouble, self._setup.project.logs / environment.id / "probe.log")
            self._progress.say(clean(trouble.reason))
            return self._record(environment, trouble=trouble)
        run = self._run()
        dated = tuple(msgspec.structs.replace(result, finished=run.finished) for result in results)
        return msgspec.structs.replace(record, results=dated, run=run)

    def _of_the_disk(self, trouble: Trouble, log: Path) -> Trouble:
        """The same, or that a disk is full where that is why a probe failed."""
        by_probe = trouble.kind in {TroubleKind.PROBE_FAILED, TroubleKind.IMPORT_FAILED}
        if not by_probe or not was_full(log, (self._location, self._setup.project.root)):
            return trouble
        return self._full()

    def _check_room(self, results: Sequence[CaseResult], log: Path) -> None:
        """See that no case is blamed for a full disk, on which its trial could not write what it found, or a file of its own."""
        trials = [trial for result in results for trial in result.trials.values()]
        full = any(trial.raised is not None and says_full(trial.raised.message) for trial in trials)
        crashed = any(trial.outcome is Outcome.CRASH for trial in trials)
        if full or (crashed and was_full(log, (self._location, self._setup.project.root))):
            trouble = self._full()
            raise EnvironmentTrouble(trouble.kind, trouble.reason)

    def _full(self) -> Trouble:
        reason = f"The disk is full: torch {self._target} was installed, and not run to the end; free some space and run it again."
        return Trouble(TroubleKind.DISK_FULL, reason)

    def _install(self, wheel: Wheel, log: Path) -> None:
        build = build_of(self._setup, self._target, wheel)
        if take_environment(self._location, build):
            self._progress.say("environment kept from an earlier run")
        else:
            if wheel.source is Source.DEFAULT:
                self._announce()
            with self._progress.step("installing", f"{wheel.offer.filename} ({wheel.source})"):
                if not (self._ahead and self._ahead.take(build, self._location, log)):
                    build_environment(self._location, build, log)
        self._built = build

    def _facts(self, job: Job, wheel: Wheel) -> Facts:
        beside = job.spawn is start_probe and job.cores > 1  # what else starts probes has its reasons
        with importing(job.python, SYMPY, job.memory) if beside else contextlib.nullcontext():
            facts = read_facts(job, wheel.origin)
        digest = wheel_digest(self._location) or facts.distribution_sha256
        facts = msgspec.structs.replace(facts, distribution_sha256=digest)
        self._check_beside(facts)
        self._check_locked(facts, wheel)
        found = {facts.imported, facts.packages.get("torch", facts.imported)}
        if any(_release(version) != self._release for version in found):
            names = " and ".join(sorted(map(clean, found)))
            raise EnvironmentTrouble(
                TroubleKind.WRONG_VERSION,
                f"torch {self._release} was asked for, and what was installed is {names}; check where its wheel comes from.",
            )
        return facts

    def _check_beside(self, facts: Facts) -> None:
        """See that what stands beside torch is what was asked for, by its normal name."""
        there = {canonicalize_name(name): version for name, version in facts.packages.items()}
        for name, version in self._target.beside:
            found = there.get(canonicalize_name(name), "not there")
            if found != version:
                raise EnvironmentTrouble(
                    TroubleKind.WRONG_VERSION,
                    f"{name} {version} was asked for beside torch {self._release}, and it is {clean(found)}; check where"
                    " its wheel comes from.",
                )

    def _check_locked(self, facts: Facts, wheel: Wheel) -> None:
        """See that what was locked is there, and nothing else, where there is a lock."""
        normal = functools.partial(canonicalize_version, strip_trailing_zero=False)
        locked = {
            (canonicalize_name(one.name), normal(one.version))
            for one in build_of(self._setup, self._target, wheel).locked
        }
        there = {(canonicalize_name(name), normal(version)) for name, version in facts.packages.items()}
        if locked and there != locked:
            names = ", ".join(sorted(clean(f"{name} {version}") for name, version in there ^ locked))
            raise EnvironmentTrouble(
                TroubleKind.WRONG_VERSION,
                f"What was installed for torch {self._target} is not what {FILE} has: they differ in {names}.",
            )

    def _also_stale(
        self, pending: Sequence[CaseAddress], earlier: Record | None, facts: Facts
    ) -> Sequence[CaseAddress]:
        """Another installation than the recorded one: what was recorded has to be run again with the rest."""
        if earlier is None or earlier.facts == facts:
            return pending
        recorded = {result.case for result in earlier.results}
        chosen = {case.id for case in pending}
        return [case for case in self._setup.all_addresses if case.id in recorded | chosen]

    def _trials(self, job: Job, cases: Sequence[CaseAddress]) -> tuple[CaseResult, ...]:
        done = dict.fromkeys(Replay, 0)

        def heard(replay: Replay) -> None:
            done[replay] += 1
            finished = sum(count >= len(cases) for count in done.values())
            self._progress.update(
                f"replay {min(finished + 1, len(Replay))} of {len(Replay)}, {sum(done.values())} trials done"
            )

        what = f"{len(cases)} case{'s' * (len(cases) != 1)} in {len(Replay)} replays"
        with self._progress.step("trying", what):
            return run_trials(job, cases, heard)

    def _job(self, log: Path) -> Job:
        return Job(
            python=python_of(self._location),
            log=log,
            timeout=self._setup.timeout,
            isolation=self._setup.options.isolation,
            cores=os.cpu_count() or 1,
            spawn=self._spawn,
            evidence=self._setup.options.evidence,
            memory=self._setup.memory,
        )

    def _environment(self, python: str) -> Environment:
        return Environment(str(self._release), python, platform_id(), running(), dict(self._target.beside))

    def _record(
        self, environment: Environment, *, facts: Facts | None = None, trouble: Trouble | None = None
    ) -> Record:
        return Record(environment, self._run(), facts=facts, trouble=trouble)

    def _run(self) -> Run:
        return Run(
            recompat=__version__,
            probe_sha256=self._setup.probe_sha256,
            options=self._setup.terms(self._release),
            started=self._started,
            finished=max(now(), self._started),  # the clock may have been turned back
            seconds=self._progress.seconds,
        )

    def _save(self, record: Record, earlier: Record | None) -> Record:
        known = {case.id: case.sha256 for case in self._setup.all_addresses}
        folder = self._setup.project.records
        records, _ = load_records(folder, self._release)
        merged = dated(merge_results(record, earlier, known), records)
        path = save_record(folder, merged)
        for stand_in in superseded(records, merged):
            (folder / f"{stand_in.environment.id}.json").unlink(missing_ok=True)
        return load_record(path)


def _release(version: str) -> Version | None:
    """The release that a version is a build of; None for what is no version."""
    try:
        return Version(Version(version).public)
    except ValueError:
        return None
