"""The page as data: what the template lays out."""

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from recompat.model import Verdict
from recompat.report.faces import Face, FaceKind
from recompat.report.html.details import Detail, Part
from recompat.report.style import Look
from recompat.summary import Column, Row, Summary

__all__ = [
    "CaseView",
    "ColumnView",
    "Disagreement",
    "Frames",
    "GridCell",
    "Group",
    "Link",
    "NewsView",
    "Page",
    "Run",
    "Told",
]


class GridCell(msgspec.Struct, frozen=True):
    """A cell of the table: its classes as an attribute's value, the anchor of its detail, and its words."""

    look: Markup
    target: str
    text: str


class Frames(msgspec.Struct, frozen=True):
    """The number of a part with frames, where they are so, and the anchors of these environments."""

    part: int
    where: str
    environments: tuple[str, ...]


class Told(msgspec.Struct, frozen=True):
    """A detail, where it holds, and the days that it is from where its environment was run on a later one."""

    anchor: str
    look: Markup
    detail: Detail
    where: str
    days: str
    frames: tuple[Frames, ...]


class Run(msgspec.Struct, frozen=True):
    """Neighbouring releases on which a case ended alike."""

    where: str
    text: str
    face: FaceKind
    target: str


class Link(msgspec.Struct, frozen=True):
    """A case that is named; ``anchor`` is empty where the page does not have it."""

    text: str
    anchor: str


class CaseView(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table, and all that opens from it."""

    anchor: str
    row: Row
    name: str
    file: int
    cells: tuple[GridCell, ...]
    history: tuple[Run, ...]
    told: tuple[Told, ...]
    boundaries: tuple[str, ...]
    operators: tuple[str, ...]
    repairs: tuple[Link, ...]
    repaired_by: tuple[Link, ...]
    reports: tuple[tuple[str, str], ...]


class Group(msgspec.Struct, frozen=True):
    """The cases of a file."""

    family: str
    file: str
    title: str
    cases: tuple[CaseView, ...]


class ColumnView(msgspec.Struct, frozen=True):
    """An environment and the name of its track; ``counts`` are its outcomes."""

    anchor: str
    name: str
    column: Column
    track: str
    counts: str


class NewsView(msgspec.Struct, frozen=True):
    """What a release changed: kinds of change, each with its cases and a sentence."""

    torch: str
    before: str
    kinds: tuple[tuple[Look, tuple[tuple[Link, str], ...]], ...]

    def count(self, look: Look) -> int:
        """How many changes of a kind there are."""
        return next((len(items) for known, items in self.kinds if known == look), 0)


class Disagreement(msgspec.Struct, frozen=True):
    """What is not the same everywhere: the cases and releases of which a sentence tells, and how many more there are."""

    text: str
    cases: tuple[tuple[Link, str], ...]
    more: int


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """All that the template needs."""

    summary: Summary
    state: str
    conclusion: str
    columns: tuple[ColumnView, ...]
    releases: tuple[str, ...]
    tracks: tuple[str, ...]
    tracks_title: str
    groups: tuple[Group, ...]
    faces: dict[FaceKind, Face]
    all_faces: dict[FaceKind, Face]
    counts: dict[FaceKind, int]
    marks: tuple[tuple[str, str], ...]
    verdicts: dict[Verdict, tuple[str, int]]
    family_counts: dict[str, int]
    totals: tuple[tuple[str, str], ...]
    families: tuple[Sequence[str], list[list[str]]]
    news: tuple[NewsView, ...]
    news_kinds: tuple[Look, ...]
    disagreements_title: str
    disagreements: tuple[Disagreement, ...]
    parts: tuple[Part, ...]
    few: bool
