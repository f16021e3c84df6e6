"""An environment and what its record holds, as text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from recompat.report.page import columns, heading, section, wrapped
from recompat.report.style import label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.model import Facts, Run
    from recompat.report.page import Paper
    from recompat.views import EnvironmentView

__all__ = ["render_environment"]

NOT_RECORDED = "not recorded: nothing was imported"


def render_environment(view: EnvironmentView, paper: Paper) -> str:
    """Draw an environment; ``paper.detail`` below 0 leaves the packages and the run out."""
    record = view.record
    parts = [heading(paper, record.environment.id)]
    if record.trouble is not None:
        parts.append(section(paper, "Trouble", wrapped(paper, record.trouble.reason, f"{record.trouble.kind}: ")))
    facts = wrapped(paper, NOT_RECORDED) if record.facts is None else columns(paper, _facts(record.facts))
    parts.append(section(paper, "Build", facts))
    if record.facts is not None and paper.detail >= 0:
        listed = ", ".join(f"{name} {version}" for name, version in sorted(record.facts.packages.items()))
        parts.append(section(paper, f"Packages ({len(record.facts.packages)})", wrapped(paper, listed, limit=20_000)))
    parts.append(section(paper, "Outcomes", columns(paper, _counts(view))))
    if paper.detail >= 0:
        parts.append(section(paper, "Run", columns(paper, _run(record.run))))
    return "\n\n".join(filter(None, parts)) + "\n"


def _facts(facts: Facts) -> Iterator[tuple[str, str]]:
    yield "torch", f"{facts.imported} ({facts.flavour} build, from the {facts.source})"
    yield "SHA-256", f"{facts.distribution_sha256} (of the distribution's RECORD)"
    yield "Python", f"{facts.python_version} ({facts.implementation}, {facts.libc})"
    yield "CPU", f"{facts.cpu_capability}, {facts.threads} thread{'' if facts.threads == 1 else 's'}"


def _counts(view: EnvironmentView) -> Iterator[tuple[str, str]]:
    of = f"of {len(view.cells)} case{'' if len(view.cells) == 1 else 's'}"
    outcomes = Counter(label(cell.outcome, cell.exception) for cell in view.cells)
    yield "outcomes", f"{_listed(outcomes)} ({of})"
    yield "verdicts", f"{_listed(Counter(cell.verdict.value for cell in view.cells))} ({of})"
    drifting = sum(cell.drift for cell in view.cells)
    if drifting:
        yield "drift", f"{drifting} pass although recomputation ran otherwise than forward"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def _run(run: Run) -> Iterator[tuple[str, str]]:
    seconds = ", ".join(f"{step} {number:.1f}" for step, number in run.seconds.items())
    yield "seconds", f"{seconds or 'none'}; {sum(run.seconds.values()):.1f} in all"
    yield "finished", f"{run.finished}, by recompat {run.recompat}"
    yield "options", ", ".join(f"{name} {value}" for name, value in run.options.items()) or "none"
    yield "probe", f"SHA-256 {run.probe_sha256}"
