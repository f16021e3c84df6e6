"""How tensors become plain data; the stand-in torch of these tests writes down what it was asked for."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from recompat_probe.compare import Node

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS = SimpleNamespace(strided="torch.strided", float64="torch.float64", complex128="torch.complex128")


class Tensor:
    def __init__(self, kind: str = "float", device: str = "cpu", layout: str = "torch.strided") -> None:
        self.kind = kind
        self.shape = (2, 1)
        self.dtype = f"torch.{kind}32"
        self.device = SimpleNamespace(type=device)
        self.layout = layout
        self.asked: list[str] = []

    def is_complex(self) -> bool:
        return self.kind == "complex"

    def is_floating_point(self) -> bool:
        return self.kind == "float"

    def tolist(self) -> list[Any]:
        if self.kind == "fake":
            raise RuntimeError("no numbers\nhere")
        return [*self.asked]

    def _ask(self, *what: object) -> Tensor:
        self.asked.append(" ".join(map(str, what)))
        return self

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        if name not in ("detach", "cpu", "to_dense", "to", "reshape"):
            raise AttributeError(name)
        return lambda *arguments: self._ask(name, *arguments)


@pytest.fixture
def snapshot(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    torch = ModuleType("torch")
    torch.__dict__.update(vars(FORMATS), Tensor=Tensor)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delitem(sys.modules, "recompat_probe.values", raising=False)
    values = importlib.import_module("recompat_probe.values")
    monkeypatch.delitem(sys.modules, "recompat_probe.values")  # so that no other test meets this torch
    return values.snapshot  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("tensor", "asked"),
    [
        (Tensor("float"), ["detach", "cpu", "to torch.float64", "reshape -1"]),
        (Tensor("complex"), ["detach", "cpu", "to torch.complex128", "reshape -1"]),
        (Tensor("int"), ["detach", "cpu", "reshape -1"]),
        (Tensor("int", layout="torch.sparse_coo"), ["detach", "cpu", "to_dense", "reshape -1"]),
    ],
)
def test_numbers_are_read_from_a_detached_copy_in_double(
    snapshot: Callable[[Any], Any], tensor: Tensor, asked: list[str]
) -> None:
    assert snapshot(tensor).numbers == asked


def test_metadata_are_read_as_torch_prints_them(snapshot: Callable[[Any], Any]) -> None:
    tensor = Tensor()
    assert snapshot(tensor).metadata == {
        "shape": "[2, 1]",
        "dtype": "torch.float32",
        "device": str(tensor.device),
        "layout": "torch.strided",
    }
    assert snapshot(tensor).kind is Tensor


def test_of_a_meta_tensor_nothing_is_asked(snapshot: Callable[[Any], Any]) -> None:
    tensor = Tensor(device="meta")
    assert (snapshot(tensor).numbers, snapshot(tensor).note, tensor.asked) == (None, None, [])


def test_numbers_that_cannot_be_read(snapshot: Callable[[Any], Any]) -> None:
    data = snapshot(Tensor("fake"))
    assert (data.numbers, data.note) == (None, "its numbers cannot be read (builtins.RuntimeError: no numbers)")


def test_containers_are_copied_whole(snapshot: Callable[[Any], Any]) -> None:
    log = [1]
    data = snapshot({"a": (log, "text")})
    log.append(2)
    assert data == Node(dict, {"a": Node(tuple, {0: Node(list, {0: 1}), 1: "text"})})
