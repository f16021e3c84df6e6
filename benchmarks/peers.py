"""What people would otherwise do: the same cases under pytest, asv and a shell loop, each set up as well as it can be.

Their tests call ``recompat_probe.trial.run_trial``, so that the work is the same and the harness alone differs.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from recompat.options import parse_options
from recompat.project import Project
from recompat.runner import probe_folder
from recompat.setup import load_setup
from recompat.tools import uv_binary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.trials import CaseAddress

__all__ = ["REPLAYS", "chosen_cases", "clone", "environ", "layer", "write_peers", "write_tests"]

ROOT = Path(__file__).parent.parent
REPLAYS = 3

TOOLS = ("pytest>=8,<9", "pytest-forked>=1.6", "pytest-xdist>=3.6", "asv>=0.6.4", "asv-runner")
"""With an older pytest, since pytest-forked does not run with 9."""
PYTEST = '''"""One test a case."""
import sys
sys.path.insert(0, {probe!r})
import pytest
import torch
import sympy  # as recompat's cold replay has it
from recompat_probe.casefile import read_source
from recompat_probe.trial import run_trial
torch.set_num_threads(1)

@pytest.mark.parametrize("path, name", {cases})
def test_case(path, name):
    assert run_trial(read_source(path), name)["outcome"] != "error"
'''
ASV = '''"""One benchmark a case, run once in a process of its own."""
import sys
sys.path.insert(0, {probe!r})
import torch
from recompat_probe.casefile import read_source
from recompat_probe.trial import run_trial
torch.set_num_threads(1)

class Cases:
    params = {cases}
    timeout = 60
    rounds, number, repeat, warmup_time, sample_time = 1, 1, 1, 0, 0

    def time_case(self, case):
        run_trial(read_source(case[0]), case[1])
'''
LOOP = """import sys
sys.path.insert(0, {folder!r})
import {stem} as f
try:
    f.{function}(*f.inputs())
except Exception as error:
    print(type(error).__name__)
"""


def layer(python: Path, folder: Path) -> Path:
    """Make an environment with the tools that finds torch in that of ``python``; return its interpreter."""
    uv, made = uv_binary(), folder / "bin" / "python"
    if not made.exists():
        site = subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True)
        subprocess.run([uv, "venv", "--quiet", "--no-project", "--python", python, folder], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", made, *TOOLS], check=True)
        (next(folder.glob("lib/*/site-packages")) / "beneath.pth").write_text(site)
    return made


def write_peers(folder: Path, cases: Sequence[CaseAddress]) -> None:
    """Write the peers' files: ``test_cases.py``, ``asv.conf.json`` with ``benchmarks/``, and a script a case in ``loop/``."""
    named = [(str(case.path), case.name) for case in cases]
    source = str(probe_folder().parent)
    write_tests(folder, cases)
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "__init__.py").touch()
    (folder / "benchmarks" / "cases.py").write_text(ASV.format(probe=source, cases=named))
    settings = {
        "version": 1,
        "project": "cases",
        "repo": ".",
        "benchmark_dir": "benchmarks",
        "environment_type": "existing",
    }
    (folder / "asv.conf.json").write_text(json.dumps(settings))
    (folder / "loop").mkdir()
    for number, case in enumerate(cases):
        script = LOOP.format(folder=str(case.path.parent), stem=case.path.stem, function=f"case_{case.name}")
        (folder / "loop" / f"{number:04}.py").write_text(script)


def write_tests(folder: Path, cases: Sequence[CaseAddress]) -> None:
    """Write ``test_cases.py``, of which each test is a case."""
    named = [(str(case.path), case.name) for case in cases]
    (folder / "test_cases.py").write_text(PYTEST.format(probe=str(probe_folder().parent), cases=named))


def chosen_cases(keyword: str | None) -> Sequence[CaseAddress]:
    """The cases of this project that ``-k`` selects; the default ones without it."""
    return load_setup(Project(ROOT), parse_options(["-k", keyword] if keyword else [])).addresses


def clone(folder: Path) -> None:
    """Copy this project as it is committed."""
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)


def environ() -> dict[str, str]:
    """Give every contestant the same variables: one thread, byte code written, no colour."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV"}}
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    return {**kept, **threads, "NO_COLOR": "1"}
