"""What was asked of nox, so far as its command line tells: it hands a noxfile no more."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import nox

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["in_parallel", "is_worker", "own", "positional", "will_probe"]


def own() -> Sequence[str]:
    """What comes before ``--``."""
    return sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]


def positional() -> Sequence[str]:
    """What follows ``--``."""
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []


def will_probe() -> bool:
    """Whether probes will be started, so far as that tells.

    A wrong guess does no harm: what has to be said beforehand is said late, or where it was not needed.
    """
    others = ("-s", "-e", "-k", "-t", "--session", "--keyword", "--tag")
    chosen = any(word.startswith(others) for word in own())
    named = any(word.startswith(("matrix", "probe", "watch")) for word in (*own(), *_by_default(chosen)))
    lists = any(word.startswith(("-l", "--list")) for word in own())
    return named and not lists


def _by_default(chosen: bool) -> Sequence[str]:
    """The sessions that the noxfile itself has run, so far as it said so yet, where none was chosen."""
    return () if chosen else tuple(map(str, nox.options.sessions or ()))


def in_parallel() -> bool:
    """Whether sessions run in processes of their own, of which nox shows nothing until they end."""
    return "NOX_PARALLEL" in os.environ or any(word.startswith(("-j", "--parallel")) for word in own())


def is_worker() -> bool:
    """Whether ``nox -j`` started this process, for a session."""
    return "--parallel-worker" in own()
