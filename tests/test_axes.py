"""Packages beside torch: what matrix.toml, options and expectations.toml may say of them, and what a record may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from builders import case_file, record
from recompat.axes import fits, products, select_versions
from recompat.ci_matrix import jobs, read_plan, unrecorded
from recompat.errors import ConfigurationError, NothingSelected
from recompat.expectations import Expectations, load_expectations
from recompat.matrix import load_matrix
from recompat.model import Environment
from recompat.options import parse_options
from recompat.record import BadRecord, encode_record, load_record, save_record
from recompat.shards import safe
from recompat.standing import record_of, superseded
from recompat.tracks import Target, packed
from test_ci_matrix import LINUX, wheels

if TYPE_CHECKING:
    from pathlib import Path

AXES = {"library": (Version("1.0"), Version("2.0")), "other-one": (Version("3.1"),)}
BOTH = (("library", "1.0"), ("other-one", "3.1")), (("library", "2.0"), ("other-one", "3.1"))


def matrix_faults(folder: Path, text: str) -> str:
    (folder / "matrix.toml").write_text(f'[torch]\ndefault = ["2.11.0"]\n{text}', encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        load_matrix(folder / "matrix.toml")
    return str(raised.value)


def axis(name: str = "library", *versions: str) -> str:
    listed = ", ".join(f'"{version}"' for version in versions)
    return f'[[axis]]\nname = "{name}"\nversions = [{listed}]\n'


def test_axes_are_read_by_their_normal_names_oldest_version_first(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text('[torch]\ndefault = ["2.11.0"]\n' + axis("library", "2.0", "1.0") + axis("Other_One", "3.1"))
    assert load_matrix(path).axes == AXES
    assert products(AXES) == BOTH
    assert products({}) == ((),)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (axis("library"), "[[axis]] #1 versions is empty; list at least one"),
        (axis("library", "1.0", "1.0"), "[[axis]] #1 versions has 1.0 2 times; keep one."),
        (axis("library", "1.0", "1"), "[[axis]] #1 versions has 1.0 2 times; keep one."),
        (axis("library", ">=1.0"), "[[axis]] #1 versions #1 is '>=1.0'; write a release such as"),
        (axis("library", "1.0+cpu"), "has 1.0+cpu; write a version without epoch and build, such as 1.0."),
        (axis("library", "1!1.0"), "has 1!1.0; write a version without epoch and build, such as 1!1.0."),
        (axis("Torch", "2.11.0"), "[[axis]] #1 name is torch, whose releases are chosen under [torch]"),
        (axis("../etc", "1.0"), "[[axis]] #1 name is '../etc'; write the name of a package"),
        (axis("library", "1.0") + axis("Library", "2.0"), "[axis] names library 2 times; put all of its versions into"),
        (
            axis("numpy", "1.0") + '[[extras]]\ntorch = ">=2"\npackages = ["NumPy<2"]\nreason = "So."\n',
            "[axis] names numpy, which [[extras]] installs too; leave it to one of them.",
        ),
    ],
)
def test_a_fault_of_an_axis_is_told(text: str, fault: str, tmp_path: Path) -> None:
    assert fault in matrix_faults(tmp_path, text)


def test_selectors_choose_among_the_versions() -> None:
    def chosen(*selectors: str) -> list[str]:
        return list(map(str, select_versions(AXES, list(map(Requirement, selectors)))["library"]))

    assert chosen() == chosen("other_one>3") == chosen("library") == ["1.0", "2.0"]
    assert chosen("Library>1") == ["2.0"]
    assert chosen("library==2.0", "library<2") == ["1.0", "2.0"]
    with pytest.raises(NothingSelected, match=r"No version matches --axis library>2. There are: 1.0, 2.0."):
        chosen("library>2")
    with pytest.raises(ConfigurationError, match=r"--axis numpy names no axis; there is library, other-one."):
        chosen("numpy")
    with pytest.raises(ConfigurationError, match=r"matrix.toml has none; add an \[\[axis\]\]"):
        select_versions({}, [Requirement("numpy")])


def test_what_stands_beside_a_record_is_selected_in_the_same_way() -> None:
    wanted = [Requirement("Library>=2")]
    assert [fits(dict(beside), wanted) for beside in (*BOTH, ())] == [False, True, False]
    assert fits(dict(BOTH[0]), [*wanted, Requirement("library<2")])


@pytest.mark.parametrize("text", ["library=", "library @ https://example.org/x", "library[more]", "library; a", "<2"])
def test_an_option_that_is_no_range_of_a_package_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is no package with its versions, such as"):
        parse_options(["--axis", text])


def test_a_target_names_its_session_and_its_environment() -> None:
    target = Target(Version("2.11.0"), BOTH[0])
    assert str(target) == "2.11.0 with library 1.0, other-one 3.1"
    assert target.session == "probe(torch='2.11.0', library='1.0', other-one='3.1')"
    assert target.options == "--torch 2.11.0 --axis library==1.0 --axis other-one==3.1"
    assert Target(Version("2.11.0")).session == "probe(torch='2.11.0')"
    environment = Environment("2.11.0", "cp311", "linux_x86_64", "cp311", dict(reversed(BOTH[0])))
    assert environment.id == "torch2.11.0-library1.0-other-one3.1-cp311-linux_x86_64"
    assert safe(environment)
    assert msgspec.json.decode(msgspec.json.encode(environment), type=Environment) == environment
    assert b"beside" not in msgspec.json.encode(record("2.11.0").environment)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("../../etc", "1.0"),
        ("library", "1.0/../../x"),
        ("library", ".."),
        ("library", "01.0"),
        ("library", "1.0+local"),
        ("library", " 1.0"),
        ("Library", "1.0"),
        ("li\nbrary", "1.0"),
        ("", "1.0"),
        ("torch", "1.0"),
        ("\u202elibrary", "1.0"),
    ],
)
def test_a_record_of_what_no_axis_can_choose_is_no_record(name: str, version: str, tmp_path: Path) -> None:
    made = record("2.11.0")
    hostile = msgspec.structs.replace(made.environment, beside={name: version})
    content = save_record(tmp_path, made).read_bytes()
    path = tmp_path / "torch2.11.0-x-cp311-linux_x86_64.json"
    path.write_bytes(content)
    with pytest.raises(BadRecord):
        load_record(path)  # the id is another one

    path.write_bytes(encode_record(msgspec.structs.replace(made, environment=hostile)))
    with pytest.raises(BadRecord, match="is no package with its version"):
        load_record(path)


def test_a_record_speaks_for_what_stood_beside_it_alone() -> None:
    plain = record("2.11.0")
    one, other = (
        msgspec.structs.replace(
            plain, environment=msgspec.structs.replace(plain.environment, beside=dict(beside)), results=()
        )
        for beside in BOTH
    )
    records = [plain, one, other]
    for beside, found in (((), plain), (BOTH[0], one), (BOTH[1], other)):
        assert record_of(records, Target(Version("2.11.0"), beside), "cp311", "linux_x86_64") is found
    assert record_of([plain, one], Target(Version("2.11.0"), BOTH[1]), "cp311", "linux_x86_64") is None
    stood_in = msgspec.structs.replace(one, environment=msgspec.structs.replace(one.environment, python="cp310"))
    assert superseded([stood_in, plain], one) == [stood_in]
    assert superseded([stood_in, plain], other) == []


def load(folder: Path, *rows: str) -> Expectations:
    path = folder / "expectations.toml"
    claims = (f'[[patterns.raises]]\noutcome = "pass"\nreason = "So."\n{row}\n' for row in rows)
    path.write_text("".join(claims), encoding="utf-8")
    return load_expectations(path, [case_file("patterns", "raises")], [Version("2.9.1"), Version("2.11.0")], AXES)


def test_a_claim_may_speak_of_some_versions_alone(tmp_path: Path) -> None:
    claims = load(
        tmp_path,
        'torch = ">=2"\nbeside = { library = ">=2" }',
        'torch = ">=2.10"\nbeside = { library = "<2" }',
    )
    found = {
        (torch, beside): claims.for_("patterns::raises", Version(torch), beside)
        for torch in ("2.9.1", "2.11.0")
        for beside in (*BOTH, ())
    }
    first, second = claims.by_case["patterns::raises"]
    assert found == {
        ("2.9.1", BOTH[0]): None,
        ("2.9.1", BOTH[1]): first,
        ("2.9.1", ()): None,
        ("2.11.0", BOTH[0]): second,
        ("2.11.0", BOTH[1]): first,
        ("2.11.0", ()): None,
    }


def test_a_claim_of_all_covers_each(tmp_path: Path) -> None:
    claims = load(tmp_path, 'torch = ">=2"')
    assert all(claims.for_("patterns::raises", Version("2.11.0"), beside) for beside in (*BOTH, ()))


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (
            ['torch = ">=2"\nbeside = { libary = ">=2" }'],
            "names 'libary', which is no [[axis]] of matrix.toml; did you",
        ),
        (['torch = ">=2"\nbeside = { Library = ">=2" }'], "did you mean library?"),
        (['torch = ">=2"\nbeside = { library = ">7" }'], "'>7' matches no version of library; there is 1.0, 2.0."),
        (['torch = ">=2"\nbeside = { library = "two" }'], "#1 beside is"),
        (['torch = ">=2"\nbeside = "library"'], "#1 beside is 'library'; write a table"),
        (
            ['torch = ">=2"', 'torch = ">=2.10"\nbeside = { library = "<2" }'],
            "#1 and #2 torch both cover 2.11.0; narrow",
        ),
        (
            ['torch = ">=2"\nbeside = { library = ">=1" }', 'torch = ">=2.10"\nbeside = { library = ">=2" }'],
            "#1 and #2 torch both cover 2.11.0 with library 2.0; narrow one of them.",
        ),
        (
            ['torch = ">=2"\nbeside = { library = ">=1" }', 'torch = ">=2"\nbeside = { other-one = ">=2" }'],
            "#1 and #2 torch both cover 2.9.1; narrow one of them.",
        ),
    ],
)
def test_a_claim_that_cannot_be_held_is_a_fault(rows: list[str], fault: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as raised:
        load(tmp_path, *rows)
    assert fault in str(raised.value)


def test_there_is_a_job_for_each_and_one_that_left_nothing_is_recorded_as_such(tmp_path: Path) -> None:
    made, _ = jobs(wheels(LINUX), ["ubuntu-24.04"], ["3.11"], "", "auto", BOTH)
    assert [(job.session, packed(job.beside)) for job in made.include] == [
        (Target(Version("2.11.0"), beside).session, beside) for beside in BOTH
    ]
    path = tmp_path / "plan.json"
    path.write_text(made.line)
    assert read_plan(path) == made
    there = [msgspec.structs.replace(record("2.11.0"), environment=made.include[0].environment)]
    assert [one.environment.beside for one in unrecorded(made, there)] == [dict(BOTH[1])]
    path.write_text(made.line.replace('"1.0"', '"../1.0"'))
    with pytest.raises(ConfigurationError, match="is not what recompat ci-matrix printed"):
        read_plan(path)
