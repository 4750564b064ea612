"""`fleetsim sensitivity`: what the decision hangs on, and the value of each input at which it flips."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.console import print_json
from sim.cli.options import (
    OUTPUTS,
    FormatOption,
    JobsOption,
    OutputFormat,
    PriceOption,
    ScenarioFile,
    SeedOption,
    SetOption,
    read_question,
)
from sim.cli.options_runs import ClusterOption, FreshOption, OutOption, run_places
from sim.cli.progress import ProgressForm, ProgressOption
from sim.errors import InputError, Problem
from sim.model.experiment import MOST_REPLICATIONS

if TYPE_CHECKING:
    from sim.experiments.knobs_table import Knob
    from sim.experiments.runs import Places
    from sim.experiments.sensitivity_store import Study
    from sim.load import Question

__all__ = ["sensitivity"]

_RANGE = re.compile(r"\s*(\w+)\s*=\s*([+-]?\d+(?:\.\d+)?)\s*\.\.\s*([+-]?\d+(?:\.\d+)?)\s*")


def sensitivity(
    file: ScenarioFile,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Metric that is looked at; default: the cost that ranks strategies."
        ),
    ] = None,
    range_: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="INPUT=LOW..HIGH",
            help="Range of an input, such as demand=0.5..2; may be repeated.",
        ),
    ] = None,
    sobol: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Sobol indices from N base samples, a power of two such as 64; (inputs + 2) x N points are "
            "simulated. Default: none.",
        ),
    ] = 0,
    draws: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Draw all inputs at once in each of N replications, and tell doubt about inputs from luck. "
            "Default: none.",
        ),
    ] = 0,
    set_: SetOption = None,
    replications: Annotated[
        int, typer.Option(min=1, max=MOST_REPLICATIONS, help="Runs a strategy and point.")
    ] = 5,
    seed: SeedOption = None,
    price: PriceOption = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
    out: OutOption = OUTPUTS,
    fresh: FreshOption = False,
    format_: FormatOption = OutputFormat.TEXT,
    progress: ProgressOption = ProgressForm.AUTO,
) -> None:
    """Turn each input through its range, and find the value at which the decision flips."""
    from sim.cli.sensitivity_text import print_study
    from sim.experiments.knobs_table import knobs_of, with_ranges
    from sim.experiments.sensitivity_store import save_study
    from sim.report.plots_sensitivity import render

    question = read_question(file, set_, price, seed)
    knobs = with_ranges(knobs_of(question), _ranges(range_ or []))
    _check(metric, sobol, draws)
    with run_places("simulating", progress, jobs, cluster, out, fresh) as places:
        study = _studied(question, knobs, metric, replications, sobol, draws, places)
    folder = save_study(study, out, render(study))
    if format_ is OutputFormat.JSON:
        print_json({**study.to_json(), "folder": str(folder)})
        return
    print_study(study, folder)


def _check(metric: str | None, sobol: int, draws: int) -> None:
    """InputError for a metric that is none, and numbers of points that no study can be made of."""
    from sim.experiments.sensitivity import known_metric
    from sim.experiments.sensitivity_sobol import check_samples

    if metric is not None:
        known_metric(metric)
    if sobol:
        check_samples(sobol)
    if draws < 0 or draws == 1:
        raise InputError(Problem("inputs are drawn in 2 or more replications", key="--draws", value=draws))


def _studied(
    question: Question,
    knobs: Sequence[Knob],
    metric: str | None,
    replications: int,
    sobol: int,
    draws: int,
    places: Places,
) -> Study:
    """One input at a time, and what else is asked for: 0 base samples or draws, none."""
    from sim.experiments.sensitivity import tornado
    from sim.experiments.sensitivity_doubt import doubt
    from sim.experiments.sensitivity_sobol import sobol as sobol_indices
    from sim.experiments.sensitivity_store import Study

    found = tornado(question, knobs, metric, replications, places)
    return Study(
        found,
        sobol_indices(found, knobs, sobol, places) if sobol else None,
        doubt(found, knobs, draws, places) if draws else None,
    )


def _ranges(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Input -> low and high, in its unit; InputError for what is no range."""
    found: dict[str, tuple[float, float]] = {}
    for text in texts:
        match = _RANGE.fullmatch(text)
        if match is None:
            rule = "a range is written INPUT=LOW..HIGH, such as demand=0.5..2"
            raise InputError(Problem(rule, key="--range", value=text))
        if match[1] in found:
            raise InputError(Problem("this input is given twice", key="--range", value=match[1]))
        found[match[1]] = (float(match[2]), float(match[3]))
    return found
