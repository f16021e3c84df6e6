from __future__ import annotations

import datetime as dt
import json
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from packaging.version import Version

from builders import CHECKPOINT_ERROR, PASSES, differs, ends, raises, record, result, trouble, warns
from golden import check_golden
from recompat.accept import Acceptance, Asked, accept
from recompat.cases import read_case_files
from recompat.cli import run
from recompat.errors import ConfigurationError, NothingSelected
from recompat.expectations import load_expectations
from recompat.listing import save_listing
from recompat.matrix import load_matrix
from recompat.model import Outcome
from recompat.project import Project
from recompat.versions import Offered
from recorded import SOURCE, digest, make_project, recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.model import Record

ROOT = Path(__file__).parents[1]
TODAY = dt.date(2026, 11, 29)
CHECKPOINT = raises()

CLAIMS = """# What was reviewed.

# ---- patterns: patterns ----

# The plain one.

[[patterns.plain]]  # still so?
torch = '>=2.9'  # the oldest that is run
outcome = "pass"
reason = "Nothing is compared."  # as of 2.9
link = "https://example.org/why"

# Something special.

[[patterns.plain_too]]
torch = ">=2.9,<2.11"
outcome = "differs"
reason = "Half of it is lost."

[[patterns.plain_too]]
torch = ">=2.11"
outcome = "raises"
exception = "torch.utils.checkpoint.CheckpointError"
reason = "It is compared."
link = "https://example.org/compared"

# The end.
"""


def accepted(project: Project, asked: Asked = Asked(), today: dt.date = TODAY) -> Acceptance:  # noqa: B008
    return accept(project, asked, today)


def written(project: Project) -> list[tuple[str, str]]:
    """The ranges of the file and their outcomes, case by case; it has to be sound."""
    files, matrix = read_case_files(project.cases), load_matrix(project.matrix)
    releases = {*matrix.releases, *map(Version, ("2.8.0", "2.9.0", "2.10.0", "2.12.0", "2.13.0"))}
    load_expectations(project.expectations, files, releases)
    rows = [row for rows in tomllib.loads(project.expectations.read_text())["patterns"].values() for row in rows]
    return [(row["torch"], row["outcome"]) for row in rows]


def four_known(root: Path, *more: Record, claims: str = CLAIMS) -> Project:
    """A project whose claims hold on 2.9.1, and not on 2.10.0 and 2.11.0."""
    return make_project(
        root,
        recorded("2.9.1", {"plain": PASSES, "plain_too": differs()}),
        recorded("2.10.0", {"plain": PASSES, "plain_too": CHECKPOINT}),
        recorded("2.11.0", {"plain": CHECKPOINT, "plain_too": CHECKPOINT}),
        *more,
        expectations=claims,
    )


def test_a_commented_file_keeps_what_is_not_touched(tmp_path: Path) -> None:
    project = four_known(tmp_path)
    found = accepted(project)
    found.write()
    check_golden("accepted.toml", project.expectations.read_text())
    assert found.changes == (
        "patterns::plain: pass on >=2.9,<2.11 (was >=2.9); new, raises CheckpointError on >=2.11.",
        "patterns::plain_too: differs on >=2.9,<2.10 (was >=2.9,<2.11); raises CheckpointError on >=2.10 (was >=2.11).",
    )
    assert written(project) == [
        (">=2.9,<2.11", "pass"),
        (">=2.11", "raises"),
        (">=2.9,<2.10", "differs"),
        (">=2.10", "raises"),
    ]


def test_a_second_time_nothing_changes(tmp_path: Path) -> None:
    project = four_known(tmp_path)
    accepted(project).write()
    text = project.expectations.read_bytes()
    again = accepted(project)
    again.write()
    assert (again.changes, again.diff, project.expectations.read_bytes()) == ((), "", text)


def test_nothing_is_written_where_nothing_changes(tmp_path: Path) -> None:
    project = make_project(tmp_path, recorded("2.9.1", {"plain": PASSES, "plain_too": differs()}), expectations=CLAIMS)
    before = project.expectations.stat()
    found = accepted(project)
    found.write()
    after = project.expectations.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert found.remarks == ()


def test_a_project_without_claims_gets_a_file(tmp_path: Path) -> None:
    project = four_known(tmp_path)
    project.expectations.unlink()
    accepted(project, Asked(reason="Seen.", link="https://example.org/x")).write()
    assert written(project) == [
        (">=2.9,<2.11", "pass"),
        (">=2.11", "raises"),
        (">=2.9,<2.10", "differs"),
        (">=2.10", "raises"),
    ]
    text = project.expectations.read_text()
    assert text.startswith("# ---- patterns: patterns ----\n\n# Nothing special.\n\n[[patterns.plain]]\n")
    assert text.count('reason = "Seen."\nlink = "https://example.org/x"\n') == 4


def test_a_reason_that_is_not_given_is_told(tmp_path: Path) -> None:
    (remark,) = accepted(four_known(tmp_path)).remarks
    assert remark == "A claim in expectations.toml has no reason yet, of patterns::plain."
    assert accepted(four_known(tmp_path / "too"), Asked(reason="So it is.")).remarks == ()


@pytest.mark.parametrize(
    ("asked", "cases"),
    [
        (Asked(keyword="plain_too"), ["patterns::plain_too"]),
        (Asked(torch="2.11.0"), ["patterns::plain"]),
        (Asked(torch="<2.10"), []),
        (Asked(torch="2.10.0", keyword="plain and not too"), []),
    ],
)
def test_only_what_was_asked_for(tmp_path: Path, asked: Asked, cases: list[str]) -> None:
    found = accepted(four_known(tmp_path), asked)
    assert [change.partition(": ")[0] for change in found.changes] == cases


def test_what_was_accepted_bit_by_bit_becomes_one_claim(tmp_path: Path) -> None:
    project = make_project(tmp_path, *(recorded(torch, {"plain": PASSES}) for torch in ("2.9.1", "2.10.0", "2.11.0")))
    for torch in ("2.9.1", "2.11.0"):
        accepted(project, Asked(torch=torch)).write()
    assert written(project) == [(">=2.9,<2.10", "pass"), (">=2.11", "pass")]
    found = accepted(project)
    assert found.changes == ("patterns::plain: pass on >=2.9 (was >=2.9,<2.10); the same on >=2.11 is part of it.",)
    found.write()
    assert written(project) == [(">=2.9", "pass")]


def test_a_release_that_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(NothingSelected, match=r"No release matches --torch 2.12.0. There are: 2.9.1, 2.10.0, 2.11.0."):
        accepted(four_known(tmp_path), Asked(torch="2.12.0"))
    with pytest.raises(NothingSelected, match="Nothing is recorded yet"):
        accepted(make_project(tmp_path / "empty"))


def test_between_releases_that_differ_nothing_is_claimed(tmp_path: Path) -> None:
    project = make_project(
        tmp_path, recorded("2.8.0", {"plain": PASSES}), recorded("2.11.0", {"plain": CHECKPOINT, "plain_too": PASSES})
    )
    save_listing(project.listing, Offered.of([Version("2.10.0"), Version("2.9.0"), Version("2.13.0")]), "2026-11-29")
    accepted(project).write()
    assert written(project) == [(">=2.8,<2.9", "pass"), (">=2.11", "raises"), (">=2.11", "pass")]


def flaky() -> Record:
    return recorded("2.12.0", {"plain": result("patterns::plain", PASSES, CHECKPOINT, PASSES), "plain_too": CHECKPOINT})


@pytest.mark.parametrize(
    ("made", "remark"),
    [
        (flaky(), "Left out, since it is flaky: patterns::plain on 2.12.0."),
        (
            recorded("2.12.0", {"plain": ends(Outcome.CRASH, "SIGABRT"), "plain_too": CHECKPOINT}),
            "Left out, since it crashed, timed out or is in error, which --even-errors accepts: patterns::plain on 2.12.0.",
        ),
        (
            recorded("2.12.0", {"plain": raises("Odd\n[[x]]"), "plain_too": CHECKPOINT}),
            "Left out, since it names a type that cannot be written: patterns::plain on 2.12.0.",
        ),
        (
            recorded("2.12.0", {"plain": raises(f"builtins.{'x' * 10**6}"), "plain_too": CHECKPOINT}),
            "Left out, since it names a type that cannot be written: patterns::plain on 2.12.0.",
        ),
        (record("2.12.0", trouble=trouble()), "2 cases have no result that counts on 2.12.0."),
        (
            recorded("2.12.0", {"plain": PASSES, "plain_too": CHECKPOINT}, sha256="b" * 64),
            "2 cases have no result that counts on 2.12.0.",
        ),
        (recorded("2.12.0", {"plain_too": CHECKPOINT}), "1 case has no result that counts on 2.12.0."),
        (
            recorded("2.12.0", {"plain": CHECKPOINT, "plain_too": CHECKPOINT, "gone": PASSES}),
            "Recorded, and in no case file any more, so nothing is claimed: patterns::gone.",
        ),
    ],
)
def test_what_cannot_be_claimed_is_left_out_and_named(tmp_path: Path, made: Record, remark: str) -> None:
    project = four_known(tmp_path, made)
    found = accepted(project)
    assert remark in found.remarks
    found.write()
    assert written(project)[1] == (">=2.11", "raises")


def test_environments_that_differ_are_no_claim(tmp_path: Path) -> None:
    other = msgspec.structs.replace(
        record("2.11.0", python="cp312"), results=recorded("2.11.0", {"plain": PASSES}).results
    )
    found = accepted(four_known(tmp_path, other))
    assert "Left out, since it does not end the same on all interpreters and platforms: patterns::plain on 2.11.0." in (
        found.remarks
    )
    assert [change.partition(": ")[0] for change in found.changes] == ["patterns::plain_too"]


def test_crashes_are_accepted_where_that_is_asked_for_and_then_stay(tmp_path: Path) -> None:
    project = four_known(tmp_path, recorded("2.12.0", {"plain": ends(Outcome.CRASH), "plain_too": CHECKPOINT}))
    accepted(project, Asked(even_errors=True)).write()
    assert written(project)[:3] == [(">=2.9,<2.11", "pass"), (">=2.11,<2.12", "raises"), (">=2.12", "crash")]
    again = accepted(project)
    assert again.changes == ()
    assert not any("crash" in remark for remark in again.remarks)


def test_a_release_that_only_a_record_names_is_told(tmp_path: Path) -> None:
    project = four_known(tmp_path, recorded("2.12.0", {"plain": differs(), "plain_too": CHECKPOINT}))
    assert accepted(project).remarks[0] == (
        "Claims speak of 2.12.0 alone, which matrix.toml does not name; add that to known under [torch]."
    )


def test_warnings_are_claimed_where_a_case_observes_them(tmp_path: Path) -> None:
    source = SOURCE.replace("    :inputs: others\n", "    :inputs: others\n    :observes: warnings\n")
    sha256 = digest(source)
    project = make_project(
        tmp_path,
        recorded("2.9.1", {"plain": warns("a"), "plain_too": PASSES}, sha256),
        recorded("2.10.0", {"plain": PASSES, "plain_too": warns("careful")}, sha256),
        recorded("2.11.0", {"plain": warns("b"), "plain_too": warns("careful, again")}, sha256),
        source=source,
    )
    accepted(project).write()
    rows = tomllib.loads(project.expectations.read_text())["patterns"]
    assert [row.get("warns") for row in rows["plain"]] == [None]
    assert [(row["torch"], row["warns"]) for row in rows["plain_too"]] == [
        (">=2.9,<2.10", []),
        (">=2.10", ["builtins.UserWarning"]),
    ]
    assert accepted(project).changes == ()


def test_a_claim_that_has_expired_lasts_if_it_is_accepted_again(tmp_path: Path) -> None:
    dated = CLAIMS.replace("# as of 2.9\n", "# as of 2.9\nuntil = 2026-11-28  # mended by then?\n")
    held = [recorded("2.9.1", {"plain": PASSES})]
    project = make_project(tmp_path, *held, expectations=dated)
    assert accepted(project, today=dt.date(2026, 11, 28)).changes == ()
    found = accepted(project)
    assert found.changes == ("patterns::plain: pass on >=2.9 does not expire any more.",)
    assert found.after == CLAIMS
    other = make_project(tmp_path / "other", recorded("2.9.1", {"plain": CHECKPOINT}), expectations=dated)
    assert "2026" not in accepted(other).after


def test_a_link_to_the_file_stays_one(tmp_path: Path) -> None:
    project = four_known(tmp_path)
    real = tmp_path / "real.toml"
    project.expectations.rename(real)
    project.expectations.symlink_to(real)
    accepted(project).write()
    assert project.expectations.is_symlink()
    assert "TODO" in real.read_text()


def test_a_file_with_faults_is_not_edited(tmp_path: Path) -> None:
    project = four_known(tmp_path, claims=CLAIMS.replace("patterns.plain]", "patterns.plane]"))
    with pytest.raises(ConfigurationError, match=r"\[\[patterns.plane\]\] names no case; did you mean patterns::plain"):
        accepted(project)


def test_a_file_that_is_written_in_another_way_is_refused_only_where_it_has_to_change(tmp_path: Path) -> None:
    inline = '[patterns]\nplain = [{torch = ">=2.9,<2.11", outcome = "pass", reason = "So it is."}]\n'
    project = make_project(tmp_path, recorded("2.9.1", {"plain": PASSES}), expectations=inline)
    assert accepted(project).changes == ()
    project.expectations.write_text(inline.replace("pass", "differs"))
    with pytest.raises(ConfigurationError, match=r"^matrix/expectations.toml does not have a \[\[file.case\]\] table"):
        accepted(project)


def test_the_diff_can_be_applied(tmp_path: Path) -> None:
    project = four_known(tmp_path)
    found = accepted(project)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=found.diff.encode(), check=True)
    assert project.expectations.read_text() == found.after


def test_the_baseline_of_this_project_says_what_its_claims_say() -> None:
    project = Project(ROOT, ROOT / "matrix" / "baseline")
    assert accepted(project).changes == ()


def test_accepted_afresh_the_baseline_gives_the_reviewed_ranges(tmp_path: Path) -> None:
    """All but those that are split because their reasons differ."""
    matrix = tmp_path / "matrix"
    matrix.mkdir()
    for name in ("cases", "matrix.toml"):
        (matrix / name).symlink_to(ROOT / "matrix" / name)
    made = tomllib.loads(accepted(Project(tmp_path, ROOT / "matrix" / "baseline")).after)
    reviewed = tomllib.loads((ROOT / "matrix" / "expectations.toml").read_text())

    def ranges(rows: Sequence[dict[str, str]]) -> list[tuple[str, str, str | None]]:
        return [(row["torch"], row["outcome"], row.get("exception")) for row in rows]

    assert made.keys() == reviewed.keys()
    others = {
        f"{stem}::{name}"
        for stem, cases in reviewed.items()
        for name, rows in cases.items()
        if ranges(rows) != ranges(made[stem][name])
    }
    assert others == {
        "diagnostics::use_reentrant_omitted_in_sequential",
        "transforms::func_grad",
        "transforms::per_sample_gradients",
        "transforms::vmap_over_checkpoint",
    }


def ended(project: Project, *arguments: str) -> int:
    try:
        run(["--project", str(project.root), "accept", *arguments])
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def test_the_command_writes_and_says_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = four_known(tmp_path)
    assert ended(project, "--torch", "2.9.1", "--torch", "2.11.0") == 0
    out, err = capsys.readouterr()
    assert out == (
        "patterns::plain: pass on >=2.9,<2.11 (was >=2.9); new, raises CheckpointError on >=2.11.\n"
        "matrix/expectations.toml: 1 case written, to be reviewed.\n"
    )
    assert err == "recompat: A claim in expectations.toml has no reason yet, of patterns::plain.\n"
    assert ended(project, "-q", "--torch", "2.9.1,2.11.0") == 0
    assert capsys.readouterr() == ("matrix/expectations.toml says what is recorded; nothing changes.\n", "")


def test_a_dry_run_and_a_check_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = four_known(tmp_path)
    assert ended(project, "--dry-run") == 0
    assert capsys.readouterr().out.endswith("\nmatrix/expectations.toml: 2 cases would change.\n")
    assert ended(project, "--check") == 1
    out = capsys.readouterr().out
    assert out.startswith("--- a/matrix/expectations.toml\n+++ b/matrix/expectations.toml\n@@")
    assert project.expectations.read_text() == CLAIMS
    assert ended(project) == 0
    capsys.readouterr()
    assert ended(project, "--check") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--link", "javascript:x"], "Argument --link: 'javascript:x' is no http or https URL;"),
        (["--reason", " "], "Argument --reason: it is empty or no plain line; say in a sentence"),
        (["--reason", "two\nlines"], "Argument --reason: it is empty or no plain line; say in a sentence"),
        (["--link", "https://x/\udcff"], "Argument --link: 'https://x/\\udcff' is no http or https URL;"),
        (["--check", "--dry-run"], "Argument --dry-run: not allowed with argument --check;"),
        (["--baseline", "-k", "plain"], "--baseline copies whole records; it goes with --torch and --records alone."),
    ],
)
def test_a_mistake(tmp_path: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(four_known(tmp_path), *arguments) == 4
    assert capsys.readouterr().err.startswith(f"recompat: {sentence}")


def test_what_has_expired_or_has_no_reason_is_told_in_the_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = CLAIMS.replace("# as of 2.9\n", "# as of 2.9\nuntil = 2020-01-31\n").replace("It is compared.", "TODO")
    project = make_project(
        tmp_path,
        recorded("2.9.1", {"plain": PASSES, "plain_too": differs()}),
        recorded("2.11.0", {"plain": PASSES, "plain_too": CHECKPOINT}),
        expectations=claims,
    )
    expired = "What patterns::plain is claimed to do on >=2.9 has expired, on 2020-01-31, and counts no more;"
    unwritten = "A claim in expectations.toml has no reason yet, of patterns::plain_too."

    def reported(*arguments: str) -> tuple[int, str]:
        try:
            run(["--project", str(project.root), "report", *arguments])
        except SystemExit as ending:
            return int(ending.code or 0), capsys.readouterr().err
        return 0, capsys.readouterr().err

    code, err = reported()
    assert code == 1
    assert expired in err
    assert unwritten in err
    notices = json.loads((project.reports / "matrix.json").read_bytes())["notices"]
    assert [f"recompat: {notice}" for notice in notices] == err.splitlines()
    assert reported("-k", "plain_too") == (0, f"recompat: {unwritten}\n")
    assert reported("-k", "plain_too", "--torch", "2.9.1") == (0, "")
    project.expectations.write_text(claims.replace("2020-01-31", "2999-01-31"))
    assert reported()[0] == 0
    assert CHECKPOINT_ERROR in claims
