from __future__ import annotations

import datetime as dt
import itertools
from pathlib import Path

import msgspec
import pytest
from packaging.version import Version

from builders import CHECKPOINT_ERROR, case_file
from recompat.casedoc import About
from recompat.cases import Case, CaseFile, read_case_files
from recompat.claim_remarks import remarks, to_be_written
from recompat.errors import ConfigurationError
from recompat.expectations import Expectations, load_expectations
from recompat.matrix import load_matrix
from recompat.model import Outcome
from recompat.tracks import Target

ROOT = Path(__file__).parents[1]
FILES = (case_file("patterns", "passes", "raises"), case_file("broken", "*", fault="broken.py is not valid Python."))
RELEASES = [Version(text) for text in ("2.0.1", "2.1.2", "2.11.0")]

SOUND = """
[[patterns.raises]]
torch = ">=2.0,<2.1"
outcome = "pass"
reason = "Nothing is compared."

[[patterns.raises]]
torch = ">=2.1"
outcome = "raises"
exception = "torch.utils.checkpoint.CheckpointError"
reason = "Shapes are compared."
link = "https://github.com/pytorch/pytorch/pull/103859"
"""


def load(folder: Path, text: str) -> Expectations:
    path = folder / "expectations.toml"
    path.write_text(text, encoding="utf-8")
    return load_expectations(path, FILES, RELEASES)


def row(**values: str) -> str:
    """A claim for ``patterns::raises``; what is not given is sound, and what is empty is left out."""
    given = {"torch": ">=2.0", "outcome": "pass", "reason": "So it is.", **values}
    return "[[patterns.raises]]\n" + "".join(f'{key} = "{value}"\n' for key, value in given.items() if value)


def test_a_claim_is_found_by_case_and_release(tmp_path: Path) -> None:
    expectations = load(tmp_path, SOUND)
    old = expectations.for_("patterns::raises", Version("2.0.1"))
    assert old is not None
    assert old.outcome is Outcome.PASS
    new = expectations.for_("patterns::raises", Version("2.11.0"))
    assert new is not None
    assert (new.outcome, new.exception) == (Outcome.RAISES, CHECKPOINT_ERROR)


@pytest.mark.parametrize(("case", "version"), [("patterns::raises", "1.13.1"), ("patterns::passes", "2.11.0")])
def test_where_nothing_is_claimed_there_is_nothing(tmp_path: Path, case: str, version: str) -> None:
    assert load(tmp_path, SOUND).for_(case, Version(version)) is None


@pytest.mark.parametrize("version", ["2.12.0.dev20260101", "2.15.0rc1", "2.11.0+cpu"])
def test_prereleases_and_builds_count_by_their_version(tmp_path: Path, version: str) -> None:
    assert load(tmp_path, SOUND).for_("patterns::raises", Version(version)) is not None


def test_a_file_without_claims_is_sound(tmp_path: Path) -> None:
    assert load(tmp_path, "# nothing yet") == Expectations({})


def test_a_moot_claim_may_name_the_exception(tmp_path: Path) -> None:
    load(tmp_path, row(outcome="moot", exception="builtins.RuntimeError"))
    load(tmp_path, row(outcome="moot"))


def test_claims_for_a_file_that_cannot_be_read_are_no_fault(tmp_path: Path) -> None:
    load(tmp_path, row().replace("patterns.raises", "broken.anything"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (row().replace("raises", "raise"), "[[patterns.raise]] names no case; did you mean patterns::raises?"),
        (row().replace("patterns", "pattern"), "[[pattern.raises]] names no case; did you mean patterns::raises?"),
        (row(torch=">=3"), "#1 torch '>=3' matches no release; there is 2.0.1, 2.1.2, 2.11.0."),
        (row(torch="=>2"), "#1 torch is '=>2'; write a version specifier"),
        (row(torch=""), "#1 torch is missing; add torch = a version specifier"),
        (row(outcome="passes"), "#1 outcome is 'passes'; write one of pass, raises, differs"),
        (row(outcome="not-run"), "#1 outcome is not-run, which claims nothing"),
        (row(outcome="raises"), "#1 exception is missing; add the qualified type"),
        (row(outcome="raises", exception="CheckpointError"), "#1 exception is 'CheckpointError'; write the qualified"),
        (row(exception="builtins.RuntimeError"), "#1 exception goes with raises and moot, and the outcome is pass"),
        (row(reason=""), "#1 reason is missing"),
        (row(reason=" "), "#1 reason is empty; say what in torch makes it so."),
        (row(link="github.com/pytorch"), "#1 link is 'github.com/pytorch'; write an http or https URL."),
        (row(link="https://"), "#1 link is 'https://'; write an http"),
        (row(link="javascript://x"), "#1 link is 'javascript://x'; write an http"),
        (row(link="https://x/<script>"), "write an http or https URL"),
        (row(link="https://x/\\u001b[31m"), "write an http or https URL"),
        (row(link="https://x/\\u202egpj.exe"), "write an http or https URL"),
        (row() + 'until = "soon"\n', "#1 until is 'soon'; write a date such as 2027-01-31."),
        (
            row() + "until = 2027-01-31T10:00:00\n",
            "#1 until is datetime.datetime(2027, 1, 31, 10, 0); write a date such",
        ),
        (row(links="https://example.org"), "#1 links is not a known key; did you mean link?"),
        (row() + row(), "#1 and #2 torch both cover 2.0.1; narrow one of them."),
        (row(torch="<2.2") + row(torch=">=2.1.2"), "#1 and #2 torch both cover 2.1.2; narrow one of them."),
        (
            row().replace("[[", "[").replace("]]", "]"),
            "[patterns.raises] is no list of claims; write [[patterns.raises]]",
        ),
        ("patterns = 3", "[patterns] is no table of cases; write [[patterns.case]]."),
        ("[patterns]\nraises = [3]", "[[patterns.raises]] #1 is 3; write a table with the keys torch, outcome"),
    ],
)
def test_a_fault_says_where_what_and_how_to_mend_it(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        load(tmp_path, text)
    assert fault in str(raised.value)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (">2.1.2,<2.4", ">2.1.5,<2.11", "2.1.6"),
        (">=2.2,<2.4", "==2.3.*", "2.3"),
        (">2.0.1,<2.1.2", ">2.1,<2.1.2", "2.1.1"),
        ("==2.1.1", "===2.1.1", "2.1.1"),
        ("!=2.11.*", ">=2.11", "3"),
    ],
)
def test_ranges_may_not_overlap_between_the_releases_either(tmp_path: Path, one: str, other: str, shared: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        load(tmp_path, row(torch=one) + row(torch=other))
    assert f"#1 and #2 torch both cover {shared};" in str(raised.value)


def test_a_case_has_no_more_claims_than_can_be_held_against_each_other(tmp_path: Path) -> None:
    claim = '[[patterns.passes]]\ntorch = "==2.0.1"\noutcome = "pass"\nreason = "why"\n'
    with pytest.raises(
        ConfigurationError, match=r"\[\[patterns\.passes\]\] has 101 claims, and a case may have 100; join"
    ):
        load(tmp_path, claim * 101)


@pytest.mark.parametrize(("one", "other"), [("<2.1", ">=2.1"), ("==2.1.*", ">=2.2"), ("!=2.1.2", "==2.1.2")])
def test_neighbouring_ranges_do_not_overlap(tmp_path: Path, one: str, other: str) -> None:
    load(tmp_path, row(torch=one) + row(torch=other))


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    text = row(torch=">=3") + row(outcome="raises") + row(reason="") + "[[nowhere.at_all]]\noutcome = 'pass'"
    with pytest.raises(ConfigurationError) as raised:
        load(tmp_path, text)
    assert len(raised.value.faults) == 6


def test_this_projects_own_claims_cover_every_case_and_release_once() -> None:
    folder = ROOT / "matrix"
    files = read_case_files(folder / "cases")
    releases = load_matrix(folder / "matrix.toml").releases
    expectations = load_expectations(folder / "expectations.toml", files, releases)
    for case, version in itertools.product((case for file in files for case in file.cases), releases):
        claim = expectations.for_(case.id, version)
        assert claim is not None, (case.id, version)
        assert claim.link is not None, (case.id, version)


def observing() -> tuple[CaseFile, ...]:
    case = Case("patterns::raises", "Warns.", "patterns", About(observes_warnings=True))
    return (msgspec.structs.replace(FILES[0], cases=(case,)),)


def test_a_case_that_observes_warnings_needs_to_be_told_which(tmp_path: Path) -> None:
    path = tmp_path / "expectations.toml"
    path.write_text(row())
    with pytest.raises(ConfigurationError, match=r"\[\[patterns.raises\]\] #1 warns is missing, and the case observes"):
        load_expectations(path, observing(), RELEASES)
    for warns in ("[]", '["builtins.UserWarning"]'):
        path.write_text(row() + f"warns = {warns}\n")
        assert load_expectations(path, observing(), RELEASES).by_case["patterns::raises"][0].warns is not None
    path.write_text(row(outcome="unsupported"))
    load_expectations(path, observing(), RELEASES)


def test_a_warning_is_named_by_its_qualified_type(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"#1 warns names 'UserWarning'; write the qualified type"):
        load(tmp_path, row() + 'warns = ["UserWarning"]\n')


def test_a_claim_counts_until_its_last_day_has_passed(tmp_path: Path) -> None:
    claims = load(tmp_path, row() + "until = 2027-01-31\n")
    assert claims.on(dt.date(2027, 1, 31)) == claims
    assert claims.on(dt.date(2027, 2, 1)).for_("patterns::raises", Version("2.11.0")) is None
    assert claims.by_case["patterns::raises"][0].until == dt.date(2027, 1, 31)


def test_what_has_expired_still_may_not_overlap(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="#1 and #2 torch both cover"):
        load(tmp_path, row() + "until = 2020-01-31\n" + row())


def test_remarks_are_about_what_is_looked_at(tmp_path: Path) -> None:
    claims = load(tmp_path, row(torch="<2.1", reason="TODO") + row(torch=">=2.1") + "until = 2027-01-31\n")
    old, new, case = Target(Version("2.0.1")), Target(Version("2.1.2")), ["patterns::raises"]
    before, after = dt.date(2027, 1, 31), dt.date(2027, 2, 1)
    unwritten = "A claim in expectations.toml has no reason yet, of patterns::raises."
    assert remarks(claims, before, case, [old, new]) == (unwritten,)
    (expired,) = remarks(claims, after, case, [new])
    assert expired.startswith(
        "What patterns::raises is claimed to do on >=2.1 has expired, on 2027-01-31, and counts no"
    )
    assert remarks(claims, after, ["patterns::passes"], [old, new]) == ()


def test_of_many_claims_without_a_reason_the_first_are_named() -> None:
    assert [*to_be_written([])] == []
    assert [*to_be_written(["a::x", "a::x"])] == ["2 claims in expectations.toml have no reason yet, of a::x."]
    (sentence,) = to_be_written([f"a::{number}" for number in range(9)])
    assert sentence.endswith("of a::0, a::1, a::2, a::3, a::4 and 4 more.")
