"""Use of cards: simulated queues and streams of jobs, feeding from disks, thresholds of monitoring."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.card_engine import START, mean_of_runs, once, scenario
from sim.claims.card_jobs import SPEED_ERROR, CardJob, constants, runs_of
from sim.claims.card_steps import assumed, hour_steps, rate_steps, speed_sources, spread, yes
from sim.claims.money import MONTH_HOURS, find_offer, in_yuan
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict

__all__ = ["UTILISATION"]

_Hours = Annotated[float, Field(gt=0, le=1000)]
_WARM_UP = "7d"
_QUEUE_DAYS = 60
_MOST_JOBS = 10_000
"""Of a stream of jobs."""
_FASTEST = 48
"""Jobs a day at which the search ends."""


class _Stream(Strict):
    offer: str = "a100-40g-8x"
    units: int = Field(default=1, ge=1, le=64)
    hours: _Hours = 5
    """Of one job, on one card; the next begins when it ends."""
    days: int = Field(default=30, ge=1, le=365)
    alone: str = "a100-40g-custom"
    """Offer of a single card that does the same."""


def use_of_cards(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Busy share of cards on which one job after another runs, each on one card; simulated."""
    asked = read_inputs(_Stream, inputs)
    offer, alone = find_offer(bench, asked.offer), find_offer(bench, asked.alone, "inputs.alone")
    cards = asked.units * offer.gpus_per_unit
    count = int(asked.days * 24 / asked.hours)
    if not 0 < count <= _MOST_JOBS:
        rule = f"the days hold 1 to {_MOST_JOBS:,} jobs one after another"
        raise InputError(Problem(rule, key="inputs.hours", value=f"{asked.hours:g}"))
    kind = {"share": 1, "runtime_s": asked.hours * 3600}
    every = [_at(number * asked.hours) for number in range(count)]
    workload = {"timed": [{"name": "job", "at": every, "kinds": [kind]}]}
    strategies = [
        {"name": "asked", "leases": [{"offer": offer.id, "count": asked.units, "plan": "monthly"}]},
        {"name": "alone", "leases": [{"offer": alone.id, "count": 1, "plan": "monthly"}]},
    ]
    prepared = scenario(bench, workload, strategies, f"{asked.days}d")
    shares = [once(prepared, bench, place).metrics for place in (0, 1)]
    busy = 100 * (shares[0]["busy_share"] or 0.0)
    steps = (
        Step(f"Jobs of {asked.hours:g} h, one after another, in {asked.days} days", shown(count, "jobs")),
        Step("Simulated, busy card-hours", shown(shares[0]["busy_gpu_h"] or 0.0, "h", 0)),
        Step(
            f"Rented card-hours: {cards} cards x {asked.days} x 24 h", shown(cards * asked.days * 24, "h", 0)
        ),
        Step("The same jobs on one card keep it busy", shown(100 * (shares[1]["busy_share"] or 0.0), "%", 1)),
        Step("Busy share", shown(busy, "%", 1)),
    )
    notes = (
        "One job at a time, each on one card: what a team has that does not need eight.",
        "Simulated without failures and start-up.",
    )
    return Working(busy, busy, "%", steps, notes, (f"engine; catalogue {offer.id}, {alone.id}",))


def _at(hours: float) -> str:
    """Local time so many hours after the start of a scenario."""
    return (datetime.fromisoformat(START) + timedelta(hours=hours)).isoformat()


class _Queue(Strict):
    offer: str = "a100-40g-custom"
    units: int = Field(default=4, ge=1, le=64)
    hours: _Hours = 5
    """Of one job, on one card."""
    wait_h: float = Field(default=4, gt=0)
    """The 95th percentile of waiting that is still good service."""
    profile: Literal["flat", "office-hours"] = "office-hours"


def jobs_a_day(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Jobs a day from which cards give poor service, by simulated queues."""
    asked = read_inputs(_Queue, inputs)
    offer = find_offer(bench, asked.offer)
    cards = asked.units * offer.gpus_per_unit
    full = cards * 24 / asked.hours
    steps = [
        Step(
            f"Most that {cards} cards can do: {cards} x 24 h / {asked.hours:g} h", shown(full, "jobs/day", 1)
        )
    ]
    low, high = 0, min(_FASTEST, int(full) + 1)
    if high <= full and _wait_p95(asked, high, bench) <= asked.wait_h:
        rule = f"even {_FASTEST} jobs a day, the most that are tried, do not wait so long"
        raise InputError(Problem(rule, key="inputs.units", value=str(asked.units)))
    # Waiting grows with the rate, so halving finds where it passes the limit.
    while high - low > 1:
        rate = (low + high) // 2
        wait = _wait_p95(asked, rate, bench)
        text = f"{rate} jobs a day: simulated 95th percentile of waiting"
        steps.append(Step(text, shown(wait, "h", 1)))
        low, high = (rate, high) if wait <= asked.wait_h else (low, rate)
    steps.append(Step(f"Fewest jobs a day at which it is above {asked.wait_h:g} h", shown(high, "jobs/day")))
    notes = (
        f"Jobs of {asked.hours:g} h, each on one card, arrive at random, {asked.profile}.",
        f"Service is poor where more than one job in twenty waits longer than {asked.wait_h:g} h (assumed).",
        f"{bench.replications} simulated runs of {_QUEUE_DAYS} days, seed {bench.seed}, without failures.",
    )
    return Working(high, high, "jobs/day", tuple(steps), notes, (f"engine; catalogue {offer.id}",))


def _wait_p95(asked: _Queue, rate: int, bench: Bench) -> float:
    kind = {"share": 1, "runtime_s": asked.hours * 3600}
    timed = {"name": "job", "rate": f"{rate}/day", "profile": asked.profile, "kinds": [kind]}
    lease = {"offer": asked.offer, "count": asked.units, "plan": "monthly"}

    def make() -> float:
        prepared = scenario(
            bench,
            {"timed": [timed]},
            [{"name": "cards", "leases": [lease]}],
            f"{_QUEUE_DAYS}d",
            experiment={"warm_up": _WARM_UP},
        )
        return mean_of_runs(prepared, bench, "wait_p95_h")

    return bench.once(("wait_p95", asked.model_dump_json(), rate), make)


class _Month(Strict):
    used_days: float = Field(gt=0, le=30)
    answer: Literal["used", "idle weeks"] = "idle weeks"
    offer: str = "a100-40g-custom"


def month_used(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """What part of a rented month is used, and what an hour that is used then costs."""
    asked = read_inputs(_Month, inputs)
    offer = in_yuan(find_offer(bench, asked.offer))
    month = MONTH_HOURS / 24
    share, idle = 100 * asked.used_days / month, (month - asked.used_days) / 7
    price = float(offer.price.pick("mid"))
    hour = price / (asked.used_days * 24)
    steps = [
        Step(f"Used: {asked.used_days:g} of {month:g} days", shown(share, "%", 1)),
        Step(f"Idle: ({month:g} - {asked.used_days:g}) days / 7", shown(idle, "weeks", 2)),
        Step(f"An hour that is used: {price:,.2f} CNY / ({asked.used_days:g} x 24 h)", f"{hour:,.2f} CNY/h"),
    ]
    value, unit = (share, "%") if asked.answer == "used" else (idle, "weeks")
    return Working(
        value, value, unit, tuple(steps), (f"A month of {month:g} days.",), (f"catalogue {offer.id}",)
    )


def runs_a_month(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Training runs that a card does in a month without a pause."""
    runs = runs_of(read_inputs(CardJob, inputs), bench)
    steps: list[Step] = []
    values = []
    for run in runs:
        values.append(MONTH_HOURS / run.hours)
        steps += [
            *hour_steps(run),
            Step(f"Runs a month: {MONTH_HOURS} h / {run.hours:.2f} h", shown(values[-1], "runs", 1)),
        ]
    low, high = spread(values)
    notes = (*assumed(runs, speed=True), "The card works without a pause.")
    return Working(low, high, "runs", tuple(steps), notes, speed_sources(runs), error=SPEED_ERROR)


class _Fed(CardJob):
    jobs: int = Field(default=4, ge=1, le=64)
    """Jobs that read from the disk at one time."""
    disk_gb_s: float = Field(default=0.5, gt=0)
    bytes_per_token: float | None = Field(default=None, gt=0)
    """Read for one token; default: text, as the physics has it."""


def fed_by_disk(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Share of its speed at which jobs run that all read from one disk, %."""
    asked = read_inputs(_Fed, inputs)
    each = asked.bytes_per_token or constants().host.bytes_per_token
    runs = runs_of(asked, bench)
    steps: list[Step] = []
    shares = []
    for run in runs:
        wanted = asked.jobs * run.tokens_per_s * each / 1e9
        shares.append(100 * min(1.0, asked.disk_gb_s / wanted))
        steps += [
            *rate_steps(run),
            Step(
                f"Read: {asked.jobs} jobs x {run.tokens_per_s:,.0f} tokens/s x {each:,.5g} bytes / 10^9",
                shown(wanted, "GB/s", 6),
            ),
            Step(f"The disk reads {asked.disk_gb_s:g} GB/s; share of full speed", shown(shares[-1], "%", 1)),
        ]
    low, high = spread(shares)
    usual = constants().host.bytes_per_token
    notes = (
        *assumed(runs, speed=True),
        f"{each:g} bytes are read for a token (assumed for text: {usual:g}).",
    )
    return Working(low, high, "%", tuple(steps), notes, speed_sources(runs), error=SPEED_ERROR)


def busy_of_step(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Share of a step in which a card computes that waits for nothing but its own kernels, %."""
    runs = runs_of(read_inputs(CardJob, inputs), bench)
    steps: list[Step] = []
    shares = []
    for run in runs:
        work = float((run.steps.compute + run.steps.dequantise + run.steps.optimizer)[0])
        shares.append(100 * min(1.0, work / float(run.steps.total[0])))
        steps += rate_steps(run)
        text = f"Computing: {work:.4f} s of {float(run.steps.total[0]):.4f} s"
        steps.append(Step(text, shown(shares[-1], "%", 1)))
    low, high = spread(shares)
    notes = (
        *assumed(runs, speed=True),
        "Where to draw the line is a choice; this is a card that is well fed.",
    )
    return Working(low, high, "%", tuple(steps), notes, speed_sources(runs), error=SPEED_ERROR)


class _Line(Strict):
    share: float = Field(gt=0, le=1)
    """Use of a link above which it is called the bottleneck."""


def link_is_longest(inputs: Mapping[str, Any], bench: Bench) -> Working:  # noqa: ARG001
    """Whether a link that is busy for more than a share of the time is the longest part of the step."""
    asked = read_inputs(_Line, inputs)
    overlap = constants().speed.overlap
    # Work and traffic of one length t: the step is t + overlap t, and the link is busy for t of it.
    line = 1 / (1 + overlap)
    holds = asked.share >= line
    steps = (
        Step(f"Part of the shorter of work and traffic that shows (fitted): {overlap:.3f}", f"{overlap:.1%}"),
        Step(f"Link and work take equally long: the link is busy 1 / (1 + {overlap:.3f})", f"{line:.1%}"),
        Step(f"Above {asked.share:.0%} traffic is then the longer of the two", yes(holds)),
    )
    source = "sim/physics/fitted.yaml: speed.overlap; docs/models.md section 2.6"
    return Working(None, None, "", steps, (), (source,), holds=holds)


UTILISATION: Mapping[str, Computation] = {
    "use_of_cards": use_of_cards,
    "jobs_a_day": jobs_a_day,
    "month_used": month_used,
    "runs_a_month": runs_a_month,
    "fed_by_disk": fed_by_disk,
    "busy_of_step": busy_of_step,
    "link_is_longest": link_is_longest,
}
"""Computations of use."""
