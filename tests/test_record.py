from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import msgspec
import pytest
from packaging.version import Version

from faults.nasty import digested
from recompat.atomic import write_atomically
from recompat.model import Environment, Outcome, Record, Replay, Run
from recompat.record import LARGEST, BadRecord, load_record, load_records, save_record

OLD = Path(__file__).parent / "samples" / "records" / "torch2.11.0-cp311-linux_x86_64.json"
RECORD = Record(
    Environment("2.11.0", "cp311", "linux_x86_64", "cp311"), Run("0", "p", {}, "t", "t", {"installing": 1.5})
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = save_record(tmp_path, RECORD)
    assert path.name == "torch2.11.0-cp311-linux_x86_64.json"
    assert msgspec.structs.replace(load_record(path), digest="") == RECORD


def test_a_record_is_stable_to_the_byte(tmp_path: Path) -> None:
    first = save_record(tmp_path, RECORD).read_bytes()
    assert save_record(tmp_path, load_record(tmp_path / "torch2.11.0-cp311-linux_x86_64.json")).read_bytes() == first


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def edited(content: bytes) -> bytes:
    return content.replace(b"1.5", b"2.5")


def of_a_newer_schema(content: bytes) -> bytes:
    return json.dumps(json.loads(content) | {"schema": "recompat/record/2"}).encode()


def not_a_record(_: bytes) -> bytes:
    return b'{"schema": "recompat/record/1"}'


def not_text(_: bytes) -> bytes:
    return b"\xff\0"


def of_no_release(_: bytes) -> bytes:
    environment = msgspec.structs.replace(RECORD.environment, torch="garbage")
    with tempfile.TemporaryDirectory() as folder:
        return save_record(Path(folder), msgspec.structs.replace(RECORD, environment=environment)).read_bytes()


def deeply_nested(_: bytes) -> bytes:
    return b"[" * 200_000


def with_an_enum_that_gives_orders(content: bytes) -> bytes:
    return content.replace(b'"trouble": null', b'"trouble": {"kind": "\\u001b[31m", "reason": ""}')


def of_too_many_values(_: bytes) -> bytes:
    return b'{"schema": "recompat/record/1", "x": [' + b"[]," * 1_000_000 + b"[]]}"


def of_too_many_bytes(_: bytes) -> bytes:
    return b" " * (LARGEST + 1)


@pytest.mark.parametrize(
    "damage",
    [
        of_too_many_values,
        of_too_many_bytes,
        with_an_enum_that_gives_orders,
        truncated,
        edited,
        of_a_newer_schema,
        not_a_record,
        not_text,
        of_no_release,
        deeply_nested,
    ],
)
def test_a_damaged_record_is_named_and_set_aside(tmp_path: Path, damage: object) -> None:
    path = save_record(tmp_path, RECORD)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    records, sentences = load_records(tmp_path)
    assert records == ()
    assert path.name in sentences[0]
    assert sentences[0].isprintable()
    assert not path.exists()
    assert path.with_suffix(".json.bad1").exists()


def test_two_damaged_records_are_both_kept(tmp_path: Path) -> None:
    for _ in range(2):
        save_record(tmp_path, RECORD).write_bytes(b"{")
        load_records(tmp_path)
    assert len(list(tmp_path.glob("*.bad*"))) == 2


def test_a_newer_schema_is_named(tmp_path: Path) -> None:
    path = save_record(tmp_path, RECORD)
    path.write_bytes(of_a_newer_schema(path.read_bytes()))
    with pytest.raises(BadRecord, match="its schema is recompat/record/2, and this recompat reads recompat/record/1"):
        load_record(path)


def test_a_record_under_another_name(tmp_path: Path) -> None:
    path = save_record(tmp_path, RECORD)
    other = path.rename(tmp_path / "torch9.9.9-cp311-linux_x86_64.json")
    with pytest.raises(BadRecord, match=r"it is the record of torch2\.11\.0"):
        load_record(other)


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    with pytest.raises(TypeError):
        write_atomically(path, "not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_write_that_fails_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("in the way")
    with pytest.raises(FileExistsError) as caught:
        write_atomically(tmp_path / "folder" / "file", b"")
    assert caught.value.filename == str(tmp_path / "folder" / "file")


def test_what_is_no_file_is_no_record(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    assert load_records(tmp_path) == ((), ())


def test_files_are_readable_by_others_as_the_umask_says(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", b"")
    finally:
        os.umask(mask)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_record_of_before_a_field_was_there_is_read_and_written_with_it(tmp_path: Path) -> None:
    old = load_record(OLD)
    assert b'"again"' not in OLD.read_bytes()
    assert [result.trials[Replay.COLD].outcome for result in old.results] == [Outcome.RAISES, Outcome.DIFFERS]
    path = save_record(tmp_path, old)
    assert b'"again":null' in path.read_bytes()
    assert msgspec.structs.replace(load_record(path), digest="") == msgspec.structs.replace(old, digest="")


def test_a_field_that_only_a_later_recompat_knows_is_left_out_and_does_not_hinder(tmp_path: Path) -> None:
    content = msgspec.json.decode(save_record(tmp_path, RECORD).read_bytes()) | {"more": {"of": "tomorrow"}}
    path = tmp_path / "torch2.11.0-cp311-linux_x86_64.json"
    path.write_bytes(digested(msgspec.json.encode(content)))
    assert msgspec.structs.replace(load_record(path), digest="") == RECORD


def test_of_one_release_no_other_record_is_opened(tmp_path: Path) -> None:
    for torch in ("2.11.0", "2.1.0", "2.11.0rc1"):
        save_record(tmp_path, msgspec.structs.replace(RECORD, environment=Environment(torch, "cp311", "p", "cp311")))
    (tmp_path / "torch2.1.1-cp311-p.json").write_text("damaged")
    (tmp_path / "notes.json").write_text("not looked at")
    records, set_aside = load_records(tmp_path, Version("2.1"))
    assert [record.environment.torch for record in records] == ["2.1.0"]
    assert set_aside == ()
    assert load_records(tmp_path, Version("2.1.1"))[1] != ()
