"""``python -m benchmarks``, which ``nox -s bench`` runs: figures side by side, in Markdown on stdout, progress on stderr."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.footprint import footprint
from benchmarks.scale import scale
from benchmarks.standing import standing
from benchmarks.startup import startup
from benchmarks.trials import trials
from benchmarks.whole import whole

NAMES = ("startup", "standing", "scale", "trials", "whole", "footprint")


def main() -> None:
    """Run the benchmarks that are named, or all for which there is what they need."""
    parser = argparse.ArgumentParser(prog="nox -s bench --", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(NAMES)}")
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        metavar="N",
        help="how often each contestant runs (default 5); once means without a warm-up of trials",
    )
    parser.add_argument(
        "--python", type=Path, metavar="PATH", help="an interpreter whose environment has torch, for trials"
    )
    parser.add_argument(
        "-k", dest="keyword", metavar="EXPRESSION", help="which cases trials and whole run (default: the default ones)"
    )
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in chosen.names or NAMES:
        with tempfile.TemporaryDirectory(prefix="recompat-bench-") as folder:
            print(_run(name, chosen, Path(folder)), flush=True)


def _run(name: str, chosen: argparse.Namespace, folder: Path) -> str:
    if name == "startup":
        return startup(chosen.rounds)
    if name == "standing":
        return standing(chosen.rounds, folder)
    if name == "scale":
        return scale(folder)
    if name == "whole":
        return whole(chosen.keyword, chosen.rounds, folder)
    if name == "footprint":
        return footprint(chosen.keyword, folder)
    if chosen.python is None:
        return "### trials\n\nNot run: --python names the interpreter of an environment with torch.\n"
    return trials(chosen.python.absolute(), chosen.keyword, chosen.rounds, folder)


if __name__ == "__main__":
    main()
