"""Runs the probe as the host does, on an environment with the stand-in torch, and reads what it wrote."""

from __future__ import annotations

import json
import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import recompat_probe
from support.environment import python_of
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PROBE", "Probing", "probing", "standin_python", "unpacked"]

PROBE = Path(recompat_probe.__file__).parent / "__main__.py"


def unpacked(folder: Path, **build: Any) -> Path:
    """Make an environment that holds a build of the stand-in torch (see ``build_torch``); return its python."""
    venv.create(folder / "env", symlinks=True)
    paths = {"base": str(folder / "env"), "platbase": str(folder / "env")}
    with zipfile.ZipFile(build_torch(folder / "wheels", **build)) as wheel:
        wheel.extractall(sysconfig.get_path("purelib", scheme="venv", vars=paths))
    return python_of(folder / "env")


class Probing:
    """A folder for case files, and probes on them."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python = python
        self.folder = folder
        self.out = folder / "events.jsonl"
        self.log = ""
        self.status = 0

    def write(self, source: str, name: str = "file.py") -> Path:
        """Write a case file, with ``inputs`` and ``reference`` where it has none of its own."""
        defaults = {
            "def inputs(": "def inputs():\n    return ()\n",
            "def reference(": "def reference():\n    return {}\n",
        }
        text = "".join(code for start, code in defaults.items() if start not in source)
        path = self.folder / name
        path.write_text(f"{source}\n{text}", "utf-8")
        return path

    def command(self, *arguments: str | Path) -> list[str]:
        """What the host runs."""
        flags = ("-I", "-B", "-X", "faulthandler")
        return [str(self.python), *flags, str(PROBE), "--out", str(self.out), *map(str, arguments)]

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Begin a probe."""
        self.out.unlink(missing_ok=True)
        return subprocess.Popen(
            self.command(*arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def run(self, *arguments: str | Path) -> list[dict[str, Any]]:
        """Run a probe to its end and return its events."""
        with self.start(*arguments) as process:
            self.log, _ = process.communicate("no trial should read this", timeout=60)
        self.status = process.returncode
        return self.events()

    def events(self) -> list[dict[str, Any]]:
        """What a probe has written so far."""
        return [json.loads(line) for line in self.out.read_text("utf-8").splitlines()] if self.out.exists() else []

    def trials(self, *arguments: str | Path) -> Mapping[str, dict[str, Any]]:
        """Run a probe that reaches its end; return its ``finished`` events by the names of the cases."""
        events = self.run(*arguments)
        assert self.status == 0, self.log
        assert events[-1] == {"event": "end"}
        return {event["case"].partition("::")[2]: event for event in events if event["event"] == "finished"}

    def trial(self, source: str, *options: str, case: str = "it", name: str = "file.py") -> dict[str, Any]:
        """Run the one case ``it`` of a file that is made of ``source``."""
        return self.trials(*options, f"{self.write(source, name)}::{case}")[case]


@pytest.fixture(scope="session")
def standin_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The python of an environment where checkpointing some functions goes wrong."""
    behaviours = {"recomputed_differently": Behaviour.RAISES, "recomputed_wrongly": Behaviour.DIFFERS}
    return unpacked(tmp_path_factory.mktemp("torch"), version="9.0.0+cu130", checkpoints=behaviours)


@pytest.fixture
def probing(standin_python: Path, tmp_path: Path) -> Probing:
    """A folder for case files, and probes on them."""
    return Probing(standin_python, tmp_path)
