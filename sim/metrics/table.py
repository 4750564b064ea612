"""All metrics of a run: name, unit, meaning, which way is better. To add one: a function and a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from sim.metrics import money, service, stability, usage
from sim.metrics.facts import Facts
from sim.metrics.target import target_met
from sim.model.job import JobSet
from sim.model.ledger import Ledger
from sim.model.records import JobState, RunLog
from sim.model.scenario import Scenario, Target

__all__ = ["METRICS", "Metric", "measure"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a run."""

    name: str
    unit: str
    description: str
    better: Literal["low", "high"] | None
    """Which way is better; None where neither is."""
    function: Callable[[Facts], float | None]


def measure(
    log: RunLog, ledger: Ledger, jobs: JobSet, scenario: Scenario, target: Target | None
) -> dict[str, float | None]:
    """All metrics of one run, in the order of `METRICS`; None where a metric is not defined.

    `jobs` are those that the run was given, `target` is what `target_met_share` is held against.
    """
    facts = Facts(log, ledger, jobs, scenario, target)
    return {name: metric.function(facts) for name, metric in METRICS.items()}


def _count(*states: JobState) -> Callable[[Facts], float]:
    return lambda facts: service.count(facts, *states)


_ROWS: tuple[Metric, ...] = (
    Metric("cost_cny", "CNY", "Cost of the usable time within the horizon (accrued)", "low", money.cost_cny),
    Metric(
        "committed_cost_cny",
        "CNY",
        "Accrued cost and what stays owed after the horizon; strategies are ranked by it",
        "low",
        money.committed_cost_cny,
    ),
    Metric(
        "owed_after_cny",
        "CNY",
        "Part of the committed cost for time after the horizon (paid in advance or owed)",
        "low",
        money.owed_after_cny,
    ),
    Metric(
        "penalty_cny",
        "CNY",
        "What late and refused jobs cost, as the scenario says; on no invoice",
        "low",
        money.penalty_cny,
    ),
    Metric(
        "cost_with_penalties_cny",
        "CNY",
        "Committed cost and penalties; strategies are ranked by it where there are penalties",
        "low",
        money.cost_with_penalties_cny,
    ),
    Metric("cash_cny", "CNY", "Paid within the horizon", "low", money.cash_cny),
    Metric("burst_cost_cny", "CNY", "Accrued cost of burst cards", "low", money.burst_cost_cny),
    Metric(
        "cost_per_month_cny",
        "CNY/month",
        "Accrued cost per mean month of 365/12 days",
        "low",
        money.cost_per_month_cny,
    ),
    Metric(
        "cost_per_job_cny",
        "CNY/job",
        "Accrued cost per job done, completed shares of unfinished jobs included",
        "low",
        money.cost_per_job_cny,
    ),
    Metric(
        "cost_per_useful_gpu_h_cny",
        "CNY/GPU-h",
        "Accrued cost per card-hour of work that was kept",
        "low",
        money.cost_per_useful_gpu_h_cny,
    ),
    Metric("jobs_submitted", "jobs", "Jobs submitted before the horizon", None, service.jobs_submitted),
    Metric("jobs_done", "jobs", "Jobs that ended with all their work", "high", _count("done")),
    Metric("jobs_refused", "jobs", "Jobs that no card could ever hold", "low", _count("refused")),
    Metric("jobs_killed", "jobs", "Jobs that passed their time limit", "low", _count("killed")),
    Metric("jobs_cancelled", "jobs", "Jobs that their users stopped", None, _count("cancelled")),
    Metric("jobs_failed", "jobs", "Jobs given up after an error of their own", None, _count("failed")),
    Metric(
        "jobs_unfinished",
        "jobs",
        "Jobs running or waiting at the horizon",
        "low",
        _count("running", "waiting"),
    ),
    Metric("jobs_running", "jobs", "Jobs running at the horizon", None, _count("running")),
    Metric("jobs_waiting", "jobs", "Jobs waiting at the horizon", "low", _count("waiting")),
    Metric("jobs_late", "jobs", "Jobs not done by a deadline within the run", "low", service.jobs_late),
    Metric(
        "jobs_measured",
        "jobs",
        "Jobs in the wait metrics: submitted after the warm-up and not refused",
        None,
        lambda facts: float(facts.measured_waits.size),
    ),
    Metric("wait_mean_h", "h", "Mean time in the queue", "low", service.wait_mean_h),
    Metric("wait_p50_h", "h", "Median time in the queue", "low", partial(service.wait_quantile_h, share=0.5)),
    Metric(
        "wait_p95_h",
        "h",
        "95th percentile of the time in the queue",
        "low",
        partial(service.wait_quantile_h, share=0.95),
    ),
    Metric(
        "wait_p99_h",
        "h",
        "99th percentile of the time in the queue",
        "low",
        partial(service.wait_quantile_h, share=0.99),
    ),
    Metric("wait_max_h", "h", "Longest time in the queue", "low", service.wait_max_h),
    Metric(
        "waits_cut",
        "jobs",
        "Measured jobs still waiting at the horizon: their waits are lower bounds",
        "low",
        service.waits_cut,
    ),
    Metric("slowdown_mean", "1", "Mean of (wait + run) / run of jobs done", "low", service.slowdown_mean),
    Metric(
        "slowdown_p95",
        "1",
        "95th percentile of (wait + run) / run of jobs done",
        "low",
        partial(service.slowdown_quantile, share=0.95),
    ),
    Metric(
        "on_time_share",
        "share",
        "Jobs done by their deadline, of those with a deadline within the run",
        "high",
        service.on_time_share,
    ),
    Metric("makespan_h", "h", "From first submission to last end of a job done", None, service.makespan_h),
    Metric("busy_share", "share", "Busy card-hours over leased card-hours", None, usage.busy_share),
    Metric(
        "useful_share", "share", "Card-hours of kept work over leased card-hours", "high", usage.useful_share
    ),
    Metric("leased_gpu_h", "GPU-h", "Usable leased card-hours, burst included", None, usage.leased_gpu_h),
    Metric("busy_gpu_h", "GPU-h", "Card-hours with a job", None, usage.busy_gpu_h),
    Metric("useful_gpu_h", "GPU-h", "Card-hours of work that was kept", "high", usage.useful_gpu_h),
    Metric("idle_gpu_h", "GPU-h", "Card-hours in working order without a job", "low", usage.idle_gpu_h),
    Metric("down_gpu_h", "GPU-h", "Card-hours away for failure or upkeep", "low", usage.down_gpu_h),
    Metric("away_gpu_h", "GPU-h", "Card-hours outside of the windows of a lease", None, usage.away_gpu_h),
    Metric("reserved_gpu_h", "GPU-h", "Card-hours of cards kept out of training", None, usage.reserved_gpu_h),
    Metric("lost_gpu_h", "GPU-h", "Card-hours of work done and lost", "low", usage.lost_gpu_h),
    Metric("startup_gpu_h", "GPU-h", "Card-hours of fetching and loading", "low", usage.startup_gpu_h),
    Metric("checkpoint_gpu_h", "GPU-h", "Card-hours of checkpoints", "low", usage.checkpoint_gpu_h),
    Metric("burst_gpu_h", "GPU-h", "Usable card-hours of burst cards", None, usage.burst_gpu_h),
    Metric(
        "burst_orders",
        "orders",
        "Orders of burst cards",
        None,
        lambda facts: float(facts.log.burst_orders),
    ),
    Metric(
        "burst_stock_outs",
        "orders",
        "Tries to order burst cards that found nothing",
        "low",
        lambda facts: float(facts.log.burst_stock_outs),
    ),
    Metric("failures", "failures", "Failures of leased cards and machines", "low", usage.failures),
    Metric(
        "interruptions", "interruptions", "Times a job was torn from its cards", "low", service.interruptions
    ),
    Metric("retries", "submissions", "New submissions of jobs that had failed", None, service.retries),
    Metric("bad_results", "jobs", "Jobs done with a bad result, unseen", "low", service.bad_results),
    Metric("redone_jobs", "jobs", "Times a bad result was seen and redone", "low", service.redone_jobs),
    Metric(
        "maintenance_gpu_h",
        "GPU-h",
        "Card-hours away for planned maintenance, part of those down",
        "low",
        usage.maintenance_gpu_h,
    ),
    Metric(
        "offered_load",
        "1",
        "Card-time asked for over leased card-time; above 1 is more than the cards can do",
        None,
        stability.offered_load,
    ),
    Metric("arrivals_h", "h", "From the first submission to the last", None, stability.arrivals_h),
    Metric("queue_mean", "jobs", "Mean number of jobs waiting", "low", stability.queue_mean),
    Metric("queue_early", "jobs", "Mean number waiting in the second quarter", "low", stability.queue_early),
    Metric("queue_late", "jobs", "Mean number waiting in the last quarter", "low", stability.queue_late),
    Metric(
        "queue_stretch_h",
        "h",
        "Longest time in which somebody always waits",
        "low",
        stability.queue_stretch_h,
    ),
    Metric(
        "backlog_h",
        "h",
        "Time the cards would need for the jobs waiting at the end",
        "low",
        stability.backlog_h,
    ),
    Metric("overloaded", "share", "1 where the queue is not stable, else 0", "low", stability.overloaded),
    Metric(
        "target_met_share",
        "share",
        "1 where the run meets every line of the target, else 0",
        "high",
        target_met,
    ),
)

METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _ROWS}
