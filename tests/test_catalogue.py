"""What there is of torch, put together and drawn: no index is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from jsonschema import Draft202012Validator
from packaging.version import Version

from builders import NOW, record, result, trouble
from golden import check_golden
from recompat.catalogue import Ground, Release, Versions, catalogue
from recompat.index import Offer
from recompat.listing import Listing
from recompat.matrix import Matrix
from recompat.report.json import render_json
from recompat.report.page import Paper
from recompat.report.versions import render_versions, render_versions_markdown
from recompat.schemas import FOLDER
from recompat.sources import Source, Sources

if TYPE_CHECKING:
    from recompat.model import Record

LINUX, MAC = "manylinux_2_28_x86_64", "macosx_14_0_arm64"
GROUND = Ground("linux_x86_64", "cp311", frozenset({LINUX, "linux_x86_64", "any"}))
NIGHTLY = "https://download.pytorch.org/whl/nightly/cpu"
HOSTILE = "2026\x1b[31m<script>|\u202e"


def wheel(version: str, *pythons: str, platform: str = LINUX, **more: object) -> list[Offer]:
    """Wheels of a version, such as ``cp313-cp313t``; ``cp311`` stands for ``cp311-cp311``."""
    tags = [python if "-" in python else f"{python}-{python}" for python in pythons]
    return [Offer(f"torch-{version}-{tag}-{platform}.whl", "", **more) for tag in tags]  # type: ignore[arg-type]


def matrix(default: str = "2.13.0 2.15.0", known: str = "2.14.0") -> Matrix:
    default_, known_ = (tuple(map(Version, text.split())) for text in (default, known))
    return Matrix(default_, known_, timeout=60, cpu_index="", find_links=(), extras=())


ONLINE = Sources(
    {
        Source.FOLDER: tuple(wheel("2.13.0+local", "cp311")),
        Source.NAMED: tuple(wheel("2.16.0.dev20261120+cpu", "cp311", "cp312", index=NIGHTLY)),
        Source.CPU: (
            *wheel("1.13.1+cpu", "cp310"),
            *wheel(
                "2.13.0+cpu", "cp39", "cp310", "cp311", "cp313", "cp313-cp313t", uploaded="2026-07-08T12:00:00+00:00"
            ),
            *wheel("2.13.0+cpu", "cp311", platform=MAC, uploaded="2026-07-07T12:00:00+00:00"),
            *wheel("2.14.0+cpu", "cp311", yanked=True),
            *wheel("2.14.1+cpu", "cp311", platform=MAC),
            *wheel("2.15.0+cpu", "cp38-abi3", "py3-none"),
        ),
    },
    {},
)
OFFLINE = Sources(
    {Source.FOLDER: tuple(wheel("2.13.0+local", "cp311"))}, {Source.DEFAULT: "the default index is out of reach"}
)
LISTING = Listing("2026-11-01T00:00:00+00:00", ("1.13.1", "2.13.0", "2.14.1"), ("2.16.0rc1",))


def elsewhere(torch: str) -> Record:
    made = record(torch, result("a::b"))
    return msgspec.structs.replace(made, environment=msgspec.structs.replace(made.environment, platform="macosx_arm64"))


RECORDS = (
    record("2.12.0", result("a::b")),
    record("2.13.0", result("a::b"), result("a::c")),
    record("2.13.0", result("a::b"), python="cp312"),
    elsewhere("2.13.0"),
    record("2.15.0", trouble=trouble()),
)


def made(
    sources: Sources = ONLINE,
    wanted: str | None = None,
    listing: Listing | None = LISTING,
    records: tuple[Record, ...] = RECORDS,
) -> Versions:
    chosen = None if wanted is None else [Version(word) for word in wanted.split()]
    return catalogue(sources, matrix(), records, listing, chosen, ground=GROUND, generated=NOW)


def of(versions: Versions, torch: str) -> Release:
    return next(release for release in versions.releases if release.torch == torch)


def test_newest_first_and_what_is_older_is_counted() -> None:
    found = made()
    assert [release.torch for release in found.releases] == [
        "2.16.0.dev20261120",
        "2.15.0",
        "2.14.1",
        "2.14.0",
        "2.13.0",
        "2.12.0",
    ]
    assert (found.older, found.listed) == (1, None)
    assert found.indexes == (f"named index {NIGHTLY}", "CPU index")


def test_the_wheels_of_this_platform_count() -> None:
    found = made()
    folder, cpu = of(found, "2.13.0").builds
    assert (folder.source, folder.build, folder.interpreters) == ("wheel folder", "local", ("cp311",))
    assert cpu.interpreters == ("cp39", "cp310", "cp311", "cp313", "cp313t")
    assert (cpu.uploaded, of(found, "2.13.0").uploaded) == ("2026-07-08T12:00:00+00:00", "2026-07-07T12:00:00+00:00")
    assert of(found, "2.14.1").builds == ()
    assert set(of(found, "2.15.0").builds[0].interpreters) == {"cp38-abi3", "py3"}


def test_what_is_said_of_a_release() -> None:
    found = made()
    assert [release.torch for release in found.releases if release.yanked] == ["2.14.0"]
    assert [release.torch for release in found.releases if release.prerelease] == ["2.16.0.dev20261120"]
    assert [release.torch for release in found.releases if not release.offered] == ["2.12.0"]
    assert {release.torch: release.matrix for release in found.releases if release.matrix} == {
        "2.13.0": "default",
        "2.14.0": "known",
        "2.15.0": "default",
    }
    assert [(one.python, one.platform, one.cases) for one in of(found, "2.13.0").recorded] == [
        ("cp311", "linux_x86_64", 2),
        ("cp312", "linux_x86_64", 1),
        ("cp311", "macosx_arm64", 1),
    ]
    assert of(found, "2.15.0").recorded[0].trouble == "no-wheel"


def test_only_what_was_asked_for() -> None:
    found = made(wanted="1.13.1 2.15.0")
    assert ([release.torch for release in found.releases], found.older) == (["2.15.0", "1.13.1"], 0)


def test_where_no_index_answers_the_last_listing_tells() -> None:
    found = made(OFFLINE)
    assert (found.listed, found.silent) == (LISTING.date, ("the default index is out of reach",))
    assert {release.torch: release.offered for release in found.releases} == {
        "2.16.0rc1": True,
        "2.15.0": None,
        "2.14.1": True,
        "2.14.0": None,
        "2.13.0": True,
        "2.12.0": None,
    }
    assert of(found, "2.13.0").builds[0].source == "wheel folder"


def test_where_no_index_has_ever_answered() -> None:
    found = made(OFFLINE, listing=None)
    assert found.listed is None
    assert "none has been asked before" in render_versions(found, Paper())
    assert render_versions(made(Sources({}, {}), listing=None, records=()), Paper()).count("2.15.0") == 1


@pytest.mark.parametrize("state", ["online", "offline"])
def test_what_is_drawn(state: str) -> None:
    found = made(ONLINE if state == "online" else OFFLINE)
    check_golden(f"versions.{state}.txt", render_versions(found, Paper(200)))
    check_golden(f"versions.{state}.md", render_versions_markdown(found))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_it_fits_the_terminal(width: int) -> None:
    text = render_versions(made(), Paper(width))
    assert all(len(line) <= width for line in text.splitlines() if NIGHTLY not in line)
    assert " ".join(text.split()).count("2.14.0") == 1


def test_the_essence_is_the_names() -> None:
    assert render_versions(made(wanted="2.13.0 2.15.0"), Paper(detail=-1)) == "2.15.0\n2.13.0\n"


def test_nothing_that_a_record_says_acts() -> None:
    bad = record("2.13.0", result("a::b"))
    run = msgspec.structs.replace(bad.run, finished=HOSTILE)
    environment = msgspec.structs.replace(
        bad.environment, platform="<script>alert(1)</script>|", python="\x1b]0;x\x07cp"
    )
    found = made(records=(msgspec.structs.replace(bad, run=run, environment=environment),))
    for text in (render_versions(found, Paper(200)), render_versions(found, Paper(40))):
        assert "\x1b" not in text
        assert "\u202e" not in text
    drawn = render_versions_markdown(found)
    assert "<script>" not in drawn
    assert "\x1b" not in drawn
    assert all(line.count("|") == 8 for line in drawn.splitlines() if line.startswith("| 2"))


@pytest.mark.parametrize("sources", [ONLINE, OFFLINE])
def test_the_json_is_as_its_schema_says(sources: Sources) -> None:
    schema = json.loads((FOLDER / "versions-1.json").read_text("utf-8"))
    written = json.loads(render_json(made(sources)))
    Draft202012Validator(schema).validate(written)
    assert written["schema"] == "recompat/versions/1"
    del written["releases"][0]["yanked"]
    assert not Draft202012Validator(schema).is_valid(written)
