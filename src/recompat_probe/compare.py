"""Holds what a case returned against what its reference returned, leaf by leaf.

Works on snapshots (``recompat_probe.values``), which are plain data: nothing that the case left behind, such as a
default device or an active mode, can reach into the comparison.
"""

from __future__ import annotations

import cmath
import math
import re
from dataclasses import dataclass, replace
from typing import Any, Iterator, NamedTuple

from recompat_probe.raised import qualified

__all__ = ["Difference", "Node", "TensorData", "Tolerance", "compare"]

SHOWN = 200
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")


class Tolerance(NamedTuple):
    """How far a floating point number may be off: ``atol + rtol * abs(reference)``. Integers may not be off at all."""

    atol: float = 1e-6
    rtol: float = 1e-5


class Node(NamedTuple):
    """A dict, list or tuple; the keys of a list are its indices."""

    kind: type
    items: dict[Any, Any]


class TensorData(NamedTuple):
    """A tensor as plain data. ``numbers`` is None where it has none (meta) or they could not be read."""

    kind: type
    metadata: dict[str, str]
    numbers: list[Any] | None
    note: str | None = None


@dataclass(frozen=True)
class Difference:
    """One compared leaf, equal or not."""

    name: str
    equal: bool
    max_abs_diff: float | None = None
    note: str | None = None


def compare(observed: Any, expected: Any, tolerance: Tolerance) -> list[Difference]:
    """Compare two snapshots; leaves stand in the reference's order under names such as ``q.grad`` or ``output[0]``."""
    return list(_compare("", observed, expected, tolerance))


def _compare(name: str, observed: Any, expected: Any, tolerance: Tolerance) -> Iterator[Difference]:
    if _kind(observed) is not _kind(expected):
        yield Difference(name or "output", False, None, _against(_shown(observed), _shown(expected)))
    elif isinstance(expected, Node):
        yield from _compare_items(name, observed, expected, tolerance)
    elif isinstance(expected, TensorData):
        yield _compare_tensors(name or "output", observed, expected, tolerance)
    elif type(expected) in (int, float, complex):
        found = _compare_numbers(name or "output", [observed], [expected], tolerance)
        yield found if found.equal else replace(found, note=_against(_text(observed), _text(expected)))
    else:
        yield _compare_objects(name or "output", observed, expected)


def _compare_items(name: str, observed: Node, expected: Node, tolerance: Tolerance) -> Iterator[Difference]:
    for key, value in expected.items.items():
        if key in observed.items:
            yield from _compare(_child(name, expected, key), observed.items[key], value, tolerance)
        else:
            yield Difference(_child(name, expected, key), False, None, "only the reference returns it")
    for key in observed.items:
        if key not in expected.items:
            yield Difference(_child(name, expected, key), False, None, "the reference does not return it")


def _compare_tensors(name: str, observed: TensorData, expected: TensorData, tolerance: Tolerance) -> Difference:
    unlike = [
        f"{what} {_against(observed.metadata[what], value)}"
        for what, value in expected.metadata.items()
        if observed.metadata[what] != value
    ]
    if unlike:
        return Difference(name, False, None, "; ".join(unlike))
    if observed.numbers is None or expected.numbers is None:
        note = observed.note or expected.note
        return Difference(name, note is None, None, note or "only metadata: meta tensors hold no numbers")
    return _compare_numbers(name, observed.numbers, expected.numbers, tolerance)


def _compare_numbers(name: str, observed: list[Any], expected: list[Any], tolerance: Tolerance) -> Difference:
    gaps = [_gap(one, other) for one, other in zip(observed, expected)]
    equal = all(_allowed(gap, number, tolerance) for gap, number in zip(gaps, expected))
    boundless = sum(not math.isfinite(gap) for gap in gaps)
    if boundless:
        return Difference(name, False, None, f"not finite: {boundless} of {len(gaps)} differences")
    return Difference(name, equal, max(gaps, default=0.0))


def _gap(one: Any, other: Any) -> float:
    """Return the absolute difference; 0 for the same number and for two NaN."""
    try:
        if one == other or (cmath.isnan(one) and cmath.isnan(other)):
            return 0.0
        difference = one - other
        return math.hypot(difference.real, difference.imag)
    except OverflowError:  # an integer that no float can hold
        return math.inf


def _allowed(gap: float, expected: Any, tolerance: Tolerance) -> bool:
    if gap == 0 or isinstance(expected, int) or not math.isfinite(gap):
        return gap == 0
    return gap <= tolerance.atol + tolerance.rtol * math.hypot(expected.real, expected.imag)


def _compare_objects(name: str, observed: Any, expected: Any) -> Difference:
    """Compare by ``==``, or by what is printed where ``==`` only asks whether it is the same object.

    Of the latter kind are dtypes and enums, whose text tells them apart, and bare objects, of which two cannot be told
    apart once their addresses are dropped.
    """
    kind: Any = type(expected)
    one, other = _text(observed), _text(expected)
    try:
        equal = bool(observed == expected)
    except Exception as trouble:  # noqa: BLE001  (a foreign __eq__)
        return Difference(name, False, None, f"comparing raised {qualified(type(trouble))}")
    if equal:
        return Difference(name, True)
    if kind.__eq__ is object.__eq__ and one == other:
        return Difference(name, True, None, "compared by its repr()")
    return Difference(name, False, None, _against(one, other))


def _child(name: str, parent: Node, key: Any) -> str:
    if name:
        return f"{name}[{_text(key)}]"
    return str(key) if issubclass(parent.kind, dict) else f"output[{key}]"


def _kind(value: Any) -> type:
    return value.kind if isinstance(value, (Node, TensorData)) else type(value)


def _shown(value: Any) -> str:
    return "None" if value is None else qualified(_kind(value))


def _text(value: Any) -> str:
    try:
        return ADDRESS.sub("0x...", repr(value))[:SHOWN]
    except Exception as trouble:  # noqa: BLE001  (a foreign __repr__)
        return f"(no text: repr() of it raised {qualified(type(trouble))})"


def _against(observed: str, expected: str) -> str:
    return f"{observed} where the reference has {expected}"
