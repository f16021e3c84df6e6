"""Files that lie: every reader of what others wrote is fuzzed, in a process of its own; a finding is kept in ``reports/faults``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from faults.fuzzing import Ran
from faults.readers import READERS
from faults.tally import Tally
from faults.typed import check_types

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["TIMES", "run"]

TIMES = 10_000_000
BY_TYPES = 2_000  # executions to one that hypothesis draws
FOUND = Path("reports", "faults")
MEMORY = Path("/dev/shm")  # files that are written ten million times are no work for a disk


def run(times: int, seed: int) -> Tally:
    """Divide the executions among the readers."""
    tally = Tally()
    where = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="faults-fuzz-", dir=where) as folder:
        for name, reader in READERS.items():
            out = Path(folder, f"{name}.json")
            said = _fuzzed(name, max(times * reader.share // 10_000, 1), seed, out)
            if out.exists():
                ran = Ran(**json.loads(out.read_bytes()))
                tally.injected += ran.executions
                print(_line(name, ran), flush=True)  # noqa: T201
            else:
                tally.wrong.append(f"{name}: {'; '.join(_last(said))}; the input is in {FOUND}")
    _by_types(max(times // BY_TYPES, 1), seed, tally)
    return tally


def _by_types(times: int, seed: int, tally: Tally) -> None:
    try:
        check_types(times, seed)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        tally.wrong.append(f"by types: {error!r}")
    tally.injected += times
    print(f"  by types: {times:,} records that hypothesis drew", flush=True)  # noqa: T201


def _fuzzed(name: str, times: int, seed: int, out: Path) -> str:
    arguments = ["--times", str(times), "--seed", str(seed), "--out", str(out), "--found", str(FOUND)]
    command = [sys.executable, "-m", "faults.fuzzing", name, *arguments]
    environ = {**os.environ, "TMPDIR": str(out.parent)}  # libFuzzer ends without a chance to tidy up
    done = subprocess.run(command, capture_output=True, check=False, text=True, errors="replace", env=environ)
    return done.stdout + done.stderr


def _line(name: str, ran: Ran) -> str:
    each = ran.executions / max(ran.seconds, 0.1)
    return (
        f"  {name}: {ran.executions:,} executions, {each:,.0f} a second, {ran.memory:.0f} MiB beyond the start at most,"
        f" the slowest {ran.slowest:.2f} s"
    )


def _last(said: str) -> Iterator[str]:
    """The last exception of a traceback, without what libFuzzer has to say."""
    lines = [line for line in said.splitlines() if line and line[0].isalpha() and "Error" in line.partition(":")[0]]
    yield from lines[-1:] or ["it ended"]
