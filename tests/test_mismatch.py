from __future__ import annotations

import time

import pytest

from recompat.mismatch import parse_disagreement, parse_mismatches
from recompat.model import Disagreement, DisagreementKind, Mismatch, TensorMeta

HEAD = (
    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
    "forward pass.\n"
)
FIRST = """tensor at position 0:
saved metadata: {'shape': torch.Size([2, 4, 8]), 'dtype': torch.float32, 'device': device(type='cpu')}
recomputed metadata: {'shape': torch.Size([1, 2, 8, 4]), 'dtype': torch.float32, 'device': device(type='cpu')}
"""
SECOND = """tensor at position 3:
saved metadata: {'shape': torch.Size([2, 8, 4]), 'dtype': torch.bfloat16, 'device': device(type='cuda', index=1)}
recomputed metadata: {'shape': torch.Size([]), 'dtype': torch.int64, 'device': device(type='cpu')}
"""
TIP = """.

Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\N{NON-BREAKING HYPHEN}debug mode globally.
"""
FEWER = (
    "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
    "Number of tensors saved during forward: 5\nNumber of tensors saved during recomputation: 3"
)
MORE = "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass."
AGAIN = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. {}If you are calling "
    "ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details on your use "
    "case."
)
IN_GROUP = (
    "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute gradients) is "
    "not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
)
LOG = """ \
An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.
Scroll all the way down for guidance on how to navigate these logs.
"""
LATER_TIP = (
    TIP
    + """
If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""
)
PARSED = (
    Mismatch(0, TensorMeta((2, 4, 8), "torch.float32", "cpu"), TensorMeta((1, 2, 8, 4), "torch.float32", "cpu")),
    Mismatch(3, TensorMeta((2, 8, 4), "torch.bfloat16", "cuda:1"), TensorMeta((), "torch.int64", "cpu")),
)


@pytest.mark.parametrize("message", [HEAD + FIRST + SECOND, HEAD + FIRST + SECOND + TIP], ids=["2.1.2", "2.15.0"])
def test_every_tensor_of_the_message_is_read(message: str) -> None:
    assert parse_mismatches(message) == PARSED


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (HEAD + FIRST + SECOND, Disagreement(DisagreementKind.METADATA)),
        (HEAD + FIRST + TIP, Disagreement(DisagreementKind.METADATA)),
        (FEWER, Disagreement(DisagreementKind.COUNT, 5, 3)),
        (f"{FEWER}.\n{TIP}", Disagreement(DisagreementKind.COUNT, 5, 3)),
        (f"{FEWER}.\n{LATER_TIP}", Disagreement(DisagreementKind.COUNT, 5, 3)),
        (FEWER.partition("\n")[0], Disagreement(DisagreementKind.COUNT)),
        (FEWER.replace("5", "9" * 10_000), Disagreement(DisagreementKind.COUNT)),
        (MORE, Disagreement(DisagreementKind.MORE_TENSORS)),
        (f"{MORE}\n{TIP}", Disagreement(DisagreementKind.MORE_TENSORS)),
        (AGAIN.format(""), Disagreement(DisagreementKind.UNPACKED_AGAIN)),
        (AGAIN.format(IN_GROUP), Disagreement(DisagreementKind.UNPACKED_AGAIN)),
        (f"[rank1]: {AGAIN.format('')}", Disagreement(DisagreementKind.UNPACKED_AGAIN)),
        (LOG, Disagreement(DisagreementKind.OPERATOR_LOG)),
        ("", None),
        ("batch1 must be a 3D tensor", None),
        ("x" * 4_000_000 + MORE, None),
    ],
)
def test_each_message_is_told_from_the_others(message: str, expected: Disagreement | None) -> None:
    assert parse_disagreement(message) == expected


def test_a_mismatch_says_which_fields_differ() -> None:
    assert [mismatch.fields for mismatch in PARSED] == [("shape",), ("shape", "dtype", "device")]


def test_lines_may_have_a_launchers_prefix() -> None:
    message = "\n".join(f"[rank1]: {line}" for line in (HEAD + FIRST + SECOND).splitlines())
    assert parse_mismatches(message) == PARSED


def test_windows_line_ends_are_read() -> None:
    assert parse_mismatches((HEAD + FIRST).replace("\n", "\r\n")) == PARSED[:1]


def test_the_order_of_the_metadata_does_not_matter() -> None:
    swapped = FIRST.replace("'shape': torch.Size([2, 4, 8]), 'dtype': torch.float32", "'dtype': torch.float32, 'shape': "
                            "torch.Size([2, 4, 8])")  # fmt: skip
    assert swapped != FIRST
    assert parse_mismatches(swapped) == PARSED[:1]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "tensor at position 3:",
        FEWER,
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass.",
        "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once.",
        FIRST.replace("[2, 4, 8]", "[s0, 4, 8]"),
        FIRST.replace("[2, 4, 8]", "[2, , 8]"),
        FIRST.replace("[2, 4, 8]", f"[{'9' * 10_000}]"),
        FIRST.replace("position 0", f"position {'9' * 10_000}"),
        FIRST.replace("'device': device(type='cpu')", "'device': None"),
        FIRST.replace("torch.float32", "float32"),
        FIRST.replace("recomputed metadata", "other metadata"),
    ],
)
def test_what_cannot_be_read_yields_nothing(message: str) -> None:
    assert parse_mismatches(message) == ()


def test_a_message_that_was_cut_yields_what_is_whole() -> None:
    assert parse_mismatches((HEAD + FIRST + SECOND)[:-30]) == PARSED[:1]


@pytest.mark.parametrize(
    "message",
    [
        "x" * 4_000_000,
        "tensor at position 1:" * 200_000,
        "tensor at position 1:" + " " * 4_000_000 + "x",
        ("tensor at position 1:\nsaved metadata: \nrecomputed metadata: \n") * 50_000,
        "tensor at position 1:\nsaved metadata: " + "'shape': torch.Size([" * 200_000 + "\nrecomputed metadata: ",
        f"tensor at position 1:\nsaved metadata: 'shape': torch.Size([{'1, ' * 1_000_000}\nrecomputed metadata: ",
        FIRST * 10_000,
        "\n" * 4_000_000,
    ],
    ids=["one line", "repeated", "blanks", "empty metadata", "unclosed", "endless shape", "many", "newlines"],
)
def test_megabytes_take_linear_time(message: str) -> None:
    began = time.process_time()
    parse_mismatches(message)
    assert time.process_time() - began < 5
