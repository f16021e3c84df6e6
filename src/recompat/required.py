"""What has a session of its own, and what of that a run requires."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import nox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nox._parametrize import Param

    from recompat.tracks import Target

__all__ = ["Required"]


class Required(NamedTuple):
    """What has a probe session, and what of it ``matrix`` and ``watch`` have to run before they can tell anything."""

    targets: Sequence[Target] = ()
    matrix: Sequence[Target] = ()
    watch: Sequence[Target] = ()

    def after(self, target: Target) -> Target | None:
        """What is run after ``target``, if anything is."""
        return dict(itertools.pairwise((*self.matrix, *self.watch))).get(target)

    @property
    def axes(self) -> list[str]:
        """The names of what a session is of: torch, then what stands beside it."""
        return ["torch", *(name for name, _ in self.targets[0].beside)] if self.targets else ["torch"]

    @property
    def parameters(self) -> list[Param]:
        """Their values, for each session."""
        return [
            nox.param(str(target.torch), *(version for _, version in target.beside), id=target.parameters)
            for target in self.targets
        ]
