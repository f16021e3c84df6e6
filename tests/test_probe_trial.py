"""What the probe makes of a case: its outcome, and what is kept of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from support import probing as fixtures

if TYPE_CHECKING:
    from pathlib import Path

    from support.probing import Probing

CHECKPOINTED = """
import torch
from torch.utils.checkpoint import checkpoint

def inputs():
    torch.manual_seed(7)
    return (torch.rand(3, requires_grad=True),)

def double(x): return x * 2
def recomputed_differently(x): return x * 2
def recomputed_wrongly(x): return x * 2
def refuses(x): raise NotImplementedError("not for you.\\nNever.")

def finish(output, x):
    output.sum().backward()
    return {"output": output, "x.grad": x.grad}

def reference(x): return finish(double(x), x)
def refusing(x): return refuses(x)
def case_passes(x): return finish(checkpoint(double, x), x)
def case_raises(x): return finish(checkpoint(recomputed_differently, x), x)
def case_differs(x): return finish(checkpoint(recomputed_wrongly, x), x)
def case_raises_forward(x): return finish(checkpoint(refuses, x), x)
def case_is_moot(x):
    ":reference: refusing"
    return finish(checkpoint(refuses, x), x)
def case_accepts(x):
    ":reference: refusing"
    return finish(checkpoint(double, x), x)
"""


probing, standin_python = fixtures.probing, fixtures.standin_python


# Outcomes.


def test_pass_keeps_what_was_measured(probing: Probing) -> None:
    trial = probing.trial(CHECKPOINTED, case="passes")
    assert (trial["outcome"], trial["raised"], trial["detail"]) == ("pass", None, None)
    assert trial["differences"] == [
        {"name": name, "equal": True, "max_abs_diff": 0.0, "note": None} for name in ("output", "x.grad")
    ]


def test_differs_names_what_differs(probing: Probing) -> None:
    trial = probing.trial(CHECKPOINTED, case="differs")
    assert trial["outcome"] == "differs"
    assert [(found["name"], found["equal"], found["max_abs_diff"]) for found in trial["differences"]] == [
        ("output", True, 0.0),
        ("x.grad", False, 1.0),
    ]


def test_raises_in_backward(probing: Probing) -> None:
    trial = probing.trial(CHECKPOINTED, case="raises")
    raised = trial["raised"]
    assert (trial["outcome"], trial["differences"]) == ("raises", [])
    assert (raised["type"], raised["phase"]) == ("torch.utils.checkpoint.CheckpointError", "backward")
    assert "tensor at position 0:\nsaved metadata: {'shape': torch.Size([3])" in raised["message"]
    files = [frame.partition(":")[0] for frame in raised["frames"]]
    assert (files[0], files[-1]) == ("file.py", "torch/utils/checkpoint.py")
    assert files.count("file.py") == 2  # the case and finish(); nothing of the probe


def test_raises_in_forward(probing: Probing) -> None:
    raised = probing.trial(CHECKPOINTED, case="raises_forward")["raised"]
    assert (raised["type"], raised["phase"]) == ("builtins.NotImplementedError", "forward")
    assert raised["message"] == "not for you.\nNever."


@pytest.mark.parametrize(("name", "phase"), [("backward", "forward"), ("_engine_run_backward", "backward")])
def test_the_phase_is_torch_s_and_not_that_of_a_function_of_the_case(probing: Probing, name: str, phase: str) -> None:
    raised = probing.trial(f"def {name}(): raise ValueError\ndef case_it(): {name}()")["raised"]
    assert raised["phase"] == phase


def test_moot_if_the_reference_raises_too(probing: Probing) -> None:
    trial = probing.trial(CHECKPOINTED, case="is_moot")
    assert trial["outcome"] == "moot"
    assert trial["raised"]["type"] == "builtins.NotImplementedError"
    assert trial["detail"] == "The reference raises too: builtins.NotImplementedError: not for you."


def test_differs_if_only_the_reference_raises(probing: Probing) -> None:
    trial = probing.trial(CHECKPOINTED, case="accepts")
    assert (trial["outcome"], trial["raised"], trial["differences"]) == ("differs", None, [])
    assert trial["detail"] == "The reference raises builtins.NotImplementedError: not for you; the case does not."


@pytest.mark.parametrize("how", ["raise KeyboardInterrupt", "os.kill(os.getpid(), signal.SIGINT); time.sleep(300)"])
def test_an_interrupt_that_the_case_raises_is_an_exception_like_others(probing: Probing, how: str) -> None:
    trial = probing.trial(f"import os, signal, time\ndef case_it(): {how}")
    assert (trial["outcome"], trial["raised"]["type"]) == ("raises", "builtins.KeyboardInterrupt")


def test_an_exception_that_calls_itself_false_is_one(probing: Probing) -> None:
    trial = probing.trial("class Empty(Exception):\n    def __len__(self): return 0\ndef case_it(): raise Empty")
    assert (trial["outcome"], trial["raised"]["type"]) == ("raises", "file.Empty")


@pytest.mark.parametrize(
    ("head", "fields", "detail"),
    [
        ("REQUIRES = ('torch.nothing',)", "", "There is no torch.nothing."),
        (
            "",
            ":requires: torch.nn.attention.sdpa_kernel",
            "There is no torch.nn, so no torch.nn.attention.sdpa_kernel.",
        ),
        (
            "REQUIRES = ('torch.utils.checkpoint.checkpoint', 'torch.nothing')",
            """
            :requires: torch.utils.checkpoint.checkpoint(context_fn)
            :requires: torch.utils.checkpoint.checkpoint(kwargs)
            :requires: torch.nothing
            """,
            "There is no torch.nothing. torch.utils.checkpoint.checkpoint has no parameter kwargs.",
        ),
    ],
)
def test_unsupported_names_what_is_absent(probing: Probing, head: str, fields: str, detail: str) -> None:
    source = f'{head}\ndef case_it():\n    """A title.\n\n    {fields}\n    """\n    raise RuntimeError'
    trial = probing.trial(source)
    assert (trial["outcome"], trial["detail"]) == ("unsupported", detail)


def test_a_case_that_needs_a_compiler_is_unsupported_without_one(
    probing: Probing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = 'def case_it():\n    """A title.\n\n    :needs: compiler\n    """\n    return 1.0'
    assert probing.trial(source)["outcome"] == "differs"
    monkeypatch.setenv("PATH", str(tmp_path))
    trial = probing.trial(source)
    assert trial["outcome"] == "unsupported"
    assert trial["detail"] == "There is no C++ compiler on PATH (c++, g++, clang++, cl)."


@pytest.mark.parametrize(
    ("field", "fault"),
    [
        (":needs: fortran", ":needs: knows compiler, not 'fortran'"),
        (":numbers: differ", ":numbers: says vary, or nothing, not 'differ'"),
    ],
)
def test_a_value_that_a_field_does_not_take(probing: Probing, field: str, fault: str) -> None:
    trial = probing.trial(f'def case_it():\n    """A title.\n\n    {field}\n    """')
    assert trial["outcome"] == "error"
    assert fault in trial["detail"]


def test_a_case_says_that_its_numbers_never_repeat(probing: Probing) -> None:
    trial = probing.trial('def case_it():\n    """A title.\n\n    :numbers: vary\n    """\n    return 1.0')
    assert (trial["outcome"], trial["varies"]) == ("differs", True)
    assert probing.trial("def case_it(): return 1.0")["varies"] is False


# How it is run.


def test_a_case_names_its_own_inputs_reference_and_tolerance(probing: Probing) -> None:
    source = """
def inputs(): return ()
def own_inputs(): return (1.0,)
def reference(x): raise RuntimeError
def own_reference(x): return x
def case_it(x):
    '''A title.

    :inputs: own_inputs
    :reference: own_reference
    :tolerance: atol=0.5, rtol=0
    '''
    return x + 0.4
"""
    trial = probing.trial(source)
    assert trial["outcome"] == "pass", trial
    strict = probing.trial(source.replace("atol=0.5, ", ""))
    assert (strict["outcome"], round(strict["differences"][0]["max_abs_diff"], 6)) == ("differs", 0.4)


def test_the_bytes_that_were_digested_are_those_that_are_run_and_shown(probing: Probing) -> None:
    path = probing.write(
        "import inspect, pathlib\n"
        "def reference(): return 'def case_edits'\n"
        "def case_edits():\n"
        "    pathlib.Path(__file__).write_text('raise ValueError')\n"
        "    return inspect.getsource(case_edits)[:14]\n"
        "def case_after(): return 'def case_edits'"
    )
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    trials = probing.trials(f"{path}::edits", f"{path}::after")
    assert [(trial["outcome"], trial["sha256"]) for trial in trials.values()] == [("pass", sha256)] * 2


def test_reference_and_case_get_fresh_inputs_and_the_same_seeds(probing: Probing) -> None:
    trial = probing.trial(
        "import random, torch\n"
        "def inputs(): return ([], torch.rand(2))\n"
        "def draw(log, x):\n    log.append(1); return log, x, random.random(), torch.rand(2)\n"
        "reference = draw # def reference(\n"
        "case_it = draw"
    )
    assert trial["outcome"] == "pass", trial
    assert [found["name"] for found in trial["differences"]] == ["output[0][0]", "output[1]", "output[2]", "output[3]"]


def test_the_reference_runs_first_and_what_it_returned_cannot_be_changed(probing: Probing) -> None:
    trial = probing.trial(
        "log = []\n"
        "def reference():\n    log.append('reference'); return log\n"
        "def case_it():\n    log.append('case'); return log[:1]"
    )
    assert trial["outcome"] == "pass", trial


def test_a_case_file_is_a_module_as_an_import_would_make_it(probing: Probing) -> None:
    trial = probing.trial(
        "import inspect, pickle, sys\n"
        "class Thing:\n    def __eq__(self, other): return True\n"
        "def reference(): return ['file', 'file.py', 'class Thing', True]\n"
        "def case_it():\n"
        "    copy = pickle.loads(pickle.dumps(Thing()))\n"
        "    source = inspect.getsource(Thing)[:11]\n"
        "    return [__name__, __file__[-7:], source, isinstance(copy, sys.modules['file'].Thing)]"
    )
    assert trial["outcome"] == "pass", trial


def test_the_probe_s_own_future_imports_do_not_reach_the_case(probing: Probing) -> None:
    trial = probing.trial("def case_it(x: int = 0): return case_it.__annotations__\ndef reference(): return {'x': int}")
    assert trial["outcome"] == "pass", trial


# What is kept of exceptions and warnings.


def test_a_message_that_cannot_be_had(probing: Probing) -> None:
    trial = probing.trial("class Mute(Exception):\n    def __str__(self): raise SystemExit\ndef case_it(): raise Mute")
    assert trial["raised"]["message"] == "(no message: str() of it raised builtins.SystemExit)"


def test_a_message_that_is_enormous(probing: Probing) -> None:
    trial = probing.trial("def case_it(): raise ValueError('x' * 12_345)")
    assert trial["raised"]["message"] == "x" * 10_000 + " … (2345 more characters)"


def test_a_message_that_is_no_unicode(probing: Probing) -> None:
    assert probing.trial("def case_it(): raise ValueError('\\ud800')")["raised"]["message"] == "\\ud800"


def test_only_the_last_frames_are_kept(probing: Probing) -> None:
    frames = probing.trial("def case_it(): return case_it()")["raised"]["frames"]
    assert frames == ["file.py:1 in case_it"] * 8


def test_no_folder_of_this_machine_is_told(probing: Probing) -> None:
    trial = probing.trial(
        "import json, os, sys, warnings\n"
        "PLACES = [__file__, sys.prefix + '/x', sys.base_prefix + '/x', os.path.expanduser('~') + '/x']\n"
        "def reference(): return ''\n"
        "def case_it():\n    warnings.warn(' '.join(PLACES))\n    return PLACES\n"
        "def case_raises(): json.loads('|')"
    )
    neutral = "<cases>/file.py <env>/x <python>/x ~/x"
    assert trial["warnings"][0]["text"] == neutral
    frames = probing.trials(f"{probing.folder / 'file.py'}::raises")["raises"]["raised"]["frames"]
    files = [frame.partition(":")[0] for frame in frames]
    assert files[0] == "file.py"
    assert set(files[1:]) == {"json/__init__.py", "json/decoder.py"}


def test_warnings_are_those_that_the_reference_does_not_give_each_once(probing: Probing) -> None:
    trial = probing.trial(
        "import warnings\n"
        "def reference(): warnings.warn('old', DeprecationWarning)\n"
        "def case_it():\n"
        "    for _ in range(2):\n"
        "        warnings.warn('old', DeprecationWarning)\n"
        "        warnings.warn('new', DeprecationWarning)\n"
        "    warnings.warn('old', FutureWarning)"
    )
    assert trial["warnings"] == [
        {"category": "builtins.DeprecationWarning", "text": "new"},
        {"category": "builtins.FutureWarning", "text": "old"},
    ]


def test_a_case_that_raises_has_warned_too(probing: Probing) -> None:
    trial = probing.trial("import warnings\ndef case_it():\n    warnings.warn('soon')\n    raise ValueError")
    assert trial["warnings"] == [{"category": "builtins.UserWarning", "text": "soon"}]
