"""Which messages look alike, and in what: a pasted one, and those of the known cases. Pure."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING, Final

import msgspec

from recompat.disagreement import Disagreement, DisagreementKind, Mismatch
from recompat.explanation import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["LEAST", "Looks", "likeness", "looks_of", "patterns_of"]

LEAST: Final = 4
"""The score below which nothing is called alike: that both counts are smaller in recomputation is not enough, say."""

KINDS: Final = {
    DisagreementKind.METADATA: (1, ""),  # most cases end with it, and it is no reason
    DisagreementKind.COUNT: (1, ""),
    DisagreementKind.MORE_TENSORS: (4, "recomputation went on to save more tensors"),
    DisagreementKind.UNPACKED_AGAIN: (4, "a tensor was unpacked a second time"),
    DisagreementKind.OPERATOR_LOG: (4, "the log of operators stands in the place of the message"),
}
PATTERN_SCORES: Final = {
    Pattern.ATTENTION: (
        5,
        "three dimensions in one run and four in the other, as different attention operators save them",
    ),
    Pattern.SHIFTED: (4, "the tensors are those of the other run, at other positions"),
    Pattern.DIMENSIONS: (3, "the number of dimensions differs"),
    Pattern.GREW: (3, "one dimension is larger in recomputation"),
    Pattern.SHRANK: (3, "one dimension is smaller in recomputation"),
    Pattern.SHAPE: (1, "several dimensions differ"),
    Pattern.DTYPE: (3, "the dtype differs, the shape does not"),
    Pattern.DEVICE: (4, "the device differs, the shape does not"),
    Pattern.NONE_SAVED: (5, "recomputation saved no tensor at all"),
    Pattern.FEWER: (2, "recomputation saved fewer tensors"),
    Pattern.MORE: (2, "recomputation saved more tensors"),
}
EVERYWHERE: Final = ("torch/_tensor.py", "torch/autograd/", "torch/utils/checkpoint.py")


class Looks(msgspec.Struct, frozen=True):
    """What of a message is compared: ``places`` are files of torch in its frames, but for those in every traceback.

    ``functions`` are those of other files, such as ``caches.py case_kv_cache_grows``: that of a known case names it.
    """

    disagreement: Disagreement
    mismatches: tuple[Mismatch, ...] = ()
    places: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()


def looks_of(
    disagreement: Disagreement, mismatches: Sequence[Mismatch], frames: Iterable[str], operators: Iterable[str] = ()
) -> Looks:
    """Draw what is compared; ``frames`` are as records have them."""
    places, functions = set(), set()
    for frame in frames:
        file, _, rest = frame.partition(":")
        if not file.startswith("torch/"):
            functions.add(f"{file.rpartition('/')[2]} {rest.rpartition(' ')[2]}")
        elif not file.startswith(EVERYWHERE):
            places.add(file)
    return Looks(disagreement, tuple(mismatches), frozenset(places), frozenset(functions), frozenset(operators))


def likeness(pasted: Looks, known: Looks, case: str) -> list[tuple[int, str]]:
    """In what two messages are alike, each with what it counts for; some go without words.

    Messages of different kinds are alike in nothing.
    """
    kind = pasted.disagreement.kind
    if kind is not known.disagreement.kind:
        return []
    return [
        KINDS[kind],
        *_alike_patterns(pasted, known),
        *_alike_tensors(pasted, known),
        *_alike_counts(pasted, known),
        *_alike_places(pasted, known, case),
    ]


def patterns_of(disagreement: Disagreement, mismatches: Sequence[Mismatch]) -> tuple[Pattern, ...]:
    """What is peculiar in how the two runs differ, the most telling first."""
    return tuple(dict.fromkeys((*_count_patterns(disagreement), *_tensor_patterns(mismatches))))


def _count_patterns(disagreement: Disagreement) -> Iterator[Pattern]:
    saved, recomputed = disagreement.saved, disagreement.recomputed
    if saved is None or recomputed is None:
        return
    if recomputed == 0 < saved:
        yield Pattern.NONE_SAVED
    elif recomputed != saved:
        yield Pattern.FEWER if recomputed < saved else Pattern.MORE


def _tensor_patterns(mismatches: Sequence[Mismatch]) -> Iterator[Pattern]:
    shapes = [(one.saved.shape, one.recomputed.shape) for one in mismatches if "shape" in one.fields]
    if _shifted(mismatches):
        yield Pattern.SHIFTED
    elif shapes:
        yield _shape_pattern(shapes)
    same_shape = {field for one in mismatches if "shape" not in one.fields for field in one.fields}
    if "dtype" in same_shape:  # where the shape differs too, it is another tensor
        yield Pattern.DTYPE
    if "device" in same_shape:
        yield Pattern.DEVICE


def _shifted(mismatches: Sequence[Mismatch]) -> bool:
    saved, recomputed = [one.saved for one in mismatches], [one.recomputed for one in mismatches]
    if len(mismatches) < 2:
        return False
    return Counter(saved) == Counter(recomputed) or saved[1:] == recomputed[:-1] or saved[:-1] == recomputed[1:]


def _shape_pattern(shapes: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> Pattern:
    if any({len(before), len(after)} == {3, 4} and prod(before) == prod(after) for before, after in shapes):
        return Pattern.ATTENTION
    if any(len(before) != len(after) for before, after in shapes):
        return Pattern.DIMENSIONS
    steps = [[b - a for a, b in zip(before, after, strict=True) if a != b] for before, after in shapes]
    if all(len(step) == 1 for step in steps):
        if all(step[0] > 0 for step in steps):
            return Pattern.GREW
        if all(step[0] < 0 for step in steps):
            return Pattern.SHRANK
    return Pattern.SHAPE


def _alike_patterns(pasted: Looks, known: Looks) -> Iterator[tuple[int, str]]:
    there = patterns_of(known.disagreement, known.mismatches)
    for pattern in patterns_of(pasted.disagreement, pasted.mismatches):
        if pattern in there:
            yield PATTERN_SCORES[pattern]


def _alike_tensors(pasted: Looks, known: Looks) -> Iterator[tuple[int, str]]:
    if not pasted.mismatches or not known.mismatches:
        return
    if pasted.mismatches == known.mismatches:
        yield 4, "the same shapes, dtypes and devices at the same positions"
    elif _positions(pasted) == _positions(known):
        yield 1, "the same positions"
    if _fields(pasted) == _fields(known):
        yield 1, ""  # the patterns tell that
    ranks = _ranks(pasted) & _ranks(known)
    if ranks:
        before, after = max(ranks)
        yield 2, f"from {before} to {after} dimensions"
    dtypes = _dtypes(pasted) & _dtypes(known)
    if dtypes:
        before_dtype, after_dtype = min(dtypes)
        yield 2, f"from {before_dtype} to {after_dtype}"


def _alike_counts(pasted: Looks, known: Looks) -> Iterator[tuple[int, str]]:
    one, other = pasted.disagreement, known.disagreement
    if one.saved is None or one.recomputed is None or other.saved is None or other.recomputed is None:
        return
    if (one.saved, one.recomputed) == (other.saved, other.recomputed):
        yield 4, f"the same numbers of tensors, {one.saved} and {one.recomputed}"
    elif one.saved - one.recomputed == other.saved - other.recomputed:
        yield 2, "as many tensors lack" if one.saved > one.recomputed else "as many tensors are too many"


def _alike_places(pasted: Looks, known: Looks, case: str) -> Iterator[tuple[int, str]]:
    stem, _, name = case.partition("::")
    if f"{stem}.py case_{name}" in pasted.functions:
        yield 8, "the traceback is of this case"
    places = sorted(pasted.places & known.places)
    if places:
        yield 2, f"both went through {places[0]}"
    operators = sorted(pasted.operators & known.operators)
    if operators:
        yield 2, f"both ran {', '.join(operators[:3])}"


def _positions(looks: Looks) -> list[int]:
    return [one.position for one in looks.mismatches]


def _fields(looks: Looks) -> frozenset[str]:
    return frozenset(field for one in looks.mismatches for field in one.fields)


def _ranks(looks: Looks) -> set[tuple[int, int]]:
    ranks = {(len(one.saved.shape), len(one.recomputed.shape)) for one in looks.mismatches}
    return {(before, after) for before, after in ranks if before != after}


def _dtypes(looks: Looks) -> set[tuple[str, str]]:
    return {(one.saved.dtype, one.recomputed.dtype) for one in looks.mismatches if "dtype" in one.fields}
