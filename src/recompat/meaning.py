"""What a message of ``CheckpointError`` means, in sentences that claim no more than it shows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recompat.disagreement import DisagreementKind
from recompat.explanation import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.explanation import Message

__all__ = ["meaning_of"]

KINDS: Final = {
    DisagreementKind.METADATA: (
        "Recomputation saved a tensor for each of forward's, but some with another shape, dtype or device: the "
        "function did not compute the same the second time."
    ),
    DisagreementKind.COUNT: (
        "Recomputation saved another number of tensors than forward: the function did not run the same operations "
        "the second time."
    ),
    DisagreementKind.MORE_TENSORS: (
        "Recomputation went on to save more tensors than forward had: the function ran more operations that save "
        "something the second time."
    ),
    DisagreementKind.UNPACKED_AGAIN: (
        "Backward asked a second time for a saved tensor that it had been given, as where a custom "
        "autograd.Function reads ctx.saved_tensors twice, or where two backward passes that share activations."
    ),
    DisagreementKind.OPERATOR_LOG: (
        "The two runs did not agree; debug=True put a log of the operators of both in the place of the message. The "
        "exception above it in the traceback, if it is there, says in what they did not."
    ),
}
PATTERNS: Final = {
    Pattern.SHIFTED: (
        "The tensors are those of the other run, at other positions: one of the runs did something more, less or in "
        "another order before the first of them. Look for what is done once and kept (a cast, a table, a cached "
        "weight), for grad mode, and for compiled code that is compiled again."
    ),
    Pattern.ATTENTION: (
        "Three dimensions in one run and four in the other, of the same size: in the library, that is where "
        "scaled_dot_product_attention ran by its math operators in one run and by a fused one in the other. Look "
        "for sdpa_kernel(), or another choice of the attention backend, around forward or around backward alone."
    ),
    Pattern.DIMENSIONS: "The number of dimensions differs: another operator or another branch did the work.",
    Pattern.GREW: (
        "One dimension is larger in recomputation. Look for state that the first run added to, such as a cache of "
        "keys and values, and for a size that is read from outside of the function."
    ),
    Pattern.SHRANK: (
        "One dimension is smaller in recomputation. Look for a size that is read from outside of the function, such "
        "as that of a batch, and for state that the first run used up."
    ),
    Pattern.SHAPE: (
        "The shapes differ in several dimensions. Look for sizes and choices that are read from outside of the "
        "function: a batch, a routing, a counter, random numbers."
    ),
    Pattern.DTYPE: (
        "The dtype differs where the shape does not: mostly the same computation in another precision. Look for "
        "what sets one around a single one of the runs (a default dtype, a mode), for autocast, and for a cast that "
        "is done once and kept."
    ),
    Pattern.DEVICE: (
        "The device differs where the shape does not: mostly a default device or a mode that is set around a single "
        "one of the runs."
    ),
    Pattern.NONE_SAVED: (
        "Recomputation saved nothing at all: mostly, nothing in it needed a gradient. Look for requires_grad, eval() or "
        "grad mode that was switched between forward and backward, and for a fast path that is taken then."
    ),
    Pattern.FEWER: (
        "Recomputation saved fewer tensors. Look for a branch on state that the first run changed, for what is built "
        "once and kept, and for a backward that is run in an except block, while an exception is being handled."
    ),
    Pattern.MORE: (
        "Recomputation saved more tensors. Look for a branch on state that the first run changed, and for modes or "
        "grad mode that were on around a single one of the runs."
    ),
}
CUT: Final = "The message is not whole: what lacks of it cannot be explained."
LOGGED: Final = 3  # operators that are named of those that differ


def meaning_of(message: Message, patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """Say what a message means: its kind, what is peculiar in it, and where the operators part."""
    return tuple(_sentences(message, patterns))


def _sentences(message: Message, patterns: Sequence[Pattern]) -> Iterator[str]:
    yield KINDS[message.disagreement.kind]
    yield from (PATTERNS[pattern] for pattern in patterns)
    yield from _operators(message)
    if message.cut:
        yield CUT


def _operators(message: Message) -> Iterator[str]:
    forward, recompute = message.forward, message.recompute
    if not forward or not recompute:
        return
    pairs = enumerate(zip(forward, recompute, strict=False), 1)
    parts = next(((number, one, other) for number, (one, other) in pairs if one != other), None)
    if parts is not None:
        number, one, other = parts
        yield f"The logs part at operator {number}: forward ran {one}, recomputation {other}."
    elif len(forward) != len(recompute):
        longer, run = (forward, "forward") if len(forward) > len(recompute) else (recompute, "recomputation")
        shared = min(len(forward), len(recompute))
        more = ", ".join(longer[shared : shared + LOGGED])
        yield f"The logs are the same up to operator {shared}; then {run} alone went on with {more}."
