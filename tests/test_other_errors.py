"""What `recompat explain` says of errors that are no CheckpointError; the words are those that real releases printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from recompat.cli import run
from recompat.explain import Library, explain
from recompat.explanation import OtherKind, Where
from recompat.other_errors import read_others
from recompat.pasted import read_messages
from recompat.report.explain_markdown import render_explain_markdown
from recompat.report.explain_text import render_explain_text
from recompat.report.json import render_json
from recompat.report.page import Paper
from scenes import HOSTILE
from test_pasted import METADATA, before_each_line, hard_wrapped, in_a_box
from test_schemas import validator

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.explanation import Explanation

SELECTIVE = """\
Traceback (most recent call last):
  File "/home/jo/train.py", line 25, in more
    loss.backward()
  File "/usr/lib/python3.11/site-packages/torch/utils/checkpoint.py", line 1262, in unpack_hook
    _run_fn_with_dynamo_disabled(frame.recompute_fn, *args)
  File "/home/jo/train.py", line 23, in layer
    y = y @ y
        ~~^~~
  File "/usr/lib/python3.11/site-packages/torch/utils/checkpoint.py", line 1715, in __torch_dispatch__
    raise RuntimeError(
RuntimeError: aten.mm.default encountered during backward but not found in storage. This can happen if the operations in \
the checkpointed region are nondeterministic or depend on global state that changed between forward and backward.
"""
INSIDE = '  File "/x/torch/utils/checkpoint.py", line 1, in checkpoint\n'
WORDS = [
    (SELECTIVE, OtherKind.SELECTIVE),
    ("RuntimeError: aten.mm.default encountered during backward, but not found in storage", OtherKind.SELECTIVE),
    (f"{INSIDE}    assert func in self.storage\nAssertionError\n", OtherKind.SELECTIVE),
    (
        "RuntimeError: aten.mm.default invocation index 1 encountered during backward but not found in storage. This can",
        OtherKind.SELECTIVE,
    ),
    ("RuntimeError: Trying to backward an extra time. You are only allowed to backward once", OtherKind.SELECTIVE),
    (f"{INSIDE}    out = self.storage[func].pop(0)\nIndexError: pop from empty list", OtherKind.SELECTIVE),
    ("RuntimeError: Tensor cached during selective activation checkpoint has been mutated", OtherKind.SELECTIVE),
    ("RuntimeError: none of output has requires_grad=True, this checkpoint() is not necessary", OtherKind.REENTRANT),
    ("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing", OtherKind.REENTRANT),
    ("Checkpointing is not compatible with .grad() or when an `inputs` parameter is passed", OtherKind.REENTRANT),
    ("UserWarning: None of the inputs have requires_grad=True. Gradients will be None", OtherKind.REENTRANT),
    ("RuntimeError: Expected to mark a variable ready only once. This error is caused by one", OtherKind.REENTRANT),
    (
        "Attempt to retrieve a tensor saved by autograd multiple times without checkpoint recomputation",
        OtherKind.UNPACKING,
    ),
    (f"{INSIDE}    if weak_holder_list[unpack_counter - 1]() is None:\nIndexError: list index", OtherKind.UNPACKING),
    ("You are calling backwards on a tensor that is never exposed. Please open an issue.", OtherKind.UNPACKING),
    (f"{INSIDE}ValueError: Unexpected keyword arguments: dim", OtherKind.ARGUMENTS),
    ("Passing `context_fn`, `debug`, or `respect_saved_tensors_hooks` is only supported when", OtherKind.ARGUMENTS),
    ("ValueError: Expected op in `op_list` to be an OpOverload but got: aten.mm of type", OtherKind.ARGUMENTS),
    ("torch.utils.checkpoint._StopRecomputationError\n\nThe above exception was the direct", OtherKind.INTERNAL),
    (f"{INSIDE}AssertionError: Something went unexpectedly wrong in activation checkpoint. Please", OtherKind.INTERNAL),
    ("RuntimeError: Trying to backward through the graph a second time (or directly access", OtherKind.AUTOGRAD),
    ("variables needed for gradient computation has been modified by an inplace operation: [", OtherKind.AUTOGRAD),
    ("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn", OtherKind.AUTOGRAD),
    ("torch.func transforms don't yet support saved tensor hooks. Please open an issue", OtherKind.AUTOGRAD),
]
PASTED = {
    "as it is": SELECTIVE,
    "a terminal's colours": SELECTIVE.replace("backward", "\x1b[1;35mback\x1b[0mward"),
    "a rank": before_each_line("[rank0]: ", SELECTIVE),
    "a log of a Chinese program": before_each_line("2026年11月29日 12:00:00 错误 训练 | ", SELECTIVE),
    "a log of a French program": before_each_line("29/11/2026 à 12h00 ERREUR [entraînement] ", SELECTIVE),
    "wrapped by a terminal": hard_wrapped(60, SELECTIVE),
    "a box": in_a_box(SELECTIVE),
    "in JSON": json.dumps({"niveau": "erreur", "message": SELECTIVE}),
    "Windows": SELECTIVE.replace("/usr/lib/python3.11/", "C:\\Python\\Lib\\").replace("torch/utils/", "torch\\utils\\"),
}


def explained(text: str) -> Explanation:
    return explain(read_messages(text), text, Library())


@pytest.mark.parametrize(("text", "kind"), WORDS)
def test_the_words_of_each_release_are_known(text: str, kind: OtherKind) -> None:
    assert [other.kind for other in read_others(text)] == [kind]


@pytest.mark.parametrize("name", PASTED)
def test_the_error_and_the_users_own_frames_are_read_whatever_was_done_to_the_lines(name: str) -> None:
    (other,) = read_others(PASTED[name])
    assert other.kind is OtherKind.SELECTIVE
    assert other.own[Where.UNPACKING].name == "/home/jo/train.py:25 in more"
    assert other.own[Where.RECOMPUTING].name == "/home/jo/train.py:23 in layer"


def test_errors_that_are_equal_are_told_once_with_their_number() -> None:
    assert [other.times for other in read_others(SELECTIVE * 3)] == [3]


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: Unexpected keyword arguments: size",  # no frame is checkpoint's
        "AssertionError: logs is None",
        f"{METADATA}\n   1283     assert target_frame is not None\n   1284  torch/utils/checkpoint.py",  # lines around
        "",
    ],
)
def test_what_is_no_such_error_is_none(text: str) -> None:
    assert read_others(text) == ()


def test_a_checkpoint_error_and_another_one_are_both_told() -> None:
    found = explained(f"Traceback (most recent call last):\n{METADATA}\n{SELECTIVE}")
    assert len(found.explained) == len(found.others) == 1


def test_it_is_said_that_this_is_no_checkpoint_error_and_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").write_text("RuntimeError: Trying to backward through the graph a second time")
    run(["explain", "log"])
    printed = capsys.readouterr().out
    assert printed.startswith("No error of checkpointing: autograd's own\n")
    assert "No recomputation disagreed: autograd had freed the graph." in printed
    assert "Outcomes and repairs" not in printed


def test_the_json_is_valid_and_nothing_pasted_acts() -> None:
    line = HOSTILE.partition("\r")[0]
    found = explained(SELECTIVE.replace("y = y @ y", line).replace("in layer", f"in {line}"))
    assert found.others[0].own
    validator("explanation-1.json").validate(json.loads(render_json(found)))
    markdown = render_explain_markdown(found)
    assert "<script>" not in markdown
    for text in (markdown, render_explain_text(found, Paper(detail=1))):
        assert "/home/jo" not in text
        assert not {"\x1b", "\x00", "\x9b", "\u202e", "\u200b"} & {*text}
