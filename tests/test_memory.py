"""A limit of memory: how it is written, and that a process keeps it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from recompat.errors import ConfigurationError
from recompat.matrix import load_matrix
from recompat.memory import AVAILABLE, limit_memory, memory_size, memory_text
from recompat.options import parse_options

if TYPE_CHECKING:
    from pathlib import Path

MATRIX = '[torch]\ndefault = ["2.11.0"]\n'
ASKS = "input(); import sys; bytearray(int(sys.argv[1])); print('had it')"
RESERVES = (
    "input(); import mmap; mmap.mmap(-1, 1 << 32, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0); print('had it')"
)


@pytest.mark.parametrize(
    ("text", "size", "again"),
    [("4 GiB", 4 << 30, "4 GiB"), ("500MiB", 500 << 20, "500 MiB"), ("2048 MiB", 2 << 30, "2 GiB")],
)
def test_a_size_is_written_in_one_way(text: str, size: int, again: str) -> None:
    assert memory_size(text) == size
    assert memory_text(size) == again
    assert memory_size(again) == size


@pytest.mark.parametrize(
    "text", ["", "4", "4 GB", "0 GiB", "-1 GiB", "1.5 GiB", "4  GiB", "4 GiB\n", "99999999 GiB", "٤ GiB"]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is no size such as"):
        memory_size(text)


def test_the_matrix_names_one(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text(f'{MATRIX}[run]\nmemory = "4 GiB"\n')
    assert load_matrix(path).memory == 4 << 30
    path.write_text(MATRIX)
    assert load_matrix(path).memory is None
    path.write_text(f'{MATRIX}[run]\nmemory = "much"\n')
    with pytest.raises(ConfigurationError, match=r"memory is 'much' is no size|'much' is no size"):
        load_matrix(path)


@pytest.mark.skipif(not AVAILABLE, reason="memory is limited on Linux alone")
@pytest.mark.parametrize(
    ("source", "asked", "printed"), [(ASKS, 1 << 30, ""), (ASKS, 1 << 20, "had it"), (RESERVES, 0, "had it")]
)
def test_a_process_keeps_it_and_what_is_only_reserved_is_free(source: str, asked: int, printed: str) -> None:
    command = [sys.executable, "-c", source, str(asked)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        limit_memory(process.pid, 1 << 29)
        out, err = process.communicate("\n", timeout=60)
    assert out.strip() == printed
    assert ("MemoryError" in err) == (not printed)


@pytest.mark.skipif(not AVAILABLE, reason="memory is limited on Linux alone")
def test_a_process_that_has_ended_is_not_limited() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    limit_memory(process.pid, 1 << 29)


def test_where_none_can_be_set_the_option_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompat.options.AVAILABLE", False)
    with pytest.raises(ConfigurationError, match="on Linux alone"):
        parse_options(["--memory", "4 GiB"])
