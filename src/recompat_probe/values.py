"""Turns what a case returns into plain data, at once, before anything can change it."""

from __future__ import annotations

from typing import Any

import torch

from recompat_probe.compare import Node, TensorData
from recompat_probe.raised import sentence

__all__ = ["snapshot"]


def snapshot(value: Any) -> Any:
    """Copy tensors and containers; what is neither is kept as it is."""
    if isinstance(value, torch.Tensor):
        return _snapshot_tensor(value)
    if isinstance(value, dict):
        return Node(type(value), {key: snapshot(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return Node(type(value), {index: snapshot(item) for index, item in enumerate(value)})
    return value


def _snapshot_tensor(tensor: Any) -> TensorData:
    metadata = {
        "shape": str(list(tensor.shape)),
        "dtype": str(tensor.dtype),
        "device": str(tensor.device),
        "layout": str(tensor.layout),
    }
    if tensor.device.type == "meta":
        return TensorData(type(tensor), metadata, None)
    try:
        return TensorData(type(tensor), metadata, _numbers(tensor.detach().cpu()))
    except Exception as trouble:  # noqa: BLE001  (a fake tensor, say)
        return TensorData(type(tensor), metadata, None, f"its numbers cannot be read ({sentence(trouble)})")


def _numbers(tensor: Any) -> Any:
    """Return Python's numbers, whose floats and complexes are double: other tensor code could obey a leaked mode."""
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_complex():
        tensor = tensor.to(torch.complex128)
    elif tensor.is_floating_point():
        tensor = tensor.to(torch.float64)
    return tensor.reshape(-1).tolist()
