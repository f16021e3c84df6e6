"""``nox -s watch``: the releases that are new here are run, held against those before, and what changed is verified and told."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

import msgspec
from packaging.version import InvalidVersion, Version

from recompat import __version__
from recompat.changes import Changes, ReleaseChanges, State, changes_of
from recompat.console import tell, wants_colour, width
from recompat.errors import ConfigurationError
from recompat.gather import publish, read_claims
from recompat.interpreters import platform_id
from recompat.judge import verdict
from recompat.listing import load_listing
from recompat.plan import Plan
from recompat.record import load_records, now, write_atomically
from recompat.report.changes import render_changes_json, render_changes_markdown, render_changes_text
from recompat.report.page import Paper
from recompat.report.text import clean
from recompat.step_summary import write_step_summary
from recompat.summarise import summarise
from recompat.summary import UNEXPECTED
from recompat.verify import verify
from recompat.versions import new_releases
from recompat.wheels import EnvironmentTrouble

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from recompat.errors import ExitCode

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
            self._write_changes(self._changes(tuple(ReleaseChanges(torch=str(one)) for one in self._selected)))

    def tell(self) -> ExitCode:
        """Judge, verify what changed, write and print it; return what it amounts to.

        Raises:
            ConfigurationError: a file that cannot be used, or an option of another session.
            Interrupted: by Ctrl-C or SIGTERM; the next watch goes on.
        """
        if self.options.format:
            raise ConfigurationError("--format is an option of nox -s report and of recompat report; leave it out.")
        # Oldest first, judged anew each time: what a release is compared with has to be known itself.
        troubles = [self._verify([*self._judged()][place]) for place in range(len(self._selected))]
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
        """Hold each selected release against what is recorded on this interpreter and platform."""
        own = [found for one in {*self._recorded(), *self._selected} if (found := self._record(one))]
        told = [one for one in own if one.results or Version(one.environment.torch) in self._selected]
        expectations = read_claims(self._setup, self._selected, self._records)
        setup = self._setup
        listing = load_listing(setup.project.listing)
        summary = summarise(told, setup.files, setup.cases, expectations, now(), listing)
        results = {(result.case, one.environment.id): result for one in told for result in one.results}
        recorded = {one.environment.torch for one in told}
        for release in map(str, self._selected):
            yield changes_of(summary, results, release) if release in recorded else self._not_run(release)

    def _not_run(self, release: str) -> ReleaseChanges:
        count = len(self._setup.cases)
        return ReleaseChanges(torch=release, cases=count, missing=count, reason="It was not run to its end.")

    def _verify(self, release: ReleaseChanges) -> str | None:
        """Run again what seems to have changed; return a sentence if that was not possible."""
        record = self._record(Version(release.torch))
        cases = {change.case for change in release.of(State.UNVERIFIED)}
        if record is None or not cases:
            return None
        try:
            verify(self._setup, record, cases, self._sources, self._say_once)
        except EnvironmentTrouble as error:
            return f"What changed in torch {release.torch} was not verified: {clean(error.trouble.reason)}"
        self._records, set_aside = load_records(self._setup.project.records)
        tell(*set_aside)
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
        record, claims = self._record(release), read_claims(self._setup, [], self._records)
        asked = {address.id: address.sha256 for address in self._setup.addresses}
        results = [one for one in record.results if asked.get(one.case) == one.sha256] if record else []
        return sum(verdict(one, claims.for_(one.case, release)) in UNEXPECTED for one in results)

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
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, InvalidVersion, RecursionError):
        return []
