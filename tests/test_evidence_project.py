"""Evidence in a whole run: on, off, and what is kept of the index for reports that are made offline."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recompat.listing import load_listing
from support.project import nox

if TYPE_CHECKING:
    from support.project import Project


def results(project: Project) -> dict[str, dict[str, Any]]:
    """What each record has, by its name, without what two runs never share: seconds and times."""
    found = {}
    for path in sorted((project.reports / "records").glob("*.json")):
        written = json.loads(path.read_text())
        for result in written["results"]:
            del result["finished"]
            for trial in result["trials"].values():
                del trial["seconds"]
        found[path.stem] = written
    return found


def test_evidence_on_and_off_give_the_same_trials_and_do_not_stand_for_each_other(project: Project) -> None:
    assert nox(project, "-s", "matrix").returncode == 0
    watched = results(project)
    assert nox(project, "-s", "matrix", "--", "--no-evidence").returncode == 0
    unwatched = results(project)
    assert watched.keys() == unwatched.keys()
    assert len(watched) == 2
    for name, record in watched.items():
        assert "evidence" not in record["run"]["options"]
        assert unwatched[name]["run"]["options"]["evidence"] == "off"
        for one, other in zip(record["results"], unwatched[name]["results"], strict=True):
            assert one.pop("evidence") is not None
            assert other.pop("evidence") is None
            assert json.dumps(one) == json.dumps(other)


def test_what_the_index_lists_is_kept_for_reports_made_offline(project: Project) -> None:
    assert nox(project, "-s", "matrix").returncode == 0
    listing = load_listing(project.reports / "index.json")
    assert listing is not None
    assert listing.releases == ("9.0.0", "9.1.0")
    project.env.update(UV_INDEX_URL="http://127.0.0.1:9/simple", UV_DEFAULT_INDEX="http://127.0.0.1:9/simple")
    assert nox(project, "-s", "report").returncode == 0
    matrix = json.loads((project.reports / "matrix.json").read_text())
    (boundary,) = matrix["boundaries"]
    assert (boundary["last"], boundary["first"], boundary["exact"]) == ("9.0.0", "9.1.0", True)
    assert matrix["listed"] == listing.date
