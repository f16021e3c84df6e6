"""What a run is about: which releases, what of them has to be run, and where their wheels come from."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from recompat.atomic import write_atomically
from recompat.axes import products
from recompat.clock import now
from recompat.console import readers_may_leave, tell, wants_colour, width
from recompat.environment import drop_unused_environment
from recompat.errors import ConfigurationError, ExitCode, NothingSelected
from recompat.gather import gather, publish, read_claims
from recompat.interpreters import platform_id, running
from recompat.judging import judged
from recompat.listing import save_listing
from recompat.model import Replay
from recompat.progress import Progress
from recompat.record import load_records, releases_of
from recompat.replays import label
from recompat.report.formats import FORMATS
from recompat.report.terminal import render_terminal
from recompat.room import free_gib
from recompat.setup import load_setup
from recompat.sources import Source, configured_folders, find_sources
from recompat.standing import is_candidate, record_of
from recompat.step_summary import write_step_summary
from recompat.tools import check_uv
from recompat.tracks import Target, target_of
from recompat.unchanged import remember
from recompat.versions import Offered, select_releases
from recompat.wheels import EnvironmentTrouble, choose_wheel
from recompat.work import Work, build_of, pending_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from packaging.version import Version

    from recompat.ahead import Ahead
    from recompat.model import Record
    from recompat.options import Options
    from recompat.project import Project
    from recompat.run_folder import RunFolder
    from recompat.sources import Sources
    from recompat.summary import Summary
    from recompat.tracks import Beside

__all__ = ["Plan", "drawn", "show"]

NEEDED_GIB = 15  # free disk at the peak of a run on CUDA builds, with a wide margin
NEEDED_CPU_GIB = 4


class Plan:
    """A run, from its options; every process that reads the noxfile makes its own.

    Raises:
        RecompatError: a file or an option that cannot be used, or a selector that matches nothing.
    """

    def __init__(self, project: Project, run: RunFolder, options: Options) -> None:
        self.options = options
        self._run = run
        self._setup = load_setup(project, options)

    @property
    def known(self) -> Sequence[Target]:
        """All of ``matrix.toml``, and what was asked for in this run: whatever has a session."""
        releases = sorted({*self._run.selected, *self._setup.matrix.default, *self._selected})
        return [Target(release, beside) for release in releases for beside in products(self._setup.matrix.axes)]

    @property
    def selected(self) -> Sequence[Version]:
        """The releases that were asked for."""
        return self._selected

    @property
    def targets(self) -> Sequence[Target]:
        """The same, each with all that is selected to stand beside it."""
        return self._setup.targets(self._selected)

    @property
    def besides(self) -> Sequence[Beside]:
        """All that is selected to stand beside a release."""
        return products(self._setup.axes)

    @property
    def local(self) -> Sequence[Version]:
        """The releases that are known here: of ``matrix.toml``, and recorded ones."""
        return [*self._setup.matrix.releases, *self._recorded()]

    @property
    def seen(self) -> Collection[Version]:
        """The releases that are no news."""
        return self._seen()

    @property
    def sources(self) -> Sources:
        """What the sources offer, asked once per run."""
        return self._sources()

    @property
    def works(self) -> bool:
        """Whether anything will be run, so that no other run may be at work."""
        return bool(self.pending)

    @functools.cached_property
    def pending(self) -> Sequence[Target]:
        """What of that has something to run before it can be judged.

        None where the expectations cannot be used, or one format alone was asked for: ``report`` will say so, and nothing
        should have been run for that.
        """
        if self.options.format:
            return []
        try:
            read_claims(self._setup, self._selected, self._records)
        except ConfigurationError:
            return []
        return [target for target in self.targets if pending_of(self._setup, target.torch, self._record(target))]

    def prepare(self, *, in_parallel: bool) -> None:
        """Get ready, before any session begins; sessions that run in processes of their own show nothing until they end."""
        if self.pending:
            check_uv()
        if in_parallel or self.options.jobs:
            self._announce()

    def _announce(self) -> None:
        """Say what has to be known before anything is installed, if anything will be taken from the default index."""
        sources = self._sources()
        for release in {target.torch for target in self.pending}:
            with contextlib.suppress(EnvironmentTrouble):
                if choose_wheel(release, sources).source is Source.DEFAULT:
                    self._say_once()

    def probe(
        self, target: Target, location: Path, ahead: Ahead | None = None, following: Target | None = None
    ) -> None:
        """Bring the record of ``target`` up to date, with an environment at ``location``.

        Args:
            ahead: what installs ``following`` while the cases run, if there is room for two; it is done when this returns.
            following: what comes next, if anything does.
        """
        if self.options.exitfirst and self._run.stopped_by:
            self._run.tell(f"torch {target} was not run: {self._run.stopped_by} has an unexpected cell (-x).")
            drop_unused_environment(location)
            return
        progress = Progress(f"torch {target}", quiet=self.options.quiet)
        meanwhile = functools.partial(self._begin, ahead, following, location)
        work = Work(self._setup, target, location, progress, ahead=ahead, meanwhile=meanwhile)
        record = work.run(self._sources, self._say_once)
        if work.kept:
            self._run.tell(
                f"torch {target} was not run again ({work.kept.kind.value}); what was recorded before is shown."
            )
        progress.say(f"not run again: {work.kept.kind.value}" if work.kept else _ending(record))
        if self.options.exitfirst and self._is_unexpected(record):
            self._run.stop(f"torch {target}")
        if ahead is not None and ahead.busy:
            with progress.step("waiting", f"for torch {following} to be installed"):
                ahead.wait()

    def _begin(self, ahead: Ahead | None, following: Target | None, location: Path) -> None:
        """Begin to install what comes next, unless it may be left out or stand there already, or there is no room."""
        if ahead is None or following is None or self.options.exitfirst or self.options.keep:
            return
        with contextlib.suppress(EnvironmentTrouble):  # it is told when its turn comes
            wheel = choose_wheel(following.torch, self._sources())
            build, by_default = build_of(self._setup, following, wheel), wheel.source is Source.DEFAULT
            if free_gib(self._setup.project.root) >= (NEEDED_GIB if by_default else NEEDED_CPU_GIB):
                if by_default:
                    self._say_once()
                ahead.begin(build, location)

    def _is_unexpected(self, record: Record) -> bool:
        """Whether a cell of it is not as expected."""
        setup = self._setup
        known = (*self._records, record)
        summary = judged(setup.project, setup.matrix, setup.files, setup.cases, [record], known)
        return summary.exit_code is ExitCode.UNEXPECTED

    def report(self, *, recorded: bool = False) -> ExitCode:
        """Publish the site and print the table, or print one format alone; return what it amounts to.

        Args:
            recorded: without ``--torch``, report every recorded release instead of the default ones.

        Raises:
            ConfigurationError: a file that cannot be used, or one format asked of a run, whose output has its progress too.
        """
        if self.options.format and not recorded:
            raise ConfigurationError("--format is an option of nox -s report and of recompat report; leave it out.")
        if self.options.fail_on:
            raise ConfigurationError("--fail-on is an option of nox -s watch; leave it out.")
        summary = self._summary(recorded=recorded)
        if self.options.format:
            self._write(FORMATS[self.options.format].render(summary))
        else:
            publish(self._setup.project, summary, self._records)
            table = drawn(summary)
            if not (recorded or self._run.told or self.pending):
                remember(self._setup.project, self.options, summary, table)
            show(summary, table)
        tell(*summary.notices)
        return ExitCode.INCOMPLETE if self._run.told and summary.exit_code is ExitCode.OK else summary.exit_code

    def _summary(self, *, recorded: bool) -> Summary:
        releases = self._of_records() if recorded else self._selected
        setup = self._setup.with_recorded(self._records) if recorded else self._setup
        found = gather(setup, self._records, releases, anywhere=recorded)
        return msgspec.structs.replace(found, notices=(*self._run.told, *found.notices))

    def _write(self, content: bytes) -> None:
        """Write a report of one format: in UTF-8 wherever it goes, since some of them say so themselves."""
        out = self.options.out
        if out is None:
            with readers_may_leave():
                sys.stdout.buffer.write(content)
        elif out.exists() and not out.is_file():  # such as /dev/stdout
            out.write_bytes(content)
        else:
            write_atomically(out.resolve(), content)

    @functools.cached_property
    def _records(self) -> Sequence[Record]:
        """All that is recorded; a session of one release needs its own alone, and there may be much."""
        records, set_aside = load_records(self._setup.project.records)
        tell(*set_aside)
        return records

    @functools.cached_property
    def _selected(self) -> Sequence[Version]:
        if self.options.torch is None:
            return self._setup.matrix.default
        selector = self.options.torch
        return self._run.releases(selector, lambda: self._select_named(selector))

    def _select_named(self, selector: str) -> Sequence[Version]:
        return select_releases(selector, self.local, self._offered, self._seen)

    def _of_records(self) -> Sequence[Version]:
        """What is recorded, or what ``--torch`` names of that and of ``matrix.toml``: no index is asked."""
        recorded = self._recorded()
        if self.options.torch is not None:
            known = sorted({*self._setup.matrix.releases, *recorded})
            return select_releases(self.options.torch, known, lambda: Offered.of(known), self._seen)
        if not recorded:
            raise NothingSelected("Nothing is recorded yet; nox -s matrix runs the cases.")
        return recorded

    def _recorded(self) -> Sequence[Version]:
        return sorted(releases_of(self._records))

    def _seen(self) -> Collection[Version]:
        """The releases that have results here; where there are none, those that ``matrix.toml`` names."""
        found = [self._record(target) for target in {target_of(record.environment) for record in self._records}]
        named = bool(self._setup.index_urls)
        done = [record for record in found if record and record.results and (named or not is_candidate(record))]
        return releases_of(done) or self._setup.matrix.releases

    def _offered(self) -> Offered:
        """What the sources have; where no index answers, what is known here as well."""
        sources = self._sources()
        if sources.reached:
            return sources.offered
        return Offered.of((*self._setup.matrix.releases, *self._recorded(), *sources.offered.named))

    def _record(self, target: Target) -> Record | None:
        return record_of(self._records, target, running(), platform_id())

    def _sources(self) -> Sources:
        """What the sources offer, asked once per run."""
        return self._run.sources(self._find_sources)

    def _find_sources(self) -> Sources:
        """Ask them, and keep what the index lists for reports that are made offline."""
        matrix, options = self._setup.matrix, self.options
        folders = [*options.find_links, *matrix.find_links]
        urls = self._setup.index_urls
        found = find_sources(options.source, configured_folders(folders), matrix.cpu_index, urls)
        if found.reached:
            with contextlib.suppress(OSError):  # it can be asked again
                save_listing(self._setup.project.listing, found.listed, now())
        if Source.NAMED in found.silent:
            why = found.silent[Source.NAMED]
            self._run.tell(f"{why[:1].upper()}{why[1:]}; what it may offer was not looked at.")
        return found

    def _say_once(self) -> None:
        """Say, once per run, what the default index means: what is downloaded, and what disk that needs."""
        if not self._run.first("said"):
            return
        notice = self._sources().notice
        free = free_gib(self._setup.project.root)
        if notice:
            tell(f"NOTE: {notice}")
        if free < NEEDED_GIB:
            tell(f"NOTE: {free:.1f} GiB of disk are free, and a run may need {NEEDED_GIB} GiB at its peak.")


def drawn(summary: Summary) -> str:
    """Draw the table as it is to look here."""
    return render_terminal(summary, width=width(), colour=wants_colour())


def show(summary: Summary, table: str) -> None:
    """Print the table, and write GitHub's summary of the step where there is one."""
    write_step_summary(summary, os.environ)
    print(table)  # noqa: T201


def _ending(record: Record) -> str:
    if record.trouble:
        return f"not run: {record.trouble.kind.value}"
    counts = Counter(label(result.trials[Replay.COLD]) for result in record.results)
    outcomes = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return f"recorded in {sum(record.run.seconds.values()):.0f} s: {outcomes}"
