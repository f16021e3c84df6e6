from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import pytest

from browser import wanted
from browser.wanted import Wanted

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession

    from browser.conftest import Visit
    from browser.sites import Site
    from browser.view import View

pytestmark = pytest.mark.browser

LARGEST = 6_000_000  # bytes
SLOWEST = 100  # milliseconds until a filter shows what is left
SLOWEST_BACK = (
    300  # until everything is shown again, which draws every row in view anew: on a busy machine that takes longer
)
TIMES = 5

STEP = """async ([selector, value]) => {
    const field = document.querySelector(selector);
    const drawn = () => new Promise(done => requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done();
        port2.postMessage(null);
    }));
    await drawn();
    const start = performance.now();
    if (field.type === "checkbox") field.checked = value; else field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    document.body.getBoundingClientRect();
    await drawn();
    return performance.now() - start;
}"""

FILTERS: dict[str, tuple[str, object, object, Wanted]] = {
    "text": ("[name=text]", "", "kv_cache", Wanted(text="kv_cache")),
    "outcome": ("[name=outcome][value=differs]", False, True, Wanted(outcomes=("differs",))),
    "verdict": ("[name=verdict][value=new]", False, True, Wanted(verdicts=("new",))),
    "family": ("[name=family]", "", "attention", Wanted(family="attention")),
    "from": ("[name=from]", "3.0.0", "3.20.0", Wanted(start="3.20.0")),
    "to": ("[name=to]", "3.39.0", "3.10.0", Wanted(end="3.10.0")),
    "differ": ("[name=differ]", False, True, Wanted(differ=True)),
    "unexpected": ("[name=unexpected]", False, True, Wanted(unexpected=True)),
}


def worked(session: CDPSession) -> float:
    """For how many milliseconds the page's main thread has had a processor: others who use it do not count."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    found: float = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
    return 1000 * found


def test_a_thousand_cases_on_forty_releases_stay_a_small_file(vast: Site) -> None:
    assert (len(vast.summary.cases), len(vast.summary.environments)) == (1000, 40)
    assert vast.page.stat().st_size < LARGEST


def median_work(view: View, session: CDPSession, selector: str, off: object, on: object) -> dict[str, int]:
    """What a filter costs, set and taken back, up to the end of the next frame; the first time fills caches."""
    taken: dict[str, list[float]] = {"set": [], "taken back": []}
    for _ in range(TIMES + 1):
        for way, value in (("set", on), ("taken back", off)):
            before = worked(session)
            view.page.evaluate(STEP, [selector, value])
            taken[way].append(worked(session) - before)
    return {way: round(statistics.median(times[1:])) for way, times in taken.items()}


def test_every_filter_answers_at_once(vast: Site, visit: Visit) -> None:
    view = visit(vast)
    session = view.page.context.new_cdp_session(view.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    taken = {}
    for name, (selector, off, on, what) in FILTERS.items():
        taken[name] = median_work(view, session, selector, off, on)
        view.page.evaluate(STEP, [selector, on])
        assert view.rows() == wanted.rows(vast.summary, what)
        assert view.columns() == wanted.columns(vast.summary, what)
        view.page.evaluate(STEP, [selector, off])
    slow = {name: ways for name, ways in taken.items() if ways["set"] >= SLOWEST or ways["taken back"] >= SLOWEST_BACK}
    assert slow == {}, taken
