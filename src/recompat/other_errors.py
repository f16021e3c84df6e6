"""Errors around checkpointing that are no ``CheckpointError``, told by their words, and what each means. Pure.

The words are those of every ``raise`` and ``assert`` of torch/utils/checkpoint.py in 2.0.1, 2.1.2, 2.2.2, 2.4.1, 2.5.1, 2.11.0,
2.12.1, 2.13.0 and 2.15.0, and of autograd, ``torch.func`` and DistributedDataParallel where they stop what is checkpointed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from recompat.explanation import Other, OtherKind
from recompat.frames import CHECKPOINT, own_frames, read_frames
from recompat.pasted import BEGINS, read_blocks, squashed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["read_others"]

SELECTIVE, REENTRANT, ARGUMENTS = OtherKind.SELECTIVE, OtherKind.REENTRANT, OtherKind.ARGUMENTS
UNPACKING, INTERNAL, AUTOGRAD = OtherKind.UNPACKING, OtherKind.INTERNAL, OtherKind.AUTOGRAD


class Known(msgspec.Struct, frozen=True):
    """An error by the words of its releases; ``inside`` if they tell it only where a frame is checkpoint's."""

    kind: OtherKind
    words: tuple[str, ...]
    meaning: str
    inside: bool = False


KNOWN: Final = (
    Known(
        SELECTIVE,
        ("not found in storage", "assert func in self.storage"),
        "Recomputation came to an operator that the policy has saved, and forward had not saved it: the second time, "
        "the function ran other operators, or the policy decided otherwise. Look for what a CheckpointError is looked for: "
        "state that the first run changed, modes and grad mode, what is read from outside of the function. Run it once "
        "without context_fn: if that raises a CheckpointError, its message has the tensors.",
    ),
    Known(
        SELECTIVE,
        ("Trying to backward an extra time", "out = self.storage[func].pop(0)"),
        "What selective checkpointing saved is given out once, and backward came a second time: retain_graph=True and "
        "another backward, or torch.autograd.grad() before it. Up to 2.12 that is also said where recomputation ran a "
        "saved operator more often than forward, as with a branch on state that the first run changed.",
    ),
    Known(
        SELECTIVE,
        ("Tensor cached during selective activation checkpoint has been mutated",),
        "An operation in place changed a tensor that the policy had saved, so recomputation would go on with the changed "
        "one. Do it out of place, or have the policy recompute that operator; where the change is harmless, "
        "create_selective_checkpoint_contexts(…, allow_cache_entry_mutation=True) takes it.",
    ),
    Known(
        REENTRANT,
        ("none of output has requires_grad=True",),
        "Backward reached a reentrant checkpoint, and of what was recomputed no output needs a gradient: the function "
        "ran under no_grad(), detached its result, or uses nothing that needs one. With use_reentrant=False, grad mode "
        "within the function is what it would be without checkpoint().",
    ),
    Known(
        REENTRANT,
        ("is incompatible with .grad()", "is not compatible with .grad()"),
        "Reentrant checkpointing runs a backward of its own within backward, so it takes neither torch.autograd.grad() "
        "nor backward(inputs=…). Pass use_reentrant=False.",
    ),
    Known(
        REENTRANT,
        ("None of the inputs have requires_grad=True. Gradients will be None",),
        "This is a warning, and the gradients are lost: to reentrant checkpointing, what has no input that needs a "
        "gradient needs none, whatever the parameters within it need. Pass use_reentrant=False, or let an input need one.",
    ),
    Known(
        REENTRANT,
        ("Only tuple of tensors is supported. Got Unsupported input type",),
        "Reentrant checkpointing was given its inputs as something else than a tuple; within torch that does not occur. "
        "Look at who calls detach_variable().",
    ),
    Known(
        REENTRANT,
        ("Expected to mark a variable ready only once",),
        "DistributedDataParallel was told twice that a gradient is ready: the backward that a reentrant checkpoint runs "
        "of its own tells it too, as does one where parameters are used in several checkpoints. Pass "
        "use_reentrant=False; if the graph is the same in every step, static_graph=True helps too.",
    ),
    Known(
        UNPACKING,
        ("Attempt to retrieve a tensor saved by autograd multiple times without checkpoint",),
        "torch 2.0 says so where recomputation saved fewer tensors than forward, and where backward asks twice for one. "
        "Newer releases raise a CheckpointError that tells which, and with both counts: run it there.",
    ),
    Known(
        UNPACKING,
        ("if weak_holder_list[unpack_counter - 1]() is None",),
        "torch 2.0 ends in an IndexError where recomputation saves more tensors than forward. Newer releases end "
        "recomputation with the last tensor that is needed, or raise a CheckpointError: run it there.",
    ),
    Known(
        UNPACKING,
        ("You are calling backwards on a tensor that is never exposed",),
        "In torch 2.0, the function that is checkpointed may run no backward of its own: it was run in recomputation too. "
        "Newer releases take that.",
    ),
    Known(
        ARGUMENTS,
        ("debug=True is incompatible with non-default context_fn",),
        "debug=True sets a context of its own. Leave out context_fn while you look for the fault.",
    ),
    Known(
        ARGUMENTS,
        ("is only supported when use_reentrant=False", "Passing `context_fn`"),
        "context_fn, debug and the like are of the other implementation: pass use_reentrant=False too.",
    ),
    Known(
        ARGUMENTS,
        ("Unexpected keyword arguments: ",),
        "Reentrant checkpointing passes no keyword arguments on to the function. Pass use_reentrant=False, or the "
        "arguments by position. Of checkpoint_sequential(), a name is misspelt.",
        inside=True,
    ),
    Known(
        ARGUMENTS,
        ("determinism_check should be one of",),
        'determinism_check is "default" or "none".',
    ),
    Known(
        ARGUMENTS,
        ("expected context_fn generator to yield exactly twice", "context_fn suppressed an exception"),
        "A context of context_fn does not do what one has to: there are two, one for forward and one for recomputation, "
        "and exceptions leave them.",
    ),
    Known(
        ARGUMENTS,
        ("must generate a tuple of two `TorchDispatchMode`s",),
        "Within torch.compile, context_fn has to give two dispatch modes, as create_selective_checkpoint_contexts() does; "
        "other contexts are for eager mode.",
    ),
    Known(
        ARGUMENTS,
        (
            "Expected op in `op_list` to be an OpOverload",
            "policy_fn_or_list must be either a function or a list of ops",
        ),
        "The policy of selective checkpointing is a function, or a list of operators with their overloads: "
        "torch.ops.aten.mm.default and not torch.ops.aten.mm.",
    ),
    Known(
        ARGUMENTS,
        ("GraphExecGroup contexts cannot be nested",),
        "A GraphExecGroup was entered within another one. Backward passes that share activations need one for each, "
        "side by side.",
    ),
    Known(
        ARGUMENTS,
        ("state was initialized in the forward pass of a Checkpoint",),
        "The first use of the device was within the checkpointed function, so its random state was not kept before. Use the "
        "device once before, as by moving the model to it; or pass preserve_rng_state=False.",
    ),
    Known(
        INTERNAL,
        (
            "Something went unexpectedly wrong in activation checkpoint",
            "target_frame reference is None",
            "assert target_frame is not None",
            "target_frame.early_stop is set",
            "assert not target_frame.early_stop",
            "Did not expect to backward on this graph",
            "logs is None",
            "assert capture_logs_",
        ),
        "torch itself calls this state impossible, so the message tells nothing of your code. Try another release, and "
        "report it to PyTorch with a script that shows it; recompat try tells on which releases it does.",
        inside=True,
    ),
    Known(
        INTERNAL,
        ("torch.utils.checkpoint._StopRecomputationError",),
        "With this exception torch ends recomputation early, and it is not meant to be seen: something within the function "
        "caught it, or passed it on as another. Look for except Exception around what is checkpointed, or set "
        "torch.utils.checkpoint.set_checkpoint_early_stop(False).",
    ),
    Known(
        AUTOGRAD,
        ("Trying to backward through the graph a second time",),
        "No recomputation disagreed: autograd had freed the graph. A loss that is built on a tensor of the step before does "
        "it, and so does a second backward without retain_graph=True. With reentrant checkpointing, so does a tensor "
        "that the function uses and does not get as an argument: pass it, or pass use_reentrant=False.",
    ),
    Known(
        AUTOGRAD,
        ("has been modified by an inplace operation",),
        "No recomputation disagreed: a tensor that backward needs was changed in place after it was saved. "
        "torch.autograd.set_detect_anomaly(True) shows where forward saved it.",
    ),
    Known(
        AUTOGRAD,
        ("does not require grad and does not have a grad_fn",),
        "No recomputation disagreed, since there was none: the loss has no graph. With reentrant checkpointing that is so "
        "where no input needs a gradient, whatever the parameters need: pass use_reentrant=False.",
    ),
    Known(
        AUTOGRAD,
        ("don't yet support saved tensor hooks",),
        "No recomputation disagreed: torch.func refuses the hooks by which checkpoint(…, use_reentrant=False) works. Use "
        "torch.autograd there, or no checkpoint().",
    ),
)
SQUASHED: Final = tuple((known, tuple(squashed([words]) for words in known.words)) for known in KNOWN)


def read_others(text: str) -> tuple[Other, ...]:
    """Read every error of another kind, each once, in the order of the text.

    A traceback with a ``CheckpointError`` is left out: some programs show lines of code around those that ran.
    """
    found: dict[str, Other] = {}
    for block in read_blocks(text):
        for other in _others(block):
            before = found.get(other.meaning)
            times = other.times + (before.times if before else 0)
            found[other.meaning] = msgspec.structs.replace(before or other, times=times)
    return tuple(found.values())


def _others(lines: Sequence[str]) -> Iterator[Other]:
    text = squashed(lines)
    if BEGINS.search(text):
        return
    inside = squashed([CHECKPOINT]) in text.replace("\\", "/")
    seen = [(known, *_seen(words, text)) for known, words in SQUASHED if inside or not known.inside]
    told = sorted((one for one in seen if one[1] >= 0), key=lambda one: one[1])
    own = own_frames(read_frames(lines)) if told else {}
    for known, _, number, times in told:
        yield Other(known.kind, known.words[number], known.meaning, own, times)


def _seen(words: Sequence[str], text: str) -> tuple[int, int, int]:
    """Where the first of the words stands, which of them that is, and how often they stand there; -1 if nowhere."""
    places = [(place, number) for number, one in enumerate(words) if (place := text.find(one)) >= 0]
    place, number = min(places, default=(-1, 0))
    return place, number, text.count(words[number])
