"""Inputs by hand that cost a careless reader everything: long, deep, many, huge, or made for the regex at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faults import seeds
from faults.nasty import digested

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["pathological"]

DEEP = 100_000


def pathological(reader: str, size: int) -> Iterator[tuple[str, bytes]]:
    """The inputs for a reader, each with a name; those that are long have about ``size`` bytes."""
    match reader:
        case "record" | "merge" | "reports":
            yield from _in_a_record(size)
        case "listing":
            for name, value in _json(size):
                yield name, b'{"date": "", "schema": "recompat/index/1", "releases": [' + value + b"]}"
        case "changes":
            for name, value in _json(size):
                yield name, b'{"releases": [{"complete": false, "torch": ' + value + b"}]}"
        case "plan":
            for name, value in _json(size):
                yield name, b'{"include": [{"os": "ubuntu-24.04", "python": "3.11", "torch": ' + value + b"}]}"
        case "events":
            yield from _json(size)
        case "matrix" | "expectations":
            yield from _toml(size)
            yield from (_of_a_matrix if reader == "matrix" else _of_claims)(size)
        case "lock":
            yield from (*_toml(size), *_of_a_lock(size))
        case "script":
            for name, text in (*_toml(size), *_blocks(size)):
                yield name, text if text.startswith(b"#") else _block(text)
            yield from _python(size)
        case "case-file":
            yield from (*_python(size), *_docstrings(size))
        case _:
            yield from _texts(size)


def _json(size: int) -> Iterator[tuple[str, bytes]]:
    yield "a long line", b'"' + b"a" * size + b'"'
    yield "brackets", b"[" * DEEP
    yield "pairs of brackets", b"[" * DEEP + b"]" * DEEP
    yield "nested objects", b'{"a":' * DEEP + b"1" + b"}" * DEEP
    yield "many empty lists", b"[" + b"[]," * (size // 3) + b"[]]"
    yield "many keys", b"{" + b",".join(b'"%d":0' % number for number in range(size // 10)) + b"}"
    yield "a key twice", b'{"a": 1, "a": 2}'
    yield "a huge integer", b"1" + b"0" * 5_000
    yield "an integer of 65 bits", b"18446744073709551616"
    yield "an integer that is a float", b"-" + b"9" * 300
    yield "a huge exponent", b"1e999999"
    yield "NaN", b"NaN"
    yield "Infinity", b"-Infinity"
    yield "half a pair of surrogates", b'"\\ud800 \\udc00\\ud800"'
    yield "a year of five digits", b'"99999-01-01T00:00:00Z"'
    yield "a zone beyond the first year", b'"0001-01-01T00:00:00+23:59"'
    yield "a version with an epoch", b'"1!2.dev999999999999"'
    yield "a version of many parts", b'"' + b"1." * (size // 4) + b'1"'
    yield "a version of many digits", b'"2.' + b"9" * 5_000 + b'"'


def _in_a_record(size: int) -> Iterator[tuple[str, bytes]]:
    """Each value where a record has a text, a number, a table, and where it has nothing."""
    whole = seeds.records()[-1]
    for name, value in _json(size):
        yield name, value
        for place in (b'"0.1.0"', b'"threads":1', b'"installing":20.0', b'"options":{}', b'"run": {'):
            key = place.rpartition(b":")[0]
            assert place in whole
            yield f"{name} in {place.decode()}", digested(whole.replace(place, _there(place, key, value), 1))


def _there(place: bytes, key: bytes, value: bytes) -> bytes:
    return b'"more": ' + value + b",\n" + place if place.endswith(b" {") else (key and key + b":") + value


def _toml(size: int) -> Iterator[tuple[str, bytes]]:
    yield "a long line", b'a = "' + b"a" * size + b'"'
    yield "brackets", b"a = " + b"[" * DEEP
    yield "pairs of brackets", b"a = " + b"[" * DEEP + b"]" * DEEP
    yield "nested tables", b"a = " + b"{a=" * DEEP
    yield "a key of many parts", b".".join([b"a"] * DEEP) + b" = 1"
    yield "a quoted key of many parts", b' . "b"'.join([b"'a'"] * 5_000) + b" = 1"
    yield "a table of many parts", b"[" + b".".join([b"a"] * DEEP) + b"]"
    yield "many keys", b"\n".join(b"k%d = 0" % number for number in range(size // 10))
    yield "many tables", b"\n".join(b"[[a.b]]" for _ in range(size // 8))
    yield "a huge integer", b"a = 1" + b"0" * 5_000
    yield "a huge hexadecimal integer", b"a = 0x" + b"f" * size
    yield "a huge exponent", b"a = 1e999999"
    yield "a year of five digits", b"a = 99999-01-01"
    yield "no date", b"a = 2026-02-30"
    yield "a zone of 99 hours", b"a = 2026-01-01T00:00:00+99:99"
    yield "a lone carriage return", b"a = 1\rb = 2"
    yield "a byte order mark", b"\xef\xbb\xbfa = 1"
    yield "an open string", b'a = """' + b'"\\' * (size // 2)
    yield "an escape of a terminal", b'["\\u001b[31m"]\na = 1'


def _of_a_matrix(size: int) -> Iterator[tuple[str, bytes]]:
    head = b'[torch]\ndefault = ["2.11.0"]\n'
    extra = head + b'[[extras]]\npackages = ["numpy<2"]\nreason = "x"\ntorch = "'
    package = head + b'[[extras]]\ntorch = ">=2"\nreason = "x"\npackages = ["numpy'
    yield "a version of many digits", b'[torch]\ndefault = ["2.' + b"9" * 5_000 + b'"]'
    yield "a version of many parts", b'[torch]\ndefault = ["' + b"1." * (size // 4) + b'1"]'
    yield "many releases", b'[torch]\ndefault = ["2.0"' + b"".join(b',"2.%d"' % n for n in range(size // 20)) + b"]"
    yield "a specifier of 10 kB", extra + b">=2," * 2_500 + b'<3"'
    yield "a specifier of many digits", extra + b">=" + b"9" * 5_000 + b'"'
    yield "an arbitrary specifier", extra + b'===\\u0000"'
    yield "a package with many brackets", package + b"[" * DEEP + b'"]'
    yield "a marker with many brackets", package + b"; " + b"(" * DEEP + b"os_name=='a'" + b")" * DEEP + b'"]'
    yield "a package from nowhere", package + b" @ " + b"http://[" * 1_000 + b'"]'
    yield "a folder of a long name", head + b'[sources]\nfind-links = ["' + b"a" * 5_000 + b'"]'
    yield "a folder of no name", head + b'[sources]\nfind-links = ["a\\u0000b"]'
    yield "an address of half a bracket", head + b'[sources]\ncpu-index = "http://[::1"\nindex-urls = ["http://[::1"]'
    yield "an interpreter of many digits", head + b'[ci]\npython = ["3.' + b"9" * 5_000 + b'"]'


def _of_a_lock(size: int) -> Iterator[tuple[str, bytes]]:
    head = b'lock-version = 1\n[[environment]]\npython = "cp311"\nplatform = "linux_x86_64"\n'
    package = b'{name = "torch", version = "2", sha256 = ["' + b"a" * 64 + b'"]},'
    yield "a version of many digits", head + b"packages = [" + package + b']\ntorch = "2.' + b"9" * 5_000 + b'"'
    yield "a package of many digits", head + b'torch = "2"\npackages = [' + package.replace(b"2", b"9" * 5_000) + b"]"
    yield "many packages", head + b'torch = "2"\npackages = [' + package * (size // len(package)) + b"]"
    yield (
        "something beside of many digits",
        head + b'torch = "2"\nbeside = {a = "' + b"9" * 5_000 + b'"}\npackages = [' + package + b"]",
    )


def _of_claims(size: int) -> Iterator[tuple[str, bytes]]:
    claim = b'[[a.b]]\noutcome = "pass"\nreason = "x"\ntorch = "'
    yield "many claims", b"".join(claim + b'>=2"\n' for _ in range(size // 60))
    yield "many claims that are apart", b"".join(claim + b'==2.%d"\n' % n for n in range(size // 60))
    yield (
        "many claims of many cases",
        b"".join((claim + b'>=2"\n').replace(b"b]", b"b%d]" % n) for n in range(size // 60)),
    )
    yield "a specifier of 10 kB", (claim + b">=2," * 2_500 + b'<3"\n') * 2
    yield "a specifier of many digits", (claim + b"==" + b"9" * 4_000 + b'.*"\n') * 2
    yield "the last day of all", claim + b'>=2"\nuntil = 9999-12-31'


def _block(text: bytes) -> bytes:
    return b"# /// script\n" + b"".join(b"# " + line + b"\n" for line in text.split(b"\n")) + b"# ///\n"


def _blocks(size: int) -> Iterator[tuple[str, bytes]]:
    yield "many beginnings", b"# /// script\n" * (size // 13)
    yield "many beginnings with lines", (b"# /// script\n" + b"# a\n" * 20) * (size // 93)
    yield "a block without an end", b"# /// script\n" + b"#\n" * (size // 2)
    yield "a block of empty lines", b"# /// script\n" + b"# a\n\n" * (size // 5)
    yield "a beginning with many blanks", b"# /// script" + b" " * size
    yield "a beginning with many lines", b"# /// script" + b"\n" * size


def _python(size: int) -> Iterator[tuple[str, bytes]]:
    many = min(size, 10 * DEEP)
    for name, text in (
        ("brackets", b"(" * DEEP),
        ("a long sum", b"1" + b"+1" * (many // 2)),
        ("many signs", b"-" * DEEP + b"1"),
        ("many attributes", b"a" + b".a" * (many // 2)),
        ("many calls", b"a" + b"()" * (many // 2)),
        ("many lambdas", b"lambda:" * 50_000),
        ("nested strings", b"f'{" * 1_000),
        ("many braces in a string", b"f'" + b"{" * many),
        ("a huge integer", b"9" * 5_000),
    ):
        yield name, b"def case_a():\n    x = " + text + b"\n"
    yield "nested blocks", b"".join(b" " * depth + b"if 1:\n" for depth in range(99))
    yield "many branches", b"if 1: pass\n" + b"elif 1: pass\n" * (many // 50)
    yield "a long line", b"a" * size
    yield "a NUL", b"def case_a():\n    x = '\0'\n"
    yield "UTF-7", b"# coding: utf-7\n+AGE-=1\n"
    yield "an encoding that is no text's", b"# coding: rot13\n"
    yield "an encoding of a long name", b"# coding: " + b"a" * DEEP + b"\n"


def _docstrings(size: int) -> Iterator[tuple[str, bytes]]:
    for name, text in (
        ("many fields", b":a\n    " * (size // 7)),
        ("many lines of blanks", b"\n \t" * (size // 3)),
        ("a value of blanks", b":report: x" + b" " * size + b"!"),
        ("many words", b":report:" + b" x" * (size // 2)),
        ("a long type", b":detected: " + b"a." * (size // 2) + b"!"),
        ("a setting of blanks", b":restores: a" + b" " * size + b"(use"),
        ("a setting of words", b":restores:" + b" a" * (size // 2) + b"!"),
    ):
        yield name, b'def case_a():\n    """Title.\n\n    ' + text + b'\n    """\n'
    yield "a long family", b'FAMILY = "' + b"a-" * (size // 2) + b'!"\ndef case_a(): pass\n'


def _texts(size: int) -> Iterator[tuple[str, bytes]]:
    log = b"An error happened while unpacking tensors; dumping logs of latest computation"
    for unit in (
        *(
            b"\n",
            b"a",
            b" ",
            b"/",
            b"/a",
            b"a@",
            b"\\",
            b"C:\\",
            b"'/a ",
            b"'/ab",
            b"~/",
            b"http://",
            b"...",
            b"-I/",
            b"a+",
        ),
        *(
            b"\\\\aaa\\",
            b"<cases>/",
            b"a@b:/",
            b"\x1b[",
            b"\x1b]",
            b"&#",
            b'File "',
            b'File "a", line 1, in b\n',
            b"a.py:1 in b ",
        ),
        *(
            b"Traceback (most recent call last)\n",
            b"tensor at position 1:\n",
            b"tensor at position 1: saved metadata: {",
        ),
        *(b"have different metadata than during the forward pass", b"a\n", b"[rank0]:\n", b"\\n", b"\r", b"# a\n"),
    ):
        yield f"many {unit!r}", unit * (size // len(unit))
    yield "a long reference to a character", b"&#x" + b"f" * size
    yield "a long login", b"http://" + b"a@" * (size // 2)
    yield "a long word before a mark", b"a" * size + b"@"
    for call in (b"torch._ops.aten.a.b(", b"torch._ops.aten.a.b((1of1inoriginal"):
        yield f"a log of {call!r}", log + call * (size // len(call))
    ranks = b"".join(b"[rank%d]: Traceback (most recent call last)\n" % number for number in range(size // 50))
    yield "many ranks", ranks
