"""Operators that changed from one release to the next though the outcome did not: the early warning. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from recompat.boundary import Ending
from recompat.model import Evidence, Pass

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["OperatorChange", "Watched", "operator_changes"]


class OperatorChange(msgspec.Struct, frozen=True, kw_only=True):
    """A case that ends the same on two neighbouring releases, by other operators, in ``during``.

    ``before`` and ``after`` are the operators that did the attention; null where none did.
    """

    case: str
    platform: str
    last: str
    first: str
    during: Pass
    before: str | None
    after: str | None
    diff: tuple[str, ...]


class Watched(msgspec.Struct, frozen=True):
    """How a case ended on a release, and what was seen of it."""

    release: Version
    ending: Ending
    evidence: Evidence


def operator_changes(case: str, platform: str, watched: Iterable[Watched]) -> tuple[OperatorChange, ...]:
    """Compare each release with the one before it, of those where the case was watched."""
    raise NotImplementedError
