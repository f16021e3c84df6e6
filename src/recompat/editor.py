"""The claims of ``expectations.toml`` made to say what was observed, case by case, and told in a sentence for each. Pure."""

import datetime as dt
import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec
from packaging.version import Version

from recompat.blocks import Blocks, edited, inline, new_body
from recompat.boundary import Ending
from recompat.cases import Case, CaseFile
from recompat.errors import ConfigurationError
from recompat.expectations import TO_WRITE, Expectation, Expectations
from recompat.model import Outcome
from recompat.observed import counts_warnings
from recompat.ranges import Range, settle
from recompat.replays import bare_name
from recompat.report.text import clean
from recompat.tracks import Beside, beside_text

__all__ = ["Editor", "Terms"]

WARNING = frozenset({Outcome.PASS, Outcome.RAISES, Outcome.DIFFERS})


class Terms(msgspec.Struct, frozen=True):
    """What holds for every case: the releases that are known, those to be accepted, and what new claims say beside."""

    releases: frozenset[Version]
    accepted: frozenset[Version]
    today: dt.date
    reason: str | None = None
    link: str | None = None


class Editor:
    """The file while it is edited.

    Args:
        text: what it says, as TOML.
        name: what a fault calls it.
        claims: what it says, as it was read.
    """

    def __init__(self, text: str, name: str, claims: Expectations, terms: Terms) -> None:
        self._before, self._name, self._claims, self._terms = text, name, claims, terms
        self.changes: list[str] = []

    @property
    def text(self) -> str:
        """What it is to be; its own bytes where nothing changes."""
        return self._blocks.text if self.changes else self._before

    @functools.cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self._before, self._name)

    def settle(self, case: Case, file: CaseFile, seen: Mapping[Version, Ending]) -> None:
        """Let the claims of a case say how it ended on each release.

        Raises:
            ConfigurationError: a range cannot be told apart from another claim's, or the file is not written as one table
                for each claim.
        """
        held = self._claims.by_case.get(case.id, ())
        try:
            ranges = settle(held, seen, self._terms.accepted, self._terms.releases)
        except ConfigurationError as error:
            raise ConfigurationError(f"{case.id}: {error}") from error
        lasting = {number for number, claim in enumerate(held) if self._lasts(claim, seen)}
        if not lasting and ranges == tuple(Range(None, number) for number in range(len(held))):
            return
        self.changes.append(f"{case.id}: {'; '.join(self._told(case.id, held, ranges, lasting))}.")
        bodies = [(one.by if isinstance(one.by, int) else None, self._body(case, held, one, lasting)) for one in ranges]
        if held:
            self._blocks.rewrite(case.id, bodies)
        else:
            self._add(case, file, [body for _, body in bodies])

    def settle_apart(self, case: Case, file: CaseFile, seen: Mapping[Beside, Mapping[Version, Ending]]) -> None:
        """Let the claims of a case say how it ended with each that may stand beside torch; then each has claims of its own.

        Raises:
            ConfigurationError: as ``settle`` does.
        """
        held = self._claims.by_case.get(case.id, ())
        apart = {beside: self._ranges(case, beside, endings) for beside, endings in seen.items()}
        changed = [beside for beside, ranges in apart.items() if ranges is not None]
        if not changed:
            return
        lines: list[tuple[int | None, str]] = []
        for beside, ranges in apart.items():
            for one in self._as_they_are(held, beside) if ranges is None else ranges:
                number = one.by if isinstance(one.by, int) else None
                alone = number is not None and bool(held[number].beside) and sum(map(held[number].fits, seen)) == 1
                exact = None if alone else {name: f"=={version}" for name, version in beside}
                lines.append((number, self._body(case, held, one, (), exact)))
        others = [number for number, claim in enumerate(held) if not any(claim.fits(beside) for beside in seen)]
        lines += [(number, self._blocks.body(case.id, number)) for number in others]
        told = (self._told_of(case.id, held, apart[beside] or (), beside) for beside in changed)
        self.changes.append(f"{case.id}: {'; '.join(itertools.chain.from_iterable(told))}.")
        if held:
            self._blocks.rewrite(case.id, lines)
        else:
            self._add(case, file, [body for _, body in lines])

    def _ranges(self, case: Case, beside: Beside, seen: Mapping[Version, Ending]) -> tuple[Range, ...] | None:
        """The ranges beside these packages, by the numbers that the claims have in the file; None where nothing changes."""
        held = self._claims.by_case.get(case.id, ())
        mine = [number for number, claim in enumerate(held) if claim.fits(beside)]
        try:
            plain = [msgspec.structs.replace(held[number], beside={}) for number in mine]
            found = settle(plain, seen, self._terms.accepted, self._terms.releases)
        except ConfigurationError as error:
            raise ConfigurationError(f"{case.id} with {beside_text(beside)}: {error}") from error
        if found == tuple(Range(None, number) for number in range(len(mine))):
            return None
        return tuple(Range(one.torch, mine[one.by]) if isinstance(one.by, int) else one for one in found)

    def _as_they_are(self, held: Sequence[Expectation], beside: Beside) -> Iterator[Range]:
        return (Range(None, number) for number, claim in enumerate(held) if claim.fits(beside))

    def _told_of(
        self, case: str, held: Sequence[Expectation], ranges: Sequence[Range], beside: Beside
    ) -> Iterator[str]:
        """Say what is claimed beside these packages."""
        for one in ranges:
            said = held[one.by] if isinstance(one.by, int) else one.by
            torch = one.torch or (self._blocks.torch(case, one.by) if isinstance(one.by, int) else "")
            new = "" if isinstance(one.by, int) else "new, "
            yield f"{new}{_words(said)} on {torch} with {beside_text(beside)}"

    def _lasts(self, claim: Expectation, seen: Mapping[Version, Ending]) -> bool:
        """Whether a claim has expired and still says what was observed."""
        again = (
            claim.allows(ending.outcome, ending.exception, ending.warned)
            for release, ending in seen.items()
            if release in self._terms.accepted and claim.covers(release)
        )
        return claim.expired(self._terms.today) and any(again)

    def _told(
        self, case: str, held: Sequence[Expectation], ranges: Sequence[Range], lasting: Collection[int]
    ) -> Iterator[str]:
        """Say what changes."""
        left = dict(enumerate(held))
        for one in ranges:
            if not isinstance(one.by, int):
                yield f"new, {_words(one.by)} on {one.torch}"
                continue
            claim, was = held[one.by], self._blocks.torch(case, one.by)
            if one.torch is not None:
                yield f"{_words(claim)} on {one.torch} (was {was})"
            if left.pop(one.by, None) and one.by in lasting:
                yield f"{_words(claim)} on {one.torch or was} does not expire any more"
        kept = [claim for number, claim in enumerate(held) if number not in left]
        for number, claim in left.items():
            start = "the same on" if any(claim.says_as(other) for other in kept) else f"no longer {_words(claim)} on"
            end = " is part of it" if start == "the same on" else ""
            yield f"{start} {self._blocks.torch(case, number)}{end}"

    def _body(
        self,
        case: Case,
        held: Sequence[Expectation],
        one: Range,
        lasting: Collection[int],
        beside: Mapping[str, str] | None = None,
    ) -> str:
        """The lines of a claim; it stays as it is where neither range, last day nor packages change."""
        if isinstance(one.by, int):
            body = self._blocks.body(case.id, one.by)
            same = one.torch is None and beside is None and one.by not in lasting
            return body if same else edited(case.id, body, one.torch, lasting=one.by in lasting, beside=beside)
        ending = one.by
        telling = counts_warnings(case, held) and (ending.warned or ending.outcome in WARNING)
        values = {
            "torch": one.torch,
            "beside": None if beside is None else inline(beside),
            "outcome": ending.outcome.value,
            "exception": ending.exception,
            "warns": list(ending.warned) if telling else None,
            "reason": self._terms.reason or TO_WRITE,
            "link": self._terms.link,
        }
        return new_body(case.id, values)

    def _add(self, case: Case, file: CaseFile, bodies: Sequence[str]) -> None:
        """Put the first claims of a case where its file's are, in the order of the cases."""
        ids = [other.id for other in file.cases]
        place = ids.index(case.id)
        beside = [*reversed(ids[:place]), *reversed(ids[place + 1 :])]
        title = clean(case.title)
        section = f"---- {clean(case.family)}: {file.path.stem} ----"
        self._blocks.add(case.id, beside, (section, title), bodies)


def _words(said: Expectation | Ending) -> str:
    """Say how a case ends, in short."""
    exception = "" if said.exception is None else f" {bare_name(said.exception)}"
    warned = (said.warns if isinstance(said, Expectation) else said.warned) or ()
    return f"{said.outcome}{exception}" + (f" with {', '.join(map(bare_name, warned))}" if warned else "")
