"""Case selection: ``-k`` expressions such as ``math and not rank3``, ``family:attention`` and ``all``."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from recompat.errors import ConfigurationError, NothingSelected
from recompat.tables import close_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recompat.cases import Case

__all__ = ["default_cases", "select_cases"]

DEEPEST = 200  # parentheses and negations of an expression, which is read by recursion
MOST_LISTED = 10
ALL = "all"
FAMILY = "family:"


def select_cases(cases: Iterable[Case], expression: str | None) -> tuple[Case, ...]:
    """The cases that ``expression`` chooses; without one, every case.

    A word of it is a part of a case's id, ``family:`` and the name of a family, or ``all``; words are joined by ``and``,
    ``or``, ``not`` and parentheses.

    Raises:
        ConfigurationError: the expression cannot be read.
        NothingSelected: no case matches, or there is no such family; the message lists what there is.
    """
    known = tuple(cases)
    if not expression:
        return known
    families = list(dict.fromkeys(case.family for case in known))
    words = re.findall(r"[()]|[^\s()]+", expression)
    deep = sum(word in {"(", "not"} for word in words)
    if deep > DEEPEST:
        raise ConfigurationError(f"-k has {deep} parentheses and negations; {DEEPEST} are the most.")
    for word in words:
        family = word.lower().removeprefix(FAMILY)
        if word.lower().startswith(FAMILY) and family not in {one.lower() for one in families}:
            close = difflib.get_close_matches(family, families, n=1)
            meant = f"; did you mean {close[0]}?" if close else "."
            raise NothingSelected(f"There is no family {family!r}{meant} There are: {', '.join(families)}.")
    chosen = tuple(case for case in known if _Expression(words, case).value())
    if not chosen:
        raise _no_case(expression, words, [case.id for case in known])
    return chosen


def default_cases(cases: Iterable[Case], names: Sequence[str]) -> tuple[Case, ...]:
    """The cases that ``matrix.toml`` names, by id or as ``file::*``; where it names none, every case.

    Raises:
        ConfigurationError: it names one that there is not; all of those are listed.
    """
    known = tuple(cases)
    faulty = {case.id for case in known if case.id.endswith("::*")}  # files of which no case is known
    unknown = [name for name in names if not any(_named(name, case) for case in known) and _file(name) not in faulty]
    if unknown:
        near = tuple(f"{name}; {close_to(name, [case.id for case in known])}" for name in unknown)
        raise ConfigurationError("matrix.toml names cases in [[default]] that there are not:", near)
    chosen = {case.id for case in known if any(_named(name, case) for name in names)}
    chosen |= faulty & {_file(name) for name in names}
    return tuple(case for case in known if case.id in chosen) if names else known


def _no_case(expression: str, words: Sequence[str], ids: Sequence[str]) -> NothingSelected:
    """Say which word may have been meant otherwise, or which cases there are."""
    parts = {part for one in ids for part in re.split("::|_", one.lower())}
    for word in words:
        close = difflib.get_close_matches(word.lower(), parts, n=1)
        if close and close[0] not in word.lower():
            return NothingSelected(f"No case matches -k {expression!r}; did you mean {close[0]}?")
    more = f" and {len(ids) - MOST_LISTED} more" if len(ids) > MOST_LISTED else ""
    return NothingSelected(f"No case matches -k {expression!r}. There are: {', '.join(ids[:MOST_LISTED])}{more}.")


def _named(name: str, case: Case) -> bool:
    return name in {case.id, _file(case.id)}


def _file(name: str) -> str:
    return name.partition("::")[0] + "::*"


class _Expression:
    """A recursive-descent reader that evaluates as it reads: or < and < not < word."""

    def __init__(self, words: Sequence[str], case: Case) -> None:
        self._words = list(words)
        self._all = " ".join(words)
        self._id = case.id.lower()
        self._family = FAMILY + case.family.lower()

    def value(self) -> bool:
        value = self._any()
        if self._words:
            raise self._unreadable()
        return value

    def _any(self) -> bool:
        value = self._every()
        while self._take("or"):
            value = self._every() or value
        return value

    def _every(self) -> bool:
        value = self._one()
        while self._take("and"):
            value = self._one() and value
        return value

    def _one(self) -> bool:
        if self._take("not"):
            return not self._one()
        if self._take("("):
            value = self._any()
            if not self._take(")"):
                raise self._unreadable()
            return value
        if not self._words or self._words[0] in {"and", "or", ")"}:
            raise self._unreadable()
        word = self._words.pop(0).lower()
        return word == ALL or (word == self._family if word.startswith(FAMILY) else word in self._id)

    def _take(self, word: str) -> bool:
        if self._words and self._words[0] == word:
            self._words.pop(0)
            return True
        return False

    def _unreadable(self) -> ConfigurationError:
        return ConfigurationError(
            f"-k {self._all!r} cannot be read; write words joined by and, or, not and parentheses."
        )
