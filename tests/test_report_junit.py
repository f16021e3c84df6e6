from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from lxml import etree

from builders import case_file, claim, claims, ends, record, result, summary
from golden import check_golden
from recompat.model import Outcome, Verdict
from recompat.report.junit import render_junit
from recompat.summary import UNEXPECTED
from scenes import CHECKPOINT, as_expected, everything, hostile, many, unreachable

if TYPE_CHECKING:
    from support.published import Schemas

SCENES = [everything, as_expected, hostile, unreachable]


def suites(text: str) -> list[ET.Element]:
    return ET.fromstring(text).findall("testsuite")


def case(text: str, environment: str, name: str) -> ET.Element:
    suite = next(one for one in suites(text) if environment in one.attrib["name"])
    return next(one for one in suite.iter("testcase") if one.attrib["name"] == name)


def complete() -> Any:
    """One of everything, without the releases on which something was not run."""
    records = [record("2.9.1", result("patterns::a"), result("patterns::b", CHECKPOINT))]
    return summary(*records, file=case_file("patterns", "a", "b"), expectations=claims(a=claim(">=2", Outcome.PASS)))


def test_one_of_everything() -> None:
    check_golden("everything.junit.xml", render_junit(everything()))


def test_every_cell_is_a_test_case_of_its_environment() -> None:
    made = everything()
    found = suites(render_junit(made))
    assert [suite.attrib["name"] for suite in found] == [column.id for column in made.environments]
    told = {
        (suite.attrib["name"], f"{one.attrib['classname']}::{one.attrib['name']}")
        for suite in found
        for one in suite.iter("testcase")
    }
    assert told == {(cell.environment, cell.case) for cell in made.cells}


@pytest.mark.parametrize("scene", SCENES)
def test_counts_add_up(scene: Any) -> None:
    made = scene()
    found = suites(render_junit(made))
    for suite in found:
        for count, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(count, "0")) == len(list(suite.iter(element)))
        assert int(suite.attrib["tests"]) == len(list(suite.iter("testcase")))
    wrong = sum(int(suite.attrib["failures"]) + int(suite.attrib["errors"]) for suite in found)
    assert wrong == sum(made.totals.verdicts[verdict] for verdict in UNEXPECTED)
    assert sum(int(suite.get("skipped", "0")) for suite in found) == made.totals.verdicts[Verdict.MISSING]


def test_an_expected_exception_passes_and_its_ending_is_not_lost() -> None:
    text = render_junit(everything())
    assert len(case(text, "2.11.0", "raises")) == 0
    suite = next(one for one in suites(text) if "2.11.0" in one.attrib["name"])
    assert "patterns::raises: CheckpointError" in suite.findtext("system-out", "").splitlines()


def test_a_failure_says_what_it_got_what_was_expected_and_why() -> None:
    failure = case(render_junit(everything()), "2.11.0", "regresses").find("failure")
    assert failure is not None
    assert failure.attrib["type"] == "regressed"
    assert failure.attrib["message"].startswith("regressed: got CheckpointError, expected pass for torch >=2")
    lines = (failure.text or "").splitlines()
    assert [line.partition(":")[0] for line in lines][:2] == ["got", "message"]
    assert any(line.startswith("cause: ") for line in lines)


def test_trouble_with_an_environment_is_skipped_with_its_reason_and_fails_nothing() -> None:
    suite = suites(render_junit(unreachable()))[0]
    assert (suite.attrib["failures"], suite.attrib["errors"], suite.attrib["skipped"]) == ("0", "0", "2")
    assert suite.findtext("testcase/skipped") == "The index did not answer within 3 s; check the network."


def test_a_broken_case_that_nobody_expected_is_an_error() -> None:
    broken = record("2.9.1", result("patterns::a", ends(Outcome.ERROR, "The reference is missing.")))
    text = render_junit(summary(broken, file=case_file("patterns", "a")))
    error = case(text, "2.9.1", "a").find("error")
    assert error is not None
    assert error.attrib["type"] == "new"


def test_the_name_of_the_host_is_nobodys_business() -> None:
    assert {suite.attrib["hostname"] for suite in suites(render_junit(everything()))} == {"localhost"}


def test_hostile_text_is_text() -> None:
    text = render_junit(hostile())
    failure = case(text, "2.11.0", "Evil<b>|`").find("failure")
    assert failure is not None
    assert "<script>alert(1)</script>" in (failure.text or "")
    assert {element.tag for element in ET.fromstring(text).iter()} <= {
        *("testsuites", "testsuite", "properties", "property", "testcase"),
        *("failure", "skipped", "system-out", "system-err"),
    }
    assert not set(text) & set("\x00\x1b\x07\x9b\u202e\u2069\u200b\r")
    assert len(text) < 20_000


def test_the_same_summary_gives_the_same_text() -> None:
    assert render_junit(everything()) == render_junit(everything())


def test_a_large_matrix_takes_seconds() -> None:
    made = many(1_000, 40)
    began = time.process_time()
    text = render_junit(made)
    assert time.process_time() - began < 30
    assert text.count("<testcase ") == 40_000
    assert len(text) < 25_000_000


@pytest.mark.published
@pytest.mark.parametrize("scene", [*SCENES, complete])
def test_it_is_valid_for_jenkins(published: Schemas, scene: Any) -> None:
    schema = etree.XMLSchema(etree.fromstring(published.jenkins))
    schema.assertValid(etree.fromstring(render_junit(scene()).encode()))


@pytest.mark.published
@pytest.mark.parametrize("scene", [as_expected, complete])
def test_it_is_valid_for_windy_road_as_it_is(published: Schemas, scene: Any) -> None:
    schema = etree.XMLSchema(etree.fromstring(published.windy_road))
    schema.assertValid(etree.fromstring(render_junit(scene()).encode()))


@pytest.mark.published
@pytest.mark.parametrize("scene", SCENES)
def test_what_windy_road_did_not_know_then_is_that_a_case_is_skipped(published: Schemas, scene: Any) -> None:
    schema = etree.XMLSchema(etree.fromstring(published.windy_road))
    tree = etree.fromstring(render_junit(scene()).encode())
    for suite in tree.iter("testsuite"):
        suite.attrib.pop("skipped", None)
    for skipped in list(tree.iter("skipped")):
        skipped.getparent().remove(skipped)
    schema.assertValid(tree)


@pytest.mark.published
def test_the_schemas_refuse_what_is_wrong(published: Schemas) -> None:
    for source in (published.jenkins, published.windy_road):
        tree = etree.fromstring(render_junit(as_expected()).encode())
        del tree[0].attrib["name"]
        assert not etree.XMLSchema(etree.fromstring(source)).validate(tree)


def test_a_year_has_four_digits_whatever_a_record_says() -> None:
    made = as_expected()
    early = tuple(msgspec.structs.replace(column, started="0007-01-01T00:00:00Z") for column in made.environments)
    text = render_junit(msgspec.structs.replace(made, environments=early))
    assert text.count('timestamp="0007-01-01T00:00:00"') == 2
