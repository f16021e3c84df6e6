from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recompat.casedoc import Noticed, Restores
from recompat.cases import read_case_file, read_case_files

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.casedoc import About

WHOLE = '''
FAMILY = "in-place"

def case_broken(x):
    """The input is overwritten.

    Backward then reads other numbers.
    It matters in training.

    :report: pytorch/pytorch#141896
    :report: huggingface/trl#4314
    :detected: builtins.RuntimeError: modified by an inplace operation
    :detected: builtins.IndexError
    :unrepaired: Nothing does.
    :observes: warnings
    :process: own
    :restores: default dtype (use_reentrant=True)
    :numbers: vary
    """

def case_repair(x):
    """A clone is overwritten.

    :repairs: broken
    """
'''


def about(tmp_path: Path, *fields: str) -> About:
    text = '"""A title.\n\n    ' + "\n    ".join(fields) + '\n    """'
    path = tmp_path / "pattern.py"
    path.write_text(f"def case_one(x):\n    {text}\ndef case_other(x): ...\n")
    file = read_case_file(path)
    if file.fault is not None:
        raise AssertionError(file.fault)
    return file.cases[0].about


def test_all_that_a_docstring_tells(tmp_path: Path) -> None:
    path = tmp_path / "pattern.py"
    path.write_text(WHOLE)
    file = read_case_file(path)
    assert file.fault is None
    broken, repair = file.cases
    assert (broken.title, broken.family) == ("The input is overwritten.", "in-place")
    told = broken.about
    assert told.text == "Backward then reads other numbers. It matters in training."
    assert told.reports == ("pytorch/pytorch#141896", "huggingface/trl#4314")
    assert told.noticed == (
        Noticed("builtins.RuntimeError", "modified by an inplace operation"),
        Noticed("builtins.IndexError"),
    )
    assert told.unrepaired == "Nothing does."
    assert told.observes_warnings
    assert told.alone
    assert told.restores == Restores("default dtype", "use_reentrant=True")
    assert told.line == 4
    assert repair.about.repairs == ("pattern::broken",)
    assert not repair.about.observes_warnings
    assert not repair.about.alone


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ([":repair: other"], "pattern.py, line 1: :repair: is no field of a case; did you mean repairs?"),
        ([":repairs: othre"], "line 1: :repairs: names no case of this file; did you mean other?"),
        ([":report: 141896"], ":report: is '141896'; write it as in pytorch/pytorch#141896."),
        ([":report:"], ":report: is empty; say what, or remove it."),
        ([":detected: RuntimeError"], ":detected: is 'RuntimeError'; write it as in builtins.RuntimeError: part of"),
        ([":observes: everything"], ":observes: is 'everything'; write warnings, or remove it."),
        ([":process: shared"], ":process: is 'shared'; write own, or remove it."),
        ([":restores: dtype"], ":restores: is 'dtype'; write it as in default dtype (use_reentrant=True)."),
        ([":unrepaired: a", ":unrepaired: b"], ":unrepaired: stands 2 times; keep one."),
    ],
)
def test_a_field_that_cannot_be_read_is_the_file_s_fault(tmp_path: Path, fields: list[str], fault: str) -> None:
    with pytest.raises(AssertionError) as raised:
        about(tmp_path, *fields)
    assert fault in str(raised.value)


def test_the_fields_that_the_probe_reads_are_left_to_it(tmp_path: Path) -> None:
    fields = [":requires: torch.x", ":reference: r", ":inputs: i", ":tolerance: atol=1", ":numbers: vary", ":needs: c"]
    assert about(tmp_path, *fields).text == ""


@pytest.mark.parametrize("value", ['"two words"', "1", '""', "name"])
def test_a_family_is_one_word(tmp_path: Path, value: str) -> None:
    path = tmp_path / "pattern.py"
    path.write_text(f"import torch\nFAMILY = {value}\ndef case_one(x): ...\n")
    assert 'line 2: FAMILY must be a word in quotes, such as FAMILY = "attention".' in str(read_case_file(path).fault)


def test_files_are_in_the_order_of_their_families(tmp_path: Path) -> None:
    for name, family in (("a", "state"), ("b", "attention"), ("c", "state")):
        (tmp_path / f"{name}.py").write_text(f'FAMILY = "{family}"\ndef case_one(x): ...\n')
    assert [file.path.stem for file in read_case_files(tmp_path)] == ["b", "a", "c"]
