"""What the charts show, as numbers: money, queue and cards over time, and how long jobs wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from sim.experiments.comparison import StrategyResult
from sim.experiments.sample import WAIT_GRID
from sim.model.records import ENDS_FOR_GOOD
from sim.model.scenario import Scenario
from sim.replication import RunResult
from sim.units import DAY, Micros

__all__ = ["POINTS", "Curve", "accrued_money", "busy_cards", "leased_cards", "paid_money", "queue", "waits"]

POINTS = 500
"""Points of a curve at most: more than a chart can show."""

Floats = NDArray[np.float64]
Interval = tuple[Micros, Micros, float]
"""From, until (half-open), and how much."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of a line; `x` in days unless said otherwise."""

    x: Floats
    y: Floats


def accrued_money(run: RunResult, scenario: Scenario) -> Curve:
    """Cost accrued since the start over time; each charge in a straight line over its usable time."""
    horizon = scenario.horizon_us
    edges = np.linspace(0, horizon, POINTS + 1)
    total = np.zeros(len(edges))
    for charge in run.ledger.charges:
        first, last = charge.accrual
        begin = min(max(0, _elapsed(scenario, first)), horizon)
        end = min(_elapsed(scenario, last), horizon)
        part = np.clip((edges - begin) / max(1, end - begin), 0.0, 1.0)
        total += float(charge.accrued_cost) * part
    return Curve(edges / DAY, total)


def paid_money(run: RunResult, scenario: Scenario) -> Curve:
    """Money paid since the start over time: a step at each day of payment within the horizon."""
    horizon = scenario.horizon_us
    payments: dict[int, float] = {0: 0.0}
    for charge in run.ledger.charges:
        at = max(0, _elapsed(scenario, charge.cash_date))
        if at < horizon and not charge.sunk:
            payments[at] = payments.get(at, 0.0) + float(charge.billed_cost)
    moments = sorted(payments)
    paid = np.cumsum([payments[at] for at in moments])
    return Curve(np.array([*moments, horizon]) / DAY, np.append(paid, paid[-1]))


def queue(run: RunResult) -> Curve:
    """Jobs in the queue over time, before the first start and after interruptions."""
    return _mean_level(_waiting(run), run.log.horizon_us)


def busy_cards(run: RunResult) -> Curve:
    """Cards with a job over time, hourly cards included."""
    stays = [(s.start_us, s.end_us, float(len(s.cards))) for s in run.log.attempts if s.card_us is None]
    return _mean_level([*stays, *_shared(run)], run.log.horizon_us)


def _shared(run: RunResult) -> Iterator[Interval]:
    """Times in which cards that jobs share have at least one; a card with several is one card."""
    on_card: dict[tuple[str, int], list[tuple[Micros, Micros]]] = {}
    for stay in run.log.attempts:
        if stay.card_us is not None:
            on_card.setdefault((stay.offer, stay.cards[0]), []).append((stay.start_us, stay.end_us))
    for times in on_card.values():
        until: Micros = 0
        for begin, end in sorted(times):
            if end > until:
                yield max(begin, until), end, 1.0
                until = end


def leased_cards(run: RunResult) -> Curve:
    """Cards leased over time, hourly cards included."""
    horizon = run.log.horizon_us
    leases = (
        (lease.start_us, horizon if lease.end_us is None else lease.end_us, float(lease.gpus))
        for lease in run.log.leases
    )
    return _mean_level(leases, horizon)


def waits(result: StrategyResult) -> Curve | None:
    """Share of jobs (`y`) that wait at most so many hours (`x`); None if no job was accepted.

    The quantiles of the replications are averaged, share by share.
    """
    runs = [quantiles for quantiles in result.wait_quantiles_h if None not in quantiles]
    if not runs:
        return None
    return Curve(np.mean(np.array(runs, dtype=float), axis=0), np.array(WAIT_GRID))


def _waiting(run: RunResult) -> Iterable[Interval]:
    """One piece a stay in the queue, worked out from submissions, stays on cards and final states."""
    jobs = run.jobs.jobs
    since: dict[int, Micros | None] = {
        record.job: jobs[record.job].submit_us for record in run.log.jobs if record.state != "refused"
    }
    for stay in sorted(run.log.attempts, key=lambda stay: (stay.start_us, stay.job)):
        begin = since.get(stay.job)
        if begin is not None:
            yield begin, stay.start_us, 1.0
        since[stay.job] = None if stay.ended in ENDS_FOR_GOOD else stay.end_us + stay.pause_us
    gone = {record.job for record in run.log.jobs if record.state in ENDS_FOR_GOOD}
    for job, begin in since.items():
        if begin is not None and job not in gone:
            yield begin, run.log.horizon_us, 1.0


def _mean_level(pieces: Iterable[Interval], horizon_us: Micros) -> Curve:
    """The sum of all pieces as a step function, averaged over at most `POINTS` equal spans of time.

    Means keep the area, so that short peaks are made lower and never lost.
    """
    found = [(begin, min(end, horizon_us), size) for begin, end, size in pieces if begin < horizon_us]
    edges = np.linspace(0, horizon_us, POINTS + 1)
    if not found:
        return Curve(edges / DAY, np.zeros(len(edges)))
    begins, ends, sizes = (np.array(column, dtype=float) for column in zip(*found, strict=True))
    moments, place = np.unique(np.concatenate([[0.0, horizon_us], begins, ends]), return_inverse=True)
    jumps = np.bincount(place[2:], weights=np.concatenate([sizes, -sizes]), minlength=len(moments))
    area = np.concatenate([[0.0], np.cumsum(np.cumsum(jumps)[:-1] * np.diff(moments))])
    level = np.diff(np.interp(edges, moments, area)) / np.diff(edges)
    level = np.clip(level, 0.0, None)
    return Curve(edges / DAY, np.append(level, level[-1]))


def _elapsed(scenario: Scenario, moment: datetime) -> Micros:
    return (moment.astimezone(UTC) - scenario.start_instant) // timedelta(microseconds=1)
