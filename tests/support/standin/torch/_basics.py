"""Shapes, dtypes and devices, printed as torch prints them."""

from __future__ import annotations


class Size(tuple[int, ...]):
    """A shape."""

    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for length in self:
            count *= length
        return count

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class dtype:  # noqa: N801  (torch's own name)
    """An element type."""

    def __init__(self, name: str, *, is_floating_point: bool) -> None:
        self.name = name
        self.is_floating_point = is_floating_point
        self.is_complex = False

    def __repr__(self) -> str:
        return f"torch.{self.name}"


float32 = dtype("float32", is_floating_point=True)
float64 = dtype("float64", is_floating_point=True)
int64 = dtype("int64", is_floating_point=False)
bool_ = dtype("bool", is_floating_point=False)


class layout:  # noqa: N801  (torch's own name)
    """How numbers lie in memory: strided, always."""

    def __repr__(self) -> str:
        return "torch.strided"


strided = layout()


class device:  # noqa: N801  (torch's own name)
    """Where a tensor lives: on the CPU."""

    def __init__(self, type: str = "cpu") -> None:  # noqa: A002  (torch's own name)
        self.type = type
        self.index = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and other.type == self.type

    def __hash__(self) -> int:
        return hash(self.type)

    def __repr__(self) -> str:
        return f"device(type={self.type!r})"

    def __str__(self) -> str:
        return self.type
