"""Which interpreter a release runs on: the running one, else another that runs, else one that uv can fetch, else none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from packaging.version import Version

from recompat import wheels
from recompat.environment import (
    Build,
    drop_environment,
    drop_unused_environment,
    keep_environment,
    take_environment,
)
from recompat.index import Offer
from recompat.interpreters import find_interpreter, platform_id, running
from recompat.model import TroubleKind
from recompat.sources import Source, Sources
from recompat.wheels import EnvironmentTrouble, Wheel, choose_wheel
from support.project import nox
from support.sessions import leftovers, record_of, said
from support.wheels import build_torch, running_tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from support.project import Project

NINE = Version("9.0.0")
PLATFORM = running_tags().rpartition("-")[2]
RUNNING = running()
OTHERS = [f"cp3{minor}" for minor in (14, 13, 12, 11, 10) if f"cp3{minor}" != RUNNING][:3]


def offers(*tags: str, version: str = "9.0.0") -> tuple[Offer, ...]:
    names = [f"torch-{version}-{tag}-{tag}-{PLATFORM}.whl" for tag in tags]
    return tuple(Offer(name, f"http://127.0.0.1:9/{name}") for name in names)


def sources(found: Mapping[Source, Iterable[Offer]], silent: Mapping[Source, str] | None = None) -> Sources:
    return Sources({source: tuple(some) for source, some in found.items()}, dict(silent or {}))


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The interpreters that run."""
    known = {RUNNING}
    monkeypatch.setattr(wheels, "find_interpreter", lambda tag: f"/there/{tag}" if tag in known else None)
    return known


def test_the_running_interpreter_comes_first(there: set[str]) -> None:
    there |= {*OTHERS}
    chosen = choose_wheel(NINE, sources({Source.DEFAULT: offers(*OTHERS, RUNNING)}))
    assert (chosen.python, chosen.executable) == (RUNNING, f"/there/{RUNNING}")


def test_else_the_newest_that_runs(there: set[str]) -> None:
    there |= {OTHERS[1], OTHERS[2]}
    chosen = choose_wheel(NINE, sources({Source.DEFAULT: offers(*OTHERS)}))
    assert (chosen.python, chosen.executable) == (OTHERS[1], f"/there/{OTHERS[1]}")


def test_else_the_newest_for_uv_to_fetch(there: set[str]) -> None:
    chosen = choose_wheel(NINE, sources({Source.DEFAULT: offers(*OTHERS)}))
    assert (chosen.python, chosen.executable) == (OTHERS[0], f"3.{OTHERS[0].removeprefix('cp3')}")
    assert there == {RUNNING}


def test_the_interpreter_counts_more_than_the_source(there: set[str]) -> None:
    """A folder with a wheel for another interpreter does not move the column away from the running one."""
    there |= {*OTHERS}
    both = sources({Source.FOLDER: offers(OTHERS[0]), Source.DEFAULT: offers(RUNNING)})
    assert (choose_wheel(NINE, both).source, choose_wheel(NINE, both).python) == (Source.DEFAULT, RUNNING)
    same = sources({Source.FOLDER: offers(RUNNING), Source.CPU: offers(RUNNING)})
    assert choose_wheel(NINE, same).source is Source.FOLDER


def test_the_plain_build_of_an_index(there: set[str]) -> None:
    assert there
    odd, plain = offers(RUNNING, version="9.0.0+cpu.cxx11.abi"), offers(RUNNING, version="9.0.0+cpu")
    assert choose_wheel(NINE, sources({Source.CPU: [*odd, *plain]})).offer == plain[0]


@pytest.mark.parametrize(
    ("found", "silent", "kind", "reason"),
    [
        (
            {Source.CPU: offers(RUNNING, version="8.0.0")},
            {},
            TroubleKind.NO_RELEASE,
            "There is no torch 9.0.0; the newest",
        ),
        (
            {Source.DEFAULT: [Offer("torch-9.0.0-cp39-cp39-win32.whl", "")]},
            {},
            TroubleKind.NO_WHEEL,
            "torch 9.0.0 has no wheel for this platform",
        ),
        (
            {},
            {Source.DEFAULT: "it sleeps"},
            TroubleKind.UNREACHABLE,
            "torch 9.0.0 could not be looked up: it sleeps. Ch",
        ),
    ],
)
def test_no_wheel(there: set[str], found: Any, silent: Any, kind: TroubleKind, reason: str) -> None:
    assert there
    with pytest.raises(EnvironmentTrouble) as trouble:
        choose_wheel(NINE, sources(found, silent))
    assert trouble.value.trouble.kind is kind
    assert trouble.value.trouble.reason.startswith(reason)


def test_a_release_without_a_wheel_for_the_running_interpreter(project: Project) -> None:
    """On another interpreter where one runs here, and not run where none does; the other column is as ever."""
    other = OTHERS[0]
    build_torch(project.index.folder, "9.2.0", tags=f"{other}-{other}-{PLATFORM}", requires_python=">=3.8")
    project.write_matrix(("9.0.0", "9.2.0"))
    project.expectations.write_text("", "utf-8")
    project.expect("passes::square", ">=9", "pass")
    done = nox(project, "-s", "matrix", "--", "-k", "square")
    record = record_of(project, "9.2.0")
    assert record["environment"] == {
        "torch": "9.2.0",
        "python": other,
        "platform": platform_id(),
        "host_python": RUNNING,
    }
    assert project.cells()["passes::square", "9.0.0"] == "pass"
    assert leftovers(project) == []
    if find_interpreter(other) is None:
        assert done.returncode == 6
        assert record["trouble"]["kind"] == "no-interpreter"
        return
    assert done.returncode == 0, done.stdout + done.stderr
    assert record["facts"]["python_version"].startswith(f"3.{other.removeprefix('cp3')}.")
    again = nox(project, "-s", "matrix", "--", "-k", "square")
    assert again.returncode == 0
    assert "trying" not in again.stdout  # the record speaks for the interpreter that asked
    assert said(again.stderr) == []


def test_what_is_left_of_a_dropped_environment_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = Build("9.0.0", Wheel(offers(RUNNING)[0], Source.DEFAULT, RUNNING, "python"), ())
    keep_environment(tmp_path, build)
    drop_unused_environment(tmp_path)  # a kept one stays
    assert not take_environment(tmp_path, msgspec.structs.replace(build, packages=("numpy<2",)))
    assert take_environment(tmp_path, build)
    assert not take_environment(tmp_path, build), "it is in use"
    keep_environment(tmp_path, build)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)  # interrupted at once
    drop_environment(tmp_path)
    assert not take_environment(tmp_path, build)
