"""Is the queue stable? Averages of a queue that grows describe the length of the run, not the fleet.

`overloaded` is 1.0 where one of three signs is seen, else 0.0:

- *too much work*: the work asked for is more than the leased card-time (`offered_load` above 1) and
  the jobs waiting at the end would keep the cards busy for more than 2 % of the run (`backlog_h`);
- *growing queue*: the mean queue of the last quarter is more than 1.5 times that of the second
  quarter, with the same backlog at the end;
- *long backlog*: of at least 20 measured jobs, one in twenty waits longer than 5 % of the time over
  which jobs arrive, and there is a stretch of more than a quarter of that time in which somebody
  always waits. The queue may have emptied since, but the fleet was too small for that long. Jobs
  that all arrive within a tenth of the run are a batch, and are held against the whole run.

Runs of people who wait for each (a closed loop) are no sign of it: never more of them wait than there
are people, however small the fleet. Backlog, growth and stretch are those of the other jobs.

The first is a load above capacity, the second a queue that a load near capacity or a rule of the
queue (gangs that block others) lets grow. The thresholds are choices of this program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from sim.metrics.facts import Facts, Flags, Numbers, Times
from sim.metrics.service import wait_quantile_h
from sim.model.said import said
from sim.units import HOUR, WEEK

__all__ = [
    "arrivals_h",
    "backlog_h",
    "offered_load",
    "overload_reasons",
    "overloaded",
    "queue_early",
    "queue_late",
    "queue_mean",
    "queue_stretch_h",
]

MATERIAL_BACKLOG = 0.02
"""Backlog at the end, as a share of the run, above which it tells something."""
GROWTH = 1.5
"""Mean queue of the last quarter over that of the second, above which the queue grows."""
LONG_WAIT = 0.05
"""95th percentile of the wait, as a share of the time over which jobs arrive, above which it is long."""
LONG_STRETCH = 0.25
"""Unbroken time in which somebody waits, as a share of the same, above which it is long."""
FEWEST_JOBS = 20
"""Measured jobs below which nothing is said of long waits."""
BATCH = 0.1
"""Share of the run within which all arrivals make a batch, held against the whole run."""
_WEEK_H = WEEK / HOUR


def offered_load(facts: Facts) -> float | None:
    """Card-time asked for over usable leased card-time: busy time and the work still to be done.

    Refused jobs ask for nothing. The rest of an unfinished job is its share of work left times the
    card-time per work that jobs of its shape took in this run, or its recorded run time; a shape of
    which nothing ran is unknown and left out, so the figure is then a lower bound. None if nothing
    was leased.
    """
    if not facts.usable_total:
        return None
    return (facts.busy_total + float(_work_left(facts).sum())) / facts.usable_total


def backlog_h(facts: Facts) -> float | None:
    """Hours that the leased cards (mean number) would need for the jobs that wait at the end.

    Without runs of people who wait for them: those are few, and go away with the people.
    """
    if not facts.usable_total:
        return None
    waiting = float(_work_left(facts)[facts.in_state("waiting") & ~facts.closed].sum())
    return waiting / (facts.usable_total / facts.horizon) / HOUR


def queue_mean(facts: Facts) -> float:
    """Mean number of jobs waiting over the run."""
    return _mean_queue(facts, 0.0, 1.0, np.ones_like(facts.closed))


def queue_early(facts: Facts) -> float:
    """Mean number of jobs waiting in the second quarter of the run, no people's runs among them."""
    return _mean_queue(facts, 0.25, 0.5, ~facts.closed)


def queue_late(facts: Facts) -> float:
    """Mean number of jobs waiting in the last quarter of the run, no people's runs among them."""
    return _mean_queue(facts, 0.75, 1.0, ~facts.closed)


def queue_stretch_h(facts: Facts) -> float:
    """Longest unbroken time in which at least one job waits that is no people's run, hours."""
    enter, leave = (np.sort(times) for times in _queue_moves(facts, ~facts.closed))
    if not enter.size:
        return 0.0
    # The queue is empty after its k-th exit if the next entry, in order of time, comes later.
    pairs = min(enter.size - 1, leave.size)
    gaps = np.flatnonzero(enter[1 : pairs + 1] > leave[:pairs])
    begins = enter[np.append(0, gaps + 1)]
    last = leave[-1] if leave.size == enter.size else facts.horizon
    ends = np.minimum(np.append(leave[gaps], last), facts.horizon)
    return float((ends - np.minimum(begins, facts.horizon)).max(initial=0)) / HOUR


def arrivals_h(facts: Facts) -> float:
    """From the first submission to the last, hours."""
    return float(np.ptp(facts.submit)) / HOUR if facts.submit.size else 0.0


def overloaded(facts: Facts) -> float:
    """1.0 where the queue is not stable, else 0.0."""
    values = {
        "offered_load": offered_load(facts),
        "backlog_h": backlog_h(facts),
        "queue_early": queue_early(facts),
        "queue_late": queue_late(facts),
        "queue_stretch_h": queue_stretch_h(facts),
        "arrivals_h": arrivals_h(facts),
        "wait_p95_h": wait_quantile_h(facts, 0.95),
        "jobs_measured": float(facts.measured_waits.size),
    }
    return float(bool(overload_reasons(values, facts.horizon / HOUR)))


def overload_reasons(values: Mapping[str, float | None], horizon_h: float) -> tuple[str, ...]:
    """Sentences that say why a run with these metrics is overloaded; empty if it is not."""
    load, backlog = values["offered_load"] or 0.0, values["backlog_h"] or 0.0
    early, late = values["queue_early"] or 0.0, values["queue_late"] or 0.0
    wait, stretch = values["wait_p95_h"] or 0.0, values["queue_stretch_h"] or 0.0
    reasons: list[str] = []
    if load > 1 and backlog > MATERIAL_BACKLOG * horizon_h:
        reasons.append(
            said(
                "{head} {load} times the leased card-time, and the jobs waiting at the end would take the "
                "cards another {backlog} h",
                head=_asked(values, horizon_h),
                load=f"{load:.2f}",
                backlog=f"{backlog:,.1f}",
            )
        )
    if late > GROWTH * early and backlog > MATERIAL_BACKLOG * horizon_h:
        reasons.append(
            said(
                "the queue still grows: {late} jobs wait on average in the last quarter of the run, "
                "{early} in the second",
                late=f"{late:,.1f}",
                early=f"{early:,.1f}",
            )
        )
    arrivals = values["arrivals_h"] or 0.0
    span = arrivals if arrivals > BATCH * horizon_h else horizon_h
    enough = (values["jobs_measured"] or 0.0) >= FEWEST_JOBS
    if enough and wait > LONG_WAIT * span and stretch > LONG_STRETCH * span:
        reasons.append(
            said(
                "somebody waits for {stretch} h without a break, and one job in twenty waits longer than "
                "{wait} h, while jobs arrive over {arrivals} h",
                stretch=f"{stretch:,.1f}",
                wait=f"{wait:,.1f}",
                arrivals=f"{span:,.1f}",
            )
        )
    return tuple(reasons)


def _asked(values: Mapping[str, float | None], horizon_h: float) -> str:
    """The load and what there is for it in card-hours, a week or over a shorter run, and as cards.

    The cards named are the least that could carry the load: with fewer the queue grows without end.
    """
    leased = values.get("leased_gpu_h")
    if leased is None or not horizon_h:
        return said("the work asked for is")
    usable = leased - (values.get("away_gpu_h") or 0.0) - (values.get("reserved_gpu_h") or 0.0)
    asked = (values["offered_load"] or 0.0) * usable
    span, part = said("a week"), _WEEK_H / horizon_h
    if horizon_h < _WEEK_H:
        span, part = said("over {hours} h", hours=f"{horizon_h:,.0f}"), 1.0
    cards = math.ceil(asked / horizon_h - 1e-9)
    return said(
        "jobs ask for {asked} card-hours {reason} and {usable} are leased ({mean} cards on average), where "
        "{cards} cards, never idle, would carry it: that is",
        asked=f"{asked * part:,.0f}",
        reason=span,
        usable=f"{usable * part:,.0f}",
        mean=f"{usable / horizon_h:,.1f}",
        cards=f"{cards:,}",
    )


def _queue_moves(facts: Facts, which: Flags) -> tuple[Times, Times]:
    """Times at which these jobs enter the queue and leave it, in no order; nobody leaves at the horizon."""
    of_stay = which[facts.stay_job]
    requeued = facts.stay_back[facts.stay_requeues & of_stay]
    enter = np.concatenate([facts.submit[which], requeued])
    leave = np.concatenate([facts.stay_start[of_stay], facts.end[_ended_in_queue(facts) & which]])
    return enter, leave


def _ended_in_queue(facts: Facts) -> Flags:
    """Jobs whose life ended while they waited: refused, or killed between two stays."""
    entries = 1 + np.bincount(facts.stay_job[facts.stay_requeues], minlength=facts.submit.size)
    exits = np.bincount(facts.stay_job, minlength=facts.submit.size)
    return (facts.end >= 0) & (entries > exits)


def _mean_queue(facts: Facts, begin: float, end: float, which: Flags) -> float:
    """Mean number of these jobs waiting between two shares of the run."""
    enter, leave = _queue_moves(facts, which)

    def waited_until(time: float) -> float:
        return float(np.maximum(time - enter, 0.0).sum() - np.maximum(time - leave, 0.0).sum())

    first, last = begin * facts.horizon, end * facts.horizon
    return max(0.0, (waited_until(last) - waited_until(first)) / (last - first))


def _work_left(facts: Facts) -> Numbers:
    """Card-time of work left of each unfinished job; 0 for the others and where it is unknown."""
    shape, work = facts.shape, facts.work
    kept = np.bincount(facts.stay_job, facts.stay_work - facts.stay_voided, minlength=work.size)
    ran = facts.progress > 0
    shapes = len(facts.jobs.shapes)
    time = np.bincount(shape[ran], kept[ran], minlength=shapes)
    done = np.bincount(shape[ran], (work * facts.progress)[ran], minlength=shapes)
    recorded = [float(s.gpus[0]) if s.job_class is None and s.gpus else 0.0 for s in facts.jobs.shapes]
    rate = np.divide(time, done, out=np.array(recorded, dtype=np.float64), where=done > 0)
    left = work * (1 - facts.progress) * rate[shape]
    return np.where(facts.in_state("running", "waiting"), left, 0.0)
