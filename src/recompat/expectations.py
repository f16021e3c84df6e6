"""``matrix/expectations.toml``: what each case is claimed to do on which releases, and why.

A claim that could never be held against a cell (an unknown case, a range without a release, two ranges that speak of the
same release) is an error and not a warning, so that the file cannot rot. A claim that has expired is no fault of the file:
it no longer counts, so that the cells it spoke of are unexpected, and every other cell is judged as before.
"""

import datetime as dt
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, Self

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from recompat.cases import CaseFile
from recompat.model import Outcome
from recompat.tables import Faults, Row, close_to, read_row, read_toml
from recompat.tracks import ALONE, Beside, beside_text
from recompat.versions import covers

__all__ = [
    "TO_WRITE",
    "Expectation",
    "Expectations",
    "is_qualified",
    "is_unwritten",
    "is_web_address",
    "load_expectations",
    "shared",
]

TO_WRITE: Final = "TODO: say what in torch makes it so."
"""The reason of a claim that ``recompat accept`` wrote, until someone gives one."""

MOST_CLAIMS: Final = 100  # of a case: each is held against each


class Expectation(Row, frozen=True):
    """A hand-reviewed claim: on the releases ``torch``, a case ends with ``outcome``.

    ``exception`` is a qualified type, such as ``builtins.IndexError``. ``warns`` are the categories of the warnings that
    the case gives and its reference does not, each a qualified type; without it, warnings are no part of the claim.
    ``until`` is the last day, in UTC, on which the claim counts. ``beside`` are ranges of versions of packages that are an axis
    of the matrix; without it, the claim speaks of all.
    """

    torch: SpecifierSet
    outcome: Outcome
    reason: str
    exception: str | None = None
    link: str | None = None
    warns: tuple[str, ...] | None = None
    until: dt.date | None = None
    beside: dict[str, SpecifierSet] = msgspec.field(default_factory=dict)

    @property
    def unwritten(self) -> bool:
        """Whether its reason is still to be written."""
        return is_unwritten(self.reason)

    def expired(self, today: dt.date) -> bool:
        """Whether its last day is past."""
        return self.until is not None and today > self.until

    def allows(self, outcome: Outcome, exception: str | None, warned: Collection[str]) -> bool:
        """Whether this is how the case is claimed to end; ``warned`` are the categories of its warnings."""
        same_warnings = self.warns is None or {*self.warns} == {*warned}
        return outcome is self.outcome and self.exception in {None, exception} and same_warnings

    def says_as(self, other: Self) -> bool:
        """Whether another claim differs in nothing but its releases."""
        return msgspec.structs.replace(self, torch=other.torch) == other

    def covers(self, version: Version, beside: Beside = ALONE) -> bool:
        """Whether the claim speaks of this release beside these; a pre-release counts as the one that it leads to."""
        return covers(self.torch, version) and self.fits(beside)

    def fits(self, beside: Beside) -> bool:
        """Whether the claim speaks of these packages beside torch, on whichever release."""
        there = dict(beside)
        return all(name in there and covers(wanted, Version(there[name])) for name, wanted in self.beside.items())

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        """Find a claim that names no exception or a bare one, that says no reason, or whose link is not one."""
        if self.outcome is Outcome.NOT_RUN:
            yield "outcome", "is not-run, which claims nothing about torch; remove the row."
        if self.outcome is Outcome.RAISES and self.exception is None:
            yield "exception", 'is missing; add the qualified type, such as "builtins.RuntimeError".'
        if self.outcome not in {Outcome.RAISES, Outcome.MOOT} and self.exception is not None:
            yield "exception", f"goes with raises and moot, and the outcome is {self.outcome}; remove one."
        if self.exception is not None and not is_qualified(self.exception):
            yield "exception", f'is {self.exception!r}; write the qualified type, such as "builtins.RuntimeError".'
        for category in self.warns or ():
            if not is_qualified(category):
                yield "warns", f'names {category!r}; write the qualified type, such as "builtins.UserWarning".'
        if not self.reason.strip():
            yield "reason", "is empty; say what in torch makes it so."
        if self.link is not None and not is_web_address(self.link):
            yield "link", f"is {self.link!r}; write an http or https URL."


class Expectations(msgspec.Struct, frozen=True):
    """All claims, by the id of their case."""

    by_case: dict[str, tuple[Expectation, ...]]

    def for_(self, case_id: str, version: Version, beside: Beside = ALONE) -> Expectation | None:
        """Find the claim for a case on a release and what stands beside it, if there is one; there are never two."""
        return next((claim for claim in self.by_case.get(case_id, ()) if claim.covers(version, beside)), None)

    def on(self, today: dt.date) -> Self:
        """Those that have not expired; a day is one of UTC."""
        counting = {
            case: tuple(claim for claim in claims if not claim.expired(today)) for case, claims in self.by_case.items()
        }
        return msgspec.structs.replace(self, by_case=counting)


def load_expectations(
    path: Path,
    files: Sequence[CaseFile],
    releases: Collection[Version],
    axes: Mapping[str, Collection[Version]] | None = None,
) -> Expectations:
    """Read ``expectations.toml``.

    Args:
        files: all case files, selected or not. A case of a file whose cases cannot be told counts as known.
        releases: those that a claim may speak of; a claim for none of them is a fault.
        axes: in the same way, what may stand beside torch.

    Raises:
        ConfigurationError: the file cannot be used; every fault in it is listed.
    """
    faults = Faults(path)
    observing = {case.id: case.about.observes_warnings for file in files for case in file.cases}
    known = observing.keys()
    by_case: dict[str, tuple[Expectation, ...]] = {}
    for case_id, where, rows in _tables(read_toml(path), faults):
        if case_id not in known and f"{case_id.partition('::')[0]}::*" not in known:
            faults.add(where, f"names no case; {close_to(case_id, known)}")
        claims = {
            number: read_row(row, Expectation, f"{where} #{number}", faults) for number, row in enumerate(rows, 1)
        }
        sound = {number: claim for number, claim in claims.items() if claim is not None}
        _check_ranges(where, sound, releases, faults)
        _check_beside(where, sound, axes or {}, faults)
        _check_apart(where, sound, releases, axes or {}, faults)
        if observing.get(case_id):
            _check_warns(where, sound, faults)
        by_case[case_id] = tuple(sound.values())
    if faults.found:
        raise faults.error()
    return Expectations(by_case)


def _tables(document: dict[str, object], faults: Faults) -> Iterator[tuple[str, str, list[object]]]:
    """Go through the arrays of tables: the id of a case, how the file names it, and its rows."""
    for stem, cases in document.items():
        if not isinstance(cases, dict):
            faults.add(f"[{stem}]", f"is no table of cases; write [[{stem}.case]].")
            continue
        for name, rows in cases.items():
            if isinstance(rows, list):
                yield f"{stem}::{name}", f"[[{stem}.{name}]]", rows
            else:
                faults.add(f"[{stem}.{name}]", f"is no list of claims; write [[{stem}.{name}]], with two brackets.")


def _check_ranges(where: str, claims: dict[int, Expectation], releases: Collection[Version], faults: Faults) -> None:
    for number, claim in claims.items():
        if not any(covers(claim.torch, version) for version in releases):
            listed = ", ".join(str(version) for version in sorted(releases)) or "none"
            faults.add(f"{where} #{number} torch", f"{str(claim.torch)!r} matches no release; there is {listed}.")


def _check_beside(
    where: str, claims: dict[int, Expectation], axes: Mapping[str, Collection[Version]], faults: Faults
) -> None:
    for number, claim in claims.items():
        for name, wanted in claim.beside.items():
            place = f"{where} #{number} beside"
            if name not in axes:
                faults.add(place, f"names {name!r}, which is no [[axis]] of matrix.toml; {close_to(name, axes)}")
            elif not any(covers(wanted, version) for version in axes[name]):
                listed = ", ".join(map(str, sorted(axes[name])))
                faults.add(place, f"{str(wanted)!r} matches no version of {name}; there is {listed}.")


def _check_apart(
    where: str,
    claims: dict[int, Expectation],
    releases: Collection[Version],
    axes: Mapping[str, Collection[Version]],
    faults: Faults,
) -> None:
    if len(claims) > MOST_CLAIMS:
        faults.add(
            where, f"has {len(claims)} claims, and a case may have {MOST_CLAIMS}; join ranges that say the same."
        )
        return
    for (one, first), (other, second) in combinations(claims.items(), 2):
        both = shared(first.torch, second.torch, releases)
        names = sorted(first.beside.keys() & second.beside.keys())
        meet = {name: shared(first.beside[name], second.beside[name], axes.get(name, ())) for name in names}
        if both is not None and None not in meet.values():
            also = f" with {beside_text(tuple((name, str(version)) for name, version in meet.items()))}" if meet else ""
            faults.add(f"{where} #{one} and #{other} torch", f"both cover {both}{also}; narrow one of them.")


def shared(one: SpecifierSet, other: SpecifierSet, releases: Iterable[Version]) -> Version | None:
    """A release that two ranges both speak of: a known one, or one where they begin or end; none if they are apart."""
    candidates = [*sorted(releases), *sorted({*_neighbours(one), *_neighbours(other)})]
    return next((version for version in candidates if covers(one, version) and covers(other, version)), None)


def _check_warns(where: str, claims: dict[int, Expectation], faults: Faults) -> None:
    """A case whose warnings are part of its result needs to be told which are expected."""
    for number, claim in claims.items():
        if claim.warns is None and claim.outcome in {Outcome.PASS, Outcome.RAISES, Outcome.DIFFERS}:
            mend = 'add warns = [], or the qualified types such as "builtins.UserWarning"'
            faults.add(f"{where} #{number} warns", f"is missing, and the case observes warnings; {mend}.")


@functools.lru_cache(1_000)
def _neighbours(specifiers: SpecifierSet) -> tuple[Version, ...]:
    """Where ranges begin and end: the versions that they name, and after each the next patch and the next major."""
    found: list[Version] = []
    for specifier in specifiers:
        try:
            version = Version(specifier.version.removesuffix(".*"))
            patch = Version(f"{version.major}.{version.minor}.{version.micro + 1}")
            major = Version(f"{version.major + 1}")
        except ValueError:  # `===` may name something else, and a number may have thousands of digits
            continue
        found += (version, patch, major)
    return tuple(found)


def is_unwritten(reason: str) -> bool:
    """Whether a reason is still to be written."""
    return reason.lstrip().startswith("TODO")


def is_qualified(name: str) -> bool:
    """Whether a type is named with its module."""
    parts = name.split(".")
    return len(parts) > 1 and all(part.isidentifier() or part == "<locals>" for part in parts)


def is_web_address(link: str) -> bool:
    """Whether a link can be followed in a browser, and holds nothing that ends it early."""
    scheme, _, rest = link.partition("://")
    return scheme in {"http", "https"} and bool(rest.strip("/")) and link.isprintable() and not set(link) & set(" <>")
