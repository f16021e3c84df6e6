"""The wheels that the tests build are real ones, and each misbehaves as its name says."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import signal
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from support.environment import make_environment, uv
from support.wheels import ABSENT_PACKAGE, OTHER_VERSION, STANDIN, Behaviour, build_package, build_torch, running_tags

if TYPE_CHECKING:
    from pathlib import Path

    from support.index import Index

CHECKPOINT = """
import torch
from torch.utils.checkpoint import checkpoint
x = torch.full((2, 4, 8), 0.5, requires_grad=True)
def square(x):
    return (x * x).sum()
{before}
checkpoint(square, x, use_reentrant=False).backward()
print(x.grad.reshape(-1).tolist()[0])
"""


def start(wheel: Path, code: str) -> subprocess.Popen[str]:
    """Start ``code`` with the unpacked wheel on the path: what an installer does, in a millisecond."""
    unpacked = wheel.with_suffix("")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    env = {**os.environ, "PYTHONPATH": str(unpacked)}
    command = [sys.executable, "-B", "-c", code]
    return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(wheel: Path, code: str) -> subprocess.CompletedProcess[str]:
    with start(wheel, code) as process:
        out, err = process.communicate(timeout=20)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def checkpoint(folder: Path, behaviour: Behaviour, before: str = "") -> subprocess.CompletedProcess[str]:
    return run(build_torch(folder, behaviour=behaviour), CHECKPOINT.format(before=before))


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr.strip().splitlines()[-1]


def test_installed_from_the_index(index: Index, env: dict[str, str], tmp_path: Path) -> None:
    python = make_environment(tmp_path / "venv", "torch==9.1.0", "numpy<2", env=env)
    code = (
        "import torch, numpy, importlib.metadata as m; print(torch.__version__, m.version('torch'), numpy.__version__)"
    )
    done = subprocess.run([python, "-I", "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout.split() == ["9.1.0", "9.1.0", "1.26.4"]
    assert sorted(index.downloads) == ["numpy-1.26.4-py3-none-any.whl", "torch-9.1.0-py3-none-any.whl"]


def test_record_lists_every_file_with_its_digest(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_torch(tmp_path, "9.0.0+cpu")) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    record = "torch-9.0.0+cpu.dist-info/RECORD"
    rows = list(csv.reader(contents[record].decode().splitlines()))
    assert [row[0] for row in rows] == list(contents)
    assert rows[-1] == [record, "", ""]
    for name, digest, size in rows[:-1]:
        expected = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (f"sha256={expected}", len(contents[name]))


def test_equal_builds_are_equal_and_others_are_not(tmp_path: Path) -> None:
    one = build_torch(tmp_path / "one").read_bytes()
    assert build_torch(tmp_path / "two").read_bytes() == one
    assert build_torch(tmp_path / "three", behaviour=Behaviour.DIFFERS).read_bytes() != one
    assert len(one) < 20_000


def test_tags(tmp_path: Path) -> None:
    wheel = build_torch(tmp_path, tags=running_tags())
    assert parse_wheel_filename(wheel.name)[3] <= set(sys_tags())
    with zipfile.ZipFile(wheel) as archive:
        assert f"Tag: {running_tags()}\n" in archive.read("torch-9.0.0.dist-info/WHEEL").decode()


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("9.0.0", "None None None"),
        ("9.0.0+cpu", "None None None"),
        ("9.0.0+cu130", "13.0 None None"),
        ("9.0.0+rocm6.4", "None 6.4 None"),
        ("9.0.0+xpu", "None None 20250301"),
    ],
)
def test_flavours(tmp_path: Path, version: str, expected: str) -> None:
    code = "import torch; v = torch.version; print(torch.__version__, v.cuda, v.hip, v.xpu)"
    assert run(build_torch(tmp_path, imports_as=version), code).stdout.strip() == f"{version} {expected}"


def test_import_takes_milliseconds(tmp_path: Path) -> None:
    code = "import time; t = time.process_time(); import torch; print(time.process_time() - t)"
    wheel = build_torch(tmp_path)
    assert min(float(run(wheel, code).stdout) for _ in range(3)) < 0.2


def test_normal(tmp_path: Path) -> None:
    assert checkpoint(tmp_path, Behaviour.NORMAL).stdout == "1.0\n"


def test_raises(tmp_path: Path) -> None:
    done = checkpoint(tmp_path, Behaviour.RAISES)
    assert (
        "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values for the following tensors"
        " have different metadata than during the forward pass.\n"
        "tensor at position 0:\n"
        "saved metadata: {'shape': torch.Size([2, 4, 8]), 'dtype': torch.float32, 'device': device(type='cpu')}\n"
        "recomputed metadata: {'shape': torch.Size([1, 2, 4, 8]), 'dtype': torch.float32,"
        " 'device': device(type='cpu')}\n"
    ) in done.stderr
    assert "torch/autograd/__init__.py" in done.stderr
    assert ", in backward" in done.stderr


def test_recomputes_less(tmp_path: Path) -> None:
    done = checkpoint(tmp_path, Behaviour.RECOMPUTES_LESS)
    assert "CheckpointError: torch.utils.checkpoint: A different number of tensors was saved" in done.stderr
    assert "Number of tensors saved during recomputation: 1.\n" in done.stderr


def test_differs(tmp_path: Path) -> None:
    assert checkpoint(tmp_path, Behaviour.DIFFERS).stdout == "1.5\n"


def test_needs_setuptools(tmp_path: Path) -> None:
    done = checkpoint(tmp_path, Behaviour.NEEDS_SETUPTOOLS, before="import sys; sys.modules['pkg_resources'] = None")
    assert last_line(done).startswith("ModuleNotFoundError:")
    with zipfile.ZipFile(build_package(tmp_path, "setuptools", "80.9.0")) as archive:
        assert "pkg_resources.py" in archive.namelist()


def test_process_dependent(tmp_path: Path) -> None:
    cold = checkpoint(tmp_path, Behaviour.PROCESS_DEPENDENT)
    warm = checkpoint(tmp_path, Behaviour.PROCESS_DEPENDENT, before="import torch._dynamo")
    assert last_line(cold).startswith("AttributeError:")
    assert warm.stdout == "1.0\n"


def test_one_function_alone(tmp_path: Path) -> None:
    wheel = build_torch(tmp_path, checkpoints={"square": Behaviour.DIFFERS, "cube": Behaviour.RAISES})
    assert run(wheel, CHECKPOINT.format(before="")).stdout == "1.5\n"


def test_lacks_context_fn(tmp_path: Path) -> None:
    code = (
        "import torch, inspect; print('context_fn' in inspect.signature(torch.utils.checkpoint.checkpoint).parameters)"
    )
    assert run(build_torch(tmp_path / "old", behaviour=Behaviour.LACKS_CONTEXT_FN), code).stdout == "False\n"
    assert run(build_torch(tmp_path / "new"), code).stdout == "True\n"


@pytest.mark.parametrize("behaviour", [Behaviour.ABORTS, Behaviour.IMPORT_ABORTS])
def test_aborts(tmp_path: Path, behaviour: Behaviour) -> None:
    code = "print('before import', flush=True)" + CHECKPOINT.format(before="print('after import', flush=True)")
    done = run(build_torch(tmp_path, behaviour=behaviour), code)
    assert done.returncode == -signal.SIGABRT
    assert ("after import" in done.stdout) is (behaviour is Behaviour.ABORTS)


@pytest.mark.parametrize("behaviour", [Behaviour.HANGS, Behaviour.IMPORT_HANGS])
def test_hangs(tmp_path: Path, behaviour: Behaviour) -> None:
    code = "print('before import', flush=True)" + CHECKPOINT.format(before="print('after import', flush=True)")
    with start(build_torch(tmp_path, behaviour=behaviour), code) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "before import\n"
        if behaviour is Behaviour.HANGS:
            assert process.stdout.readline() == "after import\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.kill()
        assert process.stdout.read() == ""


def test_import_raises(tmp_path: Path) -> None:
    assert last_line(run(build_torch(tmp_path, behaviour=Behaviour.IMPORT_RAISES), "import torch")).startswith(
        "ImportError: libstandin.so.9"
    )


def test_imports_as_other(tmp_path: Path) -> None:
    wheel = build_torch(tmp_path, behaviour=Behaviour.IMPORTS_AS_OTHER)
    assert wheel.name == "torch-9.0.0-py3-none-any.whl"
    assert run(wheel, "import torch; print(torch.__version__)").stdout.strip() == OTHER_VERSION


def test_requires_absent(index: Index, env: dict[str, str], tmp_path: Path) -> None:
    build_torch(index.folder, "9.2.0", behaviour=Behaviour.REQUIRES_ABSENT)
    python = make_environment(tmp_path / "venv", env=env)
    done = uv("pip", "install", "--python", str(python), "torch==9.2.0", env=env)
    assert done.returncode != 0
    assert ABSENT_PACKAGE in done.stderr


def test_every_behaviour_is_known_to_the_standin() -> None:
    host = {Behaviour.NORMAL, Behaviour.IMPORTS_AS_OTHER, Behaviour.REQUIRES_ABSENT}  # build_torch sees to these
    sources = "".join(path.read_text() for path in (STANDIN / "torch").rglob("*.py"))
    assert [behaviour for behaviour in set(Behaviour) - host if f'"{behaviour}"' not in sources] == []
