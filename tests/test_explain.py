"""``recompat explain``: what is said of a message, which known cases are named, and that nothing pasted does harm."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builders import PASSES, raises
from golden import check_golden
from recompat import __version__
from recompat.alike import patterns_of
from recompat.cases import read_case_files
from recompat.cli import run
from recompat.disagreement import Disagreement, DisagreementKind, Mismatch, TensorMeta
from recompat.explain import Library, explain
from recompat.explanation import Pattern, ReleaseFrom
from recompat.mismatch import parse_disagreement, parse_mismatches
from recompat.pasted import read_messages
from recompat.record import load_records
from recompat.replays import bare_name
from recompat.report.explain_markdown import render_explain_markdown
from recompat.report.explain_text import render_explain_text
from recompat.report.json import render_json
from recompat.report.page import Paper
from recorded import digest, make_project, recorded
from scenes import HOSTILE
from test_pasted import COUNT, LOG, METADATA, TRACEBACK
from test_schemas import validator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.explanation import Explanation
    from recompat.model import Raised, Trial
    from recompat.project import Project

ROOT = Path(__file__).parent.parent
SEEN = METADATA.partition(": ")[2]
SOURCE = '''"""Patterns."""


def inputs():
    return ()


def case_broken():
    """A broken pattern."""
    return {}


def case_repaired():
    """The pattern, repaired.

    :repairs: broken
    """
    return {}


def case_counted():
    """Another broken pattern.

    :unrepaired: nobody knows how
    """
    return {}
'''


def ended(message: str) -> Trial:
    return raises(message=message, mismatches=parse_mismatches(message), disagreement=parse_disagreement(message))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    trials = {"broken": ended(SEEN), "repaired": PASSES, "counted": ended(COUNT.partition(": ")[2])}
    records = [recorded(torch, trials, digest(SOURCE)) for torch in ("2.9.1", "2.11.0")]
    made = make_project(tmp_path / "project", *records, source=SOURCE)
    monkeypatch.chdir(made.root)
    return made


@cache
def library() -> Library:
    """What is accepted of the real cases."""
    records, _ = load_records(ROOT / "matrix" / "baseline")
    return Library(read_case_files(ROOT / "matrix" / "cases"), {"matrix/baseline": records})


def recorded_errors() -> Iterator[tuple[str, Raised]]:
    """Every distinct message of the accepted records, once for each case that ended with it."""
    told = set()
    for record in library().records:
        for result in record.results:
            for trial in result.trials.values():
                raised = trial.raised
                if raised and bare_name(raised.type) == "CheckpointError" and (result.case, raised.message) not in told:
                    told.add((result.case, raised.message))
                    yield result.case, raised


def of_another_model(message: str) -> str:
    """The same trouble with other sizes, counts, positions, dtype and device."""

    def larger(found: re.Match[str]) -> str:
        sizes = [int(size) for size in found[1].split(", ") if size]
        return f"Size([{', '.join(str(16 * size if size > 1 else size) for size in sizes)}])"

    message = re.sub(r"Size\(\[(.*?)\]\)", larger, message)
    message = re.sub(r"(?<=[dn]: )[1-9][0-9]*", lambda found: str(int(found[0]) + 20), message)
    message = re.sub(r"(?<=position )[0-9]+", lambda found: str(int(found[0]) + 3), message)
    return message.replace("torch.float32", "torch.bfloat16").replace("type='cpu'", "type='cuda', index=0")


def traceback_of(raised: Raised) -> str:
    lines = []
    for frame in raised.frames:
        place, _, function = frame.rpartition(" in ")
        file, _, line = place.rpartition(":")
        lines.append(f'  File "/opt/python/site-packages/{file}", line {line}, in {function}\n    pass\n')
    return f"Traceback (most recent call last):\n{''.join(lines)}{raised.type}: {raised.message}\n"


def explained(text: str, known: Library | None = None, torch: str | None = None) -> Explanation:
    return explain(read_messages(text), text, known or library(), torch)


def settled(text: str) -> str:
    return text.replace(__version__, "0.0.0")


def ended_with(*arguments: str) -> int:
    try:
        run(["explain", *arguments])
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def test_every_recorded_message_is_recognised_as_it_was_recorded() -> None:
    for case, raised in recorded_errors():
        (message,) = read_messages(traceback_of(raised))
        assert (message.disagreement, message.mismatches) == (raised.disagreement, raised.mismatches), case


def test_no_case_is_more_alike_than_the_one_that_a_message_is_of() -> None:
    """By the message alone: cases with the very same message tie, and five of them are shown."""
    for case, raised in recorded_errors():
        alike = explained(raised.message).explained[0].alike
        scores = {one.case: one.score for one in alike}
        assert scores.get(case) == alike[0].score, f"{case}: {scores}"
        assert case in [one.case for one in alike[:5]]


def test_the_same_trouble_in_another_model_is_shown_with_the_case_that_it_is_of() -> None:
    for case, raised in recorded_errors():
        told = render_explain_text(explained(of_another_model(raised.message)), Paper(10_000))
        assert f"  {case}: " in told, case


def test_with_its_frames_the_case_that_a_message_is_of_stands_first() -> None:
    for case, raised in recorded_errors():
        assert explained(traceback_of(raised)).explained[0].alike[0].case == case


def test_the_release_is_read_off_the_line_numbers_of_torch() -> None:
    raised = next(raised for case, raised in recorded_errors() if case == "caches::kv_cache_grows")
    release = explained(traceback_of(raised)).release
    assert release is not None
    assert release.found is ReleaseFrom.LINES
    assert release.torch == "2.15.0"


def test_looking_for_what_is_alike_is_quick() -> None:
    known = library()
    messages = read_messages(TRACEBACK + METADATA)
    started = time.process_time()
    explain(messages, METADATA, known)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((4, 3), (4, 6), Pattern.GREW),
        ((4, 6), (4, 3), Pattern.SHRANK),
        ((4, 3), (3, 4), Pattern.SHAPE),
        ((2, 4, 8), (1, 2, 8, 4), Pattern.ATTENTION),
        ((2, 4, 8), (2, 32), Pattern.DIMENSIONS),
    ],
)
def test_what_is_peculiar_in_shapes(before: tuple[int, ...], after: tuple[int, ...], expected: Pattern) -> None:
    saved, recomputed = (TensorMeta(shape, "torch.float32", "cpu") for shape in (before, after))
    mismatches = (Mismatch(0, saved, recomputed), Mismatch(2, saved, recomputed))
    assert patterns_of(Disagreement(DisagreementKind.METADATA), mismatches) == (expected,)


def test_the_tensors_of_the_other_run_are_shifted() -> None:
    a, b, c = (TensorMeta((size,), "torch.float32", "cpu") for size in (1, 2, 3))
    assert patterns_of(Disagreement(DisagreementKind.METADATA), (Mismatch(1, a, b), Mismatch(2, b, c))) == (
        Pattern.SHIFTED,
    )


@pytest.mark.parametrize(
    ("saved", "recomputed", "expected"),
    [(5, 3, (Pattern.FEWER,)), (5, 0, (Pattern.NONE_SAVED,)), (3, 5, (Pattern.MORE,)), (None, None, ())],
)
def test_what_is_peculiar_in_counts(saved: int | None, recomputed: int | None, expected: tuple[Pattern, ...]) -> None:
    assert patterns_of(Disagreement(DisagreementKind.COUNT, saved, recomputed), ()) == expected


def test_a_message_like_none_is_said_to_be_like_none() -> None:
    odd = (
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation."
    )
    text = f"{odd}\nNumber of tensors saved during forward: 1\nNumber of tensors saved during recomputation: 40000"
    found = explained(text)
    assert found.explained[0].alike == ()
    assert "Nothing in the library looks like this." in render_explain_text(found, Paper())


def test_where_the_logs_of_operators_part_is_said() -> None:
    assert (
        "The logs are the same up to operator 1; then forward alone went on with aten.sin."
        in explained(LOG).explained[0].meaning
    )


def test_a_message_that_is_not_whole_is_said_to_be_so() -> None:
    text = METADATA[: METADATA.index("torch.int64")]
    assert explained(text).explained[0].meaning[-1].startswith("The message is not whole")


@pytest.mark.parametrize(
    ("text", "torch", "found"),
    [
        ("torch 2.9.1", "2.9.1", ReleaseFrom.NAMED),
        ("PyTorch version: 2.9.1+cu128", "2.9.1", ReleaseFrom.NAMED),
        ("torch==2.9.1", "2.9.1", ReleaseFrom.NAMED),
        ("torch.__version__ is '2.9.1'", "2.9.1", ReleaseFrom.NAMED),
        ("site-packages/torch-2.9.1.dist-info", "2.9.1", ReleaseFrom.NAMED),
        ("torch 2.77.0", "2.11.0", ReleaseFrom.NEWEST),
        ("torchvision 2.9.1", "2.11.0", ReleaseFrom.NEWEST),
        ("Python 3.11", "2.11.0", ReleaseFrom.NEWEST),
    ],
)
@pytest.mark.usefixtures("project")
def test_the_release_that_the_text_names_is_taken(
    text: str, torch: str, found: ReleaseFrom, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "log").write_text(f"{text}\n{METADATA}")
    assert ended_with(str(tmp_path / "log"), "--format", "json") == 0
    release = json.loads(capsys.readouterr().out)["release"]
    assert (release["torch"], release["found"]) == (torch, found)


@pytest.mark.usefixtures("project")
def test_all_that_is_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")  # as wide as it is without a terminal; a parallel run says otherwise
    (tmp_path / "log").write_text(f"{TRACEBACK}{METADATA}\n{TRACEBACK}{COUNT}")
    assert ended_with(str(tmp_path / "log"), "--torch", "2.9.1") == 0
    check_golden("explain.txt", settled(capsys.readouterr().out))
    assert ended_with(str(tmp_path / "log"), "--format", "markdown") == 0
    check_golden("explain.md", settled(capsys.readouterr().out))


def test_the_essence_is_shorter_and_everything_is_longer() -> None:
    raised = next(raised for case, raised in recorded_errors() if case == "sdpa_policy::math_around_forward_only")
    found = explained(raised.message)
    short, usual, whole = (render_explain_text(found, Paper(detail=detail)) for detail in (-1, 0, 1))
    assert len(short) < len(usual) < len(whole)
    assert "sdpa_policy::math_around_forward_only" in short


@pytest.mark.usefixtures("project")
def test_what_is_pasted_is_read_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pasted = io.TextIOWrapper(io.BytesIO(METADATA.encode()))
    monkeypatch.setattr(sys, "stdin", pasted)
    assert ended_with() == 0
    assert "patterns::broken: A broken pattern." in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_without_standard_input_a_file_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert ended_with() == 4
    assert "There is no standard input here" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_without_a_message_the_words_that_were_looked_for_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "log").write_text("RuntimeError: CUDA out of memory")
    assert ended_with(str(tmp_path / "log")) == 5
    assert "have different metadata than during the forward pass" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["nowhere.log"], 4, "nowhere.log cannot be read (No such file or directory)"),
        (["log", "--torch", "2.77.0"], 5, "There is no record of torch 2.77.0. There are: 2.9.1, 2.11.0"),
    ],
)
def test_a_mistake_ends_in_a_sentence(
    arguments: list[str], code: int, sentence: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    (project.root / "log").write_text(METADATA)
    assert ended_with(*arguments) == code
    assert sentence in capsys.readouterr().err


def test_outside_of_a_project_the_message_is_explained_all_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").write_text(METADATA)
    assert ended_with("log") == 0
    printed = capsys.readouterr()
    assert "shape [2, 4, 8] in forward, [1, 2, 8, 4] in recomputation" in printed.out
    assert "there is no project here to compare with" in printed.err


def test_of_too_long_a_text_the_beginning_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    monkeypatch.setattr("recompat.commands.explain.MOST_READ", 1024 * 1024)
    (project.root / "log").write_text(METADATA + "x" * 1024 * 1024)
    assert ended_with("log") == 0
    assert "only the first 1 MiB were read" in capsys.readouterr().err


def test_paths_of_the_user_are_shortened() -> None:
    found = explained(TRACEBACK + METADATA)
    for text in (render_json(found), render_explain_markdown(found), render_explain_text(found, Paper())):
        assert "train.py" in text
        assert "/home/jo" not in text


def test_what_is_pasted_cannot_act_as_markup_or_escape() -> None:
    line = HOSTILE.partition("\r")[0]
    frame = f'  File "/x/{line}.py", line 1, in <module>\n    {line}\n'
    unpack = '  File "/x/torch/utils/checkpoint.py", line 1, in unpack_hook\n'
    found = explained(f"Traceback (most recent call last):\n{frame}{unpack}{METADATA}{HOSTILE}")
    assert found.explained[0].own
    markdown = render_explain_markdown(found)
    assert "<script>" not in markdown
    assert "](javascript" not in markdown
    for text in (markdown, render_explain_text(found, Paper(detail=1))):
        assert not {"\x1b", "\x00", "\x9b", "\u202e", "\u200b"} & {*text}


@pytest.mark.parametrize("text", [METADATA, COUNT, LOG, TRACEBACK + METADATA + COUNT])
def test_the_json_is_valid(text: str) -> None:
    for known in (library(), Library()):
        validator("explanation-1.json").validate(json.loads(render_json(explained(text, known))))
