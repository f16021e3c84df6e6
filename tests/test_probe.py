"""The probe from outside: its arguments, its events, and what a trial finds around it."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import recompat_probe.__main__
from recompat.model import Outcome, Trial
from support import probing as fixtures
from support.probing import PROBE, Probing, unpacked
from support.wheels import Behaviour

probing, standin_python = fixtures.probing, fixtures.standin_python


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in events]


# What it says.


def test_facts_say_what_is_installed(probing: Probing) -> None:
    header, torch, end = probing.run("--facts")
    assert probing.status == 0
    assert header["tag"] == f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert header["python"] == ".".join(map(str, sys.version_info[:3]))
    assert header["wire"] == 1
    record = next(probing.python.parents[1].glob("lib/*/site-packages/torch-*.dist-info/RECORD"))
    assert torch["distribution_sha256"] == hashlib.sha256(record.read_bytes()).hexdigest()
    assert (torch["imported"], torch["flavour"], torch["threads"]) == ("9.0.0+cu130", "cu130", 1)
    assert torch["packages"] == {"torch": "9.0.0+cu130"}
    assert torch["cpu_capability"] == "DEFAULT"
    assert end == {"event": "end"}


def test_facts_byte_compile_the_warm_import_too(tmp_path: Path) -> None:
    probing = Probing(unpacked(tmp_path), tmp_path)
    command = [part for part in probing.command("--facts") if part != "-B"]
    subprocess.run(command, check=True, timeout=60)
    assert list(tmp_path.glob("env/lib/*/site-packages/torch/_dynamo/__pycache__/*.pyc"))


def test_every_event_has_the_keys_that_the_contract_shows(probing: Probing, tmp_path: Path) -> None:
    contract = recompat_probe.__main__.__doc__ or ""
    shown = [json.loads(text.replace("\n", " ")) for text in re.findall(r'``(\{"event".*?\})``', contract, re.DOTALL)]
    written = probing.run("--evidence", f"{probing.write('def case_it(): return {}')}::it")
    broken = Probing(unpacked(tmp_path / "broken", behaviour=Behaviour.IMPORT_RAISES), tmp_path)
    written += broken.run()
    for event in written:
        assert [set(example) for example in shown if example["event"] == event["event"]] == [set(event)]
    assert {example["event"] for example in shown} == set(kinds(written))


def test_a_finished_event_is_a_trial(probing: Probing) -> None:
    finished = probing.trial("def case_it(): raise ValueError('no')")
    trial = msgspec.convert(finished, Trial)
    assert trial.outcome is Outcome.RAISES
    assert trial.raised is not None
    assert set(finished) - {"event", "case", "sha256"} == set(Trial.__struct_fields__)


def test_the_header_is_written_before_torch_can_kill_the_process(tmp_path: Path) -> None:
    probing = Probing(unpacked(tmp_path, behaviour=Behaviour.IMPORT_ABORTS), tmp_path)
    assert kinds(probing.run("--facts")) == ["header"]
    assert probing.status == -signal.SIGABRT


def test_an_import_that_raises_is_told_and_nothing_is_run(tmp_path: Path) -> None:
    probing = Probing(unpacked(tmp_path, behaviour=Behaviour.IMPORT_RAISES), tmp_path)
    _, failed, _ = events = probing.run(f"{probing.write('def case_it(): pass')}::it")
    assert kinds(events) == ["header", "import-failed", "end"]
    assert failed["type"] == "builtins.ImportError"
    assert failed["message"].startswith("libstandin.so.9: cannot open shared object file")
    assert probing.status == 0


def test_what_a_removed_torch_leaves_behind_does_not_pass_for_one(tmp_path: Path) -> None:
    python = unpacked(tmp_path)
    next(tmp_path.glob("env/lib/*/site-packages/torch/__init__.py")).unlink()
    failed = Probing(python, tmp_path).run("--facts")[1]
    assert (failed["event"], failed["type"]) == ("import-failed", "builtins.AttributeError")


@pytest.mark.parametrize(
    "arguments", [["case"], ["file.py::"], ["::case"], ["--jobs", "0"], ["--timeout", "x"], ["--out"]]
)
def test_bad_arguments(probing: Probing, arguments: list[str]) -> None:
    assert probing.run(*arguments) == []
    assert probing.status == 2
    assert "usage:" in probing.log


def test_a_file_that_cannot_be_written_is_no_case_s_fault(probing: Probing) -> None:
    probing.out = probing.folder / "missing" / "events.jsonl"
    assert probing.run("--facts") == []
    assert probing.status == 70


def test_an_old_python_is_turned_away_before_anything_else() -> None:
    pretend = f"import sys, runpy; sys.version_info = (3, 7); runpy.run_path({str(PROBE)!r}, run_name='__main__')"
    ended = subprocess.run([sys.executable, "-I", "-c", pretend], capture_output=True, text=True, check=False)
    assert ended.returncode == 90
    assert ended.stderr.startswith("The probe needs Python 3.8 or newer")


@pytest.mark.parametrize(
    "path", [*PROBE.parent.glob("*.py"), *(Path(__file__).parents[1] / "matrix/cases").glob("*.py")]
)
def test_the_oldest_python_can_read_it(path: Path) -> None:
    ast.parse(path.read_text("utf-8"), path.name, feature_version=(3, 8))


def test_the_gate_is_written_for_any_python() -> None:
    ast.parse(PROBE.read_text("ascii"), feature_version=(3, 4))


def test_the_probe_can_be_run_as_a_module(probing: Probing) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PROBE.parents[1])}
    command = [str(probing.python), "-m", "recompat_probe", "--out", str(probing.out), "--facts"]
    subprocess.run(command, env=environment, check=True, timeout=60)
    assert kinds(probing.events()) == ["header", "torch", "end"]


# What a trial finds.


def test_a_trial_sees_neither_the_host_nor_a_new_path(probing: Probing) -> None:
    trial = probing.trial(
        "import sys, torch\n"
        "def reference(): return {'host': False, 'paths': True, 'arguments': 1}\n"
        "def case_it():\n"
        "    host = any(name.split('.')[0] in ('recompat', 'msgspec') for name in sys.modules)\n"
        "    installed = [path for path in sys.path if path.startswith(sys.base_prefix) or path.startswith(sys.prefix)]\n"
        "    return {'host': host, 'paths': sys.path == installed, 'arguments': len(sys.argv)}"
    )
    assert trial["outcome"] == "pass", trial


def test_a_trial_has_one_thread_no_gpu_and_no_input(probing: Probing) -> None:
    trial = probing.trial(
        "import os, sys, torch\n"
        "def reference(): return ['1', '1', '1', '', 1, '']\n"
        "def case_it():\n"
        "    names = 'OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'CUDA_VISIBLE_DEVICES'\n"
        "    return [*map(os.environ.get, names), torch.get_num_threads(), sys.stdin.read()]"
    )
    assert trial["outcome"] == "pass", trial


@pytest.mark.parametrize(("options", "warm"), [([], False), (["--warm"], True)])
def test_only_a_warm_replay_has_imported_dynamo(probing: Probing, options: list[str], warm: bool) -> None:
    source = f"import sys, torch\ndef reference(): return {warm}\ndef case_it(): return 'torch._dynamo' in sys.modules"
    assert probing.trial(source, *options)["outcome"] == "pass"


def test_a_cold_replay_has_imported_what_dynamo_needs_of_others(tmp_path: Path) -> None:
    probing = Probing(unpacked(tmp_path), tmp_path)
    source = "import sys\ndef reference(): return True\ndef case_it(): return 'sympy' in sys.modules"
    assert probing.trial(source)["outcome"] == "differs"  # it is not there, and that is no trouble
    (site_packages,) = tmp_path.glob("env/lib/*/site-packages")
    (site_packages / "sympy.py").write_text("")
    assert probing.trial(source)["outcome"] == "pass"


def test_a_trial_has_one_thread_whatever_its_parent_had(probing: Probing) -> None:
    source = "import torch\ntorch.set_num_threads(3)\ndef reference(): return 1\ndef case_it(): return torch.get_num_threads()"
    assert probing.trial(source)["outcome"] == "differs"  # the case's own doing is left alone
    assert probing.trial(source.replace("torch.set_num_threads(3)", ""))["outcome"] == "pass"


def test_a_trial_leaves_nothing_to_the_next(probing: Probing) -> None:
    path = probing.write(
        "import torch\n"
        "def reference(): return False\n"
        "def case_one():\n    was = hasattr(torch, 'mark'); torch.mark = True; return was\n"
        "case_other = case_one"
    )
    trials = probing.trials(f"{path}::one", f"{path}::other")
    assert [trial["outcome"] for trial in trials.values()] == ["pass", "pass"]


def test_a_trial_cannot_reach_the_wire_by_its_descriptors(probing: Probing) -> None:
    trial = probing.trial("import os\ndef case_it():\n    os.closerange(0, 256)\n    return {}")
    assert trial["outcome"] == "pass"


def test_what_a_trial_prints_is_a_log(probing: Probing) -> None:
    trial = probing.trial('def case_it():\n    print(\'{"event": "end"}\', flush=True)\n    return {}')
    assert trial["outcome"] == "pass"
    assert '{"event": "end"}' in probing.log
