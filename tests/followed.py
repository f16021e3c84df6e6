"""A page of the documentation as its reader follows it: the files that it has made, the commands, and what they print."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Command", "File", "follow", "steps"]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w./-]+)`:\n\n$")  # the words before a block: "Write `train.py`:"
SOMETHING = "…"


class File(NamedTuple):
    """A file that the page has its reader make."""

    line: int
    path: str
    text: str


class Command(NamedTuple):
    """A command, and what it prints; ``…`` stands for anything, on a line of its own for any lines."""

    line: int
    command: str
    printed: str


def steps(page: str) -> Iterator[File | Command]:
    """The steps of a page, in its order: blocks that are named, and the commands of each ``console`` block."""
    for block in FENCE.finditer(page):
        kind, text = block.groups()
        line = page.count("\n", 0, block.start()) + 2
        named = NAMED.search(page, 0, block.start())
        if kind == "console":
            yield from _commands(line, text)
        elif named is not None:
            yield File(line, named[1], text)


def _commands(line: int, text: str) -> Iterator[Command]:
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        if part:
            command, _, printed = part.removeprefix("$ ").partition("\n")
            yield Command(line, command, printed)
        line += part.count("\n")


def follow(step: File | Command, folder: Path, environment: Mapping[str, str], status: int = 0) -> int:
    """Do what a step says in ``folder``; return the exit status, which the next step may ask for.

    Raises:
        AssertionError: the command printed something else than the page says; the message has both.
    """
    if isinstance(step, File):
        path = folder / step.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.text, encoding="utf-8")
        return 0
    done = subprocess.run(
        ["bash", "-c", f"(exit {status})\n{step.command}"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    printed = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
    said = f"line {step.line}: $ {step.command}\nthe page:\n{step.printed}\nprinted:\n{printed}"
    assert re.fullmatch(_pattern(step.printed), printed), said
    return done.returncode


def _pattern(text: str) -> str:
    """An expression for what may be printed where the page says ``text``."""
    lines = (
        "(?:.*\n)*?" if line.strip() == SOMETHING else f"{re.escape(line).replace(SOMETHING, '.*')}\n"
        for line in text.splitlines()
    )
    return "".join(lines)
