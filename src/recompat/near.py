"""What a name may have been meant to be."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

__all__ = ["close_to", "closest", "no_option"]

FEW = 5


def close_to(name: str, known: Iterable[str]) -> str:
    """End a sentence with what a name may have been meant to be, or with what there is."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]}?" if close else f"there is {', '.join(names) or 'none'}."


def closest(name: str, known: Sequence[str]) -> str:
    """Go on from a sentence with what there is, a line each: the few that are closest to a name."""
    if not known:
        return " There are none."
    words = {word: one for one in known for word in (one.rpartition("::")[2], one)}
    near = dict.fromkeys(words[word] for word in difflib.get_close_matches(name, words, n=2 * FEW, cutoff=0))
    head = " There are" if len(known) <= FEW else f" The closest of {len(known)} are"
    return "\n  - ".join((head, *list(near)[:FEW]))


def no_option(parser: argparse.ArgumentParser, rest: Sequence[str]) -> str:
    """Say of arguments that a parser does not know what may have been meant."""
    mend = f"{parser.prog} --help lists the options."
    name = next((word.partition("=")[0] for word in rest if word.startswith("-")), None)
    if name is None:
        return f"Unrecognized arguments: {' '.join(rest)}; {mend}"
    known = [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
    close = difflib.get_close_matches(name, known, n=1)
    return f"There is no option {name}; {f'did you mean {close[0]}? ' if close else ''}{mend}"
