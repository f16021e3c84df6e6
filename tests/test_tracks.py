"""Records with other packages beside torch: never compared, a table for each, and told where they disagree."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from builders import CHECKPOINT_ERROR, NOW, PASSES, case_file, raises, record, result, summary
from recompat.accept import Asked, accept
from recompat.catalogue import catalogue
from recompat.cli import run
from recompat.compare import Side, diff
from recompat.errors import ConfigurationError, NothingSelected
from recompat.expectations import Expectation, Expectations
from recompat.model import Outcome
from recompat.news import news
from recompat.options import parse_options
from recompat.platforms import by_track
from recompat.record import load_records, save_record
from recompat.report.entries import environment_names, releases
from recompat.report.findings import disagreements, sections
from recompat.report.formats import FORMATS
from recompat.report.json import render_json
from recompat.report.page import Paper
from recompat.report.terminal import render_terminal
from recompat.report.versions import render_versions
from recompat.reproduce import find_reproduction
from recompat.setup import load_setup
from recompat.show import read_known
from recompat.sources import Sources
from recorded import MATRIX, digest, make_project, shown
from test_accept import TODAY
from test_catalogue import GROUND, matrix
from test_schemas import validator

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.model import Record, Trial
    from recompat.project import Project
    from recompat.summary import Summary

FILE = case_file("patterns", "plain")
MAC = "macosx_arm64"
FORMATS_WITH_A_TABLE = ["html", "markdown", "text", "rst", "latex", "picture"]


def on(torch: str, library: str, trial: Trial = PASSES, platform: str = "linux_x86_64") -> Record:
    """A record of one case with a version of the library beside torch; without one, with torch alone."""
    sha256 = digest() if library.startswith("!") else FILE.sha256
    library = library.removeprefix("!")
    made = record(torch, result("patterns::plain", trial, sha256=sha256))
    beside = {"library": library} if library else {}
    place = msgspec.structs.replace(made.environment, beside=beside, platform=platform)
    assert made.facts is not None
    facts = msgspec.structs.replace(made.facts, packages={**made.facts.packages, **beside})
    return msgspec.structs.replace(made, environment=place, facts=facts)


def two_versions() -> list[Record]:
    """With 1.0 it passes on three releases; with 10.0 it raises on the last two."""
    old = [on(torch, "1.0") for torch in ("2.9.1", "2.10.0", "2.11.0")]
    return [*old, on("2.9.1", "10.0"), *(on(torch, "10.0", raises()) for torch in ("2.10.0", "2.11.0"))]


def made() -> Summary:
    return summary(*two_versions(), file=FILE)


def test_a_boundary_lies_on_one_track() -> None:
    (boundary,) = made().boundaries
    assert (boundary.beside, boundary.last, boundary.first) == ({"library": "10.0"}, "2.9.1", "2.10.0")
    alternating = [on("2.9.1", "1.0"), on("2.10.0", "10.0", raises()), on("2.11.0", "1.0")]
    assert summary(*alternating, file=FILE).boundaries == ()


def test_columns_are_in_the_order_of_versions_and_tracks_have_names() -> None:
    columns = [(one.torch, (one.beside or {})["library"]) for one in made().environments]
    assert columns[:4] == [("2.9.1", "1.0"), ("2.9.1", "10.0"), ("2.10.0", "1.0"), ("2.10.0", "10.0")]
    assert by_track(made()) == {"library 1.0": [0, 2, 4], "library 10.0": [1, 3, 5]}
    names = environment_names(made())
    assert [*names.values()][2:4] == ["2.11.0 with library 1.0", "2.9.1 with library 10.0"]
    wrong = [cell for cell in made().cells if cell.outcome is Outcome.RAISES]
    assert releases(names, wrong) == "2.10.0 to 2.11.0 with library 10.0"


def test_a_record_with_nothing_beside_is_on_a_track_of_its_own() -> None:
    both = summary(on("2.9.1", "", raises()), *two_versions(), file=FILE)
    assert [*by_track(both)] == ["nothing beside torch", "library 1.0", "library 10.0"]
    assert [boundary.beside for boundary in both.boundaries] == [{"library": "10.0"}]
    assert next(iter(environment_names(both).values())) == "2.9.1 with nothing beside torch"


def test_platforms_and_packages_are_told_apart_together() -> None:
    records = [*two_versions(), on("2.9.1", "1.0", platform=MAC), on("2.11.0", "1.0", raises(), MAC)]
    both = summary(*records, file=FILE)
    assert [*by_track(both)] == ["linux_x86_64, library 1.0", "linux_x86_64, library 10.0", f"{MAC}, library 1.0"]
    assert "2.9.1 linux_x86_64 with library 1.0" in environment_names(both).values()
    assert "Where platforms or versions of library disagree" in [one.title for one in sections(both)]
    assert f"{MAC}, library 1.0: pass until 2.9.1" in render_terminal(both)


def test_disagreement_of_versions_is_told_by_release() -> None:
    (entry,) = disagreements(made())
    assert entry.text == "pass on library 1.0; CheckpointError on library 10.0"
    assert [(place.case, place.where) for place in entry.places] == [("patterns::plain", "2.10.0, 2.11.0")]
    assert "Where versions of library disagree" in [section.title for section in sections(made())]


@pytest.mark.parametrize("name", FORMATS_WITH_A_TABLE)
def test_every_format_of_the_matrix_names_the_tracks(name: str) -> None:
    drawn = FORMATS[name].render(made()).decode()
    for version in ("1.0", "10.0"):
        assert re.search(rf"library[^a-z0-9]{{1,9}}{version}", drawn), drawn


def test_text_and_markdown_have_a_table_of_each() -> None:
    text = render_terminal(made(), width=100)
    old, new = (part.split("\n\n")[0] for part in re.split(r"^library 10?\.0:\n", text, flags=re.MULTILINE)[1:])
    assert ("CheckpointError" in old, "CheckpointError" in new) == (False, True)
    markdown = FORMATS["markdown"].render(made()).decode()
    assert re.findall(r"^### (.*)$", markdown, re.MULTILINE) == ["library 1.0", "library 10.0"]
    assert "library 10.0&#58; pass until 2.9.1" in markdown or "library 10.0: pass until 2.9.1" in markdown


def test_the_page_has_a_filter_for_them() -> None:
    page = FORMATS["html"].render(made()).decode()
    assert "<label>Library <select" in page
    assert page.count('data-platform="library 10.0"') == 3
    assert "<h3>Where versions of library disagree</h3>" in page
    alone = FORMATS["html"].render(summary(*two_versions()[:3], file=FILE)).decode()
    assert '<select name="platform">' not in alone
    assert "library 1.0" in alone


def test_json_says_it_where_there_is_something_and_the_schema_allows_it() -> None:
    written = json.loads(render_json(made()))
    validator("matrix-1.json").validate(written)
    assert [one["beside"]["library"] for one in written["environments"][:2]] == ["1.0", "10.0"]
    assert '"beside"' not in render_json(summary(on("2.9.1", ""), on("2.11.0", "", raises()), file=FILE))
    validator("record-1.json").validate(json.loads(msgspec.json.encode(two_versions()[0])))


def test_a_change_has_an_id_of_its_own_on_each_track() -> None:
    both = summary(*two_versions(), on("2.9.1", "2.0"), on("2.10.0", "2.0", raises()), file=FILE)
    ids = [item.id for one in news(both) for item in one.items]
    assert len(ids) == len(set(ids)) == 2
    assert "2.10.0:linux_x86_64:library==10.0:patterns::plain:regressed" in ids


def test_a_cell_is_held_against_the_claim_for_its_version() -> None:
    def claim(outcome: Outcome, library: str, exception: str | None = None) -> Expectation:
        beside = {"library": SpecifierSet(library)}
        return Expectation(SpecifierSet(">=2"), outcome, "So.", exception, beside=beside)

    claims = (claim(Outcome.PASS, "<2"), claim(Outcome.RAISES, ">=2", CHECKPOINT_ERROR))
    judged = summary(*two_versions(), file=FILE, expectations=Expectations({"patterns::plain": claims}))
    assert [cell.verdict.value for cell in judged.cells] == ["expected", "fixed", *["expected"] * 4]
    assert "CheckpointError for torch >=2 with library>=2: So." in render_terminal(judged)
    assert "torch >=2 with library<2" in FORMATS["ctrf"].render(judged).decode()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The same records in a project with that axis."""
    made = make_project(tmp_path)
    made.matrix.write_text(f'{MATRIX}\n[[axis]]\nname = "library"\nversions = ["1.0", "10.0"]\n')
    for torch, library, trial in (
        ("2.9.1", "!1.0", PASSES),
        ("2.9.1", "!10.0", PASSES),
        ("2.11.0", "!1.0", PASSES),
        ("2.11.0", "!10.0", raises()),
    ):
        save_record(made.records, on(torch, library, trial))
    monkeypatch.chdir(tmp_path)
    return made


def test_show_tells_each_track(project: Project) -> None:
    text = shown(project, "patterns::plain")
    assert "library 1.0: 2.9.1-2.11.0 pass" in text
    assert "library 10.0: 2.9.1 pass new! | 2.11.0 CheckpointError new!" in text
    assert "library 10.0: pass until 2.9.1, CheckpointError from 2.11.0;" in text
    assert "recompat reproduce patterns::plain --torch 2.11.0 --axis library==10.0" in " ".join(text.split())


def test_what_is_reproduced_has_the_same_beside_torch(project: Project) -> None:
    known = read_known(project)
    chosen = find_reproduction(known, "patterns::plain", "2.11.0", None, [Requirement("library<2")])
    assert "torch==2.11.0 numpy==1.26.4 Not.Installed library==1.0" in chosen.commands
    assert chosen.commands.startswith("cd reproduce/torch2.11.0-library1.0\n")
    assert "torch 2.11.0+cpu with library 1.0, Python" in chosen.text
    newest = find_reproduction(known, "patterns::plain", "2.11.0", None)
    assert "library==10.0" in newest.commands
    with pytest.raises(NothingSelected, match=r"no record of torch 2.11.0 with library>10. There are: 2.11.0 with"):
        find_reproduction(known, "patterns::plain", "2.11.0", None, [Requirement("library>10")])


def test_versions_tells_what_stood_beside_a_record() -> None:
    known = [Version("2.11.0")]
    made = catalogue(Sources({}, {}), matrix("2.11.0", ""), two_versions(), None, known, ground=GROUND, generated=NOW)
    written = json.loads(render_json(made))
    validator("versions-1.json").validate(written)
    assert [one["beside"] for one in written["releases"][0]["recorded"]] == [{"library": "1.0"}, {"library": "10.0"}]
    text = render_versions(made, Paper(100))
    assert ("1 case with library 1.0" in text, "1 case with library 10.0" in text) == (True, True)


def test_two_folders_are_compared_track_by_track(project: Project) -> None:
    records = load_records(project.records)[0]
    elsewhere = [
        msgspec.structs.replace(one, environment=msgspec.structs.replace(one.environment, platform=MAC))
        for one in records
    ]
    found = diff(Side("here", records), Side("there", tuple(elsewhere)))
    assert [(pair.a.split("-")[1], pair.b.split("-")[1]) for pair in found.pairs] == [
        ("library1.0", "library1.0"),
        ("library10.0", "library10.0"),
    ] * 2


def test_a_release_alone_may_be_several_environments_to_diff(project: Project) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["diff", "2.9.1", "2.11.0"])
    assert ended.value.code == 4


def test_a_bisection_follows_one_of_them(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["bisect", "patterns::plain"])
    assert ended.value.code == 4
    assert "follows one: --axis library==1.0" in " ".join(capsys.readouterr().err.split())


def claim_of(torch: str, outcome: str, library: str, reason: str = "So.") -> str:
    beside = f'beside = {{ library = "{library}" }}\n' if library else ""
    exception = f'exception = "{CHECKPOINT_ERROR}"\n' if outcome == "raises" else ""
    return f'[[patterns.plain]]\ntorch = "{torch}"\n{beside}outcome = "{outcome}"\n{exception}reason = "{reason}"\n'


def test_accept_claims_in_one_what_all_versions_do(project: Project) -> None:
    save_record(project.records, on("2.11.0", "!10.0", PASSES))
    found = accept(project, Asked(reason="So."), TODAY)
    assert claim_of(">=2.9", "pass", "") in found.after
    assert "beside" not in found.after


def test_accept_claims_for_each_version_where_they_differ(project: Project) -> None:
    found = accept(project, Asked(reason="So."), TODAY)
    assert found.after.partition("\n\n# Nothing special.\n\n")[2] == "\n".join(
        (
            claim_of(">=2.9", "pass", "==1.0"),
            claim_of(">=2.9,<2.11", "pass", "==10.0"),
            claim_of(">=2.11", "raises", "==10.0"),
        )
    )
    (change,) = found.changes
    assert change == (
        "patterns::plain: new, pass on >=2.9 with library 1.0; new, pass on >=2.9,<2.11 with library 10.0; new, raises"
        " CheckpointError on >=2.11 with library 10.0."
    )
    found.write()
    assert accept(project, Asked(), TODAY).changes == ()


def test_accept_parts_a_claim_that_no_longer_holds_for_all(project: Project) -> None:
    project.expectations.write_text(claim_of(">=2.9", "pass", "", "It was reviewed."))
    found = accept(project, Asked(reason="So."), TODAY)
    assert 'reason = "It was reviewed."\nbeside = { library = "==1.0" }\n' in found.after
    assert claim_of(">=2.11", "raises", "==10.0") in found.after
    found.write()
    assert accept(project, Asked(), TODAY).changes == ()


def test_accept_leaves_claims_that_hold_as_they_are(project: Project) -> None:
    written = "\n".join(
        (claim_of(">=2", "pass", "<2"), claim_of("<2.10", "pass", ">=2"), claim_of(">=2.10", "raises", ">=2"))
    )
    project.expectations.write_text(written)
    assert accept(project, Asked(), TODAY).after == written


def test_an_option_that_names_no_axis_is_an_error(project: Project) -> None:
    with pytest.raises(ConfigurationError, match="--axis numpy names no axis; there is library"):
        load_setup(project, parse_options(["--axis", "numpy"]))
