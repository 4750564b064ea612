"""How long the twin's scheduler thinks that jobs run: it knows neither failures nor noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.model.rates import RunOption
from sim.units import Micros

if TYPE_CHECKING:
    from tests.twin.life import Life
    from tests.twin.world import World

__all__ = ["expected_end", "expected_length", "run_time"]


def run_time(world: World, life: Life, option: RunOption) -> Micros:
    """Of a waiting job, whatever its limit: start-up, fetching, the rest of its work, checkpoints."""
    work = max(1, round(life.job.work * option.us_per_work))
    if life.saved and not life.files_lost():
        work -= life.saved * work // life.total
    every = world.plan.checkpoint.every_us
    writes = 0 if every is None or work <= every else -(-work // every) - 1
    startup = option.startup_us if life.first_start is None else option.restart_us
    fetch = 0 if option.stage_key is None else option.stage_us
    cost = world.plan.checkpoint.cost_us
    return startup + fetch + work + writes * (option.checkpoint_us if cost is None else cost)


def expected_length(world: World, life: Life, option: RunOption) -> Micros:
    """Of a waiting job: its limit, else its run time."""
    return run_time(world, life, option) if life.job.limit_us is None else life.job.limit_us


def expected_end(life: Life) -> Micros:
    """Of a running job: start and limit, else start and planned length with the noise taken out."""
    stay = life.stay
    if life.job.limit_us is not None:
        return stay.start + life.job.limit_us
    startup, running = stay.planned
    return stay.start + startup + (running if stay.luck == 1.0 else round(running / stay.luck))
