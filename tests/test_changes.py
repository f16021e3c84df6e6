from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt  # comes with rich

from builders import (
    CHECKPOINT_ERROR,
    NOW,
    PASSES,
    again,
    case_file,
    claim,
    claims,
    ends,
    raises,
    record,
    result,
    summary,
    trouble,
    warns,
)
from evidence_builders import call, evidence, recompute, watched
from golden import check_golden
from recompat.changes import Changes, ReleaseChanges, State, changes_of
from recompat.errors import ExitCode
from recompat.model import CaseResult, Outcome, Record, Trial
from recompat.report.changes import render_changes_json, render_changes_markdown, render_changes_text
from recompat.report.page import Paper
from recompat.schemas import FOLDER
from scenes import CHECKPOINT, DEFAULT, HOSTILE, SAME, SCOPE_ENDED, hostile

if TYPE_CHECKING:
    from recompat.choices import FailOn
    from recompat.expectations import Expectations

NAMES = ("a", "b")
FILE = case_file("patterns", *NAMES)
BOTH_PASS = claims(a=claim(">=2", Outcome.PASS), b=claim(">=2", Outcome.PASS))
RENAMED = (call(0, "aten.bmm aten._safe_softmax", DEFAULT), recompute(0, "aten.bmm aten._safe_softmax", DEFAULT))


def a(cold: Trial = PASSES, warm: Trial | None = None, copied: Trial | None = None) -> CaseResult:
    return result("patterns::a", cold, warm, copied)


def seen(*records: Record, claims: Expectations = BOTH_PASS) -> ReleaseChanges:
    """What changed in the last of the records."""
    newest = records[-1].environment.torch
    results = {(one.case, record.environment.id): one for record in records for one in record.results}
    return changes_of(summary(*records, file=FILE, expectations=claims), results, newest)


def verified(result: CaseResult, cold: Trial | None = None) -> CaseResult:
    """The same again from scratch, with the same evidence, unless ``cold`` says otherwise."""
    made = again(result, cold or next(iter(result.trials.values())))
    assert made.again is not None
    return msgspec.structs.replace(made, again=msgspec.structs.replace(made.again, evidence=result.evidence))


def kinds(release: ReleaseChanges) -> list[tuple[str, str, str]]:
    return [(change.case.partition("::")[2], str(change.kind), str(change.state)) for change in release.changes]


OLD = record("2.9.1", watched(a(), *SAME), result("patterns::b"))


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (PASSES, CHECKPOINT, "regressed"),
        (PASSES, ends(Outcome.CRASH), "regressed"),
        (CHECKPOINT, ends(Outcome.CRASH), "regressed"),
        (CHECKPOINT, PASSES, "fixed"),
        (CHECKPOINT, raises("builtins.RuntimeError"), "changed"),
        (PASSES, ends(Outcome.UNSUPPORTED), "api-disappears"),
        (ends(Outcome.UNSUPPORTED), PASSES, "api-appears"),
    ],
)
def test_a_change_is_one_once_it_is_verified(old: Trial, new: Trial, kind: str) -> None:
    before = record("2.9.1", a(old))
    assert kinds(seen(before, record("2.10.0", a(new)))) == [("a", kind, "unverified")]
    assert kinds(seen(before, record("2.10.0", verified(a(new))))) == [("a", kind, "verified")]
    other = raises("builtins.IndexError")
    assert kinds(seen(before, record("2.10.0", verified(a(new), other)))) == [("a", "flaky", "flaky")]


def test_replays_that_differ_are_flaky_without_a_verification() -> None:
    (change,) = seen(OLD, record("2.10.0", a(CHECKPOINT, warm=PASSES, copied=CHECKPOINT))).changes
    assert (change.kind, change.state, change.boundary) == ("flaky", State.FLAKY, None)


def test_the_nearest_earlier_release_that_tells_is_compared_with() -> None:
    gap = record("2.10.0", trouble=trouble())
    release = seen(OLD, gap, record("2.11.0", a(CHECKPOINT), result("patterns::b")))
    assert (release.before, release.cases, release.missing) == ("2.9.1", 2, 0)
    (change,) = release.changes
    assert change.boundary is not None
    assert (change.boundary.last, change.boundary.first, change.boundary.not_run) == ("2.9.1", "2.11.0", ("2.10.0",))


def test_other_operators_are_verified_by_what_was_watched_again() -> None:
    new = watched(a(), *RENAMED)
    assert kinds(seen(OLD, record("2.10.0", new))) == [("a", "operators", "unverified")]
    assert kinds(seen(OLD, record("2.10.0", verified(new)))) == [("a", "operators", "verified")]
    for other in (evidence(*SAME), None):
        repeated = again(new, PASSES)
        assert repeated.again is not None
        verification = msgspec.structs.replace(repeated.again, evidence=other)
        flaky = msgspec.structs.replace(repeated, again=verification)
        release = seen(OLD, record("2.10.0", flaky, result("patterns::b")))
        assert kinds(release) == [("a", "operators", "flaky")]
        assert release.complete, "the outcome was the same, and there is nothing to run again"
        assert told(release).exit_code is ExitCode.OK


def test_drift_appears_and_vanishes() -> None:
    drifting = record("2.10.0", verified(watched(a(), *SCOPE_ENDED)))
    assert ("a", "drift-appears", "verified") in kinds(seen(OLD, drifting))
    gone = record("2.11.0", watched(a(), *SAME))
    assert ("a", "drift-vanishes", "unverified") in kinds(seen(OLD, drifting, gone))
    unwatched = record("2.10.0", a())
    assert kinds(seen(OLD, unwatched)) == [], "nobody looked"
    assert kinds(seen(OLD, unwatched, gone)) == []


def test_what_is_not_as_expected_is_told_though_it_is_not_new() -> None:
    releases = [record(torch, verified(a(CHECKPOINT))) for torch in ("2.9.1", "2.10.0")]
    (change,) = seen(*releases).changes
    assert (change.kind, change.state, change.boundary) == ("regressed", State.VERIFIED, None)
    (first,) = seen(releases[0]).changes
    assert first.kind == "regressed"
    assert seen(releases[0]).before is None


def test_warnings_count_where_the_case_observes_them() -> None:
    assert kinds(seen(OLD, record("2.10.0", a(warns("careful"))))) == []


def test_what_has_no_claim_and_what_has_no_result() -> None:
    release = seen(OLD, record("2.10.0", a()), claims=claims())
    assert (release.unclaimed, release.missing, release.complete) == (("patterns::a",), 1, False)
    assert release.reason is not None
    assert release.reason.startswith("The record has no result for this case")
    nothing = seen(OLD, record("2.10.0", trouble=trouble()))
    assert (nothing.missing, nothing.reason) == (2, "There is no wheel for cp314.")


def told(*releases: ReleaseChanges, fail_on: FailOn = "unexpected", reached: bool = True, **more: object) -> Changes:
    fields = {"listed": NOW, "newest_listed": "2.10.0", "newest_recorded": "2.10.0", **more}
    known = {"recompat": "0.0.0", "generated": NOW, "platform": "linux_x86_64"}
    return Changes(**known, fail_on=fail_on, reached=reached, releases=releases, **fields)  # type: ignore[arg-type]


def one(
    cold: Trial, expected: Expectations = BOTH_PASS, old: Trial = PASSES, *, checked: bool = True
) -> ReleaseChanges:
    found = a(cold)
    new = record("2.10.0", verified(found) if checked else found, result("patterns::b"))
    return seen(record("2.9.1", a(old), result("patterns::b")), new, claims=expected)


FLAKY = seen(OLD, record("2.10.0", verified(a(CHECKPOINT), PASSES), result("patterns::b")))
CLAIMED = claims(a=claim(">=2", Outcome.RAISES, CHECKPOINT_ERROR), b=claim(">=2", Outcome.PASS))
FAILS = {
    "quiet": (one(PASSES), 0, 0, 0, 0),
    "regressed": (one(CHECKPOINT), 0, 1, 1, 1),
    "regressed as claimed": (one(CHECKPOINT, CLAIMED), 0, 1, 0, 1),
    "fixed": (one(PASSES, CLAIMED, CHECKPOINT), 0, 0, 1, 1),
    "flaky": (FLAKY, 0, 0, 1, 1),
    "no claim": (one(PASSES, claims(b=claim(">=2", Outcome.PASS))), 0, 0, 1, 1),
    "not verified": (one(CHECKPOINT, checked=False), 6, 6, 6, 6),
    "by verdict alone": (one(CHECKPOINT, old=CHECKPOINT), 0, 1, 1, 1),
}


@pytest.mark.parametrize("name", FAILS)
def test_what_a_watch_fails_for(name: str) -> None:
    release, *codes = FAILS[name]
    choices: tuple[FailOn, ...] = ("never", "regression", "unexpected", "any")
    assert [told(release, fail_on=fail_on).exit_code for fail_on in choices] == codes


def test_a_failure_outranks_what_is_not_known() -> None:
    failing, unknown = one(CHECKPOINT), one(CHECKPOINT, checked=False)
    assert told(failing, unknown).exit_code is ExitCode.UNEXPECTED
    assert told(failing, reached=False, notices=("The disk is full.",)).exit_code is ExitCode.UNEXPECTED
    assert told(reached=False).exit_code is told(notices=("The disk is full.",)).exit_code is ExitCode.INCOMPLETE
    assert told(unknown, failing).unfinished == ("2.10.0",)


def scene() -> Changes:
    """A bit of everything."""
    bad = seen(
        OLD,
        record("2.10.0", verified(watched(a(CHECKPOINT), *SCOPE_ENDED)), watched(result("patterns::b"), *RENAMED)),
    )
    drift = seen(OLD, record("2.11.0", verified(watched(a(), *SCOPE_ENDED)), result("patterns::b")), claims=claims())
    gone = seen(OLD, record("2.13.0", trouble=trouble()))
    flaky = msgspec.structs.replace(FLAKY, torch="2.12.0")
    return told(bad, drift, flaky, gone, notices=("What changed in torch 2.13.0 was not verified: it is gone.",))


def hostile_changes() -> Changes:
    made = hostile()
    results: dict[tuple[str, str], CaseResult] = {}
    return told(changes_of(made, results, "2.11.0"), changes_of(made, results, "2.12.0"), notices=(HOSTILE,))


def test_the_answer_as_text() -> None:
    check_golden("changes.txt", render_changes_text(scene(), Paper(100)))


def test_the_answer_as_markdown() -> None:
    check_golden("changes.md", render_changes_markdown(scene()))


def test_the_answer_where_nothing_is_new() -> None:
    text = render_changes_text(told(), Paper(100))
    assert text == (
        "Nothing is new: the newest release on the index is 2.10.0, the newest recorded one 2.10.0.\n\n"
        "Nothing to fail for (--fail-on unexpected).\n"
    )
    assert "3 cases are not as expected" in render_changes_text(told(unreviewed=3), Paper(100))


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("2026-11-26T14:00:00Z", "its list is of 2026-11-26T14:00:00Z, 3 days old."),
        ("yesterday", "its list is of yesterday, an unknown time old."),
        (None, "No index could be asked, and none ever was: whether a release is new is not known."),
    ],
)
def test_an_old_list_is_said_to_be_old(listed: str | None, words: str) -> None:
    assert words in " ".join(render_changes_text(told(reached=False, listed=listed), Paper(100)).split())


def test_quiet_leaves_out_what_stands_behind_a_change() -> None:
    text = render_changes_text(told(one(CHECKPOINT)), Paper(100, detail=-1))
    assert "  regressed, verified: patterns::a\n" in text
    assert "reproduce" not in text


def test_cases_that_changed_alike_are_told_once() -> None:
    new = record("2.10.0", *(verified(result(f"patterns::{name}", CHECKPOINT)) for name in NAMES))
    text = render_changes_text(told(seen(record("2.9.1", a(), result("patterns::b")), new)), Paper(100))
    assert text.count("regressed, verified: 2 cases: patterns::a, patterns::b\n      pass until 2.9.1, Check") == 1
    assert text.count("reproduce: ") == 1


def test_hostile_text_stays_text() -> None:
    text = render_changes_text(hostile_changes(), Paper(100))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2069\u200b]", text)
    assert len(text) < 20_000
    html = MarkdownIt("commonmark").render(render_changes_markdown(hostile_changes()))
    assert set(re.findall(r"<(\w+)", html)) <= {"h1", "h2", "p", "ul", "li", "strong", "code"}


@pytest.mark.parametrize("made", [scene, hostile_changes, told])
def test_the_json_is_what_the_schema_says(made: object) -> None:
    schema = json.loads((FOLDER / "changes-1.json").read_text(encoding="utf-8"))
    text = render_changes_json(made())  # type: ignore[operator]
    Draft202012Validator(schema).validate(json.loads(text))
    assert msgspec.json.decode(text, type=Changes).unfinished == made().unfinished  # type: ignore[operator]
