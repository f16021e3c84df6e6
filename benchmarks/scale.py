"""Scale: reading, judging and every report of generated records, for more and more cases."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tabulate import tabulate

from benchmarks.generated import write_project
from benchmarks.peers import environ

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["scale"]

SIZES = ((125, 40), (250, 40), (500, 40), (1000, 40), (2000, 40), (1000, 20))
MEASURED = """
import resource, sys, time
began = time.perf_counter()
from pathlib import Path
from recompat.collection import collect_seldom
from recompat.options import parse_options
from recompat.plan import Plan
from recompat.project import Project
from recompat.report.formats import FORMATS
from recompat.run_folder import RunFolder
collect_seldom()
run = RunFolder()
plan = Plan(Project(Path.cwd()), run, parse_options([]))
summary = plan._summary(recorded=True)
judged = time.perf_counter() - began
for format_ in FORMATS.values():
    format_.render(summary)
run.remove()
print(judged, time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def scale(folder: Path) -> str:
    """Tell, for each size, the seconds until all is judged and until all is rendered, and the peak of memory."""
    table = tabulate(
        list(_rows(folder)),
        headers=["cases", "releases", "read and judged, s", "and every report, s", "peak MB"],
        tablefmt="github",
        floatfmt=".1f",
    )
    return f"### Scale\n\n{table}\n"


def _rows(folder: Path) -> Iterator[tuple[int, int, float, float, float]]:
    for cases, releases in SIZES:
        project = folder / f"{cases}x{releases}"
        project.mkdir()
        made = write_project(project, cases, releases)
        printed = subprocess.check_output([sys.executable, "-c", MEASURED], cwd=project, env=environ(), text=True)
        judged, rendered, kilobytes = map(float, printed.split())
        print(f"  {made} x {releases}: {rendered:.1f} s", file=sys.stderr, flush=True)
        yield made, releases, judged, rendered, kilobytes / 1000
