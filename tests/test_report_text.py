from __future__ import annotations

import time

import pytest

from recompat.report.text import clean, shorten


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain", "plain"),
        ("", ""),
        ("two\nlines\tand  blanks", "two lines and blanks"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x1bcreset", "reset"),
        ("lone escape \x1b", "lone escape"),
        ("nul\x00 bell\x07 back\x08", "nul bell back"),
        ("\u202eright to left\u202c \u2066isolated\u2069", "right to left isolated"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("next\u2028line\u0085", "next line"),
        ("half \ud800 pair", "half pair"),
        ("caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{CJK UNIFIED IDEOGRAPH-6F22}", "café 漢"),
    ],
)
def test_only_what_is_seen_is_left(text: str, seen: str) -> None:
    assert clean(text) == seen


def test_a_long_text_is_cut_and_says_how_long_it_was() -> None:
    assert clean("x" * 5_000, 10) == "xxxxxxxxxx… (cut; 5,000 characters in all)"
    assert clean("x" * 10, 10) == "xxxxxxxxxx"


def test_escape_codes_cannot_hide_that_a_text_was_cut() -> None:
    assert clean("\x1b[0m" * 5_000 + "hidden", 10) == "… (cut; 20,006 characters in all)"


def test_megabytes_cost_nothing() -> None:
    began = time.process_time()
    for text in ("\x1b[" + "0" * 4_000_000, "\x1b]" + "x" * 4_000_000, "\x1b" * 4_000_000):
        clean(text)
    assert time.process_time() - began < 1


@pytest.mark.parametrize(("width", "seen"), [(9, "forwarded"), (8, "forw…ded"), (3, "f…d"), (1, "…")])
def test_a_name_keeps_both_ends(width: int, seen: str) -> None:
    assert shorten("forwarded", width) == seen
