"""A clock that is turned back, and two runs in one checkout."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from faults.met import PATIENCE, Start
from recompat.clock import now

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from faults.met import Met

__all__ = ["TURNED", "Turned"]

DAY: Final = 86_400
CLOCK: Final = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long ahead(void) {
    long seconds = 0;
    const char *name = getenv("CLOCK_AHEAD");
    FILE *file = name ? fopen(name, "r") : NULL;
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += ahead();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now) *now = precise.tv_sec;
    return precise.tv_sec;
}
"""


class Turned(NamedTuple):
    """What takes more than one run to show."""

    name: str
    run: Callable[[Met, random.Random], None]
    folder: str = "project"


def _clock(met: Met, seconds: int) -> tuple[Start, Path]:
    """How to start what goes by another clock of the wall, and the file that says how far that is ahead.

    The clock that only goes on, by which durations are measured, cannot be turned, and is not; libfaketime 0.9.10 turns both or
    lets no Python sleep.

    Raises:
        SystemExit: there is no compiler.
    """
    folder = met.project.root.parent
    (folder / "clock.c").write_text(CLOCK)
    ahead = folder / "ahead"
    ahead.write_text(str(seconds))
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "clock.so", "clock.c", "-ldl"], cwd=folder, check=True)
    except FileNotFoundError:
        raise SystemExit(
            "There is no C compiler here, with which to turn a clock; on Debian, apt-get install gcc."
        ) from None
    return Start({"LD_PRELOAD": str(folder / "clock.so"), "CLOCK_AHEAD": str(ahead)}), ahead


def _between(met: Met, rng: random.Random) -> None:
    """The clock was ahead for a run: the next one finds everything done, and what is run again is dated as it is."""
    start, _ = _clock(met, rng.randint(2, 4000) * DAY)
    met.is_right(met.ran(start))
    dates = _finished(met)
    met.see(min(dates, default="") > now(), f"was not ahead: {dates}")
    met.is_right(met.ran())
    met.see(_finished(met) == dates, "ran again what stood")
    met.is_right(met.ran(Start(), "--rerun", "all"))
    met.see(max(_finished(met), default="") < min(dates, default=""), f"has the dates {_finished(met)}, after {dates}")


def _during(met: Met, rng: random.Random) -> None:
    """The clock is turned back while a run is at work."""
    start, ahead = _clock(met, 2 * DAY)
    with met.started(start) as process:
        _wait(lambda: (met.project.reports / "logs").exists())
        time.sleep(rng.random() * 2)
        ahead.write_text(str(-2 * DAY))
        met.is_right(met.ended(process))
    met.is_right(met.ran())


def _two(met: Met, rng: random.Random) -> None:
    """The second one says who is at work, and then finds everything done."""
    holder = met.project.root / ".nox" / "recompat.holder"
    with met.started() as first:
        _wait(holder.exists)
        time.sleep(rng.random())
        with met.started() as second:
            ran = met.ended(second)
        met.is_right(met.ended(first))
    met.is_right(ran)
    met.see(f"(process {first.pid}, since 2" in "".join(ran.said), f"did not say who was at work: {ran.text[-600:]}")


def _killed(met: Met, rng: random.Random) -> None:
    """The first one is killed while the second one waits for it."""
    with met.started() as first:
        _wait((met.project.root / ".nox" / "recompat.holder").exists)
        with met.started() as second:
            time.sleep(1 + rng.random() * 2)
            first.kill()
            met.is_right(met.ended(second))


def _finished(met: Met) -> list[str]:
    return sorted(record["run"]["finished"] for record in met.project.records().values())


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)


TURNED: Final = (
    Turned("a clock that was ahead", _between),
    Turned("a clock that is turned back", _during),
    Turned("two runs at once", _two),
    Turned("two runs, of which the first is killed", _killed),
)
