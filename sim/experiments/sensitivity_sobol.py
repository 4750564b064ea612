"""Sobol indices: which share of the spread of a result comes from which input, all inputs moving at once.

Inputs are independent and uniform over their ranges (assumed). First order: the share that would go if the
input were known; total: the share that is left if only the input is unknown. The luck of the runs is the
same at every point, so that all spread comes from the inputs. Points by the quasi-random sequence of Sobol
in Saltelli's scheme, indices by the estimators of Saltelli (2010), Computer Physics Communications 181,
259-270, and Jansen, intervals from resamples, all as in SALib.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.errors import InputError, Problem, RunError
from sim.experiments.knobs_table import Knob
from sim.experiments.runs import Flow, Places
from sim.experiments.sensitivity import Meter, Reading, Tornado
from sim.experiments.sweep import some_vault
from sim.load import Question

__all__ = ["Index", "Indices", "Sobol", "check_samples", "points_of", "sobol"]

RESAMPLES = 1000
"""Resamples for the intervals."""


@dataclass(frozen=True, slots=True)
class Index:
    """The share of one input; each estimate with half the width of its interval."""

    knob: Knob
    first: float
    first_half: float
    total: float
    total_half: float


@dataclass(frozen=True, slots=True)
class Indices:
    """Of one result."""

    of: str
    """What is meant: the metric of a strategy, or its difference to the rival."""
    mean: float
    """Over all points, in the unit of the metric."""
    deviation: float
    """Standard deviation over all points, in the unit of the metric."""
    inputs: tuple[Index, ...]
    """Empty where nothing varies: no input moves the result."""


@dataclass(frozen=True, slots=True)
class Sobol:
    """Indices of the recommended strategy and of its difference to the rival."""

    samples: int
    points: int
    confidence: float
    results: tuple[Indices, ...]


def sobol(
    found: Tornado,
    knobs: Sequence[Knob],
    samples: int,
    places: Places,
    flow: Flow | None = None,
) -> Sobol:
    """Indices for the two best strategies of a tornado, over the same inputs.

    `samples` is a power of two; (inputs + 2) times as many points are compared. Raises InputError where it
    is none or SALib is not installed, RunError where the metric is not defined at some point.
    """
    check_samples(samples)
    problem = {
        "num_vars": len(knobs),
        "names": [knob.name for knob in knobs],
        "bounds": [[knob.low, knob.high] for knob in knobs],
    }
    experiment = found.question.scenario.experiment
    points = points_of(problem, samples, experiment.seed)
    names = [name for name in (found.strategy, found.rival) if name is not None]
    with some_vault(places) as kept:
        asked = _only(found.question, names)
        meter = Meter(asked, tuple(knobs), found.metric, kept, flow or Flow(), experiment.replications)
        turned = [dict(zip((k.name for k in knobs), map(float, row), strict=True)) for row in points]
        meter.fill(turned)
        readings = [meter.at(values) for values in turned]
    level = experiment.confidence
    own = _means(readings, found.strategy, None)
    results = [_indices(f"{found.metric} of {found.strategy}", own, knobs, problem, level, experiment.seed)]
    if found.rival is not None:
        apart = _means(readings, found.strategy, found.rival)
        title = f"difference in {found.metric}: {found.strategy} less {found.rival}"
        results.append(_indices(title, apart, knobs, problem, level, experiment.seed))
    return Sobol(samples, len(points), level, tuple(results))


def check_samples(samples: int) -> None:
    """InputError where the number of base samples is no power of two of at least 2, or SALib is missing."""
    if samples < 2 or samples & (samples - 1):
        rule = "the number of base samples is a power of two, such as 64"
        raise InputError(Problem(rule, key="--sobol", value=samples))
    _salib("sample")


def points_of(problem: dict[str, Any], samples: int, seed: int) -> NDArray[np.float64]:
    """Points of Saltelli's scheme: `samples` times (inputs + 2) rows, a column an input."""
    found: NDArray[np.float64] = _salib("sample").sample(problem, samples, calc_second_order=False, seed=seed)
    return found


def _salib(what: str) -> Any:
    try:
        return importlib.import_module(f"SALib.{what}.sobol")
    except ImportError:
        rule = "Sobol indices need the package SALib: pip install SALib"
        raise InputError(Problem(rule, key="--sobol")) from None


def _indices(
    title: str,
    values: NDArray[np.float64],
    knobs: Sequence[Knob],
    problem: dict[str, Any],
    confidence: float,
    seed: int,
) -> Indices:
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    if deviation <= 1e-9 * max(1.0, abs(mean)):
        return Indices(title, mean, 0.0, ())
    found = _salib("analyze").analyze(
        problem, values, calc_second_order=False, num_resamples=RESAMPLES, conf_level=confidence, seed=seed
    )
    inputs = tuple(
        Index(
            knob, float(found["S1"][i]), float(found["S1_conf"][i]), float(found["ST"][i]),
            float(found["ST_conf"][i]),
        )
        for i, knob in enumerate(knobs)
    )  # fmt: skip
    return Indices(title, mean, deviation, inputs)


def _means(readings: Sequence[Reading], strategy: str, rival: str | None) -> NDArray[np.float64]:
    means = []
    for reading in readings:
        found = (
            reading.interval(strategy, 0.95) if rival is None else reading.difference(strategy, rival, 0.95)
        )
        means.append(math.nan if found.mean is None else found.mean)
    values = np.array(means, dtype=float)
    if not np.isfinite(values).all():
        msg = (
            "the metric is not defined at some of the points, so that Sobol indices cannot be had; choose "
            "another --metric, such as committed_cost_cny, or narrower ranges"
        )
        raise RunError(msg)
    return values


def _only(question: Question, names: Sequence[str]) -> Question:
    """The question with these strategies only."""
    kept = tuple(one for one in question.scenario.strategies if one.name in names)
    scenario = question.scenario.model_copy(update={"strategies": kept})
    return dataclasses.replace(question, scenario=scenario)
