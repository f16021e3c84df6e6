"""What is private, and is told to nobody: taken out of a record when it is written, and again when it is read.

Paths are shown from where everybody has the same (``torch/…``, ``site-packages/…``, ``lib/python3.11/…``, a case file), and
otherwise by their last part. A user's name is taken out of paths and of ``user@host`` alone: names such as ``mark``, ``page``
or ``root`` are words too, and without them a message would no longer say what it says. A host's name is taken out of prose
alone, and only by the host itself when it writes, so that a record reads the same on every machine.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

__all__ = ["Scrubber", "may_be_private", "scrub", "scrubber_here"]

PROSE: Final = frozenset({"detail", "message", "note", "reason", "text"})
CASES: Final = ["matrix", "cases"]
HOMES: Final = frozenset({"home", "users"})
PACKAGES: Final = frozenset({"dist-packages", "site-packages"})
TREES: Final = frozenset({"aten", "c10", "caffe2", "functorch", "third_party", "torch"})  # of torch's own repository
SHORTEST_NAME: Final = 3
LONGEST: Final = (
    100_000  # characters of a text, ten times what a probe leaves of one: a path of megabytes takes gigabytes
)
PASSES: Final = 8  # what is cut may lay bare something else; a real message takes two
COMMON_NAMES: Final = frozenset(
    {"checkpoint", "cpu", "cuda", "gpu", "host", "localhost", "python", "pytorch", "root", "tensor", "torch", "user"}
)  # of hosts and users: such a name tells nothing, and stands in every other message


def _begins(*, before: str = "") -> str:
    """Match where a path may begin, or just after it began with ``before``; a compiler's ``-I`` needs no blank."""
    away = rf"(?<![\w.~/)\]}}+*#^\\-]{before})(?<!…{before})(?<!<host>{before})"
    return rf"(?:{away}|(?<=\\[abfnrtv]{before})|(?<=-[FIL]{before}))"


def _drive_begins(*, before: str = "") -> str:
    """Match where a path with a drive may begin."""
    return rf"(?:(?<![\w.\\/-]{before})(?<!…{before})|(?<=\\[abfnrtv]{before}))"


NOTHING = r"(?!)"
BEGIN = _begins()
SLASH = r"(?:/|(?<!:)//+)(?=[\w.~@%+…-])"
LABEL = r"<(?:cases|env|python)>"  # the probe's words for folders
DRIVE = rf"{_drive_begins()}(?:\\\\\?\\)?[A-Za-z]:(?=[\\/])"
SHARE = rf"{BEGIN}\\\\+[\w.-]{{3,}}\\+[\w$.-]{{3,}}(?=\\)"
PLAIN = r"[^\s\"'`<>|:;,\\]*"  # repeating a class takes no memory, and a group some hundred bytes each time
INSIDE = rf"{PLAIN}(?:\\ {PLAIN}){{0,1000}}"
INSIDE_WINDOWS = r"[^\s\"'`<>|:;,*?]*"
UNQUOTED = r"[^\s\"'`<>|:;,]*"
INSIDE_QUOTES = rf"{UNQUOTED}(?:[^\S\n](?![/-]){UNQUOTED}){{0,1000}}"  # blanks as well; but what follows a command is no part of its path
END = r"(?<![.)\]}!?])"  # the end of a sentence is no part of a path
LOGIN = r"[^\s/\"'`<>]*@"

PRIVATE = re.compile(
    "|".join(
        (
            rf"(?P<quote>[\"'`])(?P<quoted>(?:{SLASH}|[A-Za-z]:[\\/]){INSIDE_QUOTES})(?P=quote)",
            rf"(?P<scheme>(?<![\w+.-])[\w+.-]+://)(?:{LOGIN})?(?P<address>[^\s\"'`<>|;,]*){END}",
            r"(?P<at>(?<![\w+.-])[\w+.-]+@[\w.-]+(?=:[~/]))",
            rf"(?P<path>(?:{BEGIN}(?:{SLASH}|~(?=/))|{LABEL}(?=/)){INSIDE}{END})",
            rf"(?P<windows>(?:{DRIVE}|{SHARE}|{BEGIN}~(?=\\)|{LABEL}(?=\\)){INSIDE_WINDOWS}{END})",
        )
    )
)
PATH_BEGINS = re.compile(BEGIN + "/")
SUSPECT = [  # whatever PRIVATE may find, as JSON has it, and a little more; each begins with one character, which is fast
    re.compile(pattern.encode())
    for pattern in (
        rf"/{_begins(before='/')}(?:[\w.~@%+\x80-\xff-]|(?<!:/)/)",
        rf":(?=[\\/])(?:{_drive_begins(before='[A-Za-z]:')}(?<=[A-Za-z]:)|///|(?<=file:)//|//{LOGIN})",
        r"@[^\s:@]+:[~/]",
        r"~[\\/]",
        rf"{LABEL}[\\/]",
        r"\\(?:[/u]|\\\\\\|\\\?)",
    )
]


class Scrubber:
    """Takes out what can be told from a text alone, and the words that are private on one machine.

    Args:
        folders: whose paths may have blanks in them.
        host: the machine's name.
        user: the user's.
    """

    def __init__(self, folders: Iterable[str] = (), host: str = "", user: str = "") -> None:
        self._folders = _any_of(folders)
        self._user = re.compile(rf"(?<![A-Za-z0-9.]){re.escape(user)}(?![A-Za-z0-9])" if _tells(user) else NOTHING)
        self._host = _host(host.partition(".")[0], user)

    def data(self, data: Any, *, prose: bool = False) -> Any:
        """Return plain data with every string scrubbed, keys included."""
        if isinstance(data, str):
            return self.text(data, prose=prose)
        if isinstance(data, dict):
            return {self.text(key): self.data(value, prose=key in PROSE) for key, value in data.items()}
        if isinstance(data, (list, tuple)):
            return [self.data(value, prose=prose) for value in data]
        return data

    def text(self, text: str, *, prose: bool = False) -> str:
        """Scrub a text; what was scrubbed stays as it is."""
        for _ in range(PASSES):
            before = text
            if any(mark in text for mark in "/\\@"):
                text = PRIVATE.sub(self._shown, self._folders.sub(_without_blanks, text))
            if prose:
                text = self._host.sub(_placeholder, text)
            if text == before:
                break
        return text

    def _shown(self, found: re.Match[str]) -> str:
        if quote := found["quote"]:
            return f"{quote}{self._short(found['quoted'])}{quote}"
        if scheme := found["scheme"]:
            address = found["address"]
            is_file = scheme.endswith("file://") or address.startswith("/")
            short = self._short(address) if is_file else address
            return short if short != address else scheme + address
        return "<user>@<host>" if found["at"] else self._short(found[0])

    def _short(self, path: str) -> str:
        """Show a path as everybody may see it; one of a single part tells nothing."""
        path = path[-LONGEST:]
        windows = "\\" in path.replace("\\ ", "") or ":" in path
        separated = re.split(r"[\\/]+", re.sub(r"^(?:\\\\\?\\)?[A-Za-z]:", "", path)) if windows else path.split("/")
        parts = [part for part in separated if part not in {"", "."}]
        if len(parts) < 2:
            return "…" if parts == ["…"] else path
        if (kept := _kept(parts)) and ".." not in kept and not PATH_BEGINS.search("/".join(kept)):
            return "/".join(kept)
        return "…" if parts[-2].lower() in HOMES else f"…/{self._user.sub('<user>', parts[-1])}"


def scrub(data: Any) -> Any:
    """Return plain data without what can be told from its strings alone to be private."""
    return _ANYWHERE.data(data)


def scrubber_here(*folders: Path) -> Scrubber:
    """Return a scrubber that knows this machine, the environment that this runs in, and ``folders``."""
    import getpass  # only who writes a record needs them
    import socket

    own = [os.path.expanduser("~"), tempfile.gettempdir(), sys.prefix, *map(str, folders)]  # noqa: PTH111 - cannot fail
    user = ""
    with contextlib.suppress(OSError, KeyError, ImportError):  # some containers give their user no name
        user = getpass.getuser()
    return Scrubber([*own, *map(os.path.realpath, own)], socket.gethostname(), user)


def may_be_private(content: bytes) -> bool:
    """Tell, fast, whether ``scrub`` may find something in a JSON text: what was scrubbed before is not looked at again."""
    return any(pattern.search(content) for pattern in SUSPECT)


def _kept(parts: Sequence[str]) -> Sequence[str]:
    """The end of a path that is the same for everybody; nothing if there is none."""
    for number in range(len(parts) - 1, 0, -1):
        above, name = parts[number - 1 : number + 1]
        if above in PACKAGES:
            return parts[number:] if name == "torch" else parts[number - 1 :]
        if (above.lower() == "lib" and name.startswith("python3.")) or above == "recompat_probe":
            return parts[number - 1 :]
        if (above == "pytorch" and name in TREES) or above == "<cases>" or parts[max(number - 2, 0) : number] == CASES:
            return parts[number:]
    return ()


def _any_of(folders: Iterable[str]) -> re.Pattern[str]:
    """Match any of the folders, however its separators are written; no root, which begins every path."""
    split = {tuple(re.split(r"[\\/]+", folder.rstrip("\\/"))) for folder in folders}
    spelled = [r"[\\/]+".join(map(re.escape, parts)) for parts in sorted(split, key=len, reverse=True) if parts[1:]]
    return re.compile(rf"{BEGIN}(?:{'|'.join(spelled)})(?![\w-])" if spelled else NOTHING)


def _without_blanks(found: re.Match[str]) -> str:
    """Put something in the place of a known folder that is seen to be one, whatever its name was."""
    return "/…" if found[0].startswith("/") else "C:\\…"


def _host(host: str, user: str) -> re.Pattern[str]:
    """Match the host's name, also where its domain follows, and whoever is ``@`` it."""
    machine = rf"(?i:{re.escape(host)})(?:\.[\w-]+)*" if _tells(host) else NOTHING
    person = rf"{re.escape(user)}@[\w.-]*\w" if _tells(user) else NOTHING
    return re.compile(rf"(?<![\w+.-])(?:{person}|(?:[\w+.-]+@)?{machine}(?![\w-]))")


def _placeholder(found: re.Match[str]) -> str:
    return "<user>@<host>" if "@" in found[0] else "<host>"


def _tells(name: str) -> bool:
    return len(name) >= SHORTEST_NAME and not name.isdigit() and name.lower() not in COMMON_NAMES


_ANYWHERE: Final = Scrubber()
