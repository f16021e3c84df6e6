"""Fuzzes one reader: ``python -m faults.fuzzing NAME --times N``; atheris keeps what comes to code that nothing came to before.

Half of the mutations know the form of the file (``faults.nasty``), the others are libFuzzer's own. Ends with 0 and a line of
JSON in ``--out``; at the first finding with another status, the traceback, and the input in a file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Ran", "main"]

MEBIBYTES = 200  # beyond what the process had when it began
SECONDS = 2.0
LONGEST = 8_192  # bytes of an input
LONG = 500_000  # and of those by hand
OFTEN = 20_000  # executions, after which what came of it so far is written down


@dataclass
class Ran:
    """What came of it; ``slowest`` in seconds of the processor, ``memory`` in MiB beyond the start."""

    executions: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    memory: float = 0.0


class Watched:
    """Calls a reader, and sees to it that it takes neither long nor much."""

    def __init__(self, read: Callable[[bytes], object]) -> None:
        self._read = read
        self._begun = time.monotonic()
        self._before = _now()
        self.ran = Ran()

    def __call__(self, content: bytes) -> None:
        begun = time.thread_time()
        self._read(content)
        seconds = time.thread_time() - begun
        self.ran.executions += 1
        self.ran.slowest = max(self.ran.slowest, round(seconds, 4))
        self.ran.memory = max(self.ran.memory, round(_peak() - self._before, 1))
        self.ran.seconds = round(time.monotonic() - self._begun, 1)
        if seconds > SECONDS:
            raise TimeoutError(f"It took {seconds:.1f} s.")
        if self.ran.memory > MEBIBYTES:
            raise MemoryError(f"It took {self.ran.memory} MiB.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Fuzz what was named."""
    parser = argparse.ArgumentParser(prog="python -m faults.fuzzing")
    parser.add_argument("name")
    parser.add_argument("--times", type=int, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1729, metavar="S")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the figures go")
    parser.add_argument(
        "--found", type=Path, default=Path("found"), metavar="DIR", help="where an input goes that is a finding"
    )
    options = parser.parse_args(arguments)
    options.found.mkdir(parents=True, exist_ok=True)
    _fuzz(options.name, options.times, options.seed, options.out, options.found)


def _fuzz(name: str, times: int, seed: int, out: Path, found: Path) -> None:
    import atheris  # there are wheels for Linux alone

    with atheris.instrument_imports(include=["recompat"], enable_loader_override=False):
        from faults.readers import READERS, attempt
    from faults.nasty import FORMS
    from faults.pathological import pathological

    reader = READERS[name]
    watched = Watched(lambda content: attempt(reader, content))
    for what, content in pathological(name, LONG):
        try:
            watched(content)
        except BaseException:
            (found / f"{name}-by-hand").write_bytes(content)
            print(f"{name}: {what}", file=sys.stderr)  # noqa: T201
            raise

    def one(content: bytes) -> None:
        watched(content)
        if watched.ran.executions % OFTEN == 0:
            _write(out.with_suffix(".part"), watched.ran)
        if watched.ran.executions >= times:
            _write(out, watched.ran)
            os._exit(0)  # libFuzzer has no end of its own that it tells

    def mutate(content: bytes, most: int, number: int) -> bytes:
        draw = random.Random(number)
        if draw.random() < 0.5:
            return bytes(atheris.Mutate(content, most))
        return FORMS[reader.form](content, draw, reader.words)[:most]

    with tempfile.TemporaryDirectory(prefix="recompat-faults-") as folder:
        corpus, words = Path(folder, "corpus"), Path(folder, "words")
        corpus.mkdir()
        for number, content in enumerate(reader.seeds()):
            (corpus / str(number)).write_bytes(content)
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in reader.words), encoding="ascii")
        limits = (f"-max_len={LONGEST}", "-timeout=60", "-rss_limit_mb=0", f"-seed={seed}", f"-dict={words}")
        places = (f"-artifact_prefix={found}/{name}-", "-verbosity=0", str(corpus))
        atheris.Setup([sys.argv[0], *limits, *places], one, custom_mutator=mutate)
        atheris.Fuzz()


def _write(path: Path, ran: Ran) -> None:
    path.write_text(json.dumps(asdict(ran)), encoding="utf-8")


def _escaped(word: str) -> str:
    """As libFuzzer's dictionaries have it."""
    return "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "replace"))


def _now() -> float:
    """MiB in memory; the peak may be that of the process that started this one."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1024**2


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
