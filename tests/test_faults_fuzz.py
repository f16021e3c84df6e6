"""Files that lie, in short: `nox -s faults -- fuzz` does the same ten million times."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.nasty import FORMS, TEXTS
from faults.pathological import pathological
from faults.readers import READERS, attempt
from faults.seeds import good_environment
from recompat.model import Record
from recompat.record import encode_record

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

FOUND = Path(__file__).parent / "samples" / "fuzz"
SEED = 1729
TIMES = {"reports": 4, "merge": 20, "explained": 20, "private": 40}
LONG = 40_000  # bytes: what takes the square of that takes minutes
SECONDS = 3.0
WRITABLE = [text for text in TEXTS if text != "\ud800"]


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


def typed(kind: Any) -> SearchStrategy[Any]:
    """Whatever a type of the model may hold, nasty texts more often than others."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind)
        return st.builds(kind, **{field.name: typed(hints[field.name]) for field in msgspec.structs.fields(kind)})
    if kind is str:
        return st.sampled_from(WRITABLE) | st.text(max_size=20)
    if kind is int:
        return st.integers(-(2**63), 2**64 - 1)
    if get_origin(kind) is tuple:
        return st.lists(typed(get_args(kind)[0]), max_size=2).map(tuple)
    if get_origin(kind) is dict:
        return st.dictionaries(*map(typed, get_args(kind)), max_size=2)
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    arguments = [one for one in get_args(kind) if one is not msgspec.UnsetType]
    return st.one_of(*map(typed, arguments)) if arguments and get_origin(kind) is not None else st.from_type(kind)


@settings(max_examples=30, deadline=None, database=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(typed(Record))
def test_whatever_the_types_allow_is_written_and_read_again(record: Record) -> None:
    attempt(READERS["record"], encode_record(msgspec.structs.replace(record, environment=good_environment())))
