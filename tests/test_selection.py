from __future__ import annotations

import pytest

from recompat.cases import Case
from recompat.errors import ConfigurationError, NothingSelected
from recompat.selection import select_cases

CASES = [Case(f"sdpa_policy::{name}", name) for name in ("math_inside", "rank3_math", "default_policy")]


def select(expression: str | None) -> list[str]:
    return [case.title for case in select_cases(CASES, expression)]


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        (None, ["math_inside", "rank3_math", "default_policy"]),
        ("math", ["math_inside", "rank3_math"]),
        ("MATH", ["math_inside", "rank3_math"]),
        ("math and not rank3", ["math_inside"]),
        ("rank3 or default", ["rank3_math", "default_policy"]),
        ("not (rank3 or default)", ["math_inside"]),
        ("sdpa_policy::default", ["default_policy"]),
    ],
)
def test_expressions(expression: str | None, names: list[str]) -> None:
    assert select(expression) == names


def test_nothing_selected_lists_the_cases() -> None:
    with pytest.raises(NothingSelected, match="sdpa_policy::default_policy"):
        select("absent")


@pytest.mark.parametrize("expression", ["math and", "(math", "math )", "not", "math rank3", "and", "()", "(" * 2000])
def test_expressions_that_cannot_be_read(expression: str) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot be read|are the most"):
        select(expression)
