"""``recompat try``: runs a file from elsewhere on as few releases as show where it changes; the project's records stay as they are."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from recompat.aspects import Aspect, answer_of
from recompat.cells import make_cell
from recompat.console import tell
from recompat.environment import drop_unused_environment
from recompat.errors import Incomplete
from recompat.interpreters import platform_id, running
from recompat.listing import load_listing
from recompat.matrix import Extra, Matrix, load_matrix
from recompat.model import Outcome, TroubleKind
from recompat.progress import Progress
from recompat.project import Project, probe_digest
from recompat.record import load_records
from recompat.report.text import clean
from recompat.sandbox import RUNNER, Sandbox, sandbox_folder
from recompat.script_work import CaseTry, ScriptTry
from recompat.search import Answer, Found, next_release
from recompat.selection import select_cases
from recompat.setup import Setup
from recompat.sources import configured_folders, find_sources
from recompat.standing import record_of
from recompat.tracks import Target
from recompat.versions import OLDEST, Offered, select_releases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from packaging.version import Version

    from recompat.cases import Case
    from recompat.cells import Cell
    from recompat.model import Record
    from recompat.options import Options
    from recompat.run_folder import RunFolder
    from recompat.script import Script
    from recompat.sources import Sources

__all__ = ["Trying", "default_matrix"]

OF_THE_MACHINE = {TroubleKind.UNREACHABLE, TroubleKind.DISK_FULL}
OF_THE_RELEASE = {TroubleKind.INSTALL_FAILED, TroubleKind.IMPORT_FAILED, TroubleKind.WRONG_VERSION}
SCRIPT_SECONDS = 120.0  # at least, where no limit was named: a script may do all that a case does, and compile it
BUILT_IN = (
    (">=2.1,<2.2", "setuptools<81", "The first checkpoint() of torch 2.1 imports pkg_resources."),
    ("<2.3", "numpy<2", "It was built against NumPy 1."),
    (">=2.3", "numpy", "Without NumPy, torch warns."),
)


def default_matrix(project: Project | None) -> Matrix:
    """The project's ``matrix.toml``; where there is no project, the built-in defaults.

    Raises:
        ConfigurationError: the file cannot be used.
    """
    if project is not None:
        return load_matrix(project.matrix)
    extras = (Extra(SpecifierSet(torch), (Requirement(package),), why) for torch, package, why in BUILT_IN)
    return Matrix((), (), 60.0, "https://download.pytorch.org/whl/cpu", (), tuple(extras))


class Trying:
    """A file along releases: ``run`` asks one after the other, and ``records`` is what they left.

    Args:
        script: the file.
        matrix: says where wheels come from, what is installed beside torch, and where the range begins.
        more: packages besides, on every release.
        passed: names of environment variables that the file gets besides.
        listing: where the project keeps what the index offered.

    Raises:
        NothingSelected: ``-k`` matches no case.
    """

    def __init__(
        self,
        script: Script,
        matrix: Matrix,
        options: Options,
        run: RunFolder,
        *,
        more: Sequence[Requirement] = (),
        passed: Sequence[str] = (),
        listing: Path | None = None,
    ) -> None:
        self.packages = tuple(dict.fromkeys(map(str, (*script.requires, *more))))
        extra = Extra(SpecifierSet(), tuple(map(Requirement, self.packages)), "The file was to be tried with them.")
        extras = (*matrix.extras, extra) if self.packages else matrix.extras
        timeout = max(matrix.timeout, SCRIPT_SECONDS) if script.plain else matrix.timeout
        self.setup = Setup(
            project=Project(script.folder.resolve()),
            options=options,
            matrix=msgspec.structs.replace(matrix, extras=extras, default_cases=(), timeout=timeout),
            files=(script.file,),
            cases=select_cases(script.cases, options.keyword),
            probe_sha256=_digest(passed),
        )
        self.script = script
        self.records: dict[Version, Record] = {}
        self._passed = tuple(passed)
        self._run = run
        self._listing = listing

    @functools.cached_property
    def sources(self) -> Sources:
        """What the sources offer, asked once."""
        matrix, options = self.setup.matrix, self.setup.options
        folders = configured_folders([*options.find_links, *matrix.find_links])
        return find_sources(options.source, folders, matrix.cpu_index, self.setup.index_urls)

    @functools.cached_property
    def offered(self) -> Offered:
        """What there is to try; where no index answers, what it had when it last did."""
        if self.sources.reached:
            return self.sources.offered
        listing = load_listing(self._listing) if self._listing else None
        since = listing.date if listing else "matrix.toml"
        tell(f"No index is in reach; the releases are those of {since}, and of wheel folders.")
        known = listing.versions if listing else self.setup.matrix.releases
        return Offered.of((*known, *self.sources.offered.named))

    @functools.cached_property
    def releases(self) -> Sequence[Version]:
        """Those that were chosen; by default from the oldest of ``matrix.toml`` to the newest there is, oldest first.

        Raises:
            Incomplete: none is known.
            NothingSelected: ``--torch`` matches none.
        """
        selector, matrix = self.setup.options.torch, self.setup.matrix
        if selector is not None:
            return select_releases(selector, matrix.releases, lambda: self.offered)
        begin = min(matrix.default, default=OLDEST)
        found = [release for release in self.offered.releases if release >= begin]
        if not found:
            raise Incomplete(f"No index or wheel folder offers torch {begin} or newer; check the network.")
        return found

    def run(self, say: Callable[[str], None], *, shows: bool) -> None:
        """Run what has to be run: every chosen release, or enough of the range to place each change.

        Args:
            say: told what each release did.
            shows: whether the steps of each release may be drawn on the output.

        Raises:
            Incomplete: trouble with this machine, which the next release would meet too.
        """
        folder = self._begin()
        with sandbox_folder() as place:
            sandbox = Sandbox(place, self._passed)
            while (release := self._next()) is not None:
                self.records[release] = self._known(release) or self._attempt(release, folder, sandbox, shows=shows)
                say(f"torch {release}  {'; '.join(self._told(case, release) for case in self.setup.cases)}")

    def found(self, case: Case) -> Mapping[Version, Found]:
        """What is known of a case, by release."""
        return {release: self.answer(case, release) for release in self.records}

    def cell(self, case: Case, release: Version) -> Cell:
        """How a case ended on a release that was tried."""
        record = self.records[release]
        result = next((result for result in record.results if result.case == case.id), None)
        return make_cell(case, self.script.file, record, result, None)

    def answer(self, case: Case, release: Version) -> Found:
        """What a release says of a case; of a script that called ``sys.exit(3)``, the status."""
        cell = self.cell(case, release)
        if self.script.plain and cell.outcome is Outcome.RAISES and cell.exception == "builtins.SystemExit":
            return Answer(f"exit {(cell.detail or '').rpartition(' ')[2]}", f"{cell.outcome} {cell.detail}")
        return answer_of(cell, None, Aspect.EXCEPTION)

    def _next(self) -> Version | None:
        if self.setup.options.torch is not None:
            return next((release for release in self.releases if release not in self.records), None)
        asked = (next_release(self.releases, self.found(case)) for case in self.setup.cases)
        return next(filter(None, asked), None)

    def _told(self, case: Case, release: Version) -> str:
        answer = self.answer(case, release)
        text = answer.text if isinstance(answer, Answer) else answer.reason
        return clean(text if len(self.setup.cases) == 1 else f"{case.id.partition('::')[2]} {text}", 160)

    def _begin(self) -> Path:
        """Keep other tries of the same file out, and drop what one that was killed left half done."""
        folder = self.setup.project.root / "environments"
        folder.mkdir(parents=True, exist_ok=True)
        self._run.hold(
            folder.with_name("try.lock"), lambda who: tell(f"this file is being tried already{who}; waiting for that.")
        )
        for left in folder.iterdir():
            drop_unused_environment(left)
        return folder

    def _known(self, release: Version) -> Record | None:
        """What an earlier try met that another one would meet again: packages that do not go with the release."""
        if self.setup.options.rerun is not None:
            return None
        records, _ = load_records(self.setup.project.records)
        record = record_of(records, Target(release), running(), platform_id())
        if record is None or record.trouble is None or record.trouble.kind not in OF_THE_RELEASE:
            return None
        same = (record.run.probe_sha256, record.run.options) == (self.setup.probe_sha256, self.setup.terms(release))
        return record if same else None

    def _attempt(self, release: Version, folder: Path, sandbox: Sandbox, *, shows: bool) -> Record:
        progress = Progress(f"torch {release}", quiet=not shows)
        kind = ScriptTry if self.script.plain else CaseTry
        work = kind(self.setup, Target(release), folder / str(release), progress, sandbox.probe)
        work.asked = self.script.python
        if isinstance(work, ScriptTry):
            work.start = sandbox.script
        try:
            record = work.run(lambda: self.sources, self._announce)
        finally:
            sandbox.end_processes()
        trouble = work.kept or record.trouble
        if trouble is not None and trouble.kind in OF_THE_MACHINE:
            raise Incomplete(f"{clean(trouble.reason)} What was run is kept; the same command goes on from there.")
        if work.kept:
            tell(f"torch {release} was not run again, and an earlier result is shown: {clean(work.kept.reason)}")
        return record

    def _announce(self) -> None:
        if self.sources.notice and self._run.first("said"):
            tell(f"NOTE: {self.sources.notice}")


def _digest(passed: Sequence[str]) -> str:
    """What results depend on besides the file and its packages: the probe, the runner, and which variables were passed."""
    return hashlib.sha256(f"{probe_digest()} {RUNNER.read_text('utf-8')} {sorted(passed)}".encode()).hexdigest()
