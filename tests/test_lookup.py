from __future__ import annotations

import pytest

from builders import record, result
from recompat.errors import ConfigurationError, NothingSelected
from recompat.lookup import find_case, find_target

CASES = ["sdpa::math", "sdpa::rank3_math", "sdpa::default", "hooks::default", "hooks::tensor_hook"]
RECORDS = [record("2.9.1", result("sdpa::math")), record("2.11.0"), record("2.11.0", python="cp310")]


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("sdpa::rank3_math", "sdpa::rank3_math"),
        ("math", "sdpa::math"),
        ("RANK3", "sdpa::rank3_math"),
        ("hooks::d", "hooks::default"),
        ("case_math", "sdpa::math"),
        ("sdpa.py::case_math", "sdpa::math"),
    ],
)
def test_a_case_by_its_id_its_name_or_a_part(name: str, case: str) -> None:
    assert find_case(name, CASES) == case
    assert find_target(name, CASES, RECORDS) == case


@pytest.mark.parametrize("name", ["default", "sdpa", "mat"])
def test_what_may_be_several_cases_is_not_guessed(name: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"^{name} may be [23] cases; name one of them:\n  - ") as caught:
        find_case(name, CASES)
    assert all(name in fault for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("2.9.1", ["torch2.9.1-cp311-linux_x86_64"]),
        ("torch2.9.1", ["torch2.9.1-cp311-linux_x86_64"]),
        ("2.11.0", ["torch2.11.0-cp311-linux_x86_64", "torch2.11.0-cp310-linux_x86_64"]),
        ("2.11.0-cp310", ["torch2.11.0-cp310-linux_x86_64"]),
    ],
)
def test_an_environment_by_its_release_its_id_or_a_part(name: str, ids: list[str]) -> None:
    found = find_target(name, CASES, RECORDS)
    assert [environment.id for environment in found if not isinstance(environment, str)] == ids


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rank3_maht", "There is no case or environment rank3_maht; did you mean\n  - sdpa::rank3_math"),
        ("torch2.9.1-cp311-linux_x86", "There is no case or environment .*"),
        (
            "torch2.12.0",
            r"There is no record of torch 2.12.0. There are: 2.9.1, 2.11.0; nox -s matrix -- --torch 2.12.0",
        ),
        ("qqq", "There is no case or environment qqq. The closest of "),
    ],
)
def test_what_there_is_not_says_what_is_near(name: str, message: str) -> None:
    if name.startswith("torch2.9.1"):
        assert find_target(name, CASES, RECORDS)
        return
    with pytest.raises(NothingSelected, match=message):
        find_target(name, CASES, RECORDS)


def test_a_long_list_is_cut() -> None:
    with pytest.raises(
        NothingSelected, match=r"There is no case qqq\. The closest of 100 are(\n  - patterns::case\d\d){5}$"
    ):
        find_case("qqq", [f"patterns::case{number}" for number in range(100)])
