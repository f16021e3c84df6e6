"""Folders of records from elsewhere: what is read of them, what is refused, and what is written where."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
import pytest
from packaging.version import Version

from builders import record, result
from recompat.errors import ConfigurationError
from recompat.listing import load_listing
from recompat.model import Environment
from recompat.record import encode_record, load_records, save_record
from recompat.shards import merge_folders, newest_listing, safe

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.model import Record

OLD, NEW = record("2.9.1", result("a::x")), record("2.11.0", result("a::x"))


WRITES_ELSEWHERE = (
    *(
        "..",
        "../evil",
        "..\\evil",
        "/evil",
        "\\\\host\\evil",
        "C:\\evil",
        "C:evil",
        "~/evil",
        "evil/",
        "./evil",
        "%2e%2e%2fevil",
    ),
    *("\0", "evil\0", "\n", "evil\x1b[31m", "\u202elive", "\u200b", "\ufeff"),
    *(
        "CON",
        "Nul",
        "AUX.json",
        "com1:",
        "LPT\u00b9",
        "evil.",
        "evil ",
        " evil",
        "evil::$DATA",
        "EVIL",
        "e" * 300,
        "*",
        "$(evil)",
        "-",
    ),
    *(
        "\u00e9",
        "e\u0301",
        "\uff45vil",
        "\u0435vil",
        "\ufb01",
        "\u212a",
        "\u0131",
        "\u00df",
        "\u2024\u2024",
        "\u2215",
        "\uff0f",
    ),
)
"""Devices of Windows, whatever a system folds into another name, and what looks like something else."""


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def disguised(made: Record, **environment: str) -> bytes:
    """A record as somebody would write it who wants its environment to be something else."""
    changed = msgspec.structs.replace(made.environment, **environment)
    return encode_record(msgspec.structs.replace(made, environment=changed))


@pytest.mark.parametrize("inner", ["", "records-2.9.1", "records", "artifact/records"])
def test_records_are_found_in_a_folder_and_in_those_in_it(tmp_path: Path, inner: str) -> None:
    save_record(tmp_path / "shards" / inner, OLD)
    assert merge_folders([tmp_path / "shards"], None, tmp_path / "out") == ()
    assert [one.environment.torch for one in load_records(tmp_path / "out")[0]] == ["2.9.1"]


def test_the_target_counts_as_a_folder_and_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    kept = save_record(tmp_path / "out", OLD)
    before = kept.stat().st_mtime_ns, kept.stat().st_ino
    save_record(tmp_path / "shards", NEW)
    assert merge_folders([tmp_path / "shards", tmp_path / "out"], None, tmp_path / "out") == ()
    assert names(tmp_path / "out") == ["torch2.11.0-cp311-linux_x86_64.json", "torch2.9.1-cp311-linux_x86_64.json"]
    assert (kept.stat().st_mtime_ns, kept.stat().st_ino) == before


def test_folders_are_not_changed_and_what_is_damaged_or_foreign_is_named(tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    save_record(shards, NEW)
    whole = encode_record(OLD)
    (shards / "torch2.9.1-cp311-linux_x86_64.json").write_bytes(whole[: len(whole) // 2])
    (shards / "package.json").write_text('{"name": "something else"}')
    (shards / "torch2.8.0-cp311-linux_x86_64.json").write_bytes(whole.replace(b'"pass"', b'"moot"'))
    (shards / "notes.txt").write_text("not looked at")
    (shards / "matrix.json").write_text("a report, and no record")
    before = names(shards)
    remarks = merge_folders([shards], None, tmp_path / "out")
    assert names(shards) == before
    assert names(tmp_path / "out") == ["torch2.11.0-cp311-linux_x86_64.json"]
    assert [remark.partition(" was skipped: ")[0].rpartition("/")[2] for remark in remarks] == [
        "package.json",
        "torch2.8.0-cp311-linux_x86_64.json",
        "torch2.9.1-cp311-linux_x86_64.json",
    ]
    assert "does not match its digest" in remarks[1]


@pytest.mark.parametrize(
    "environment",
    [
        {"platform": "linux_x86_64/../../../evil"},
        {"platform": "..\\..\\evil"},
        {"platform": "linux_x86_64\x00"},
        {"platform": "LINUX_x86_64"},
        {"platform": "linux_x86_64\n"},
        {"platform": "linux_x86_64:stream"},
        {"platform": "x" * 300},
        {"platform": ""},
        {"python": "../cp311"},
        {"python": "CP311"},
        {"torch": "2.9.1+../../evil"},
        {"torch": "2.09.1"},
        {"torch": "/etc/2.9.1"},
        {"torch": "2.9.1 "},
        {"torch": "1!2.9.1"},
        *({"platform": name} for name in WRITES_ELSEWHERE),
        *({"python": name} for name in WRITES_ELSEWHERE),
        *({"torch": name} for name in WRITES_ELSEWHERE),
        *({"torch": f"2.9.1+{name}"} for name in WRITES_ELSEWHERE),
        *({"beside": {name: "1.0"}} for name in WRITES_ELSEWHERE),
        *({"beside": {"numpy": f"1.0{name}"}} for name in (*WRITES_ELSEWHERE, ".", "+local", "rc 1")),
        {"torch": "\u0662.9.1"},
    ],
)
def test_an_environment_that_would_name_another_file_is_refused(environment: dict[str, str]) -> None:
    made = {"torch": "2.9.1", "python": "cp311", "platform": "linux_x86_64", "host_python": "cp311", **environment}
    assert not safe(msgspec.convert(made, Environment))


@pytest.mark.parametrize(
    "name", ["2.9.1-cp311-linux_x86_64", "2.16.0rc1-cp313t-macosx_arm64", "2.16.0.dev20261120-cp38-win_amd64"]
)
def test_environments_that_there_are_may_name_a_file(name: str) -> None:
    torch, python, platform = name.split("-")
    assert safe(Environment(torch, python, platform, python))


def test_nothing_is_written_outside_of_the_target(tmp_path: Path) -> None:
    shards = tmp_path / "a" / "shards"
    save_record(shards, NEW)
    for number, place in enumerate(["../../../evil", "LINUX_x86_64", "con", "linux_x86_64\n"]):
        content = disguised(OLD, platform=place)
        (shards / f"{number}.json").write_bytes(content)
        if "/" not in place:
            (shards / f"torch2.9.1-cp311-{place}.json").write_bytes(content)
    remarks = merge_folders([shards], None, tmp_path / "out" / "deep" / "records")
    assert names(tmp_path / "out" / "deep") == [
        "records",
        "records/torch2.11.0-cp311-linux_x86_64.json",
        "records/torch2.9.1-cp311-con.json",
    ], "torch2.9.1-cp311-con is no device: a device's name would be all of it"
    assert not list(tmp_path.rglob("*evil*"))
    assert sum("cannot be the name of a file" in remark for remark in remarks) == 2
    assert all("\n" not in remark for remark in remarks)


def test_whatever_files_and_environments_are_called_they_come_to_nothing_elsewhere(tmp_path: Path) -> None:
    shards, out = tmp_path / "a" / "shards", tmp_path / "b" / "c" / "records"
    save_record(shards, NEW)
    whole = encode_record(OLD)
    for number, name in enumerate(one for one in WRITES_ELSEWHERE if not set(one) & {*"/\0"} and one != ".."):
        place = shards / f"shard{number}"
        place.mkdir()
        for file in (
            name,
            f"{name}.json",
            f"torch2.9.1-cp311-linux_x86_64{name}.json",
            f"torch2.9.1-cp311-{name}.json",
        ):
            (place / file[-250:]).write_bytes(whole)
            (place / f"{number}.json").write_bytes(disguised(OLD, platform=name))
            (place / "torch2.9.1-cp311-LINUX_x86_64.json").write_bytes(disguised(OLD, platform="LINUX_x86_64"))
    before = names(tmp_path / "a")
    remarks = merge_folders([shards], None, out)
    assert names(tmp_path / "a") == before
    assert names(tmp_path / "b") == ["c", "c/records", "c/records/torch2.11.0-cp311-linux_x86_64.json"]
    assert all(remark.isprintable() for remark in remarks)
    assert len(remarks) > 3 * len(list(shards.iterdir())) - 5, "each file that was skipped is named"


def test_links_pipes_and_what_is_too_large_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shards, elsewhere = tmp_path / "shards", tmp_path / "elsewhere"
    save_record(shards, NEW)
    (shards / "link.json").symlink_to(save_record(elsewhere, OLD))
    (shards / "linked").symlink_to(elsewhere)
    os.mkfifo(shards / "pipe.json")
    (shards / "large.json").write_bytes(b" " * 100_000)
    monkeypatch.setattr("recompat.shards.LARGEST", 99_999)
    remarks = merge_folders([shards], None, tmp_path / "out")
    assert names(tmp_path / "out") == ["torch2.11.0-cp311-linux_x86_64.json"]
    assert [" ".join(remark.partition(": ")[2].rstrip(".").split()[:4]) for remark in remarks] == [
        "it has more than",
        "it is a link",
        "it is no file",
    ]


def test_a_record_of_a_newer_recompat_is_refused_with_its_version_and_nothing_is_merged(tmp_path: Path) -> None:
    save_record(tmp_path / "shards", NEW)
    (tmp_path / "shards" / "torch2.9.1-cp311-linux_x86_64.json").write_text('{"schema": "recompat/record/2", "x": 1}')
    with pytest.raises(
        ConfigurationError, match=r"newer recompat: its schema is recompat/record/2, and this one reads"
    ):
        merge_folders([tmp_path / "shards"], None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_folders_without_a_record_are_refused_and_what_was_found_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "x.json").write_text("[]\x1b[31m")
    with pytest.raises(ConfigurationError, match="There is no record in ") as raised:
        merge_folders([tmp_path / "empty"], None, tmp_path / "out")
    assert "x.json was skipped" in raised.value.faults[0]
    assert "\x1b" not in str(raised.value)


def test_the_preferred_folder_counts_although_another_is_newer(tmp_path: Path) -> None:
    later = msgspec.structs.replace(NEW.run, finished="2030-01-01T00:00:00Z")
    save_record(tmp_path / "here", record("2.11.0", result("a::y")))
    save_record(tmp_path / "there", msgspec.structs.replace(NEW, run=later))
    merge_folders([tmp_path / "here", tmp_path / "there"], tmp_path / "here", tmp_path / "out")
    (made,) = load_records(tmp_path / "out")[0]
    assert [one.case for one in made.results] == ["a::x", "a::y"]


def listing(folder: Path, date: str, *releases: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    content = {"schema": "recompat/index/1", "date": date, "releases": releases}
    (folder / "index.json").write_bytes(msgspec.json.encode(content))


def test_the_newest_listing_of_the_index_is_taken(tmp_path: Path) -> None:
    listing(tmp_path / "shards" / "one", "2026-11-29T12:00:00Z", "2.9.1", "2.10.0")
    listing(tmp_path / "shards" / "two", "2026-11-29T18:00:00Z", "2.9.1", "2.10.0", "2.11.0")
    listing(tmp_path / "shards" / "three", "tomorrow", "9.9.9")
    newest_listing([tmp_path / "shards"], tmp_path / "index.json")
    found = load_listing(tmp_path / "index.json")
    assert found is not None
    assert found.versions[-1] == Version("2.11.0")
    listing(tmp_path, "2026-11-30T12:00:00Z", "2.12.0")
    newest_listing([tmp_path / "shards"], tmp_path / "index.json")
    found = load_listing(tmp_path / "index.json")
    assert found is not None
    assert found.releases == ("2.12.0",)
