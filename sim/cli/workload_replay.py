"""`fleetsim workload replay`: recorded waits beside simulated ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.cli.charts import write_charts
from sim.cli.console import print_json, print_table, say
from sim.cli.options import FormatOption, OutputFormat, SetOption, check_folder, strategy_number
from sim.cli.workload_record import (
    JobsFile,
    SinceOption,
    StartOption,
    TimezoneOption,
    UntilOption,
    check_policy,
    check_width,
    jobs_of,
    passed_over,
    record_in,
    recorded_waits,
)
from sim.errors import InputError, Problem
from sim.experiments.replay import Distance, Replay, compared, replay_on_cards, replay_on_strategy
from sim.load import load
from sim.workload.wording import counted

__all__ = ["replay_file"]


def replay_file(
    file: JobsFile,
    cards: Annotated[
        int | None, typer.Option(min=1, help="Cards of the recorded fleet, all alike and without failures.")
    ] = None,
    policy: Annotated[str, typer.Option(metavar="NAME", help="Queue policy on these cards.")] = "fifo",
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Or a scenario whose trace is this file: one of its fleets."),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="Strategy of the scenario; default: the first.")
    ] = None,
    set_: SetOption = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="Where to draw charts as PNG.")
    ] = None,
    start: StartOption = None,
    timezone: TimezoneOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Play recorded jobs on a fleet and show recorded waits beside the simulated ones."""
    if (cards is None) == (scenario is None):
        rule = "a replay needs a fleet: either --cards, or --scenario with the fleets of a scenario"
        raise InputError(Problem(rule, key="--cards" if scenario is None else "--scenario"))
    check_policy(policy)
    if out is not None:
        check_folder(out)
    if scenario is not None:
        played = _on_strategy(file, scenario, set_, strategy)
    else:
        played = _on_cards(file, cards or 0, policy, start, timezone, since, until)
    replay, found = played.replay, compared(played.replay)
    written = [] if out is None else _draw(replay, out)
    if format_ is OutputFormat.JSON:
        document = {"file": str(file), **_document(replay, found), "passed_over": played.over}
        print_json({**document, "charts": [str(path) for path in written]})
        return
    _print(replay, found, file)
    if played.over:
        reasons = "; ".join(f"{count:,} {reason}" for reason, count in played.over.items())
        say(f"Passed over, of {played.rows:,} rows of the file: {reasons}.")
    for path in written:
        say(f"{path}")


@dataclass(frozen=True, slots=True)
class _Played:
    replay: Replay
    rows: int
    """Of the file."""
    over: dict[str, int]
    """Reason -> rows that are not played."""


def _on_strategy(file: Path, scenario: Path, changes: list[str] | None, strategy: str | None) -> _Played:
    """The jobs as a scenario plays its trace, on the fleet of one of its strategies."""
    question = load(scenario, changes or ())
    if question.scenario.workload.trace is None:
        rule = "the scenario replays no trace"
        raise InputError(Problem(rule, str(scenario), key="workload.trace"))
    jobs, _ = jobs_of(file)
    number = strategy_number(question, strategy)
    replay = replay_on_strategy(question, number, recorded_waits(jobs))
    beyond = "beyond the horizon, or not what the scenario asks of its trace (since, until, teams, scale)"
    return _Played(replay, len(jobs), passed_over(jobs, 0, len(replay.submit_h), beyond))


def _on_cards(
    file: Path,
    cards: int,
    policy: str,
    start: str | None,
    timezone: str | None,
    since: str | None,
    until: str | None,
) -> _Played:
    """The jobs of a window of the record, on so many cards alike and without failures."""
    jobs, about = jobs_of(file)
    record = record_in((jobs, about), file, start, timezone, since, until)
    check_width(cards, int(record.gpus.max()))
    replay = replay_on_cards(record, cards, policy)
    beyond = "submitted outside of --since and --until"
    return _Played(replay, len(jobs), passed_over(jobs, record.left_out, len(record), beyond))


def _print(replay: Replay, found: Distance | None, file: Path) -> None:
    say(f"{file}: {counted(len(replay.submit_h))} on {replay.fleet}")
    if found is None:
        figures = _plain(replay)
        print_table(("wait", "simulated h"), [(name, f"{value:.4g}") for name, value in figures.items()])
        say("The record has no waits: nothing says how well this repeats the past.")
        return
    rows = [("mean", f"{found.mean_recorded_h:.4g}", f"{found.mean_simulated_h:.4g}")]
    rows += [(f"{100 * q:g} %", f"{a:.4g}", f"{b:.4g}") for q, (a, b) in found.quantiles.items()]
    print_table(("wait", "recorded h", "simulated h"), rows)
    say(
        f"Of {counted(found.jobs)} both are known. Kolmogorov-Smirnov distance "
        f"{found.kolmogorov_smirnov:.3f} (largest difference in the share of jobs that waited "
        f"at most so long); Wasserstein distance {found.wasserstein_h:.3g} h (mean shift of a wait)."
    )
    if found.spearman is not None:
        say(f"Rank correlation of the two waits of a job: {found.spearman:.2f}.")


def _plain(replay: Replay) -> dict[str, float]:
    """Mean and quantiles of the simulated waits, hours; empty where no job began."""
    import numpy as np

    hours = replay.simulated_h[~np.isnan(replay.simulated_h)]
    if not len(hours):
        return {}
    found = {"mean": float(hours.mean())}
    return {**found, **{f"{100 * q:g} %": float(np.quantile(hours, q)) for q in (0.5, 0.95, 0.99)}}


def _document(replay: Replay, found: Distance | None) -> dict[str, Any]:
    document: dict[str, Any] = {
        "fleet": replay.fleet,
        "jobs": len(replay.submit_h),
        "jobs_with_recorded_wait": replay.known,
        "simulated_h": _plain(replay),
    }
    if found is None:
        return {**document, "distance": None}
    return {
        **document,
        "distance": {
            "jobs": found.jobs,
            "mean_recorded_h": found.mean_recorded_h,
            "mean_simulated_h": found.mean_simulated_h,
            "quantiles": [
                {"at": q, "recorded_h": a, "simulated_h": b} for q, (a, b) in found.quantiles.items()
            ],
            "kolmogorov_smirnov": found.kolmogorov_smirnov,
            "wasserstein_h": found.wasserstein_h,
            "spearman": found.spearman,
        },
    }


def _draw(replay: Replay, folder: Path) -> list[Path]:
    from sim.report.plots_replay import render_replay

    return write_charts(render_replay(replay), folder)
