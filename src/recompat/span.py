"""The releases that a bisection goes along, and what is known of them before it begins."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat.aspects import Aspect, answer_of
from recompat.axes import products
from recompat.cells import make_cell
from recompat.console import tell
from recompat.errors import ConfigurationError, NothingSelected
from recompat.gather import read_claims
from recompat.interpreters import platform_id, running
from recompat.listing import load_listing
from recompat.lookup import find_case
from recompat.model import Record, TroubleKind
from recompat.options import Options
from recompat.plan import Plan
from recompat.project import Project
from recompat.record import load_records, releases_of
from recompat.search import Answer, Found, Skipped, changes, recorded_ends
from recompat.setup import load_setup
from recompat.standing import most_telling, record_of
from recompat.tracks import Target, packed
from recompat.versions import Offered
from recompat.work import pending_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recompat.cases import Case, CaseFile
    from recompat.run_folder import RunFolder
    from recompat.setup import Setup
    from recompat.sources import Sources
    from recompat.tracks import Beside

__all__ = ["Request", "Span"]

OF_THE_RELEASE = {TroubleKind.INSTALL_FAILED, TroubleKind.IMPORT_FAILED, TroubleKind.WRONG_VERSION}
LISTED_PREVIEWS = 3


class Request(msgspec.Struct, frozen=True):
    """What was asked for: a case, what is followed of it, and from which release to which, where that was said.

    With ``verify`` nothing that is recorded counts.
    """

    case: str
    options: Options
    aspect: Aspect = Aspect.EXCEPTION
    start: Version | None = None
    end: Version | None = None
    verify: bool = False


class Span:
    """A case along the releases of a range.

    Records from elsewhere, and the accepted ones, tell where to begin and no more: they are neither believed nor written to.

    Raises:
        ConfigurationError: a file that cannot be used, or a case that may be several.
        NothingSelected: there is no such case.
    """

    def __init__(self, project: Project, run: RunFolder, request: Request) -> None:
        self.request = request
        here = Project(project.root)
        self._plan = Plan(here, run, request.options)
        setup = load_setup(here, request.options)
        self.file, self.case = _find(setup, request.case)
        self.setup = msgspec.structs.replace(setup, cases=(self.case,))
        self.beside = _beside(self.setup)
        self._records = load_records(here.records)[0]
        self._others = load_records(project.elsewhere or here.baseline)[0]
        self.listed: str | None = None
        read_claims(setup, (), self._records)  # what is wrong with them is better said before anything is installed

    @property
    def sources(self) -> Sources:
        """What the sources offer, asked once."""
        return self._plan.sources

    @functools.cached_property
    def offered(self) -> Offered:
        """What there is to try; where no index answers, what it had when it last did."""
        sources = self.sources
        if sources.reached:
            return sources.offered
        listing = load_listing(self.setup.project.listing)
        self.listed = listing.date if listing else None
        tell(f"No index is in reach; the releases are those of {self.listed or 'matrix.toml'}.")
        known = listing.versions if listing else self.setup.matrix.releases
        return Offered.of((*known, *sources.offered.named))

    @functools.cached_property
    def releases(self) -> Sequence[Version]:
        """Those of the range, oldest first.

        Raises:
            NothingSelected: no range was named and the records know of no change, or a release that was named is not there.
        """
        start, end = sorted(self._ends())
        return [release for release in sorted({*self._pool(start, end), start, end}) if start <= release <= end]

    @property
    def elsewhere(self) -> tuple[tuple[Version, Version], ...]:
        """Changes outside of the range that the records know, newest first, each by the releases that it lies between."""
        start, end = self.releases[0], self.releases[-1]
        known = {**self._answers(self._others), **self._here}
        found = ((change.last, change.first) for change in changes(sorted(known), known))
        return tuple((last, first) for last, first in found if first <= start or last >= end)

    @property
    def recorded(self) -> dict[Version, Found]:
        """What stands in the records of this machine: results, and trouble that another try would meet again."""
        known = {release: self._known(release) for release in self.releases}
        return {release: found for release, found in known.items() if found is not None}

    def answer(self, record: Record) -> Found:
        """What a record says of the case."""
        result = next((result for result in record.results if result.case == self.case.id), None)
        cell = make_cell(self.case, self.file, record, result, None)
        return answer_of(cell, result.evidence if result else None, self.request.aspect)

    def _known(self, release: Version) -> Found | None:
        record = record_of(self._records, Target(release, self.beside), running(), platform_id())
        if record is None:
            return None
        if not pending_of(self.setup, release, record):
            return self.answer(record)
        same = (record.run.probe_sha256, record.run.options) == (self.setup.probe_sha256, self.setup.terms(release))
        if same and record.trouble is not None and record.trouble.kind in OF_THE_RELEASE:
            return Skipped(record.trouble.reason, trouble=True)
        return None

    @functools.cached_property
    def _here(self) -> Mapping[Version, Answer]:
        """What was recorded on this machine; not all of it need stand."""
        return self._answers(record for record in self._records if record.environment.platform == platform_id())

    def _answers(self, records: Iterable[Record]) -> Mapping[Version, Answer]:
        """What records say, by release: of this interpreter if there is any, else of the most telling one."""
        known = [record for record in records if packed(record.environment.beside) == self.beside]
        found: dict[Version, Answer] = {}
        for release in releases_of(known):
            own = record_of(known, Target(release, self.beside), running(), platform_id())
            record = own or most_telling(one for one in known if Version(one.environment.torch) == release)
            answer = self.answer(record) if record else None
            if isinstance(answer, Answer):
                found[release] = answer
        return found

    def _pool(self, start: Version, end: Version) -> Iterable[Version]:
        """What may be tried: pre-releases only if an end is one, or if an index was named for them."""
        options = self.request.options
        if options.torch is not None:
            return self._plan.selected
        if options.index_urls or start.is_prerelease or end.is_prerelease:
            return {*self.offered.releases, *self.offered.previews, *self._here}
        return {release for release in (*self.offered.releases, *self._here) if not release.is_prerelease}

    def _ends(self) -> tuple[Version, Version]:
        start, end = self.request.start, self.request.end
        if start is not None and end is not None:
            self._check(start, end)
            return start, end
        for known in (self._here, self._answers(self._others)):
            ends = recorded_ends(known, start, end)
            if ends is not None:
                self._check(*ends)
                return ends
        if start is not None and self.offered.releases:
            self._check(start)
            return start, self.offered.releases[-1]
        raise NothingSelected(
            f"The records know of no change of {self.case.id} in {self.request.aspect}; name two releases with --from and"
            f" --to. recompat show {self.case.id} tells what is recorded."
        )

    def _check(self, *named: Version) -> None:
        offered = self.offered
        for release in named:
            if self.sources.reached and release not in offered.named and release not in self._here:
                there = ", ".join(map(str, (*offered.releases, *offered.previews[-LISTED_PREVIEWS:])))
                raise NothingSelected(f"There is no torch {release}. There are: {there or 'none'}.")


def _beside(setup: Setup) -> Beside:
    """What stands beside every release: where there is a choice, it has to be made.

    Raises:
        ConfigurationError: it was not.
    """
    first, *more = products(setup.axes)
    if more:
        options = " ".join(f"--axis {one}" for one in Target(Version("0"), first).requirements)
        raise ConfigurationError(
            f"matrix.toml has {len(more) + 1} ways to fill what stands beside torch, and a bisection follows one: {options}."
        )
    return first


def _find(setup: Setup, name: str) -> tuple[CaseFile, Case]:
    case_id = find_case(name, [case.id for file in setup.files for case in file.cases])
    file, case = next((file, case) for file in setup.files for case in file.cases if case.id == case_id)
    if file.fault is not None:
        raise ConfigurationError(f"{file.path.name} cannot be run: {file.fault}")
    return file, case
