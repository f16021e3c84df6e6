from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from recompat.blocks import Blocks, edited, new_body
from recompat.errors import ConfigurationError

ROOT = Path(__file__).parents[1]

TEXT = '''# What each case is claimed to do.

# ---- patterns ----

# The plain one.

[[patterns.plain]]  # the first
torch = '>=2.0,<2.1'   # before the checks
outcome = "pass"
reason = """
[[patterns.plain]] is no table here,
# and this no comment"""
# A remark on it.

# The checks.
[[patterns.plain]]
    torch = ">=2.1"
    outcome = "differs"
    until = 2027-01-31  # it may be mended by then
    reason = "Why."

[[patterns."größe"]]
torch = ">=2.0"
outcome = "pass"
reason = "Why."

# The end.
'''


def blocks(text: str = TEXT) -> Blocks:
    return Blocks(text, "matrix/expectations.toml")


def new(torch: str) -> str:
    return new_body("patterns::plain", {"torch": torch})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("text", [TEXT, "", "# nothing yet\n", "\n\n"])
def test_what_is_not_edited_keeps_its_bytes(text: str, end: str) -> None:
    whole = text.replace("\n", end)
    assert blocks(whole).text == whole


def test_the_projects_own_file_is_cut_and_put_together_again() -> None:
    text = (ROOT / "matrix" / "expectations.toml").read_bytes().decode()
    assert blocks(text).text == text


def test_a_claim_is_found_by_case_and_number() -> None:
    assert blocks().torch("patterns::plain", 1) == ">=2.1"
    assert blocks().body("patterns::plain", 0).endswith("# A remark on it.\n")
    assert blocks().torch("patterns::größe", 0) == ">=2.0"


def test_another_range_changes_nothing_else() -> None:
    made = blocks()
    bodies = [(number, made.body("patterns::plain", number)) for number in (0, 1)]
    made.rewrite("patterns::plain", [(0, edited("patterns::plain", bodies[0][1], ">=2.0,<2.2")), bodies[1]])
    assert made.text == TEXT.replace("'>=2.0,<2.1'", '">=2.0,<2.2"')


def test_a_last_day_goes_with_its_comment() -> None:
    made = blocks()
    body = edited("patterns::plain", made.body("patterns::plain", 1), None, lasting=True)
    made.rewrite("patterns::plain", [(0, made.body("patterns::plain", 0)), (1, body)])
    assert made.text == TEXT.replace("    until = 2027-01-31  # it may be mended by then\n", "")


def test_new_claims_stand_below_the_one_before_and_the_first_takes_the_comments_of_the_case() -> None:
    made = blocks()
    old = [made.body("patterns::plain", number) for number in (0, 1)]
    made.rewrite(
        "patterns::plain",
        [(None, new("<2")), (0, old[0]), (None, new("==2.1.0")), (1, old[1]), (1, old[1]), (None, new(">=3"))],
    )
    cut = TEXT.index("[[patterns.plain]]  # the first")
    middle, end = TEXT.index("\n# The checks."), TEXT.index('\n[[patterns."größe"]]')
    assert made.text == "".join(
        [
            TEXT[:cut],
            new("<2"),
            f"\n{TEXT[cut:middle]}",
            f"\n{new('==2.1.0')}",
            TEXT[middle:end],
            f"\n{old[1]}",
            f"\n{new('>=3')}",
            TEXT[end:],
        ]
    )


def test_a_claim_that_goes_leaves_the_comments_above_the_case() -> None:
    made = blocks()
    made.rewrite("patterns::plain", [(1, made.body("patterns::plain", 1))])
    assert "# The plain one.\n\n[[patterns.plain]]\n    torch" in made.text
    assert "# the first" not in made.text
    other = blocks()
    other.rewrite("patterns::plain", [(None, new(">=2.0"))])
    assert other.text.count("[[patterns.plain]]") == 1
    assert "# The plain one.\n\n[[patterns.plain]]\ntorch" in other.text


def test_a_new_case_stands_below_its_neighbour_or_at_the_end() -> None:
    made = blocks()
    made.add("patterns::new", ["patterns::gone", "patterns::plain"], ("---- patterns ----", "A new one."), [new(">=1")])
    assert f'    reason = "Why."\n\n# A new one.\n\n{new(">=1")}\n[[patterns."größe"]]' in made.text
    made.add("others::new", [], ("---- others ----", "Another."), [new(">=1"), new(">=2")])
    end = f"\n# ---- others ----\n\n# Another.\n\n{new('>=1')}\n{new('>=2')}\n# The end.\n"
    assert made.text.endswith(f'reason = "Why."\n{end}')


@pytest.mark.parametrize(
    ("text", "start"), [("", "# ---- others"), ("# A file.\n", "# A file.\n\n# ---- o"), ("# A file.", "# A file.\n\n")]
)
def test_the_first_claim_of_all(text: str, start: str) -> None:
    made = blocks(text)
    made.add("others::new", [], ("---- others ----", "Another."), [new(">=1")])
    assert made.text.startswith(start)
    assert made.text.endswith(new(">=1"))


def test_the_end_of_lines_is_that_of_the_file() -> None:
    made = blocks(TEXT.replace("\n", "\r\n"))
    made.add("others::new", [], ("---- others ----", "Another."), [new(">=1")])
    bodies = [(0, edited("patterns::plain", made.body("patterns::plain", 0), ">=2.0")), (None, new("<2"))]
    made.rewrite("patterns::plain", bodies)
    assert made.text.count("\n") == made.text.count("\r\n")


def test_values_are_written_so_that_they_are_read_as_they_were() -> None:
    values = {
        "torch": ">=2.0",
        "warns": ["builtins.UserWarning"],
        "reason": 'a "quote", a \\ and\na line\t\x00 ö \u2028',
    }
    body = new_body("patterns::größe", {**values, "link": None})
    assert tomllib.loads(body) == {"patterns": {"größe": [values]}}
    assert body.count("\n") == 4


@pytest.mark.parametrize(
    "text",
    [
        'patterns.plain = [{torch = ">=2.0"}]\n',
        '[patterns]\nplain = [{torch = ">=2.0"}]\n',
        '[[patterns.plain]]\ntorch = ">=2.0"\n[[patterns.plain.more]]\nx = 1\n',
        'x = 1\n[[patterns.plain]]\ntorch = ">=2.0"\n',
    ],
)
def test_another_way_of_writing_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"does not have a \[\[file.case\]\] table for each claim; write"):
        blocks(text)
