"""`fleetsim compare`: the decision between the strategies of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import (
    FormatOption,
    JobsOption,
    OutputFormat,
    PriceOption,
    ScenarioFile,
    SeedOption,
    SetOption,
    read_question,
    workers,
)
from sim.cli.progress import ProgressForm, shown_progress
from sim.experiments.wording import DASH, value

__all__ = ["compare"]

DECISION = ("committed_cost_cny", "wait_p95_h", "on_time_share", "jobs_refused")
"""Metrics beside the verdict; together they fit 80 columns."""

MONEY = ("cost_cny", "cash_cny", "cost_per_month_cny", "cost_per_job_cny", "cost_per_useful_gpu_h_cny")
SERVICE = (
    "wait_mean_h",
    "wait_p50_h",
    "busy_share",
    "useful_share",
    "lost_gpu_h",
    "interruptions",
    "burst_gpu_h",
)
CHANGES = ("committed_cost_cny", "wait_p95_h", "on_time_share", "busy_share")

HEADERS: Mapping[str, str] = {
    "committed_cost_cny": "Committed\ncost",
    "wait_p95_h": "Wait\np95",
    "on_time_share": "On\ntime",
    "jobs_refused": "Refused",
    "cost_cny": "Accrued\ncost",
    "cash_cny": "Paid in\nthe time",
    "cost_per_month_cny": "Cost a\nmonth",
    "cost_per_job_cny": "Cost a\njob",
    "cost_per_useful_gpu_h_cny": "Cost a useful\ncard-h",
    "wait_mean_h": "Wait\nmean",
    "wait_p50_h": "Wait\nmedian",
    "busy_share": "Cards\nbusy",
    "useful_share": "Useful\nwork",
    "lost_gpu_h": "Lost\ncard-h",
    "interruptions": "Stops by\nfailure",
    "burst_gpu_h": "Hourly\ncard-h",
}


def compare(
    file: ScenarioFile,
    set_: SetOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Strategy that the others are compared with; default: the first."),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(min=1, help="Runs a strategy, each with its own luck; default: the scenario's."),
    ] = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path("outputs"),
    format_: FormatOption = OutputFormat.TEXT,
    price: PriceOption = None,
    progress: Annotated[ProgressForm, typer.Option(hidden=True)] = ProgressForm.AUTO,
) -> None:
    """Simulate every strategy of a scenario on the same jobs and failures, and say which to rent."""
    from sim.experiments.compare import compare as compare_strategies
    from sim.experiments.store import save
    from sim.report.plots import render

    question = read_question(file, set_, price)
    with shown_progress(progress, "simulating") as report:
        comparison = compare_strategies(
            question,
            replications=replications,
            seed=seed,
            baseline=baseline,
            workers=workers(jobs),
            progress=report,
        )
    document = comparison.to_json()
    folder = save(comparison, out, render(comparison))
    if format_ is OutputFormat.JSON:
        print_json({**document, "folder": str(folder)})
        return
    _print_text(document)
    heading("Files")
    say(f"{folder}/ holds comparison, metrics, jobs, leases, failures and ledger as tables, and charts.")


def _print_text(document: Mapping[str, Any]) -> None:
    runs, seed, level = document["replications"], document["seed"], document["confidence_level"]
    say(document["scenario"], style="bold")
    say(f"{document['start'][:10]} to {document['end'][:10]}, {runs} replications a strategy, seed {seed}")
    heading("Decision")
    say(_decision(document["recommendation"]))
    heading(f"Strategies (mean; below it, half of its {100 * level:g} % interval)")
    columns = ("Strategy", *(HEADERS[name] for name in DECISION), "Target", "Pareto")
    print_table(columns, [_verdict_row(strategy) for strategy in document["strategies"]])
    for names in (MONEY, SERVICE):
        say()
        print_table(("Strategy", *(HEADERS[name] for name in names)), _rows(document, names))
    _print_differences(document)
    for title, texts in (
        ("Warnings", [_caution(warning) for warning in document["warnings"]]),
        ("Notes", document["notes"]),
        ("Assumptions", document["assumptions"]),
    ):
        if texts:
            heading(title)
            for text in texts:
                say(f"- {text}")


def _decision(recommendation: Mapping[str, Any]) -> str:
    reason = str(recommendation["reason"])
    reason = f"{reason[0].upper()}{reason[1:]}"
    confidence = recommendation["confidence"]
    if confidence is None:
        return f"{reason} How sure that is, is not known: {recommendation['confidence_method']}."
    return f"{reason} Confidence: {100 * confidence:.0f} % ({recommendation['confidence_method']})."


def _verdict_row(strategy: Mapping[str, Any]) -> tuple[str, ...]:
    cells = (_cell(strategy["metrics"].get(name)) for name in DECISION)
    return (strategy["name"], *cells, strategy["target"]["status"], "yes" if strategy["pareto"] else "no")


def _rows(document: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, ...]]:
    return [
        (strategy["name"], *(_cell(strategy["metrics"].get(name)) for name in names))
        for strategy in document["strategies"]
    ]


def _print_differences(document: Mapping[str, Any]) -> None:
    found: dict[str, dict[str, Any]] = {}
    for difference in document["differences"]:
        found.setdefault(difference["strategy"], {})[difference["metric"]] = difference
    if found:
        heading(f"Against {document['baseline']} (same jobs, same failures)")
        rows = [(name, *(_cell(row.get(metric), "+") for metric in CHANGES)) for name, row in found.items()]
        print_table(("Strategy", *(HEADERS[metric] for metric in CHANGES)), rows)


def _cell(limits: Mapping[str, Any] | None, plus: str = "") -> str:
    """Mean, and on a line of its own half the interval where there is one."""
    if limits is None or limits["mean"] is None:
        return DASH
    mean, low, high = (limits[key] for key in ("mean", "low", "high"))
    unit = "" if limits["unit"] == "GPU-h" else str(limits["unit"]).partition("/")[0]  # the heading says it
    text = (plus if mean > 0 else "") + value(mean, unit)
    if low is None or high is None or low == high:
        return text
    return f"{text}\n± {value((high - low) / 2, unit)}"


def _caution(warning: Mapping[str, Any]) -> str:
    return f"{warning['strategy']}: {warning['text']}" if warning["strategy"] else str(warning["text"])
