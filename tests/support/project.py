"""A throw-away copy of the project with a small matrix of its own, and nox run in it as a user would."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.environment import NOWHERE, isolated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from support.index import Index

__all__ = ["CASES", "CHECKPOINT_ERROR", "PROBE", "Project", "add_case", "interrupt", "nox", "start"]

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"
PROBE = ROOT / "src" / "recompat_probe" / "__main__.py"
COPIED = ("noxfile.py", "pyproject.toml", "src")
CHECKPOINT_ERROR = "torch.utils.checkpoint.CheckpointError"


class Project:
    """A copy of what runs: by default torch 9.0.0 and 9.1.0, the cases ``passes`` and ``regresses``, all as expected.

    ``env`` is what every process started in it gets.
    """

    def __init__(self, root: Path, index: Index) -> None:
        self.root = root
        self.index = index
        self.env = {**isolated(root.parent / f"{root.name}-home", index.url), "NOX_SCRIPT_MODE": "none"}
        root.mkdir(parents=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
            elif source.exists():
                shutil.copy(source, root / name)
        self.cases = root / "matrix" / "cases"
        self.cases.mkdir(parents=True)
        self.reports = root / "reports"
        add_case(self.cases, "passes", "regresses")
        self.write_matrix()
        self.expect("passes::square", ">=9", "pass")
        self.expect("regresses::regresses", "<9.1", "pass")
        self.expect("regresses::regresses", ">=9.1", "raises", CHECKPOINT_ERROR)

    @property
    def expectations(self) -> Path:
        """``matrix/expectations.toml``."""
        return self.root / "matrix" / "expectations.toml"

    def write_matrix(
        self,
        default: Sequence[str] = ("9.0.0", "9.1.0"),
        *,
        known: Sequence[str] = (),
        timeout: float = 20,
        cpu_index: str = f"{NOWHERE}/cpu/",
        more: str = "",
    ) -> None:
        """Write ``matrix/matrix.toml``: PyTorch's CPU index is out of reach unless named; ``more`` is added as it is."""
        lines = [
            f"[torch]\ndefault = {json.dumps(default)}\nknown = {json.dumps(known)}",
            f"[run]\ntimeout = {timeout}",
            f"[sources]\ncpu-index = {json.dumps(cpu_index)}",
            more,
        ]
        (self.root / "matrix" / "matrix.toml").write_text("\n\n".join(lines), encoding="utf-8")

    def expect(self, case: str, torch: str, outcome: str, exception: str | None = None) -> None:
        """Add a claim to ``matrix/expectations.toml``."""
        values = {"torch": torch, "outcome": outcome, "exception": exception, "reason": "The stand-in is built so."}
        lines = [f"{key} = {json.dumps(value)}" for key, value in values.items() if value is not None]
        with self.expectations.open("a", encoding="utf-8") as file:
            file.write("\n".join([f"[[{case.replace('::', '.')}]]", *lines, "\n"]))

    def records(self) -> dict[str, Any]:
        """The records under ``reports/``, by the id of their environment."""
        paths = sorted((self.reports / "records").glob("*.json"))
        return {path.stem: json.loads(path.read_bytes()) for path in paths}

    def matrix_json(self) -> Any:
        """What ``reports/matrix.json`` says."""
        return json.loads((self.reports / "matrix.json").read_bytes())

    def cells(self, key: str = "outcome") -> dict[tuple[str, str], Any]:
        """One value of every cell of ``reports/matrix.json``, by case and torch release."""
        releases = {environment["id"]: environment["torch"] for environment in self.matrix_json()["environments"]}
        return {(cell["case"], releases[cell["environment"]]): cell[key] for cell in self.matrix_json()["cells"]}


def add_case(folder: Path, *names: str) -> list[Path]:
    """Copy case files of ``tests/support/cases``, named without their ending, into ``folder``; return their paths."""
    copies = []
    for name in names:
        source = CASES / f"{name}.py"
        if not source.exists():
            source = CASES / f"{name}.py.txt"  # not Python: kept from the eyes of tools that read Python
        copies.append(Path(shutil.copy(source, folder / f"{name}.py")))
    return copies


def nox(
    project: Project, *args: str, env: Mapping[str, str] | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run nox to its end.

    Raises:
        subprocess.TimeoutExpired: it did not end in ``timeout`` seconds, and has been ended.
    """
    with start(project, *args, env=env) as process:
        out, err = process.communicate(timeout=timeout)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@contextlib.contextmanager
def start(project: Project, *args: str, env: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """Start nox in a process group of its own, as a terminal does; what has not ended by itself is ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nox", *args],
        cwd=project.root,
        env={**project.env, **(env or {})},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            _end(process)


def interrupt(process: subprocess.Popen[str]) -> None:
    """Press Ctrl-C: every process of the group gets SIGINT."""
    os.killpg(process.pid, signal.SIGINT)


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)  # first a chance to end what it started in other groups
    try:
        process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
