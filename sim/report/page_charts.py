"""The charts of a run inside a page, each with words for who cannot see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sim.experiments.comparison import Comparison
from sim.experiments.decision import MONEY, WAIT
from sim.experiments.stored import StoredRun
from sim.experiments.wording import plain, value
from sim.report.page_html import Html, picture

__all__ = ["charts"]

FOLDER, ENDING = "charts/", ".png"


def charts(run: StoredRun, comparison: Comparison) -> Iterator[Html]:
    """Every chart of the run's folder: those of a comparison first, in their order, then all others."""
    names = [name for name in run.manifest["files"] if name.startswith(FOLDER) and name.endswith(ENDING)]
    known = [f"{FOLDER}{name}{ENDING}" for name in CAPTIONS]
    for name in [*(one for one in known if one in names), *(one for one in names if one not in known)]:
        title = name.removeprefix(FOLDER).removesuffix(ENDING)
        caption, words = CAPTIONS.get(title, (title.replace("-", " ").capitalize(), _unknown))
        yield picture(run.read(name), f"Chart. {caption}. {words(comparison)}".strip(), caption)


def _points(comparison: Comparison) -> str:
    """The figures of the points, strategy by strategy."""
    parts = [
        f"{plain(one.name)}: {value(one.mean(MONEY), comparison.info(MONEY).unit)}, "
        f"wait {value(one.mean(WAIT), 'h')}"
        for one in comparison.strategies
    ]
    return f"{'; '.join(parts)}."


def _money(comparison: Comparison) -> str:
    parts = [
        f"{plain(one.name)}: {value(one.mean('cost_cny'), comparison.info('cost_cny').unit)} accrued, "
        f"{value(one.mean('cash_cny'), comparison.info('cash_cny').unit)} paid"
        for one in comparison.strategies
    ]
    return f"At the end, mean of all replications: {'; '.join(parts)}."


def _cards(comparison: Comparison) -> str:
    parts = [
        f"{plain(one.name)}: cards busy {value(one.mean('busy_share'), 'share')}, "
        f"{value(one.mean('queue_mean'), 'jobs')} jobs waiting"
        for one in comparison.strategies
    ]
    return f"On average over all replications: {'; '.join(parts)}."


def _waits(comparison: Comparison) -> str:
    parts = [
        f"{plain(one.name)}: half within {value(one.mean('wait_p50_h'), 'h')}, 95 % within "
        f"{value(one.mean(WAIT), 'h')}"
        for one in comparison.strategies
    ]
    return f"{'; '.join(parts)}."


def _unknown(_comparison: Comparison) -> str:
    return "Its figures are in the tables of the run."


CAPTIONS: Mapping[str, tuple[str, Callable[[Comparison], str]]] = {
    "money-against-wait": ("Committed cost against the 95th percentile of wait", _points),
    "wait-distribution": ("How long jobs wait, as shares of all jobs", _waits),
    "queue-and-cards": ("Jobs waiting and cards busy over time, replication 0", _cards),
    "cumulative-money": ("Money accrued and paid since the start, replication 0", _money),
}
"""Name of a chart -> its caption, and the words that give its figures."""
