from __future__ import annotations

import pytest

from builders import PASSES, case_file, differs, ends, record, result, summary, warns
from recompat.model import Outcome, Trial
from recompat.news import NewsKind, news
from scenes import CHECKPOINT, RUNTIME, everything

ABSENT = ends(Outcome.UNSUPPORTED, "It is absent.")


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (PASSES, CHECKPOINT, NewsKind.REGRESSED),
        (PASSES, differs(), NewsKind.REGRESSED),
        (differs(), PASSES, NewsKind.FIXED),
        (CHECKPOINT, differs(), NewsKind.CHANGED),
        (CHECKPOINT, RUNTIME, NewsKind.CHANGED),
        (CHECKPOINT, ends(Outcome.CRASH), NewsKind.REGRESSED),
        (ends(Outcome.CRASH), CHECKPOINT, NewsKind.CHANGED),
        (ABSENT, PASSES, NewsKind.API_APPEARS),
        (PASSES, ABSENT, NewsKind.API_DISAPPEARS),
    ],
)
def test_a_change_is_told_of_the_release_that_brought_it(old: Trial, new: Trial, kind: NewsKind) -> None:
    trials = {"2.9.1": old, "2.10.0": old, "2.11.0": new}
    records = [record(torch, result("patterns::a", trial)) for torch, trial in trials.items()]
    newest, older = news(summary(*records, file=case_file("patterns", "a")))
    assert (newest.torch, newest.before) == ("2.11.0", "2.10.0")
    assert [(item.kind, item.case) for item in newest.items] == [(kind, "patterns::a")]
    assert (older.torch, older.before, older.items) == ("2.10.0", "2.9.1", ())


def test_gravest_first_and_operators_last() -> None:
    told = {one.torch: one for one in news(everything())}
    assert [item.kind for item in told["2.11.0"].items] == sorted(
        (item.kind for item in told["2.11.0"].items), key=list(NewsKind).index
    )
    assert told["2.11.0"].of(NewsKind.FIXED)[0].case == "patterns::is_fixed"
    assert told["2.11.0"].of(NewsKind.OPERATORS)


def test_an_item_keeps_its_id_when_more_releases_are_run() -> None:
    def ids(*releases: str) -> set[str]:
        trials = {"2.9.1": PASSES, "2.10.0": PASSES, "2.11.0": CHECKPOINT}
        records = [record(torch, result("patterns::a", trials[torch])) for torch in releases]
        return {item.id for one in news(summary(*records, file=case_file("patterns", "a"))) for item in one.items}

    assert ids("2.9.1", "2.11.0") == ids("2.9.1", "2.10.0", "2.11.0") == {"2.11.0:linux_x86_64:patterns::a:regressed"}


def test_warnings_that_no_case_observes_are_no_news() -> None:
    records = [record("2.9.1", result("patterns::a")), record("2.10.0", result("patterns::a", warns("careful")))]
    assert news(summary(*records, file=case_file("patterns", "a")))[0].items == ()


def test_one_release_has_no_news() -> None:
    assert news(summary(record("2.9.1", result("patterns::a")), file=case_file("patterns", "a"))) == ()
