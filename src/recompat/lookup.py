"""What a user names: a case or an environment, by its id or an unambiguous part of it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from recompat.axes import fits
from recompat.errors import ConfigurationError, NothingSelected
from recompat.near import closest
from recompat.record import releases_of
from recompat.tracks import target_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from packaging.requirements import Requirement

    from recompat.model import Environment, Record

__all__ = ["bare_case", "find_case", "find_environments", "find_target", "no_such", "records_of"]

RELEASE = re.compile(r"(?:torch)?\d+(?:\.\d+)+\w*(?:\.(?:dev|post)\d+)*")
MOST_NEAR = 5


def find_target(name: str, cases: Sequence[str], records: Sequence[Record]) -> str | list[Environment]:
    """The case that ``name`` stands for, or the environments.

    Raises:
        ConfigurationError: it stands for several cases.
        NothingSelected: it stands for no case and for no environment; the message says what is near.
    """
    if name not in cases and not any(name.lower() in case.lower() for case in cases):
        environments = [record.environment for record in records]
        there = find_environments(name, environments)
        if there:
            return there
        if RELEASE.fullmatch(name):
            records_of(records, name)
        return find_case(name, cases, [*(one.id for one in environments), *(one.torch for one in environments)])
    return find_case(name, cases)


def find_environments(name: str, environments: Sequence[Environment]) -> list[Environment]:
    """Those with this id or release; else those whose id has it as a part."""
    exact = [one for one in environments if name in {one.id, one.torch, f"torch{one.torch}"}]
    return exact or [one for one in environments if name.lower() in one.id.lower()]


def find_case(name: str, cases: Sequence[str], others: Iterable[str] = ()) -> str:
    """The case that ``name`` stands for: by its id, by its name without its file's, or by a part of its id.

    Args:
        others: what may have been meant besides a case.

    Raises:
        ConfigurationError: it stands for several cases.
        NothingSelected: it stands for none; the message says what is near.
    """
    wanted = bare_case(name)
    for matching in (_same, _same_name, _part):
        found = [case for case in cases if matching(wanted, case)]
        if len(found) == 1:
            return found[0]
        if found:
            raise ConfigurationError(f"{name} may be {len(found)} cases; name one of them:", tuple(found))
    raise no_such("case or environment" if others else "case", wanted, [*cases, *others])


def bare_case(name: str) -> str:
    """What a case is called in its id, without what its file and its function have besides: ``sdpa.py::case_math``."""
    return name.replace(".py::", "::").replace("::case_", "::").removeprefix("case_")


def records_of(records: Sequence[Record], torch: str, axes: Sequence[Requirement] = ()) -> list[Record]:
    """The records of a release; of those, the ones with what ``axes`` name beside torch.

    Raises:
        NothingSelected: there is none; the message lists what is recorded.
    """
    torch = torch.removeprefix("torch")
    found = [record for record in records if record.environment.torch == torch]
    chosen = [record for record in found if fits(record.environment.beside, axes)]
    if chosen:
        return chosen
    if found:
        beside = ", ".join(dict.fromkeys(str(target_of(record.environment)) for record in found))
        named = " and ".join(map(str, axes))
        raise NothingSelected(f"There is no record of torch {torch} with {named}. There are: {beside}.")
    there = [str(release) for release in sorted(releases_of(records))]
    mend = f"nox -s matrix -- --torch {torch} runs it."
    if not there:
        raise NothingSelected(f"Nothing is recorded yet; {mend}")
    raise NothingSelected(f"There is no record of torch {torch}. There are: {', '.join(there)}; {mend}")


def no_such(kind: str, name: str, known: Sequence[str]) -> NothingSelected:
    """Say what may have been meant, or what there is."""
    by_words = {word: one for one in known for word in (one, one.rpartition("::")[2])}
    near = difflib.get_close_matches(name, by_words, n=MOST_NEAR, cutoff=0.5)
    if near:
        meant = list(dict.fromkeys(by_words[word] for word in near))
        return NothingSelected("\n  - ".join((f"There is no {kind} {name}; did you mean", *meant)))
    return NothingSelected(f"There is no {kind} {name}.{closest(name, list(dict.fromkeys(known)))}")


def _same(name: str, case: str) -> bool:
    return name == case


def _same_name(name: str, case: str) -> bool:
    return name == case.rpartition("::")[2]


def _part(name: str, case: str) -> bool:
    return name.lower() in case.lower()
