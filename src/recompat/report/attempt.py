"""A try on one screen, and as the Markdown that is pasted into an issue. All of it is text from elsewhere until cleaned."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from recompat.model import Outcome
from recompat.report.markdown import code, escape
from recompat.report.markdown import table as markdown_table
from recompat.report.notes import counted
from recompat.report.page import code_lines, columns, heading, section, wrapped
from recompat.report.style import OUTCOMES, label
from recompat.report.text import clean
from recompat.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recompat.attempt import Attempt, Ran, Row, Step
    from recompat.cells import Cell
    from recompat.report.page import Paper

__all__ = ["render_attempt_markdown", "render_attempt_text"]

MOST_LINES = 4  # of a message
MOST_FRAMES = 2
LONGEST_COMMAND = 4_000
LONGEST_HINT = 20_000  # characters of a message that are looked through
NO_COMPILER = ("No working C++ compiler found", "InvalidCxxCompiler")
NO_SETUPTOOLS = "No module named 'setuptools'"
NEEDS_COMPILER = (
    "torch.compile found no C++ compiler, which it needs on the CPU: install g++ or clang++, or name one by the variable "
    "CXX. So this tells of the machine, and not of torch."
)


def render_attempt_text(found: Attempt, paper: Paper) -> str:
    """Draw a try; ``paper.detail`` below 0 leaves all but endings and boundaries out, and above 0 nothing is cut.

    Of several cases each is told in a line, and what they said only where nothing is to be cut: it has to fit a screen.
    """
    single = len(found.rows) == 1
    said = (line for sentence in _all_boundaries(found) for line in wrapped(paper, sentence))
    parts = [heading(paper, _headline(found)), section(paper, "How it ends", _endings(found, paper))]
    parts.append(section(paper, "Boundary", said))
    parts.append(section(paper, "Note", (line for hint in _hints(found) for line in wrapped(paper, hint))))
    if paper.detail > 0 or (single and paper.detail == 0):
        parts += [_why(row, ran, paper, single=single) for row in found.rows for ran in _telling(row)]
    if paper.detail >= 0:
        parts += [section(paper, "Run it again", _commands(found)), "\n".join(map(clean, _kept(found)))]
    return "\n\n".join(filter(None, parts)) + "\n"


def render_attempt_markdown(found: Attempt) -> str:
    """Draw the table that is pasted into an issue: a row a case, a column a release, and the boundaries below."""
    releases = [ran.torch for ran in found.rows[0].ran] if found.rows else []
    heads = ["torch", *map(escape, releases)]
    rows = [[code(row.case.removesuffix("::script")), *(escape(_short(ran)) for ran in row.ran)] for row in found.rows]
    causes = dict.fromkeys(ran.cell.cause for row in found.rows for ran in row.ran)
    said = [f"- {escape(sentence)}" for sentence in (*_all_boundaries(found), *filter(None, causes), *_hints(found))]
    beside = f", with {escape(joined(found.packages))}" if found.packages else ""
    foot = f"{escape(found.platform)}{beside}, by recompat {escape(found.recompat)}."
    return "\n\n".join(filter(None, (markdown_table(heads, rows), "\n".join(said), foot))) + "\n"


def _headline(found: Attempt) -> str:
    ran = sorted({ran.torch for row in found.rows for ran in row.ran}, key=found.releases.index)
    if len(ran) < 2:
        return f"{found.file} on torch {joined(ran)}, {found.platform}"
    of = f"{len(ran)} of {counted(len(found.releases), 'release')}"
    return f"{found.file} on {of} from {found.releases[0]} to {found.releases[-1]}, {found.platform}"


def _endings(found: Attempt, paper: Paper) -> list[str]:
    """A line for each release; where there are several cases, for each of them."""
    if len(found.rows) == 1:
        return columns(paper, _lines(found.rows[0]))
    return columns(paper, [(row.case, ", ".join(_stretches(row))) for row in found.rows])


def _lines(row: Row) -> Iterator[tuple[str, str]]:
    """Each release; neighbours that say nothing, and for the same reason, in one line."""
    for (text, _), group in groupby(row.ran, key=lambda ran: (_ended(ran), ran.answer and ran.torch)):
        yield _span(list(group)), text


def _stretches(row: Row) -> Iterator[str]:
    """Tell neighbouring releases that end alike as one."""
    for text, group in groupby(row.ran, key=_short):
        yield f"{text} {_span(list(group))}"


def _span(ran: Sequence[Ran]) -> str:
    return ran[0].torch + (f" to {ran[-1].torch}" if len(ran) > 1 else "")


def _ended(ran: Ran) -> str:
    if ran.answer is None:
        start = OUTCOMES[ran.cell.outcome].label if ran.cell.outcome is Outcome.NOT_RUN else "says nothing"
        return f"{start}: {ran.skipped}"
    cell = ran.cell
    where = " in backward" if cell.phase == "backward" else ""
    warned = dict.fromkeys(warning.category for warning in cell.warnings)
    warns = f", warns {joined([name.rpartition('.')[2] for name in warned])}" if warned else ""
    detail = f" ({cell.detail})" if cell.detail and not ran.answer.startswith("exit ") else ""
    return f"{ran.answer}{where}{detail}{warns}"


def _short(ran: Ran) -> str:
    return ran.answer or label(ran.cell.outcome, ran.cell.exception)


def _all_boundaries(found: Attempt) -> Iterator[str]:
    for row in found.rows:
        start = f"{row.case}: " if len(found.rows) > 1 else ""
        yield from (f"{start}{sentence}" for sentence in _boundaries(found, row))


def _boundaries(found: Attempt, row: Row) -> Iterator[str]:
    """Say where it changes, and how exactly that is known."""
    answered = [ran for ran in row.ran if ran.answer is not None]
    for change in row.changes:
        yield f"{change.old} until {change.last}, {change.new} from {change.first}; {_exact(change)}."
    if not row.changes and len(answered) > 1 and len(found.rows) == 1:
        ends = f"{answered[0].torch} to {answered[-1].torch}"
        yield f"The same wherever it ran, {ends}; what changes between two that ran and changes back is not seen."


def _hints(found: Attempt) -> Iterator[str]:
    """What a person would say who knows how a file is tried."""
    cells = [ran.cell for row in found.rows for ran in row.ran if ran.answer is not None]
    messages = [(cell.message or "")[:LONGEST_HINT] for cell in cells]
    if cells and all(cell.exception == "builtins.ModuleNotFoundError" for cell in cells):
        yield "No release has that module: if it is a package, add it by --with."
    if any(cell.exception == "builtins.EOFError" for cell in cells):
        yield "Standard input is empty: what a script asks for has to stand in it."
    if any(cell.outcome is Outcome.TIMEOUT for cell in cells):
        yield "What is not stuck, and only slow, needs another limit: --timeout SECONDS."
    if any(words in message for message in messages for words in NO_COMPILER):
        yield NEEDS_COMPILER
    if any(NO_SETUPTOOLS in message for message in messages):
        yield 'Old releases need setuptools for torch.compile and do not bring it: add --with "setuptools<81".'


def _exact(step: Step) -> str:
    if step.silent:
        return f"{joined(step.silent)} between {'say' if len(step.silent) > 1 else 'says'} nothing"
    if step.not_run:
        return f"{counted(len(step.not_run), 'release')} between not run"
    return "exact, no release lies between"


def _telling(row: Row) -> Iterator[Ran]:
    """The newest release of each way to end badly."""
    told = set()
    for ran in reversed(row.ran):
        if ran.answer is not None and ran.answer not in told and _tells(ran.cell):
            told.add(ran.answer)
            yield ran


def _tells(cell: Cell) -> bool:
    only_a_number = cell.exception == "builtins.SystemExit" and (cell.message or "").isdigit()
    return bool((cell.message or cell.cause or cell.frames) and not only_a_number)


def _why(row: Row, ran: Ran, paper: Paper, *, single: bool) -> str:
    """The cause, where the evidence tells; the message, and the last frames."""
    cell, whole = ran.cell, paper.detail > 0
    lines = wrapped(paper, cell.cause) if cell.cause else []
    message = cell.message or ""
    if cell.mismatches and not whole:
        message = message.partition("\n")[0]
    lines += code_lines(message, 200 if whole else MOST_LINES) if message else []
    lines += [clean(f"at {frame}") for frame in cell.frames[-(20 if whole else MOST_FRAMES) :]]
    return section(paper, f"{'' if single else f'{row.case} on '}{ran.torch}: {ran.answer}", lines)


def _commands(found: Attempt) -> Iterator[str]:
    """How to make each environment, and then what runs in any of them."""
    known = {ran.torch: ran.install for row in found.rows for ran in row.ran if ran.install}
    for install in known.values():
        yield clean(install, LONGEST_COMMAND)
    for line in dict.fromkeys(ran.run for row in found.rows for ran in row.ran if ran.run):
        yield clean(line, LONGEST_COMMAND)


def _kept(found: Attempt) -> Iterator[str]:
    """Where the records are; of a script, also what it printed, on the newest release that it was run on."""
    yield f"Records and logs: {found.folder}"
    ran = [ran.cell.environment for row in found.rows for ran in row.ran if ran.answer is not None]
    if found.plain and ran:
        yield f"What it printed: {found.folder}/logs/{ran[-1]}/output.log"
