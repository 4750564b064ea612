"""The interval of the money of one long run: its cost by the day in periods of equal length.

What leases cost is known before any run; it is no sample and has no spread. The rest (cards by the hour in
bursts, refunds for time down, penalties) is a process in time: its cost a day in each of so many periods
after the warm-up is a batch mean, as the waits of a batch of jobs are (Law, Simulation Modeling and Analysis,
5th ed., section 9.5.3). Costs a day are scaled to the whole run and set off to have its cost as their mean,
so that the interval is that of the expected cost of a run of this length. What stays owed at the end is taken
as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np

from sim.billing.accrual import accrue
from sim.billing.penalties import penalties
from sim.experiments.quote import quote
from sim.load import Question
from sim.model.ledger import Charge
from sim.model.scenario import Scenario
from sim.replication import RunResult
from sim.units import MONTH, Micros

__all__ = ["BATCHED_MONEY", "money_batches"]

BATCHED_MONEY = (
    *("cost_cny", "committed_cost_cny", "penalty_cny", "cost_with_penalties_cny"),
    *("burst_cost_cny", "cost_per_month_cny"),
)
"""Metrics of money that a period has; what is paid when, and costs by the job, are those of the whole run."""

Amounts = np.ndarray[Any, np.dtype[np.float64]]


def money_batches(
    question: Question, strategy: int, run: RunResult, warm_up: Micros, batches: int
) -> list[dict[str, float | None]]:
    """The figures of `BATCHED_MONEY` in each of the periods after the warm-up, in their units.

    `strategy`: its position, whose one run this is. A metric that the whole run does not have is None.
    """
    scenario, horizon = question.scenario, question.scenario.horizon_us
    edges = [0, *(warm_up + (horizon - warm_up) * place // batches for place in range(batches + 1))]
    standing, burst = _by_luck(run.ledger.charges, quote(question, strategy).ledger.charges)
    bursts = _accrued(burst, scenario, edges)
    cost = bursts + _accrued(standing, scenario, edges)
    late = _penalties(run, scenario, edges)
    months = MONTH / horizon
    off = {
        "cost_cny": cost,
        "committed_cost_cny": cost,
        "penalty_cny": late,
        "cost_with_penalties_cny": cost + late,
        "burst_cost_cny": bursts,
        "cost_per_month_cny": cost * months,
    }
    found: list[dict[str, float | None]] = [{} for _ in range(batches)]
    for name in BATCHED_MONEY:
        whole = run.metrics[name]
        scaled = off[name] / np.diff(edges[1:]) * horizon
        steps = (scaled - scaled.mean()).tolist() if scaled.any() else [0.0] * batches
        for row, step in zip(found, steps, strict=True):
            row[name] = None if whole is None else whole + step
    return found


_Key = tuple[tuple[datetime, datetime], Decimal, Decimal]
_Counted = Mapping[_Key, tuple[Charge, int]]


def _by_luck(made: Sequence[Charge], known: Sequence[Charge]) -> tuple[_Counted, _Counted]:
    """Charges that differ from those known before the run, with how often more they were made; of leases,
    and of bursts. Those that are as they were known fall out to the cent."""
    examples = {_key(one): one for one in (*known, *made)}
    bursts = Counter(_key(one) for one in made if one.lease == "burst")
    standing = Counter(_key(one) for one in made if one.lease != "burst")
    standing.subtract(_key(one) for one in known)

    def counted(times: Counter[_Key]) -> _Counted:
        return {key: (examples[key], number) for key, number in times.items() if number}

    return counted(standing), counted(bursts)


def _key(charge: Charge) -> _Key:
    """What accrual reads of a charge."""
    return charge.accrual, charge.accrued_cost, charge.owed_after


def _accrued(charges: _Counted, scenario: Scenario, edges: Sequence[Micros]) -> Amounts:
    """What accrued in each period after the first, which is the warm-up."""
    total = [Decimal(0)] * (len(edges) - 2)
    for charge, times in charges.values():
        # The last part is owed after the horizon.
        for place, part in enumerate(accrue(charge, scenario, edges)[1:-1]):
            total[place] += part * times
    return _floats(total)


def _penalties(run: RunResult, scenario: Scenario, edges: Sequence[Micros]) -> Amounts:
    """What the jobs submitted in each period cost by being late or refused."""
    total = [Decimal(0)] * (len(edges) - 2)
    found = penalties(run.log, run.jobs, scenario)
    for job in run.jobs.jobs if found else ():
        if job.id in found and job.submit_us >= edges[1]:
            total[int(np.searchsorted(edges[1:], job.submit_us, side="right")) - 1] += found[job.id].cost
    return _floats(total)


def _floats(amounts: Iterable[Decimal]) -> Amounts:
    return np.array([float(amount) for amount in amounts])
