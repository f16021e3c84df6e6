"""What people paste: the same message however terminals, launchers, mail and logs have treated it."""

from __future__ import annotations

import textwrap
import time

import pytest

from recompat.disagreement import Disagreement, DisagreementKind, Mismatch, TensorMeta
from recompat.explanation import Frame, Where
from recompat.frames import own_frames
from recompat.pasted import read_messages, read_text

TRACEBACK = """\
Traceback (most recent call last):
  File "/home/jo/project/train.py", line 41, in <module>
    step(model, batch)
  File "/home/jo/project/train.py", line 17, in step
    loss.backward()
    ^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/site-packages/torch/_tensor.py", line 631, in backward
    torch.autograd.backward(
  File "/usr/lib/python3.11/site-packages/torch/utils/checkpoint.py", line 1177, in unpack_hook
    frame.check_recomputed_tensors_match(gid)
"""
METADATA = """\
torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values for the following tensors have \
different metadata than during the forward pass.
tensor at position 0:
saved metadata: {'shape': torch.Size([2, 4, 8]), 'dtype': torch.float32, 'device': device(type='cpu')}
recomputed metadata: {'shape': torch.Size([1, 2, 8, 4]), 'dtype': torch.float32, 'device': device(type='cpu')}
tensor at position 3:
saved metadata: {'shape': torch.Size([8]), 'dtype': torch.bfloat16, 'device': device(type='cuda', index=1)}
recomputed metadata: {'shape': torch.Size([]), 'dtype': torch.int64, 'device': device(type='cpu')}
.

Tip: To see a more detailed error message, either pass `debug=True` to
"""
COUNT = """\
torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: A different number of tensors was saved during the \
original forward and recomputation.
Number of tensors saved during forward: 12
Number of tensors saved during recomputation: 7.
"""
MORE = "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass."
LOG = """\
torch.utils.checkpoint.CheckpointError:  An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.

$1: f32[6] = torch._ops.aten.tanh.default($0)   (1 of 2 in original)

train.py:27:layer

$2: f32[6] = torch._ops.aten.sin.default($1, (1, 2))   (2 of 2 in original)

$1: f32[6] = torch._ops.aten.tanh.default($0)   (1 of 1 in recompute)
"""
TENSORS = (
    Mismatch(0, TensorMeta((2, 4, 8), "torch.float32", "cpu"), TensorMeta((1, 2, 8, 4), "torch.float32", "cpu")),
    Mismatch(3, TensorMeta((8,), "torch.bfloat16", "cuda:1"), TensorMeta((), "torch.int64", "cpu")),
)
COUNTED = Disagreement(DisagreementKind.COUNT, 12, 7)


def before_each_line(prefix: str, text: str = TRACEBACK + METADATA) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


def hard_wrapped(width: int, text: str = TRACEBACK + METADATA) -> str:
    return "\n".join(line[at : at + width] for line in text.splitlines() for at in range(0, max(len(line), 1), width))


def in_a_box(text: str) -> str:
    return "".join(f"│ {line:<140} │\n" for line in text.splitlines())


PASTED = {
    "as it is": TRACEBACK + METADATA,
    "the message alone": METADATA,
    "a terminal's colours": (TRACEBACK + METADATA).replace("torch.utils", "\x1b[1;35mtorch\x1b[0m.utils\x1b[K"),
    "Windows line ends": (TRACEBACK + METADATA).replace("\n", "\r\n"),
    "quoted": before_each_line("> "),
    "quoted twice": before_each_line("> > "),
    "indented": before_each_line("        "),
    "a rank": before_each_line("[rank0]: "),
    "a rank and a time": before_each_line("2026-11-01 12:00:00,123 ERROR [rank3]:"),
    "GitHub's log": before_each_line("2026-11-01T12:00:00.1234567Z "),
    "Ray": before_each_line("(RayTrainWorker pid=4711, ip=10.0.0.1) "),
    "docker compose": before_each_line("trainer-1  | "),
    "a box": in_a_box(TRACEBACK + METADATA),
    "wrapped by a terminal": hard_wrapped(80),
    "wrapped by a narrow terminal": hard_wrapped(37),
    "wrapped by a mail": "\n".join(textwrap.wrap(METADATA, 72)),
    "wrapped and quoted": before_each_line("> ", hard_wrapped(60)),
    "a rank on each line that a terminal wrapped": hard_wrapped(90, before_each_line("[rank0]: ")),
    "on one line": METADATA.replace("\n", " "),
    "in JSON": '{"level": "error", "message": "' + (TRACEBACK + METADATA).replace("\n", "\\n") + '"}',
    "in HTML": METADATA.replace("'", "&#x27;"),
    "with a word processor's quotes": METADATA.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}"),
    "without its beginning": METADATA.partition("\n")[2],
    "NUL and marks that nobody sees": METADATA.replace(" ", " \x00\u202e\u200b"),
}


@pytest.mark.parametrize("name", PASTED)
def test_the_tensors_are_read_whatever_was_done_to_the_lines(name: str) -> None:
    (message,) = read_messages(PASTED[name])
    assert message.disagreement == Disagreement(DisagreementKind.METADATA)
    assert message.mismatches == TENSORS
    assert not message.cut


@pytest.mark.parametrize(
    "name", ["as it is", "quoted", "a rank and a time", "Ray", "docker compose", "a box", "wrapped by a terminal"]
)
def test_the_users_own_frame_is_found(name: str) -> None:
    (message,) = read_messages(PASTED[name])
    assert own_frames(message.frames)[Where.UNPACKING].name == "/home/jo/project/train.py:17 in step"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRACEBACK + COUNT, COUNTED),
        (before_each_line("[rank0]: ", TRACEBACK + COUNT), COUNTED),
        (hard_wrapped(30, COUNT), COUNTED),
        (COUNT.partition("\n")[2], COUNTED),
        (f"RuntimeError: {MORE}", Disagreement(DisagreementKind.MORE_TENSORS)),
        (LOG, Disagreement(DisagreementKind.OPERATOR_LOG)),
    ],
)
def test_other_messages_are_read(text: str, expected: Disagreement) -> None:
    (message,) = read_messages(text)
    assert message.disagreement == expected


def test_operators_of_a_log_are_read() -> None:
    (message,) = read_messages(LOG)
    assert (message.forward, message.recompute) == (("aten.tanh", "aten.sin"), ("aten.tanh",))


def test_ranks_whose_lines_alternate_are_one_message() -> None:
    lines = (TRACEBACK + METADATA).splitlines()
    text = "".join(f"[rank{rank}]: {line}\n" for line in lines for rank in range(4))
    (message,) = read_messages(text)
    assert (message.mismatches, message.times) == (TENSORS, 4)


def test_several_tracebacks_are_told_apart_and_keep_their_frames() -> None:
    chained = f"{TRACEBACK}{COUNT}\nDuring handling of the above exception, another exception occurred:\n\n"
    other = TRACEBACK.replace("train.py", "again.py")
    first, second = read_messages(f"{chained}{other}{METADATA}")
    assert (first.disagreement, second.mismatches) == (COUNTED, TENSORS)
    assert {frame.file for frame in first.frames}.isdisjoint({"/home/jo/project/again.py"})
    assert own_frames(second.frames)[Where.UNPACKING].file == "/home/jo/project/again.py"


def test_a_first_line_that_is_printed_again_is_no_message_of_its_own() -> None:
    (message,) = read_messages(f"{TRACEBACK}{COUNT}\nerror: {COUNT.splitlines()[0]}")
    assert message.disagreement == COUNTED


def test_what_was_cut_in_the_middle_says_so() -> None:
    (message,) = read_messages(METADATA[: METADATA.index("torch.int64")])
    assert (message.mismatches, message.cut) == (TENSORS[:1], True)
    (message,) = read_messages(COUNT[: COUNT.index("recomputation: 7")])
    assert (message.disagreement, message.cut) == (Disagreement(DisagreementKind.COUNT), True)


def test_a_frame_in_recomputation_and_the_call_of_checkpoint_are_told_apart() -> None:
    inner = """\
  File "/home/jo/model.py", line 9, in forward
    return checkpoint(self.block, x)
  File "/opt/torch/utils/checkpoint.py", line 500, in checkpoint
    ret = function(*args, **kwargs)
  File "/home/jo/model.py", line 5, in block
    return x.sin()
"""
    (message,) = read_messages(TRACEBACK + inner + MORE)
    own = own_frames(message.frames)
    assert own[Where.CHECKPOINT] == Frame("/home/jo/model.py", 9, "forward", "return checkpoint(self.block, x)")
    assert own[Where.RECOMPUTING].line == 5
    assert own[Where.UNPACKING].line == 17


@pytest.mark.parametrize(
    "text", ["", "\x00", "RuntimeError: CUDA out of memory", TRACEBACK, "have different metadata", "a" * 1_000_000]
)
def test_what_is_no_message_is_none(text: str) -> None:
    assert read_messages(text) == ()


def test_what_powershell_writes_is_text() -> None:
    assert len(read_messages(read_text(COUNT.encode("utf-16")))) == 1


@pytest.mark.parametrize(
    "part",
    [
        "\x00",
        "\x1b[",
        "\x1b]",
        "Traceback (most recent call last):\n",
        METADATA,
        METADATA.replace("\n", " "),
        'File "',
        "a.py:1 in f ",
        "tensor at position 1:\n",
        "saved metadata: {",
        "torch._ops.aten.sin.default(",
        f"{LOG}\n",
        "1 1 1> tensor at position 1\n",
        "| > ",
        f"{' ' * 999}\n",
        "a\n",
    ],
)
def test_a_megabyte_of_anything_is_read_in_little_time(part: str) -> None:
    text = METADATA.partition("\n")[0] + part * (1_000_000 // len(part))
    started = time.process_time()
    read_messages(text)
    assert time.process_time() - started < 8
