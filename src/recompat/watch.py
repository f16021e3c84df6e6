"""``nox -s watch``: the releases that are new here are run, held against those before, and what changed is verified and told."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat import __version__
from recompat.atomic import write_atomically
from recompat.changes import Changes, ReleaseChanges, State, changes_of
from recompat.clock import now
from recompat.console import wants_colour, width
from recompat.errors import ConfigurationError
from recompat.gather import publish, read_claims
from recompat.interpreters import platform_id
from recompat.judge import verdict
from recompat.listing import load_listing
from recompat.plan import Plan
from recompat.report.changes import render_changes_json, render_changes_markdown, render_changes_text
from recompat.report.page import Paper
from recompat.report.text import clean
from recompat.step_summary import write_step_summary
from recompat.summarise import summarise
from recompat.summary import UNEXPECTED
from recompat.tracks import Target, packed
from recompat.verify import verify
from recompat.versions import new_releases
from recompat.wheels import EnvironmentTrouble

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from recompat.errors import ExitCode
    from recompat.expectations import Expectations
    from recompat.model import CaseResult
    from recompat.summary import Summary
    from recompat.tracks import Beside

__all__ = ["Watch"]

FRESH = ("new", "pre")  # what these select is what was not run here yet


class Watch(Plan):
    """A run of what is new: by default ``--torch new``, and what an interrupted watch has left."""

    @property
    def works(self) -> bool:
        """Whether anything will be run; a verification may be all that is."""
        return bool(self._selected)

    def prepare(self, *, in_parallel: bool) -> None:
        """Note as well what is about to be run, so that a later watch tells it where this one is interrupted."""
        super().prepare(in_parallel=in_parallel)
        if self.pending:
            self._write_changes(self._changes(tuple(map(_begun, self.targets))))

    def tell(self) -> ExitCode:
        """Judge, verify what changed, write and print it; return what it amounts to.

        Raises:
            ConfigurationError: a file that cannot be used, or an option of another session.
            Interrupted: by Ctrl-C or SIGTERM; the next watch goes on.
        """
        if self.options.format:
            raise ConfigurationError("--format is an option of nox -s report and of recompat report; leave it out.")
        # Oldest first, judged anew each time: what a release is compared with has to be known itself.
        troubles = [self._verify([*self._judged()][place]) for place in range(len(self.targets))]
        told = self._changes(tuple(self._judged()), filter(None, troubles))
        if told.releases:
            site = self._summary(recorded=True)
            publish(self._setup.project, site, self._records)
            write_step_summary(site, os.environ)
        self._write_changes(told)
        paper = Paper(width(), wants_colour(), -self.options.quiet)
        print(render_changes_text(told, paper), end="")  # noqa: T201
        return told.exit_code

    def _judged(self) -> Iterator[ReleaseChanges]:
        """Hold each selected target against what is recorded on this interpreter and platform, beside the same packages."""
        expectations = read_claims(self._setup, self._selected, self._records)
        tracks = {beside: self._track(beside, expectations) for beside in {one.beside for one in self.targets}}
        for target in self.targets:
            summary, results = tracks[target.beside]
            release = str(target.torch)
            recorded = {column.torch for column in summary.environments}
            yield changes_of(summary, results, release) if release in recorded else self._not_run(target)

    def _track(self, beside: Beside, expectations: Expectations) -> tuple[Summary, dict[tuple[str, str], CaseResult]]:
        """Judge what is recorded beside these packages; the results are by case and environment."""
        targets = [Target(release, beside) for release in {*self._recorded(), *self._selected}]
        own = [found for target in targets if (found := self._record(target))]
        told = [one for one in own if one.results or Version(one.environment.torch) in self._selected]
        setup = self._setup
        listing = load_listing(setup.project.listing)
        summary = summarise(told, setup.files, setup.cases, expectations, now(), listing)
        return summary, {(result.case, one.environment.id): result for one in told for result in one.results}

    def _not_run(self, target: Target) -> ReleaseChanges:
        count, reason = len(self._setup.cases), "It was not run to its end."
        return msgspec.structs.replace(_begun(target), cases=count, missing=count, reason=reason)

    def _verify(self, release: ReleaseChanges) -> str | None:
        """Run again what seems to have changed; return a sentence if that was not possible."""
        target = Target(Version(release.torch), packed(release.beside))
        record = self._record(target)
        cases = {change.case for change in release.of(State.UNVERIFIED)}
        if record is None or not cases:
            return None
        try:
            verify(self._setup, record, cases, self._sources, self._say_once)
        except EnvironmentTrouble as error:
            return f"What changed in torch {target} was not verified: {clean(error.trouble.reason)}"
        del self._records  # they are read again
        return None

    def _changes(self, releases: tuple[ReleaseChanges, ...], troubles: Iterable[str] = ()) -> Changes:
        listing = load_listing(self._setup.project.listing)
        newest = max((one for one in self._recorded() if not one.is_prerelease), default=None)
        return Changes(
            recompat=__version__,
            generated=now(),
            platform=platform_id(),
            fail_on=self.options.fail_on or "unexpected",
            reached=not self._asks or self._sources().reached,
            listed=None if listing is None else listing.date,
            newest_listed=None if listing is None else listing.releases[-1],
            newest_recorded=None if newest is None else str(newest),
            unreviewed=0 if releases or newest is None else self._unexpected(newest),
            releases=releases,
            notices=(*self._run.told, *troubles),
        )

    def _unexpected(self, release: Version) -> int:
        """Count what is not as expected on a release that is recorded."""
        claims = read_claims(self._setup, [], self._records)
        asked = {address.id: address.sha256 for address in self._setup.addresses}
        targets = self._setup.targets([release])
        return sum(
            verdict(one, claims.for_(one.case, release, target.beside)) in UNEXPECTED
            for target in targets
            if (record := self._record(target)) is not None
            for one in record.results
            if asked.get(one.case) == one.sha256
        )

    def _write_changes(self, changes: Changes) -> None:
        reports = self._setup.project.reports
        write_atomically(reports / "changes.json", render_changes_json(changes).encode())
        write_atomically(reports / "changes.md", render_changes_markdown(changes).encode())

    @property
    def _words(self) -> list[str]:
        return [word.strip() for word in (self.options.torch or "new").split(",")]

    @property
    def _asks(self) -> bool:
        """Whether an index has to be asked to know what this is about."""
        return any(word in FRESH for word in self._words)

    @functools.cached_property
    def _selected(self) -> Sequence[Version]:
        return self._run.releases(f"watch {self.options.torch}", self._select)

    def _select(self) -> Sequence[Version]:
        rest = ",".join(word for word in self._words if word not in FRESH)
        chosen = set(self._select_named(rest)) if rest else set()
        left = _left(self._setup.project.reports / "changes.json")
        seen = self._seen()
        if "new" in self._words:
            chosen.update(new_releases(self._sources().offered.releases, seen))
            chosen.update(one for one in left if not one.is_prerelease)
        if "pre" in self._words:
            chosen.update(one for one in self._select_named("pre") if one not in seen)
            chosen.update(one for one in left if one.is_prerelease)
        return sorted(chosen)

    def _of_records(self) -> Sequence[Version]:
        """All of them: the site shows a release that is new beside the others."""
        return self._recorded()


def _begun(target: Target) -> ReleaseChanges:
    return ReleaseChanges(torch=str(target.torch), beside=dict(target.beside) or msgspec.UNSET)


class _Release(msgspec.Struct):
    torch: str
    complete: bool


class _Left(msgspec.Struct):
    """What is read of an earlier ``changes.json``."""

    releases: tuple[_Release, ...]


def _left(path: Path) -> list[Version]:
    """The releases that an earlier watch did not get to the end of; a file that cannot be read tells of none."""
    try:
        known = msgspec.json.decode(path.read_bytes(), type=_Left)
        return [Version(one.torch) for one in known.releases if not one.complete]
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return []
