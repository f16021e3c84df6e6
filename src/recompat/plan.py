"""What a run is about: which releases, what of them has to be run, and where their wheels come from."""

from __future__ import annotations

import contextlib
import functools
import shutil
import sys
from collections import Counter
from typing import TYPE_CHECKING

from packaging.version import Version

from recompat.gather import gather, publish
from recompat.index import releases
from recompat.interpreters import platform_id, running
from recompat.listing import save_listing
from recompat.model import Replay
from recompat.progress import Progress
from recompat.project import load_setup
from recompat.record import load_records, now
from recompat.replays import label
from recompat.sources import Source, configured_folders, find_sources
from recompat.standing import record_of
from recompat.versions import select_releases
from recompat.work import Work, pending_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recompat.errors import ExitCode
    from recompat.model import Record
    from recompat.options import Options
    from recompat.project import Project
    from recompat.run_folder import RunFolder
    from recompat.sources import Sources

__all__ = ["Plan"]

GIB = 1 << 30
NEEDED_GIB = {Source.DEFAULT: 15, Source.CPU: 4}  # free disk at the peak of a run


class Plan:
    """A run, from its options; every process that reads the noxfile makes its own.

    Raises:
        RecompatError: a file or an option that cannot be used, or a selector that matches nothing.
    """

    def __init__(self, project: Project, run: RunFolder, options: Options) -> None:
        self.options = options
        self._run = run
        self._setup = load_setup(project, options)
        self._records, set_aside = load_records(project.records)
        for sentence in set_aside:
            _tell(sentence)

    @property
    def known(self) -> Sequence[Version]:
        """The releases of ``matrix.toml``, and those that were asked for."""
        return sorted({*self._setup.matrix.default, *self._selected})

    @property
    def pending(self) -> Sequence[Version]:
        """The selected releases that have something to run."""
        return [release for release in self._selected if pending_of(self._setup, release, self._record(release))]

    def announce(self) -> None:
        """Say what has to be known before anything is installed, if anything will be."""
        if self.pending:
            self._sources_to_install_from()

    def probe(self, release: Version, location: Path) -> None:
        """Bring the record of ``release`` up to date, with an environment at ``location``."""
        progress = Progress(f"torch {release}", quiet=self.options.quiet)
        record = Work(self._setup, release, location, progress).run(self._sources_to_install_from)
        progress.say(_ending(record))

    def report(self, *, recorded: bool = False) -> ExitCode:
        """Write the reports, print the table, and return what it amounts to.

        Args:
            recorded: without ``--torch``, report every recorded release instead of the default ones.
        """
        everything = recorded and not self.options.torch
        summary = gather(self._setup, self._recorded() if everything else self._selected)
        print(publish(self._setup, summary))  # noqa: T201
        return summary.exit_code

    @functools.cached_property
    def _selected(self) -> Sequence[Version]:
        if not self.options.torch:
            return self._setup.matrix.default
        local = [*self._setup.matrix.releases, *self._recorded()]
        return select_releases(self.options.torch, local, self._listing)

    def _recorded(self) -> Sequence[Version]:
        return sorted({Version(record.environment.torch) for record in self._records})

    def _listing(self) -> Sequence[Version]:
        """The releases on the index; where no index answers, those that are known here."""
        sources = self._sources()
        local = {*self._setup.matrix.releases, *self._recorded(), *sources.releases}
        return sources.releases if sources.reached else sorted(local)

    def _record(self, release: Version) -> Record | None:
        return record_of(self._records, release, running(), platform_id())

    def _sources(self) -> Sources:
        """What the sources offer, asked once per run."""
        return self._run.sources(self._find_sources)

    def _find_sources(self) -> Sources:
        """Ask them, and keep what the index lists for reports that are made offline."""
        matrix, options = self._setup.matrix, self.options
        folders = [*options.find_links, *matrix.find_links]
        found = find_sources(options.source, configured_folders(folders), matrix.cpu_index)
        if found.reached:
            with contextlib.suppress(OSError):  # it can be asked again
                save_listing(self._setup.project.listing, releases(found.offers[found.index]), now())
        return found

    def _sources_to_install_from(self) -> Sources:
        """The same; what has to be known before anything is installed is said once per run."""
        sources = self._sources()
        if self._run.first("said"):
            needed = NEEDED_GIB[sources.index]
            free = shutil.disk_usage(self._setup.project.root).free / GIB
            if sources.notice:
                _tell(f"NOTE: {sources.notice}")
            if free < needed:
                _tell(f"NOTE: {free:.1f} GiB of disk are free, and a run may need {needed} GiB at its peak.")
        return sources


def _tell(sentence: str) -> None:
    print(f"recompat: {sentence}", file=sys.stderr, flush=True)  # noqa: T201


def _ending(record: Record) -> str:
    if record.trouble:
        return f"not run: {record.trouble.kind.value}"
    counts = Counter(label(result.trials[Replay.COLD]) for result in record.results)
    outcomes = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return f"recorded in {sum(record.run.seconds.values()):.0f} s: {outcomes}"
