"""Comparing what a case returned with what its reference returned, on plain data."""

from __future__ import annotations

import enum
import math
from typing import Any

import pytest

from recompat_probe.compare import Difference, Node, TensorData, Tolerance, compare

NAN, INF = math.nan, math.inf
BASE = {"shape": "[2]", "dtype": "torch.float32", "device": "cpu", "layout": "torch.strided"}


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Touchy:
    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    __hash__ = None  # type: ignore[assignment]


class Mute:
    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise ZeroDivisionError


def tensor(*numbers: Any, **metadata: str) -> TensorData:
    return TensorData(object, {**BASE, **metadata}, list(numbers))


def one(observed: Any, expected: Any, tolerance: Tolerance | None = None) -> Difference:
    (found,) = compare(observed, expected, tolerance or Tolerance())
    return found


@pytest.mark.parametrize(
    ("observed", "expected", "equal", "difference"),
    [
        (1.0, 1.0, True, 0.0),
        (1.0 + 1e-6, 1.0, True, 1e-6),
        (1.0 + 2e-5, 1.0, False, 2e-5),
        (2e-6, 0.0, False, 2e-6),
        (100.0009, 100.0, True, 9e-4),
        (1 + 1e-6j, 1 + 0j, True, 1e-6),
        (1 + 1e-3j, 1 + 0j, False, 1e-3),
        (200_001, 200_000, False, 1.0),
        (10**400, 10**400, True, 0.0),
        (10**400, 1, False, None),
        (NAN, NAN, True, 0.0),
        (complex(NAN, 0), complex(NAN, 1), True, 0.0),
        (NAN, 1.0, False, None),
        (1.0, NAN, False, None),
        (INF, INF, True, 0.0),
        (-INF, INF, False, None),
        (1.0, INF, False, None),
        (1e308, -1e308, False, None),
    ],
)
def test_numbers(observed: Any, expected: Any, equal: bool, difference: float | None) -> None:
    for found in (one(observed, expected), one(tensor(observed), tensor(expected))):
        assert found.equal is equal
        assert found.max_abs_diff == (None if difference is None else pytest.approx(difference, rel=1e-6))
        assert (found.note is not None) or equal or isinstance(found.max_abs_diff, float)


def test_an_integer_that_python_will_not_print() -> None:
    found = one(10**5000, 1)
    assert found.note == "(no text: repr() of it raised builtins.ValueError) where the reference has 1"


def test_the_largest_difference_of_a_tensor_counts() -> None:
    assert one(tensor(1.0, 2.5, NAN), tensor(1.0, 2.0, NAN)) == Difference("output", False, 0.5)
    assert one(tensor(), tensor()) == Difference("output", True, 0.0)


def test_places_that_are_not_finite_are_counted() -> None:
    found = one(tensor(1.0, NAN, INF), tensor(1.0, 2.0, 3.0))
    assert found == Difference("output", False, None, "not finite: 2 of 3 differences")


def test_a_tolerance_of_the_case_s_own() -> None:
    assert one(1.5, 1.0, Tolerance(atol=0.5)).equal
    assert one(1.5, 1.0, Tolerance(atol=0, rtol=0.5)).equal
    assert not one(1, 2, Tolerance(atol=5)).equal


@pytest.mark.parametrize(
    ("metadata", "note"),
    [
        ({"shape": "[1, 2]"}, "shape [1, 2] where the reference has [2]"),
        ({"dtype": "torch.float64"}, "dtype torch.float64 where the reference has torch.float32"),
        ({"device": "meta"}, "device meta where the reference has cpu"),
        ({"layout": "torch.sparse_coo"}, "layout torch.sparse_coo where the reference has torch.strided"),
        (
            {"shape": "[]", "device": "meta"},
            "shape [] where the reference has [2]; device meta where the reference has cpu",
        ),
    ],
)
def test_tensors_of_other_metadata(metadata: dict[str, str], note: str) -> None:
    assert one(tensor(1.0, 2.0, **metadata), tensor(1.0, 2.0)) == Difference("output", False, None, note)


def test_meta_tensors_are_compared_by_metadata() -> None:
    meta = TensorData(object, {**BASE, "device": "meta"}, None)
    assert one(meta, meta) == Difference("output", True, None, "only metadata: meta tensors hold no numbers")


def test_tensors_that_cannot_be_read_are_not_equal() -> None:
    closed = TensorData(object, BASE, None, "its numbers cannot be read (no)")
    assert one(closed, tensor(1.0)) == Difference("output", False, None, "its numbers cannot be read (no)")
    assert not one(tensor(1.0), closed).equal


@pytest.mark.parametrize(
    ("observed", "expected", "note"),
    [
        (None, tensor(1.0), "None where the reference has builtins.object"),
        (tensor(1.0), None, "builtins.object where the reference has None"),
        (1, True, "builtins.int where the reference has builtins.bool"),
        (1, 1.0, "builtins.int where the reference has builtins.float"),
        (Node(tuple, {}), Node(list, {}), "builtins.tuple where the reference has builtins.list"),
        ("a", "b", "'a' where the reference has 'b'"),
        (False, True, "False where the reference has True"),
        (3, 4, "3 where the reference has 4"),
        (b"a", b"b", "b'a' where the reference has b'b'"),
        (Colour.RED, Colour.BLUE, "<Colour.RED: 1> where the reference has <Colour.BLUE: 2>"),
        (Touchy(), Touchy(), "comparing raised builtins.ZeroDivisionError"),
        (
            Mute(),
            Mute(),
            " where the reference has ".join(["(no text: repr() of it raised builtins.ZeroDivisionError)"] * 2),
        ),
        ("a" * 999, "b", "'" + "a" * 199 + " where the reference has 'b'"),
    ],
)
def test_what_differs_is_said(observed: Any, expected: Any, note: str) -> None:
    found = one(observed, expected)
    assert (found.equal, found.note) == (False, note)


def test_what_is_equal_needs_no_words() -> None:
    for value in (None, "a", True, b"a", Colour.RED, frozenset({1})):
        assert one(value, value) == Difference("output", True)


def test_objects_that_only_know_themselves_are_compared_by_their_text() -> None:
    assert one(object(), object()) == Difference("output", True, None, "compared by its repr()")


def test_names_and_order() -> None:
    expected = Node(dict, {"b": 1, "a": Node(list, {0: 1, 1: Node(dict, {"x": 1})}), 3: 1})
    assert [found.name for found in compare(expected, expected, Tolerance())] == ["b", "a[0]", "a[1]['x']", "3"]
    pair = Node(tuple, {0: 1, 1: 2})
    assert [found.name for found in compare(pair, pair, Tolerance())] == ["output[0]", "output[1]"]


def test_keys_that_only_one_side_has() -> None:
    observed, expected = Node(dict, {"a": 1, "c": 1}), Node(dict, {"a": 1, "b": 1})
    assert compare(observed, expected, Tolerance())[1:] == [
        Difference("b", False, None, "only the reference returns it"),
        Difference("c", False, None, "the reference does not return it"),
    ]


def test_lists_of_other_lengths() -> None:
    short, long = Node(list, {0: 1}), Node(list, {0: 1, 1: 2})
    assert [found.name for found in compare(short, long, Tolerance()) if not found.equal] == ["output[1]"]
    assert [found.name for found in compare(long, short, Tolerance()) if not found.equal] == ["output[1]"]
