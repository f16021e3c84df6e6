"""Whatever the types of the model allow, as hypothesis draws it: a record that we write is one that we read."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from faults.nasty import TEXTS
from faults.readers import READERS, attempt
from faults.seeds import good_environment
from recompat.model import Record
from recompat.record import encode_record

__all__ = ["check_types"]

WRITABLE = [text for text in TEXTS if text != "\ud800"]


def check_types(times: int, number: int) -> None:
    """Write and read so many records; the same number draws the same ones."""

    @seed(number)
    @settings(
        max_examples=times,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(_typed(Record))
    def check(record: Record) -> None:
        attempt(READERS["record"], encode_record(msgspec.structs.replace(record, environment=good_environment())))

    check()


def _typed(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type, nasty texts more often than others."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind)
        return st.builds(kind, **{field.name: _typed(hints[field.name]) for field in msgspec.structs.fields(kind)})
    if kind is str:
        return st.sampled_from(WRITABLE) | st.text(max_size=20)
    if kind is int:
        return st.integers(-(2**63), 2**64 - 1)
    if get_origin(kind) is tuple:
        return st.lists(_typed(get_args(kind)[0]), max_size=2).map(tuple)
    if get_origin(kind) is dict:
        return st.dictionaries(*map(_typed, get_args(kind)), max_size=2)
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    arguments = [one for one in get_args(kind) if one is not msgspec.UnsetType]
    return st.one_of(*map(_typed, arguments)) if arguments and get_origin(kind) is not None else st.from_type(kind)
