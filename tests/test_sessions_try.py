"""`recompat try` over a package index on loopback, in a folder that is no project and in one that is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.environment import isolated
from support.index import Index
from support.project import CASES, ROOT, Project
from support.sessions import wait_for
from support.wheels import Behaviour, build_package, build_torch
from test_schemas import validator

if TYPE_CHECKING:
    from collections.abc import Iterator

RELEASES = [f"9.{minor}.0" for minor in range(8)]
RAISES = 5
"""From 9.5.0 on the case raises."""
NEWER = "import torch\nassert int(torch.__version__.split('.')[1]) >= 3, 'too old'\n"
BLOCK = '# /// script\n# dependencies = ["torch", "helper"]\n# ///\nimport helper\nassert helper.__version__ == "1.0"\n'


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Eight releases; ``helper`` goes with those before 9.6 alone."""
    folder = tmp_path_factory.mktemp("wheels")
    for minor, release in enumerate(RELEASES):
        does = Behaviour.RAISES if minor >= RAISES else Behaviour.NORMAL
        build_torch(folder, release, checkpoints={"regresses": does})
    build_package(folder, "numpy", "1.26.4")
    build_package(folder, "helper", "1.0", requires=["torch<9.6"])
    with Index(folder) as index:
        yield index


DAEMON = """
import os, subprocess, sys, time
sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
process = subprocess.Popen(sleeps, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
open(os.environ["NOTE"], "a").write(f"{process.pid} ")
"""


class Folder:
    """A folder that is no project, and an environment with a secret."""

    def __init__(self, root: Path, index: Index) -> None:
        self.root = root
        self.index = index
        self.env = {**isolated(root / "home", index.url), "PYTHONPATH": str(ROOT / "src"), "MY_TOKEN": "secret"}

    def write(self, source: str, name: str = "repro.py") -> None:
        (self.root / name).write_text(source, "utf-8")

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "recompat", "try", *arguments],
            cwd=self.root,
            env=self.env,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        with self.begin(*arguments) as process:
            out, err = process.communicate(stdin, timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture
def folder(index: Index, tmp_path: Path) -> Folder:
    return Folder(tmp_path, index)


def in_a_line(text: str) -> str:
    return " ".join(text.split())


def test_a_script_that_passes_on_newer_releases_alone(folder: Folder) -> None:
    folder.write(NEWER)
    done = folder.run("repro.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("repro.py on 5 of 8 releases from 9.0.0 to 9.7.0, ")
    assert "\n  9.2.0  AssertionError\n  9.3.0  pass\n" in done.stdout
    assert "AssertionError until 9.2.0, pass from 9.3.0; exact, no release lies between." in done.stdout
    assert "torch==9.3.0 numpy==1.26.4\n" in done.stdout
    assert "\n  .venv/bin/python repro.py\n" in done.stdout
    assert len(done.stdout.splitlines()) < 40
    assert sorted(path.name for path in folder.root.iterdir()) == ["home", "reports", "repro.py"]
    assert list(folder.root.glob("reports/try/*/environments/*")) == []
    assert list(Path(folder.env["TMPDIR"]).iterdir()) == []
    downloads = len(folder.index.downloads)
    again = folder.run("repro.py", "--table", "md", "-q")
    assert (again.returncode, len(folder.index.downloads), again.stderr) == (0, downloads, "")
    assert again.stdout.startswith("| torch      | 9.0.0          | 9.1.0 ")
    assert "\n- AssertionError until 9.2.0, pass from 9.3.0; exact, no release lies between.\n" in again.stdout


def test_what_cannot_be_resolved_with_a_release_is_not_run_and_says_why(folder: Folder) -> None:
    folder.write(BLOCK)
    done = folder.run("repro.py", "--torch", "9.1.0,9.7.0")
    assert done.returncode == 6, done.stderr
    assert "\n  9.1.0  pass\n  9.7.0  not run: torch 9.7.0 was not installed: " in done.stdout
    assert "helper depend on torch<9.6 and you require torch==9.7.0" in in_a_line(done.stdout)
    logs = [path.read_text("utf-8") for path in folder.root.glob("reports/try/*/reports/logs/*/install.log")]
    assert all("--only-binary :all:" in log for log in logs)
    folder.write(BLOCK.replace(', "helper"', ""), "bare.py")
    assert "ModuleNotFoundError" in folder.run("bare.py", "--torch", "9.1.0").stdout
    assert "\n  9.1.0  pass\n" in folder.run("bare.py", "--torch", "9.1.0", "--with", "helper==1.*").stdout


def test_a_script_from_stdin_without_the_callers_secrets(folder: Folder) -> None:
    source = "import os\nassert 'MY_TOKEN' not in os.environ\nraise SystemExit(3)\n"
    done = folder.run("-", "--torch", "9.0.0", stdin=source)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("script.py on torch 9.0.0, ")
    assert "\n  9.0.0  exit 3\n" in done.stdout
    passed = folder.run("-", "--torch", "9.0.0", "--env", "MY_TOKEN", stdin=source)
    assert "\n  9.0.0  AssertionError\n" in passed.stdout
    kept = [path for path in folder.root.glob("reports/**/*") if path.is_file() and b"secret" in path.read_bytes()]
    assert kept == []


def test_json_of_a_script_whose_daemon_is_ended_with_it(folder: Folder) -> None:
    folder.env["NOTE"] = str(folder.root / "pid")
    folder.write(DAEMON)
    done = folder.run("repro.py", "--torch", "9.0.0,9.7.0", "--env", "NOTE", "--format", "json", "-q")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    validator("try-1.json").validate(found)
    assert [(one["torch"], one["answer"]) for one in found["rows"][0]["ran"]] == [("9.0.0", "pass"), ("9.7.0", "pass")]
    daemons = (folder.root / "pid").read_text("utf-8").split()
    assert len(daemons) == 2
    assert [one for one in daemons if Path(f"/proc/{one}/stat").exists() and not is_ended(one)] == []


def is_ended(process: str) -> bool:
    """Whether nobody has asked yet how it ended."""
    return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] in "ZX"


def test_a_case_file_in_a_project_leaves_its_records_alone(index: Index, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", index)
    folder = Folder(project.root, index)
    folder.env = {**project.env, "PYTHONPATH": str(ROOT / "src")}
    source = (CASES / "regresses.py").read_text("utf-8")
    folder.write(f"{source}\n\ndef case_other(x):\n    return reference(x)\n", "mine.py")
    done = folder.run("mine.py::regresses")
    assert done.returncode == 0, done.stderr
    assert "pass until 9.4.0, CheckpointError from 9.5.0; exact" in done.stdout
    assert "CheckpointError in backward\n" in done.stdout
    assert "import mine as f; f.case_regresses(*f.inputs())" in done.stdout
    assert not project.records()
    both = folder.run("mine.py", "-k", "mine")
    assert "mine::regresses  pass 9.0.0 to 9.4.0, CheckpointError 9.5.0 to 9.7.0\n" in both.stdout
    assert "mine::other      pass 9.0.0 to 9.7.0\n" in both.stdout


def test_an_interrupted_try_goes_on(folder: Folder) -> None:
    folder.write(
        "import os, time, torch\nif torch.__version__ == '9.7.0' and os.environ['SLOW'] == '1': time.sleep(60)\n"
    )
    folder.env["SLOW"] = "1"
    logs = folder.root / "reports" / "try"
    with folder.begin("repro.py", "--env", "SLOW", "--torch", "9.0.0,9.7.0") as process:
        wait_for(lambda: list(logs.glob("*/reports/logs/torch9.7.0*/output.log")), "the script runs on 9.7.0")
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, ""), err
    records = list(logs.glob("*/reports/records/*.json"))
    assert [json.loads(path.read_bytes())["environment"]["torch"] for path in records] == ["9.0.0"]
    begun = [path.read_bytes() for path in records]
    folder.env["SLOW"] = "0"
    ended = folder.run("repro.py", "--env", "SLOW", "--torch", "9.0.0,9.7.0")
    assert ended.returncode == 0, ended.stderr
    assert "\n  9.0.0  pass\n  9.7.0  pass\n" in ended.stdout
    assert [path.read_bytes() for path in records] == begun
