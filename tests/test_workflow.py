"""The workflow for GitHub Actions: its own commands, run here as its jobs would run them, on the stand-in torch."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from uv import find_uv_bin

from recompat.runners import RUNNERS, running_python
from support.index import Index
from support.project import ROOT, Project, nox
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the jobs are planned for Linux")

WORKFLOW = ROOT / ".github" / "workflows" / "recompat.yml"
RELEASES = ("9.0.0", "9.1.0", "9.2.0")
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\+00:00|Z| UTC)?")
TAKEN = re.compile(
    r'"(seconds|start|stop|duration|digest)": ?("[^"]*"|[\d.e-]+|\{[^}]*\})|time(stamp)?="[^"]*"'
)  # and of what was taken


def workflow() -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return loaded


def steps(job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workflow()["jobs"][job]["steps"]
    return found


def script(job: str, part: str) -> str:
    """The one script of a job that has ``part`` in it."""
    (found,) = [step["run"] for step in steps(job) if part in step.get("run", "")]
    return str(found).replace(" matrix/baseline", "")  # of which the throw-away projects have none


def run_step(
    text: str, folder: Path, env: Mapping[str, str], status: int = 0, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a script as a runner does, where recompat and nox are installed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), str(Path(find_uv_bin()).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
        cwd=folder,
        env={**env, "PATH": path, "PYTHONPATH": str(ROOT / "src"), **more},
        check=False,
        text=True,
        capture_output=True,
        timeout=240,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def make(root: Path, index: Index) -> Project:
    """A clone: three releases, of which the second regresses; all is as claimed."""
    project = Project(root, index)
    here = next(name for name, runner in RUNNERS.items() if runner.platform.endswith(os.uname().machine))
    project.write_matrix(RELEASES, more=f'[ci]\nos = ["{here}"]\npython = ["{running_python()}"]\n')
    return project


def comparable(site: Path) -> dict[str, str]:
    """All files of a site, without the run's own facts: when it was, how long it took, and the digest of a record of that."""
    files = sorted(path for path in site.rglob("*") if path.is_file())
    return {
        path.relative_to(site).as_posix(): TAKEN.sub("…", MOMENT.sub("…", path.read_text(encoding="utf-8")))
        for path in files
    }


def test_three_shards_in_three_clones_are_the_matrix_of_one_machine(wheelhouse: Path, tmp_path: Path) -> None:
    with Index(shutil.copytree(wheelhouse, tmp_path / "wheels")) as index:
        build_torch(index.folder, "9.2.0", checkpoints={"regresses": Behaviour.RAISES})
        alone = make(tmp_path / "alone", index)
        whole = nox(alone, "-s", "matrix", timeout=120)
        assert whole.returncode == 0, whole.stdout + whole.stderr

        planner = make(tmp_path / "planner", index)
        output = tmp_path / "output"
        run_step(
            script("plan", "recompat ci-matrix").replace(" --records", ""),
            planner.root,
            planner.env,
            RELEASES=",".join(RELEASES),
            GITHUB_OUTPUT=str(output),
        )
        jobs = output.read_text().removeprefix("jobs=")
        included = json.loads(jobs)["include"]
        assert [job["torch"] for job in included] == list(RELEASES)
        shards = planner.root / "shards"
        for job in included:
            clone = make(tmp_path / job["torch"], index)
            run_step(
                script("probe", "nox -s"),
                clone.root,
                clone.env,
                SESSION=job["session"],
                TORCH=job["torch"],
                CASES=job["cases"],
                SOURCE=job["source"],
            )
            left = shards / f"records-{job['torch']}-{job['os']}-{job['python']}"
            left.mkdir(parents=True)
            shutil.copytree(clone.reports / "records", left / "records")
            shutil.copy(clone.reports / "index.json", left)
        output.unlink()
        merge = script("merge", "recompat merge")
        run_step(merge, planner.root, planner.env, JOBS=jobs, GITHUB_OUTPUT=str(output))
    assert output.read_text() == "status=0\n"
    assert (
        (planner.root / "issue.md").read_text().startswith("## Compatibility matrix\n\n**As expected: all 6 cells.**")
    )
    one, many = comparable(alone.reports / "site"), comparable(planner.reports / "site")
    assert {"matrix.json", "index.html", "matrix.md", "feed.xml", "junit.xml", "cases/passes.py"} <= set(one)
    assert len([name for name in one if name.startswith("records/")]) == len(RELEASES)
    assert [name for name in sorted({*one, *many}) if one.get(name) != many.get(name)] == []
    assert json.loads((planner.reports / "matrix.json").read_bytes())["boundaries"][0]["exact"] is True


def test_a_job_that_left_nothing_is_shown_as_not_run(finished: Project, tmp_path: Path) -> None:
    here = next(name for name, runner in RUNNERS.items() if runner.platform.endswith(os.uname().machine))
    job = {"torch": "9.2.0", "os": here, "python": running_python()}
    shutil.copytree(finished.reports / "records", finished.root / "shards" / "records-9.1.0" / "records")
    shutil.rmtree(finished.reports)
    output = tmp_path / "output"
    merge = script("merge", "recompat merge")
    done = run_step(merge, finished.root, finished.env, JOBS=json.dumps({"include": [job]}), GITHUB_OUTPUT=str(output))
    assert output.read_text() == "status=6\n"
    assert f"The job on {here} with Python {running_python()} left no record" in " ".join(done.stdout.split())
    assert [column["torch"] for column in finished.matrix_json()["environments"]] == list(RELEASES)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "There is no record in shards"), ('{"schema": "recompat/record/9"}', "newer recompat")],
)
def test_what_cannot_be_merged_ends_the_job(
    content: str | None, sentence: str, project: Project, tmp_path: Path
) -> None:
    if content:
        (project.root / "shards").mkdir()
        (project.root / "shards" / "torch9.0.0-cp311-linux_x86_64.json").write_text(content)
    output = tmp_path / "output"
    merge = script("merge", "recompat merge")
    done = run_step(merge, project.root, project.env, 4, JOBS='{"include": []}', GITHUB_OUTPUT=str(output))
    assert sentence in done.stderr
    assert not output.exists()


@pytest.mark.parametrize(
    ("status", "number", "calls"),
    [
        ("1", "", ["issue create --title recompat: what new PyTorch releases change --body-file issue.md"]),
        ("0", "", []),
        ("1", "7", ["issue edit 7 --body-file issue.md"]),
        ("0", "7", ["issue edit 7 --body-file issue.md"]),
    ],
)
def test_one_issue_is_updated_in_place(status: str, number: str, calls: list[str], tmp_path: Path) -> None:
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(f'#!/bin/sh\ncase "$2" in list) printf %s "{number}" ;; *) echo "$*" >> calls ;; esac\n')
    gh.chmod(0o755)
    (step,) = [step for step in steps("issue") if "run" in step]
    title = f'PATH="{gh.parent}:$PATH"\n'
    run_step(title + step["run"], tmp_path, {}, STATUS=status, TITLE=step["env"]["TITLE"], GH_TOKEN="x", GH_REPO="a/b")
    written = tmp_path / "calls"
    assert (written.read_text().splitlines() if written.exists() else []) == calls


def test_its_commands_are_those_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = {
        line.strip().partition(" || ")[0].partition(" > ")[0]
        for job in ("plan", "probe", "merge")
        for step in steps(job)
        for line in step.get("run", "").splitlines()
        if line.strip().startswith(("recompat ", "nox ", "python "))
    }
    assert len(commands) == 6
    assert [command for command in sorted(commands) if command not in readme] == []


def test_no_expression_stands_in_a_script_and_every_action_is_pinned() -> None:
    for job in workflow()["jobs"]:
        for step in steps(job):
            assert "${{" not in step.get("run", "")
            assert PINNED.fullmatch(step.get("uses", f"a/b@{'0' * 40}"))
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
    pins = set(re.findall(r"uses: (\S+) # (v[\d.]+)\n", WORKFLOW.read_text(encoding="utf-8")))
    assert len(pins) == len({action.partition("@")[0] for action, _ in pins}), "one version of each"
    assert len(re.findall("uses: ", WORKFLOW.read_text(encoding="utf-8"))) == sum(
        "uses" in step for job in workflow()["jobs"] for step in steps(job)
    )


def test_one_job_alone_may_write_and_it_runs_nothing_of_the_repository() -> None:
    loaded = workflow()
    assert loaded["permissions"] == {}
    granted = {name: job["permissions"] for name, job in loaded["jobs"].items()}
    assert granted == {
        "plan": {"contents": "read"},
        "probe": {"contents": "read"},
        "merge": {"contents": "read"},
        "publish": {"id-token": "write", "pages": "write"},
        "issue": {"issues": "write"},
    }
    assert all("timeout-minutes" in job for job in loaded["jobs"].values())
    for name in ("publish", "issue"):
        assert not any("checkout" in step.get("uses", "") or "pip" in step.get("run", "") for step in steps(name))
    assert [step["with"]["path"] for step in steps("merge") if "pages" in step.get("uses", "")] == ["reports/site"]
