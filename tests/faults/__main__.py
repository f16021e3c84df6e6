"""Runs campaigns: ``python -m faults [NAME] [--times N] [--seed S]``; exits with 1 unless every promise was kept."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faults.tally import Tally

SEED = 1729


class Campaign(Protocol):
    """A module of this package that injects one kind of fault."""

    TIMES: int

    def run(self, times: int, seed: int) -> Tally:
        """Inject it so many times; the same seed injects the same, as far as the machine lets it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was named, or everything; a line for each."""
    campaigns = _campaigns()
    parser = argparse.ArgumentParser(prog="nox -s faults --", description="Inject faults for real, many times.")
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"one of {', '.join(campaigns)}; all unless named")
    parser.add_argument("--times", type=int, metavar="N", help="how often; each campaign has a number of its own")
    parser.add_argument("--seed", type=int, default=SEED, metavar="S", help="what is drawn (default: %(default)s)")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in campaigns]:
        parser.error(f"there is no {' and no '.join(unknown)}; there are {', '.join(campaigns)}")
    kept = [_ran(name, campaigns[name], options.times, options.seed) for name in options.names or campaigns]
    return 0 if all(kept) else 1


def _campaigns() -> Mapping[str, Campaign]:
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = {name: importlib.import_module(f"faults.{name}") for name in names if name != "__main__"}
    return {name: cast("Campaign", module) for name, module in modules.items() if hasattr(module, "TIMES")}


def _ran(name: str, campaign: Campaign, times: int | None, seed: int) -> bool:
    begun = time.monotonic()
    tally = campaign.run(campaign.TIMES if times is None else times, seed)
    for kind, sentences in (("lost", tally.lost), ("wrong", tally.wrong), ("left", tally.left)):
        for sentence in sentences:
            print(f"{name}: {kind}: {sentence}", file=sys.stderr)  # noqa: T201
    print(tally.line(name, seed, time.monotonic() - begun), flush=True)  # noqa: T201
    return tally.clean


if __name__ == "__main__":
    sys.exit(main())
