"""Case selection: ``-k`` expressions such as ``math and not rank3``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recompat.errors import ConfigurationError, NothingSelected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recompat.cases import Case

__all__ = ["select_cases"]

LONGEST = 200  # words of an expression: it is read by recursion


def select_cases(cases: Iterable[Case], expression: str | None) -> tuple[Case, ...]:
    """The cases whose id holds the words of ``expression``, joined by ``and``, ``or``, ``not`` and parentheses.

    Raises:
        ConfigurationError: the expression cannot be read.
        NothingSelected: no case matches; the message lists the cases.
    """
    known = tuple(cases)
    if not expression:
        return known
    words = re.findall(r"[()]|[^\s()]+", expression)
    if len(words) > LONGEST:
        raise ConfigurationError(f"-k has {len(words)} words and parentheses; {LONGEST} are the most.")
    chosen = tuple(case for case in known if _Expression(words, case.id.lower()).value())
    if not chosen:
        raise NothingSelected(f"No case matches -k {expression!r}. There are: {', '.join(case.id for case in known)}.")
    return chosen


class _Expression:
    """A recursive-descent reader that evaluates as it reads: or < and < not < word."""

    def __init__(self, words: Sequence[str], text: str) -> None:
        self._words = list(words)
        self._all = " ".join(words)
        self._text = text

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
        return self._words.pop(0).lower() in self._text

    def _take(self, word: str) -> bool:
        if self._words and self._words[0] == word:
            self._words.pop(0)
            return True
        return False

    def _unreadable(self) -> ConfigurationError:
        return ConfigurationError(
            f"-k {self._all!r} cannot be read; write words joined by and, or, not and parentheses."
        )
