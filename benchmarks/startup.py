"""Start-up: the commands that answer without a run, beside an interpreter that does nothing."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from benchmarks.peers import environ
from benchmarks.turns import command, race, told

__all__ = ["startup"]

ROOT = Path(__file__).parent.parent


def startup(rounds: int) -> str:
    """Race ``python -c pass``, ``recompat --help`` and ``recompat show``."""
    run = functools.partial(command, sys.executable, folder=ROOT, environ=environ())
    contestants = {
        "python -c pass": run("-c", "pass"),
        "recompat --help": run("-m", "recompat", "--help"),
        "recompat show kv_cache_grows (27 accepted records)": run("-m", "recompat", "show", "kv_cache_grows"),
        "recompat explain (a pasted error)": run("-m", "recompat", "explain", ROOT / "benchmarks" / "pasted.txt"),
    }
    return told("Start-up", race(contestants, max(rounds, 10)))
