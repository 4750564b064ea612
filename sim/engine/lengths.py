"""How long a scheduler thinks that a job will run: the user's limit, else the expected run time.

It knows start-up, work and checkpoints, but neither failures nor how lucky a job is with its
neighbours. Where there is no such noise the expected run time is exact, or too long by the time
to fetch a base model that is there already.
"""

from __future__ import annotations

from sim.decisions.checkpoints import interval
from sim.engine.fleet import Pool
from sim.engine.saves import disk_lost, restored
from sim.engine.stay import Run, Stay, noise
from sim.model.failures import CheckpointSpec
from sim.model.rates import RunOption
from sim.units import Micros

__all__ = ["expected", "expected_of_stay", "run_time"]


def expected(run: Run, pool: Pool, option: RunOption, checkpoint: CheckpointSpec) -> Micros:
    """Time on the cards of a waiting job, as a reservation counts it."""
    limit = run.limit_us
    return run_time(run, pool, option, checkpoint) if limit is None else limit


def run_time(run: Run, pool: Pool, option: RunOption, checkpoint: CheckpointSpec) -> Micros:
    """Expected run time of a waiting job, whatever its limit; what it has saved is not run again."""
    remaining = max(1, round(run.work * option.us_per_work))
    if run.saved_us:
        saved = restored(run)[1] if disk_lost(run) else run.saved_us
        remaining -= saved * remaining // run.total_us
    startup = option.startup_us if run.first_start_us is None else option.restart_us
    if option.stage_key is not None:
        startup += option.stage_us
    cost = option.checkpoint_us if checkpoint.cost_us is None else checkpoint.cost_us
    every = checkpoint.every_us
    if checkpoint.rule != "fixed":
        every = interval(checkpoint.rule, cost, _interruptions(pool, option))
    if every is None or remaining <= every:
        return startup + remaining
    return startup + remaining + (-(-remaining // every) - 1) * cost


def _interruptions(pool: Pool, option: RunOption) -> float:
    """Rate of the failures that would interrupt a job, on as few machines as can hold it."""
    model = pool.spec.failures
    machines = -(-option.gpus // pool.size) if option.spans else 1
    return 0.0 if model is None else model.interruptions_per_us(option.gpus, machines, pool.size)


def expected_of_stay(stay: Stay) -> Micros:
    """Length of a stay that has begun, as a reservation counts it."""
    job = stay.run.job
    if job.limit_us is not None:
        return job.limit_us
    factor = noise(job, stay.option)
    if factor == 1.0:
        return stay.length_us
    return stay.startup_us + round((stay.length_us - stay.startup_us) / factor)
