"""The jobs of a matrix: which there are, and which there are not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from packaging.tags import parse_tag
from packaging.version import Version

from builders import record
from recompat.ci_matrix import Job, JobMatrix, jobs, read_plan, unrecorded
from recompat.errors import ConfigurationError, NothingSelected
from recompat.interpreters import platform_id, running, supported_tags
from recompat.runners import RUNNERS, known_os, known_python, runner_tags, running_python

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.tags import Tag

LINUX = "cp311-cp311-manylinux_2_28_x86_64"
ARM = "cp311-cp311-manylinux2014_aarch64"
MAC = "cp311-none-macosx_11_0_arm64"
WINDOWS = "cp311-cp311-win_amd64"
EVERYWHERE = ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "windows-2025"]


def wheels(*tags: str, torch: str = "2.11.0") -> dict[Version, list[Tag]]:
    return {Version(torch): [tag for text in tags for tag in parse_tag(text)]}


def test_a_line_of_json_as_github_reads_it() -> None:
    made, remarks = jobs(wheels(LINUX), ["ubuntu-24.04"], ["3.11"], "all", "cpu")
    assert json.loads(made.line) == {
        "include": [
            {
                "torch": "2.11.0",
                "os": "ubuntu-24.04",
                "python": "3.11",
                "cases": "all",
                "source": "cpu",
                "session": "probe(torch='2.11.0')",
            }
        ]
    }
    assert "\n" not in made.line
    assert remarks == ()


@pytest.mark.parametrize(
    ("tags", "systems"),
    [
        ([LINUX], ["ubuntu-24.04"]),
        ([ARM, MAC], ["ubuntu-24.04-arm", "macos-15"]),
        ([LINUX, ARM, MAC, WINDOWS], EVERYWHERE),
        (["py3-none-any"], EVERYWHERE),
        (["cp311-cp311-manylinux1_x86_64"], ["ubuntu-24.04"]),
        (["cp311-cp311-linux_x86_64"], ["ubuntu-24.04"]),
        (["cp311-none-macosx_10_9_universal2"], ["macos-15"]),
        (["cp311-abi3-manylinux_2_28_x86_64"], ["ubuntu-24.04"]),
    ],
)
def test_a_job_where_there_is_a_wheel_and_none_elsewhere(tags: list[str], systems: list[str]) -> None:
    made, remarks = jobs(wheels(*tags), EVERYWHERE, ["3.11"], "", "auto")
    assert [job.os for job in made.include] == systems
    missing = [f"Python 3.11 on {system}" for system in EVERYWHERE if system not in systems]
    assert remarks == ((f"torch 2.11.0 has no wheel for {', '.join(missing)}: no job.",) if missing else ())


def test_a_wheel_for_a_newer_c_library_or_another_interpreter_is_none() -> None:
    made, remarks = jobs(
        wheels("cp311-cp311-manylinux_2_38_x86_64", "cp313-cp313t-manylinux_2_28_x86_64"),
        ["ubuntu-22.04", "ubuntu-24.04"],
        ["3.11", "3.13", "3.13t"],
        "",
        "auto",
    )
    assert [(job.os, job.python) for job in made.include] == [
        ("ubuntu-22.04", "3.13t"),
        ("ubuntu-24.04", "3.11"),
        ("ubuntu-24.04", "3.13t"),
    ]
    assert "Python 3.13 on ubuntu-24.04" in remarks[0]


def test_jobs_go_release_by_release_and_none_is_there_twice() -> None:
    offered = wheels(LINUX, MAC, torch="2.9.1") | wheels(LINUX, MAC)
    made, _ = jobs(offered, ["macos-15", "ubuntu-24.04", "macos-15"], ["3.11", "3.11"], "", "auto")
    assert [(job.torch, job.os) for job in made.include] == [
        ("2.9.1", "macos-15"),
        ("2.9.1", "ubuntu-24.04"),
        ("2.11.0", "macos-15"),
        ("2.11.0", "ubuntu-24.04"),
    ]


def test_more_jobs_than_github_takes_are_refused() -> None:
    offered = {Version(f"2.{minor}"): wheels(LINUX)[Version("2.11.0")] for minor in range(257)}
    with pytest.raises(
        ConfigurationError, match="These are 257 jobs, and GitHub takes 256 of one matrix; choose fewer"
    ):
        jobs(offered, ["ubuntu-24.04"], ["3.11"], "", "auto")
    offered.popitem()
    assert len(jobs(offered, ["ubuntu-24.04"], ["3.11"], "", "auto")[0].include) == 256


def test_no_job_at_all_is_an_error_but_nothing_new_is_none() -> None:
    with pytest.raises(NothingSelected, match=r"torch 2\.11\.0 has no wheel for Python 3\.11 on ubuntu-24\.04: no job"):
        jobs(wheels(MAC), ["ubuntu-24.04"], ["3.11"], "", "auto")
    assert jobs({}, ["ubuntu-24.04"], ["3.11"], "", "auto")[0].line == '{"include":[]}'


@pytest.mark.parametrize("system", RUNNERS)
def test_every_runner_takes_pure_wheels_and_its_own(system: str) -> None:
    assert known_os(system) == system
    tags = runner_tags(system, "3.12")
    assert parse_tag("py3-none-any") <= tags
    assert any(tag.platform.endswith(RUNNERS[system].machine) for tag in tags)


def test_a_runner_like_this_machine_takes_what_this_interpreter_takes() -> None:
    alike = [name for name, runner in RUNNERS.items() if runner.platform == platform_id()]
    if not alike or running() != f"cp{running_python().replace('.', '')}":
        pytest.skip("no runner is like this machine")
    here = {tag for tag in supported_tags(running()) if "musl" not in tag.platform}
    there = runner_tags(alike[-1], running_python())
    manylinux = {tag for tag in here if "manylinux_2_3" not in tag.platform}  # the C libraries may differ
    assert manylinux <= there


@pytest.mark.parametrize("name", ["ubuntu-latest", "self-hosted", "ubuntu-24.04; rm -rf /", ""])
def test_a_runner_that_is_not_known_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no runner that is known"):
        known_os(name)


@pytest.mark.parametrize("name", ["3.10", "2.7", "3.11.4", "cp311", "3.x", "3.13tt", "3.11\n"])
def test_an_interpreter_that_recompat_does_not_run_on_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="recompat does not run"):
        known_python(name)


def test_jobs_that_left_no_record_have_one_that_says_so(tmp_path: Path) -> None:
    plan = JobMatrix(
        (Job("2.11.0", "ubuntu-24.04", "3.11"), Job("2.11.0", "macos-15", "3.11"), Job("2.9.1", "ubuntu-24.04", "3.12"))
    )
    (tmp_path / "plan.json").write_text(plan.line + "\n")
    assert read_plan(tmp_path / "plan.json") == plan
    made = list(unrecorded(plan, [record("2.11.0"), record("2.9.1")]))
    assert [one.environment.id for one in made] == ["torch2.11.0-cp311-macosx_arm64", "torch2.9.1-cp312-linux_x86_64"]
    assert [one.trouble.reason for one in made if one.trouble] == [
        "The job on macos-15 with Python 3.11 left no record; its log says why. Run it again.",
        "The job on ubuntu-24.04 with Python 3.12 left no record; its log says why. Run it again.",
    ]
    assert list(unrecorded(plan, [record("2.11.0"), record("2.9.1"), *made])) == []


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"\xff", b"[" * 9999, b'{"include":[{"torch":"2","os":"x","python":"3.11"}]}'),
        *(
            b'{"include":[{"torch":"%s","os":"ubuntu-24.04","python":"3.11"}]}' % torch
            for torch in (b"/../../evil", b"2.9.1\\n", b" 2.9.1", b"1!2", b"2.%s" % (b"9" * 5000), b"NUL")
        ),
    ],
)
def test_what_is_no_plan_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(content)
    with pytest.raises(ConfigurationError, match="is not what recompat ci-matrix printed"):
        read_plan(tmp_path / "plan.json")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_plan(tmp_path / "absent.json")
