"""How long the twin's scheduler thinks that jobs run: it knows neither failures nor noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sim.model.failures import SILENT, CheckpointSpec, FailureModel
from sim.model.rates import RunOption
from sim.units import SECOND, Micros
from tests.twin.calendar import model_of
from tests.twin.cards import Pool

if TYPE_CHECKING:
    from tests.twin.life import Life
    from tests.twin.world import World

__all__ = ["expected_end", "expected_length", "interval", "run_time"]


def interval(
    spec: CheckpointSpec, cost: Micros, pool: Pool, lease: int, cards: int, machines: int
) -> Micros | None:
    """Work between two checkpoints of a job on so many cards of so many machines; None: never."""
    if spec.rule == "fixed":
        return spec.every_us
    model = model_of(pool.spec, lease)
    rate = 0.0 if model is None else interruptions(model, cards, machines, pool.size)
    if not rate:
        return None
    mean = 1 / rate
    best = math.sqrt(2 * cost * mean)
    if spec.rule == "daly":
        if cost < 2 * mean:
            best = best * (1 + math.sqrt(cost / 2 / mean) / 3 + cost / 2 / mean / 9) - cost
        else:
            best = mean
    return max(SECOND, round(best))


def interruptions(model: FailureModel, cards: int, machines: int, size: int) -> float:
    """Failures in a microsecond that interrupt the job: of its cards, its machines and what they share."""
    rate = 0.0
    for kind, mean in model.mtbf_us.items():
        if kind == "gpu_reset":
            rate += cards / mean
        elif kind == "ecc_uncorrectable":  # those that are not contained take the whole machine
            rate += (cards + (machines * size - cards) * (1 - model.contained)) / mean
        elif kind == "gpu_fatal":
            rate += machines * size / mean
        elif kind != SILENT:
            rate += machines / mean
    for kind, shared in (model.shared or {}).items():
        switches = 1 if shared.machines is None else -(-machines // shared.machines)
        rate += (switches if kind == "switch" else 1) / shared.mean_us
    return rate


def run_time(world: World, life: Life, pool: Pool, option: RunOption) -> Micros:
    """Of a waiting job, whatever its limit: start-up, fetching, the rest of its work, checkpoints."""
    work = max(1, round(life.job.work * option.us_per_work))
    if life.saved:
        work -= life.what_is_left()[0] * work // life.total
    cost = world.plan.checkpoint.cost_us
    cost = option.checkpoint_us if cost is None else cost
    machines = -(-option.gpus // pool.size) if option.spans else 1
    every = interval(world.plan.checkpoint, cost, pool, -1, option.gpus, machines)
    writes = 0 if every is None or work <= every else -(-work // every) - 1
    startup = option.startup_us if life.first_start is None else option.restart_us
    fetch = 0 if option.stage_key is None else option.stage_us
    return startup + fetch + work + writes * cost


def expected_length(world: World, life: Life, pool: Pool, option: RunOption) -> Micros:
    """Of a waiting job: its limit, else its run time."""
    return run_time(world, life, pool, option) if life.job.limit_us is None else life.job.limit_us


def expected_end(life: Life) -> Micros:
    """Of a running job: start and limit, else start and planned length with the noise taken out."""
    stay = life.stay
    if life.job.limit_us is not None:
        return stay.start + life.job.limit_us
    startup, running = stay.planned
    return stay.start + startup + (running if stay.luck == 1.0 else round(running / stay.luck))
