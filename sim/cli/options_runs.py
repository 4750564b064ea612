"""Options of commands that make many runs: when they are enough, where they are made and kept."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from pydantic import ValidationError

from sim.cli.console import complain
from sim.cli.options import check_folder, check_known, workers
from sim.cli.progress import ProgressForm, shown_progress
from sim.errors import InputError, Problem
from sim.load import Question
from sim.metrics import METRICS
from sim.model.experiment import MOST_REPLICATIONS, Experiment, Selection

if TYPE_CHECKING:
    from sim.experiments.runs import Places
    from sim.model.scenario import Scenario

__all__ = [
    "BudgetOption",
    "ClusterOption",
    "ConfidenceOption",
    "FreshOption",
    "MostOption",
    "OutOption",
    "SelectOption",
    "UntilOption",
    "run_places",
    "selection_rule",
    "with_stopping",
]

UntilOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC=WIDTH",
        help="Replicate until half the interval of a metric, and of its difference to the baseline, is at "
        "most this: a share such as 5%, or a number in its unit; may be repeated.",
    ),
]
SelectOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--select",
        help="Replicate until it is known which strategy is cheapest among those that meet the target, "
        "with replications where the doubt is.",
    ),
]
MostOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=3,
        max=MOST_REPLICATIONS,
        help="With --until or --select: replications of a strategy at which to stop anyway.",
    ),
]
ClusterOption: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Make the runs on a Dask cluster: address of its scheduler."),
]
OutOption: TypeAlias = Annotated[Path, typer.Option(help="Folder for results.")]
FreshOption: TypeAlias = Annotated[
    bool,
    typer.Option("--fresh", help="Simulate everything anew; default: runs kept below --out are read."),
]


ConfidenceOption: TypeAlias = Annotated[
    float, typer.Option(min=0.51, max=0.999, help="Probability that the right one is chosen.")
]
BudgetOption: TypeAlias = Annotated[
    int, typer.Option(min=10, help="Replications of one candidate at which to stop undecided.")
]


def selection_rule(question: Question, confidence: float, most: int) -> Selection:
    """How a search judges: the scenario's zones, with the confidence and the budget of the options."""
    rule = question.scenario.experiment.select or Selection()
    return rule.model_copy(update={"confidence": confidence, "most": most})


@contextlib.contextmanager
def run_places(
    title: str,
    progress: ProgressForm,
    jobs: int | None,
    cluster: str | None,
    out: Path,
    fresh: bool,
    scenario: Scenario | None = None,
) -> Iterator[Places]:
    """Where the options have runs made and kept, with their progress under this title; see
    `shown_progress` for `scenario`. Afterwards kept runs that were damaged or foreign are told of.

    InputError if results cannot be written below `out`.
    """
    from sim.experiments.runs import Places
    from sim.experiments.vault import Vault

    check_folder(out)
    vault = None if fresh else Vault(out)
    with shown_progress(progress, title, scenario) as report:
        yield Places(workers(jobs), cluster, vault, report)
    for message in () if vault is None else vault.messages:
        complain(message, "Note")


def with_stopping(question: Question, until: list[str] | None, select: bool, most: int | None) -> Question:
    """The question with the rule that the options give; InputError for one that cannot be."""
    if most is not None and not until and not select:
        rule = "it is a limit for --until or --select"
        experiment = question.scenario.experiment
        if experiment.until is None and experiment.select is None:
            raise InputError(Problem(rule, key="--most", value=most))
    asked = question.scenario.experiment.model_dump(mode="json", exclude_none=True)
    limit = {} if most is None else {"most": most}
    if until:
        asked["until"] = {"half_width": _widths(until), **limit}
    if select:
        asked["select"] = {**asked.get("select", {}), **limit}
    for key in ("until", "select"):
        if key in asked and not until and not select:
            asked[key] = {**asked[key], **limit}
    try:
        experiment = Experiment.model_validate(asked)
    except ValidationError as error:
        raise InputError(_problem(item) for item in error.errors()) from None
    scenario = question.scenario.model_copy(update={"experiment": experiment})
    return dataclasses.replace(question, scenario=scenario)


def _problem(item: Any) -> Problem:
    key = "--" + "-".join(str(part) for part in item["loc"][:1]) if item["loc"] else "--until, --select"
    value = item.get("input")
    shown = value if isinstance(value, str | int | float) else None
    return Problem(str(item["msg"]).removeprefix("Value error, "), key=key, value=shown)


def _widths(until: list[str]) -> dict[str, str]:
    widths: dict[str, str] = {}
    for text in until:
        metric, _, width = text.partition("=")
        check_known("--until", metric, METRICS, "the half-width of an interval is asked of a metric")
        widths[metric] = width
    return widths
