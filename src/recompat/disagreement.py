"""What a ``CheckpointError`` says, as types; ``recompat.model`` passes them on, and ``recompat.mismatch`` reads them."""

from __future__ import annotations

from enum import StrEnum

import msgspec

__all__ = ["Disagreement", "DisagreementKind", "Mismatch", "TensorMeta"]


class TensorMeta(msgspec.Struct, frozen=True):
    """What a ``CheckpointError`` says of one tensor: ``dtype`` and ``device`` as torch prints them."""

    shape: tuple[int, ...]
    dtype: str
    device: str


class Mismatch(msgspec.Struct, frozen=True):
    """A saved tensor whose recomputed twin has other metadata."""

    position: int
    saved: TensorMeta
    recomputed: TensorMeta

    @property
    def fields(self) -> tuple[str, ...]:
        """What differs, of ``shape``, ``dtype`` and ``device``."""
        names = TensorMeta.__struct_fields__
        return tuple(name for name in names if getattr(self.saved, name) != getattr(self.recomputed, name))


class DisagreementKind(StrEnum):
    """The messages of ``CheckpointError``, told apart."""

    METADATA = "metadata"
    COUNT = "count"
    MORE_TENSORS = "more-tensors"
    UNPACKED_AGAIN = "unpacked-again"
    OPERATOR_LOG = "operator-log"


class Disagreement(msgspec.Struct, frozen=True):
    """In what recomputation disagreed with forward, as ``CheckpointError`` says it; ``saved`` and ``recomputed`` count tensors.

    ``count``: not as many tensors were saved. ``more-tensors``: recomputation went on to save more. ``unpacked-again``:
    backward asked for a tensor a second time. ``operator-log``: ``debug=True`` put a log of operators in the place of
    the reason.
    """

    kind: DisagreementKind
    saved: int | None = None
    recomputed: int | None = None
