"""Others that do the same: SimPy with a process a job, Ciw and AccaSim."""

from __future__ import annotations

import gc
import importlib.util
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import simpy

from benchmarks.engine.worlds import MACHINE, World
from sim.units import SECOND

__all__ = ["accasim_starts", "accasim_works", "ciw_mm8", "has_ciw", "process_a_job"]

Lives = list[tuple[float, float, float]]
"""Submission, start and end of each job, hours."""

CHILD = Path(__file__).with_name("accasim_child.py")


def process_a_job(
    submits_h: np.ndarray, runs_h: np.ndarray, servers: int
) -> list[tuple[float, float, float]]:
    """The textbook model: a Resource, and a process for each job; (submit, start, end) of each."""
    env = simpy.Environment()
    cards = simpy.Resource(env, servers)
    records: Lives = []

    def job(run: float) -> Iterator[simpy.Event]:
        submitted = env.now
        with cards.request() as request:
            yield request
            started = env.now
            yield env.timeout(run)
        records.append((submitted, started, env.now))

    def arrivals() -> Iterator[simpy.Event]:
        for submit, run in zip(submits_h.tolist(), runs_h.tolist(), strict=True):
            yield env.timeout(submit - env.now)
            env.process(job(run))  # type: ignore[arg-type]

    env.process(arrivals())  # type: ignore[arg-type]
    env.run()
    return records


def has_ciw() -> bool:
    """Whether Ciw is installed here."""
    return importlib.util.find_spec("ciw") is not None


def ciw_mm8(jobs: int, seed: int = 1) -> object:
    """M/M/8 at load 0.75 until so many customers have left; draws and records included."""
    import ciw

    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=6.0)],
        service_distributions=[ciw.dists.Exponential(rate=1.0)],
        number_of_servers=[8],
    )
    ciw.seed(seed)
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(jobs, method="Finish")
    return simulation


def accasim_works(python: str) -> str:
    """Empty if the interpreter can run AccaSim, else why not."""
    if not python:
        return "no interpreter given: --accasim PYTHON of an environment with `pip install accasim`"
    try:
        done = subprocess.run([python, "-c", "import accasim"], capture_output=True, check=False)
    except OSError as problem:
        return f"{python} does not run: {problem.strerror}"
    return "" if done.returncode == 0 else f"{python} cannot import accasim"


def accasim_starts(python: str, world: World, cards: int) -> tuple[float, list[int]]:
    """CPU seconds of AccaSim on the jobs of a world in whole seconds, and the start of each, seconds."""
    sizes = [shape.gpus[0] for shape in world.jobs.shapes]
    rows = [
        (job.id, job.submit_us // SECOND, round(job.work) // SECOND, sizes[job.shape])
        for job in world.jobs.jobs
    ]
    question = {"machines": cards // MACHINE, "cards": MACHINE, "jobs": rows}
    gc.collect()
    done = subprocess.run(
        [python, str(CHILD)], input=json.dumps(question), capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    return float(answer["cpu_s"]), list(answer["starts"])
