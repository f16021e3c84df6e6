"""A broken case file is told from a finding, by a sentence that says where and what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import probing as fixtures

if TYPE_CHECKING:
    from support.probing import Probing

probing, standin_python = fixtures.probing, fixtures.standin_python


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("x = 1\ndef case_it(:", "file.py, line 2: this is not valid Python: invalid syntax."),
        ("\nraise ValueError('no\\nmore')", "file.py, line 2: loading it raised builtins.ValueError: no."),
        ("import sys\nsys.exit(3)", "file.py, line 2: loading it raised builtins.SystemExit: 3."),
        (
            "import nothing_here",
            "file.py, line 1: loading it raised builtins.ModuleNotFoundError: No module named 'noth",
        ),
        ("exec('(')", "file.py, line 1: loading it raised builtins.SyntaxError: '(' was never closed"),
        ("def case_other(): pass", "file.py: there is no function case_it."),
        ("case_it = 3", "file.py: there is no function case_it."),
        ("def case_it(): pass\ninputs = 1 # def inputs(", "file.py: there is no function inputs; case_it needs it."),
        ("def case_it(): pass\n# def reference(", "file.py: there is no function reference; case_it needs it."),
        ("def case_it():\n    ':reference: that'", "file.py: there is no function that; case_it needs it."),
        ("def case_it():\n    ':inputs: that'", "file.py: there is no function that; case_it needs it."),
        (
            "def inputs(): 1 / 0\ndef case_it(): pass",
            "file.py, line 1: inputs() raised builtins.ZeroDivisionError: divi",
        ),
        ("def inputs(): exit(0)\ndef case_it(): pass", "file.py, line 1: inputs() raised builtins."),
        ("def inputs(): return 'ab'\ndef case_it(): pass", "file.py: inputs() must return a tuple, not builtins.str."),
        (
            "import sys\ndef reference(): sys.exit(3)\ndef case_it(): pass",
            "file.py, line 2: the reference exited with status 3.",
        ),
        (
            "REQUIRES = 'torch'\ndef case_it(): pass",
            "file.py: REQUIRES must be a tuple of names, such as REQUIRES = ('tor",
        ),
        ("REQUIRES = ('a b',)\ndef case_it(): pass", "file.py: REQUIRES must hold dotted names, not 'a b'."),
        ("REQUIRES = (1,)\ndef case_it(): pass", "file.py: REQUIRES must hold dotted names, not 1."),
        ("def case_it():\n    ':requires:'", "file.py, line 1: :requires: needs a dotted name, not ''."),
        ("def case_it():\n    ':reference:'", "file.py, line 1: :reference: is empty."),
        (
            "\ndef case_it():\n    ''':reference: a\n    :reference: b'''",
            "file.py, line 2: :reference: stands 2 times; keep one.",
        ),
        (
            "def case_it():\n    ':tolerance: 1e-6'",
            "file.py, line 1: :tolerance: reads as in 'atol=1e-6, rtol=1e-5', not '1",
        ),
        ("def case_it():\n    ':tolerance: atol=much'", "file.py, line 1: :tolerance: reads as in"),
        ("def case_it():\n    ':tolerance: atol=-1'", "file.py, line 1: :tolerance: reads as in"),
        ("def case_it():\n    ':tolerance: atol=nan'", "file.py, line 1: :tolerance: reads as in"),
        ("def case_it():\n    ':tolerance: ctol=1'", "file.py, line 1: :tolerance: reads as in"),
        (
            "def case_it():\n    endless = []\n    endless.append(endless)\n    return endless",
            "file.py: what case_it returns cannot be read: builtins.RecursionError: maximum recursion depth exceeded",
        ),
    ],
)
def test_an_error_says_where_and_what(probing: Probing, source: str, detail: str) -> None:
    trial = probing.trial(source)
    assert trial["outcome"] == "error", trial
    assert trial["detail"].startswith(detail)
    assert trial["detail"].endswith(".")
    assert "\n" not in trial["detail"]


def test_a_file_that_is_not_there(probing: Probing) -> None:
    trial = probing.trials(probing.folder / "absent.py::it")["it"]
    assert (trial["outcome"], trial["sha256"]) == ("error", "")
    assert trial["detail"] == "absent.py: cannot be read: No such file or directory."


def test_a_case_file_cannot_take_the_place_of_a_module(probing: Probing) -> None:
    trial = probing.trial("def case_it(): return {}", name="random.py")
    assert trial["outcome"] == "error"
    assert trial["detail"].startswith("random.py: a module named random is already imported")


def test_unknown_fields_and_roles_are_no_faults(probing: Probing) -> None:
    assert (
        probing.trial("def case_it():\n    ''':family: a b\n    :func:`x` does'''\n    return {}")["outcome"] == "pass"
    )
