from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from recompat.listing import Listing, load_listing, save_listing
from recompat.versions import Offered

if TYPE_CHECKING:
    from pathlib import Path

DATE = "2026-11-29T15:00:00+00:00"


def test_a_listing_is_read_back_in_version_order(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "index.json"
    found = Offered.of([Version("2.10.0"), Version("2.11.0rc1"), Version("2.9.1")], [Version("2.9.0")])
    save_listing(path, found, DATE)
    assert load_listing(path) == Listing(DATE, ("2.9.1", "2.10.0"), ("2.11.0rc1",))
    assert list(path.parent.iterdir()) == [path], "nothing is left beside it"


def test_a_listing_from_before_pre_releases_were_listed(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    path.write_bytes(b'{"date": "d", "releases": ["2.0"], "schema": "recompat/index/1"}')
    assert load_listing(path) == Listing("d", ("2.0",))


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"date": "d", "releases": ["2.0"], "schema": "recompat/index/2"}',
        b'{"date": "d", "releases": ["two"], "schema": "recompat/index/1"}',
        b'{"date": "d", "releases": [], "schema": "recompat/index/1"}',
        b'{"date": "d", "releases": [], "previews": ["2.0rc1"], "schema": "recompat/index/1"}',
        b'{"date": "d", "releases": ["2.0"], "previews": ["soon"], "schema": "recompat/index/1"}',
        b'{"date": "d", "releases": "2.0", "schema": "recompat/index/1"}',
        b'{"releases": ["2.0"], "schema": "recompat/index/1"}',
    ],
)
def test_what_cannot_be_read_is_as_if_the_index_had_never_been_asked(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "index.json"
    if content is not None:
        path.write_bytes(content)
    assert load_listing(path) is None


def test_a_folder_in_its_place_is_none_either(tmp_path: Path) -> None:
    assert load_listing(tmp_path) is None
