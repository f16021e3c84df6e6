from __future__ import annotations

import pytest

from recompat.cases import Case
from recompat.errors import ConfigurationError, NothingSelected
from recompat.selection import default_cases, select_cases

FAMILIES = {"math_inside": "attention", "rank3_math": "Attention", "default_policy": "calls"}
CASES = [Case(f"sdpa_policy::{name}", name, family) for name, family in FAMILIES.items()]


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
        ("all", ["math_inside", "rank3_math", "default_policy"]),
        ("all and not rank3", ["math_inside", "default_policy"]),
        ("family:attention", ["math_inside", "rank3_math"]),
        ("Family:ATTENTION and not rank3", ["math_inside"]),
        ("family:calls or rank3", ["rank3_math", "default_policy"]),
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


def test_an_expression_may_name_any_number_of_cases() -> None:
    assert select(" or ".join(["absent"] * 1000 + ["rank3"])) == ["rank3_math"]


def test_a_family_that_there_is_not_is_an_error_even_beside_one_that_there_is() -> None:
    with pytest.raises(
        NothingSelected,
        match=r"There is no family 'atention'; did you mean attention\? There are: attention, Attention, calls.",
    ):
        select("family:calls or family:atention")


def defaults(*names: str, cases: list[Case] = CASES) -> list[str]:
    return [case.title for case in default_cases(cases, names)]


def test_the_cases_that_run_where_none_were_asked_for() -> None:
    assert defaults() == ["math_inside", "rank3_math", "default_policy"]
    assert defaults("sdpa_policy::*") == defaults()
    assert defaults("sdpa_policy::default_policy", "sdpa_policy::math_inside") == ["math_inside", "default_policy"]


def test_a_default_that_there_is_not_is_an_error_that_lists_them_all() -> None:
    with pytest.raises(ConfigurationError) as raised:
        defaults("sdpa_policy::math_insude", "sdpa_policy::math_inside", "absent::*")
    assert "sdpa_policy::math_insude; did you mean sdpa_policy::math_inside?" in str(raised.value)
    assert "absent::*; there is" in str(raised.value)


def test_the_cases_of_a_file_that_cannot_be_read_stand_as_one() -> None:
    broken = [*CASES, Case("broken::*", "broken.py")]
    assert defaults("broken::one", "sdpa_policy::math_inside", cases=broken) == ["math_inside", "broken.py"]
