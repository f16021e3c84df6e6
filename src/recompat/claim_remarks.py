"""What is to be said of claims beside the verdicts: which have expired, and which have no reason yet. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from recompat.expectations import Expectations
    from recompat.tracks import Target

__all__ = ["few", "remarks", "to_be_written"]

MOST = 5  # names that a sentence lists


def remarks(
    expectations: Expectations, today: dt.date, cases: Iterable[str], targets: Collection[Target]
) -> tuple[str, ...]:
    """Tell of the claims that speak of these cases on these targets."""
    told = [
        (case, claim)
        for case in cases
        for claim in expectations.by_case.get(case, ())
        if any(claim.covers(target.torch, target.beside) for target in targets)
    ]
    expired = tuple(
        f"What {case} is claimed to do on {claim.torch} has expired, on {claim.until}, and counts no more; look again, and"
        " in expectations.toml move the date or remove the claim."
        for case, claim in told
        if claim.expired(today)
    )
    return (*expired, *to_be_written([case for case, claim in told if claim.unwritten]))


def to_be_written(cases: Sequence[str]) -> Iterator[str]:
    """Say that claims of these cases have no reason yet, if there are any."""
    if len(cases) == 1:
        yield f"A claim in expectations.toml has no reason yet, of {cases[0]}."
    elif cases:
        yield f"{len(cases)} claims in expectations.toml have no reason yet, of {few(list(dict.fromkeys(cases)))}."


def few(names: Sequence[str]) -> str:
    """List the first names, and say how many there are beside."""
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more
