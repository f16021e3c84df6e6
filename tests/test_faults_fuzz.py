"""Files that lie, in short: `nox -s faults -- fuzz` does the same ten million times."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from faults.nasty import FORMS
from faults.pathological import pathological
from faults.readers import READERS, attempt
from faults.typed import check_types

FOUND = Path(__file__).parent / "samples" / "fuzz"
SEED = 1729
TIMES = {"reports": 4, "merge": 20, "explained": 20, "private": 40}
LONG = 40_000  # bytes: what takes the square of that takes minutes
SECONDS = 3.0


@pytest.mark.parametrize("path", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_once_found_is_read_or_refused(path: Path) -> None:
    attempt(READERS[path.parent.name], path.read_bytes())


@pytest.mark.parametrize("name", READERS)
def test_what_is_nearly_right_is_read_or_refused(name: str) -> None:
    reader, draw = READERS[name], random.Random(SEED)
    seeds = reader.seeds()
    assert all(attempt(reader, one) for one in seeds), "what fuzzing begins with is right"
    for _ in range(TIMES.get(name, 100)):
        attempt(reader, FORMS[reader.form](draw.choice(seeds), draw, reader.words))


@pytest.mark.parametrize("name", [name for name in READERS if name not in {"merge", "reports", "explained"}])
def test_what_is_long_or_deep_costs_no_more_than_its_length(name: str) -> None:
    slow = {}
    for what, content in pathological(name, LONG):
        begun = time.thread_time()
        attempt(READERS[name], content)
        slow[what] = time.thread_time() - begun
    assert {what: seconds for what, seconds in slow.items() if seconds > SECONDS} == {}


def test_whatever_the_types_allow_is_written_and_read_again() -> None:
    check_types(30, SEED)
