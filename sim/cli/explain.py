"""`fleetsim explain`: why did this job wait, and why was that one refused?"""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Annotated, Any

import typer

from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import (
    FormatOption,
    OutputFormat,
    PriceOption,
    ScenarioFile,
    SeedOption,
    SetOption,
    StrategyOption,
    read_question,
    strategy_number,
)
from sim.cli.options_detail import ReplicationOption
from sim.experiments.again import detail
from sim.experiments.wording import money, span
from sim.replication import Prepared, RunResult
from sim.report.explain import Story, find_job, longest_of_kinds, longest_waits, story
from sim.report.history import History
from sim.report.refusals import Refused, refused_kinds
from sim.units import hours
from sim.workload.wording import counted

__all__ = ["explain"]

LONGEST, TOLD = 10, 5
"""Waits that are listed without `--job`, and kinds of jobs whose longest wait is told."""


def explain(
    file: ScenarioFile,
    strategy: StrategyOption = None,
    job: Annotated[
        str | None,
        typer.Option(metavar="NAME|NUMBER", help="The job to explain; default: the longest waits."),
    ] = None,
    replication: ReplicationOption = 0,
    set_: SetOption = None,
    seed: SeedOption = None,
    price: PriceOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Tell why jobs waited, were interrupted or refused in one run of one strategy."""
    question = read_question(file, set_, price)
    found = detail(question, strategy_number(question, strategy), replication, seed)
    prepared, result = found.prepared, found.run
    history = History(prepared, result)
    if job is not None:
        told = [story(history, find_job(result, job))]
    else:
        told = [story(history, result.jobs.jobs[record.job]) for record in longest_of_kinds(result, TOLD)]
    wanted = {result.jobs.jobs[one.job].shape for one in told if one.state == "refused"}
    refused = [kind for kind in refused_kinds(prepared, result) if job is None or kind.shape in wanted]
    if format_ is OutputFormat.JSON:
        print_json(_document(prepared, result, told, refused))
        return
    say(f"{question.scenario.name}: strategy {result.strategy}, replication {replication}", style="bold")
    if job is None:
        _print_overview(result)
    for one in told:
        _print_story(prepared, one)
    for kind in refused:
        _print_refused(kind)


def _print_overview(result: RunResult) -> None:
    waited = [record for record in result.log.jobs if record.wait_us > 0 and record.state != "refused"]
    total, refusals = len(result.log.jobs), sum(record.state == "refused" for record in result.log.jobs)
    say(f"{total:,} jobs: {len(waited):,} waited, {refusals:,} were refused.")
    if waited:
        heading("Longest waits")
        jobs, shapes = result.jobs.jobs, result.jobs.shapes
        rows = [
            (
                f"{jobs[r.job].name} (job {r.job})",
                shapes[jobs[r.job].shape].name,
                span(hours(r.wait_us)),
                r.state,
            )
            for r in longest_waits(result, LONGEST)
        ]
        print_table(("Job", "Kind", "Wait", "State"), rows, text=(0, 1, 3))
        say()
        say("The longest wait of each kind of job:")


def _print_story(prepared: Prepared, one: Story) -> None:
    heading(f"{one.name} (job {one.job}, {one.kind})")
    rows = [(_clock(prepared, event.at_us), event.text) for event in one.events]
    print_table(("Time", "What happened"), rows, text=(0, 1))
    say(f"State: {one.state}; {span(hours(one.wait_us))} in the queue, {span(hours(one.run_us))} on cards.")


def _print_refused(kind: Refused) -> None:
    heading(f"Refused: {kind.kind}, {counted(kind.jobs)}")
    say(kind.reason)
    for offer, reason, shortfall in kind.lacks:
        missing = "" if shortfall is None else f" ({shortfall:.1f} GiB short on each card)"
        say(f"- {offer}: {reason}{missing}")
    fit = kind.would_fit
    if fit is None:
        say("No offer of the catalogue can hold it with the numbers of cards that it may take.")
        return
    cards = counted(fit.option.gpus, "card")
    cost = money(float(fit.per_hour), fit.offer.currency)
    say(f"It would fit on {cards} of {fit.offer.id} ({fit.offer.name}), the cheapest such offer: {cost} an")
    say(f"average hour at list price. Way to run: {fit.option.split}.")


def _clock(prepared: Prepared, at_us: int) -> str:
    local: datetime = prepared.question.scenario.local_time(at_us)
    return f"{local:%Y-%m-%d %H:%M:%S}"


def _document(
    prepared: Prepared, result: RunResult, told: list[Story], refused: list[Refused]
) -> dict[str, Any]:
    return {
        "scenario": prepared.question.scenario.name,
        "strategy": result.strategy,
        "replication": result.replication,
        "jobs": [
            {
                "job": one.job,
                "name": one.name,
                "kind": one.kind,
                "state": one.state,
                "wait_h": hours(one.wait_us),
                "run_h": hours(one.run_us),
                "events": [
                    {
                        "at": prepared.question.scenario.local_time(event.at_us).isoformat(),
                        "at_h": hours(event.at_us),
                        "text": event.text,
                    }
                    for event in one.events
                ],
            }
            for one in told
        ],
        "refused": [
            {
                "kind": kind.kind,
                "jobs": kind.jobs,
                "reason": kind.reason,
                "lacks": [
                    {"offer": offer, "reason": reason, "shortfall_gib": shortfall}
                    for offer, reason, shortfall in kind.lacks
                ],
                "would_fit": _fit_document(kind),
            }
            for kind in refused
        ],
    }


def _fit_document(kind: Refused) -> dict[str, Any] | None:
    if kind.would_fit is None:
        return None
    return {
        "offer": kind.would_fit.offer.id,
        "per_hour": float(kind.would_fit.per_hour),
        "currency": kind.would_fit.offer.currency,
        **dataclasses.asdict(kind.would_fit.option),
    }
