"""The faces of cells as drawn shapes, which look the same wherever they are seen, and the colours of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recompat.report.faces import FACES, FaceKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recompat.report.faces import Colours

__all__ = ["SHAPES", "style"]

# Strokes around the origin, within 5 units of it.
SHAPES: Final[dict[FaceKind, str]] = {
    FaceKind.PASS: "M-4 .5l2.7 3L4-3.5",
    FaceKind.DRIFT: "M-4.5-1.2q2.2-2.6 4.5-.6t4.5-.6M-4.5 2.6q2.2-2.6 4.5-.6t4.5-.6",
    FaceKind.DIFFERS: "M-4-1.8h8M-4 1.8h8M2.2-4.6l-4.4 9.2",
    FaceKind.RAISES: "M-3.3-3.3l6.6 6.6M3.3-3.3l-6.6 6.6",
    FaceKind.UNRELATED: "M-4.6-2.2l5.8 5.8M1.2-2.2l-5.8 5.8M3.2-3.6a1.3 1.3 0 1 0 2.6 0a1.3 1.3 0 1 0-2.6 0",
    FaceKind.CRASH: "M1.5-5l-3.6 5.4h4.2L-1.5 5",
    FaceKind.TIMEOUT: "M0 0C-1.5-2.8-5-2.8-5 0S-1.5 2.8 0 0S5-2.8 5 0S1.5 2.8 0 0",
    FaceKind.ERROR: "M0-4.5v5.6M0 4v.3",
    FaceKind.MOOT: "M-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0M3.8-4.6l-7.6 9.2",
    FaceKind.UNSUPPORTED: "M-.4 0a.4.4 0 1 0 .8 0a.4.4 0 1 0-.8 0",
    FaceKind.NOT_RUN: "M-2.2-2.4C-2-5.2 2.4-5 2.3-2.3C2.2-.6 0-.6 0 1.3M0 4.2v.2",
}

PAGE: Final = FaceKind.NOT_RUN  # whose ground is that of a page
QUIET: Final = FaceKind.UNSUPPORTED
STRONG: Final = FaceKind.CRASH  # whose text is the strongest on both pages


def style(kinds: Iterable[FaceKind]) -> str:
    """Write the style sheet of a picture with these faces, for light pages and for dark ones.

    A face's ground is the class of its kind, filled or stroked; ``on-`` and its kind are the strokes on it.
    """
    wanted = tuple(kinds)
    return "\n".join(
        (
            "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}",
            ".ground,.grid,.mark,.on{fill:none}",
            ".on{stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}",
            _colours(wanted, dark=False),
            f"@media (prefers-color-scheme:dark){{{_colours(wanted, dark=True)}}}",
        )
    )


def _colours(kinds: Iterable[FaceKind], *, dark: bool) -> str:
    def of(kind: FaceKind) -> Colours:
        return FACES[kind].dark if dark else FACES[kind].light

    rules = [
        f".page{{fill:{of(PAGE).ground}}}",
        f".grid{{stroke:{of(PAGE).ground}}}",
        f".title{{fill:{of(PAGE).text}}}",
        f".quiet{{fill:{of(QUIET).text}}}",
        f".rule{{fill:none;stroke:{of(QUIET).ground}}}",
        f".mark{{stroke:{of(STRONG).text}}}",
        f".corner{{fill:{of(STRONG).text}}}",
    ]
    for kind in kinds:
        rules += [
            f".{kind}{{fill:{of(kind).ground}}}",
            f".ground.{kind}{{fill:none;stroke:{of(kind).ground}}}",
            f".on-{kind}{{stroke:{of(kind).text}}}",
        ]
    return "".join(rules)
