from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from recompat.listing import Listing, load_listing, save_listing

if TYPE_CHECKING:
    from pathlib import Path

DATE = "2026-11-29T15:00:00+00:00"


def test_a_listing_is_read_back_in_version_order(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "index.json"
    save_listing(path, [Version("2.10.0"), Version("2.9.1")], DATE)
    assert load_listing(path) == Listing(DATE, ("2.9.1", "2.10.0"))
    assert list(path.parent.iterdir()) == [path], "nothing is left beside it"


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
