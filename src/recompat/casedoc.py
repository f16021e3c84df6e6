"""What a case's docstring tells the host, in words and in fields such as ``:repairs: other_case``.

The probe reads the fields that say how a case is run; here are those that say what it is about.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from recompat.tables import close_to

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["TOLERANCE", "About", "DocFault", "Noticed", "Restores", "read_about", "read_fields"]

FIELD = re.compile(r":([\w-]+):(?:[ \t]+(.*))?")  # a line without the blanks around it
REPORT = re.compile(r"[\w.-]+/[\w.-]+#\d+")
NOTICED = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)+)(?::\s+(\S.*))?")
RESTORES = re.compile(r"(\S(?:.*\S)?)\s*\((use_reentrant=(?:True|False))\)")

TOLERANCE: Final = "atol=1e-06, rtol=1e-05"

OF_THE_PROBE: Final = ("requires", "reference", "inputs", "tolerance", "numbers", "needs")
OF_THE_HOST: Final = ("report", "repairs", "unrepaired", "detected", "observes", "process", "restores")


class DocFault(Exception):
    """What is wrong with a docstring: what follows the file's name in the sentence."""


class Noticed(msgspec.Struct, frozen=True):
    """An exception by which torch notices what a case is about: a qualified type, and what its message holds."""

    type: str
    text: str = ""

    def covers(self, exception: str, message: str) -> bool:
        """Whether an exception is of this kind."""
        return exception == self.type and self.text in message


class Restores(msgspec.Struct, frozen=True):
    """A setting of which a case tells whether recomputation restores it, by ``use_reentrant``."""

    setting: str
    variant: str


class About(msgspec.Struct, frozen=True):
    """What a case is about.

    ``text`` is what the docstring says below its title. ``reports`` are public ones, such as ``pytorch/pytorch#141896``.
    ``repairs`` are the ids of the broken cases beside which this one stands; ``unrepaired`` says why nothing repairs
    this one. ``noticed`` adds to ``CheckpointError``. With ``observes_warnings``, what a case warns is part of its result;
    with ``alone``, it is run by an interpreter of its own. ``tolerance`` is what a comparison with the reference allows.
    """

    text: str = ""
    reports: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    unrepaired: str | None = None
    noticed: tuple[Noticed, ...] = ()
    observes_warnings: bool = False
    alone: bool = False
    restores: Restores | None = None
    tolerance: str = TOLERANCE
    line: int = 0


def read_fields(docstring: str) -> list[tuple[str, str]]:
    """Return the fields of a docstring in order, each a name and what follows it."""
    found = (FIELD.fullmatch(line.strip()) for line in docstring.split("\n"))
    return [(field[1], field[2] or "") for field in found if field]


def read_about(docstring: str, stem: str, line: int, names: Collection[str]) -> About:
    """Read the docstring of a case in line ``line`` of the file ``stem``, whose cases are called ``names``.

    Raises:
        DocFault: a field that there is not, or a value that it does not take.
    """
    try:
        return _Reader(docstring, names).about(stem, line)
    except DocFault as fault:
        raise DocFault(f", line {line}: {fault}") from None


class _Reader:
    """The fields of one docstring, by name."""

    def __init__(self, docstring: str, names: Collection[str]) -> None:
        self._docstring = docstring
        self._names = names
        self._fields = read_fields(docstring)

    def about(self, stem: str, line: int) -> About:
        known = {*OF_THE_PROBE, *OF_THE_HOST}
        for name, _ in self._fields:
            if name not in known:
                raise DocFault(f":{name}: is no field of a case; {close_to(name, known)}")
        return About(
            text=_text(self._docstring),
            reports=tuple(found[0] for found in self._matching("report", REPORT, "pytorch/pytorch#141896")),
            repairs=tuple(f"{stem}::{name}" for name in self._repaired()),
            unrepaired=self._one("unrepaired"),
            noticed=tuple(self._noticed()),
            observes_warnings=self._choice("observes", "warnings"),
            alone=self._choice("process", "own"),
            restores=self._restores(),
            tolerance=dict(self._fields).get("tolerance") or TOLERANCE,
            line=line,
        )

    def _all(self, name: str) -> list[str]:
        found = [value for key, value in self._fields if key == name]
        if "" in found:
            raise DocFault(f":{name}: is empty; say what, or remove it.")
        return found

    def _one(self, name: str) -> str | None:
        found = self._all(name)
        if len(found) > 1:
            raise DocFault(f":{name}: stands {len(found)} times; keep one.")
        return found[0] if found else None

    def _choice(self, name: str, only: str) -> bool:
        value = self._one(name)
        if value not in {None, only}:
            raise DocFault(f":{name}: is {value!r}; write {only}, or remove it.")
        return value is not None

    def _matching(self, name: str, pattern: re.Pattern[str], example: str) -> Iterator[re.Match[str]]:
        for value in self._all(name):
            found = pattern.fullmatch(value)
            if found is None:
                raise DocFault(f":{name}: is {value!r}; write it as in {example}.")
            yield found

    def _repaired(self) -> Iterator[str]:
        for value in self._all("repairs"):
            if value not in self._names:
                raise DocFault(f":repairs: names no case of this file; {close_to(value, self._names)}")
            yield value

    def _noticed(self) -> Iterator[Noticed]:
        for found in self._matching("detected", NOTICED, "builtins.RuntimeError: part of the message"):
            yield Noticed(found[1], found[2] or "")

    def _restores(self) -> Restores | None:
        if self._one("restores") is None:
            return None
        (found,) = self._matching("restores", RESTORES, "default dtype (use_reentrant=True)")
        return Restores(found[1], found[2])


def _text(docstring: str) -> str:
    """What is neither title nor field, as one paragraph."""
    lines = docstring.split("\n")[1:]
    return " ".join(" ".join(line for line in lines if not FIELD.fullmatch(line.strip())).split())
