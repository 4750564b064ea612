"""New prices or contracts on a stored run: billed again, replication by replication, not simulated again.

Only what the simulation never read may change. What it read is refused with the key, because the jobs
would have met another fleet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem
from sim.experiments.billable import PENALTY, Billable, money_metrics
from sim.experiments.compare import clocked, conclude, looked_at
from sim.experiments.comparison import Caution, Comparison, Refusal
from sim.experiments.comparison_parts import InputDoubt
from sim.experiments.doubt_frames import doubt_tables
from sim.experiments.input_doubt import doubt_of
from sim.experiments.luck import WARM_UP
from sim.experiments.rebill_checks import refuse_new_runs, refuse_priced_rules, with_changes
from sim.experiments.sample import Sample
from sim.experiments.store import money_tables, run_id, write
from sim.experiments.stored import StoredRun
from sim.experiments.stored_replication import billed, question_of
from sim.experiments.uncertain import TWINS, check_inputs
from sim.load import Question
from sim.model.contract import PriceChoice
from sim.model.job import JobSet
from sim.model.ledger import Ledger
from sim.model.records import RunLog
from sim.model.scenario import Scenario
from sim.replication import RunResult

__all__ = ["Rebilled", "rebill", "save"]


@dataclass(frozen=True, slots=True)
class Rebilled:
    """A run under other prices or contracts, beside the run it came from."""

    source: StoredRun
    changes: tuple[str, ...]
    """The settings, `KEY=VALUE`."""
    comparison: Comparison

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim rebill --format json`: that of `compare`, and how it was before."""
        before = self.source.document
        names = set(MONEY)
        return {
            **self.comparison.to_json(),
            "rebilled_from": self.source.manifest["run_id"],
            "changes": list(self.changes),
            "before": {
                "strategies": [
                    {
                        "name": strategy["name"],
                        "metrics": {
                            name: limits for name, limits in strategy["metrics"].items() if name in names
                        },
                        "meets_target": strategy["meets_target"],
                    }
                    for strategy in before["strategies"]
                ],
                "recommendation": before["recommendation"],
                "price": before["price"],
            },
        }


def rebill(stored: StoredRun, changes: Sequence[str] = (), price: PriceChoice | None = None) -> Rebilled:
    """Bill a stored run with settings such as `strategies.0.leases.0.plan=annual`.

    `price` picks the end of published ranges; None: as the run did. Raises InputError where the
    setting is wrong, changes nothing, or changes what the simulation read.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    if not stored.same_catalog:
        rule = "the catalogue is not the one that this run was made with: run the comparison again"
        raise InputError(Problem(rule, str(stored.folder)))
    before = stored.question
    refuse_priced_rules(stored)
    after = with_changes(stored, changes, price)
    refuse_new_runs(stored, after, changes)
    biller = _Biller(stored, after, _drawer(after))
    samples = [biller.samples(place) for place in range(len(after.scenario.strategies))]
    baseline = str(stored.manifest["baseline"])
    comparison = conclude(
        after,
        samples,
        baseline,
        stored.document["notes"],
        clocked(started, clock, workers=1),
        _refusals(stored),
        _warm_up(stored),
        _doubt(biller, samples, baseline),
    )
    if run_id(comparison) == stored.manifest["run_id"]:
        rule = "these settings change nothing: give --set KEY=VALUE or --price"
        raise InputError(Problem(rule, str(before.path), key="--set"))
    return Rebilled(stored, tuple(changes), comparison)


def save(rebilled: Rebilled, out: Path, charts: Mapping[str, bytes]) -> Path:
    """Write the run below `out`: what money does not touch as it was, `charts` drawn anew by name."""
    comparison, source = rebilled.comparison, rebilled.source
    frames = {**money_tables(comparison), **doubt_tables(comparison)}
    fresh = {f"charts/{name}.png": picture for name, picture in charts.items()}
    written = {
        *(
            "scenario.yaml",
            "comparison.json",
            "trace.csv",
            "catalog.yaml",
            comparison.question.scenario.performance,
        ),
        *(f"{name}.{ending}" for name in frames for ending in ("csv", "parquet")),
    }
    copies = {name: source.read(name) for name in source.manifest["files"] if name not in written}
    said = {"rebilled_from": source.manifest["run_id"], "changes": list(rebilled.changes)}
    return write(comparison, out, frames, {**copies, **fresh}, said)


# -- Billing again ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Biller:
    """Bills the replications of a stored run anew, each with the prices that its own draw of inputs has."""

    stored: StoredRun
    after: Question
    drawer: Callable[[int], Question]
    ledgers: dict[Any, Ledger] = field(default_factory=dict)
    """Most leases come and go at the same times in all replications: they are billed once."""

    def samples(self, place: int, twins: bool = False) -> list[Sample]:
        """The replications of a strategy, or their twins: metrics as they were, but for those of money."""
        name = self.after.scenario.strategies[place].name
        table = self.stored.table("twins" if twins else "replications")
        rows = table[table["strategy"] == name]
        names = [column for column in table.columns if column not in ("strategy", "replication")]
        values = {
            column: [None if cell != cell else cell for cell in rows[column].tolist()] for column in names
        }
        found: list[Sample] = []
        for number, billable in enumerate(self.stored.billables(name, twins)):
            question = self.drawer(number)
            ledger = self._ledger(question, place, number, billable)
            metrics = {column: values[column][number] for column in names}
            metrics |= money_metrics(billable, ledger, question.scenario, metrics.get(PENALTY))
            whole = number == 0 and not twins
            detail = _detail(self.stored, name, question.scenario, ledger, metrics) if whole else None
            of_run = number + (TWINS if twins else 0)
            found.append(Sample(name, of_run, metrics, (), {}, ("", ""), None, billable, detail))
        return found

    def _ledger(self, question: Question, place: int, number: int, billable: Billable) -> Ledger:
        draw = None if self.after.scenario.uncertain is None else number
        rented = place, draw, billable.rows, tuple(billable.absences.items())
        if rented not in self.ledgers:
            self.ledgers[rented] = billed(question, place, billable)
        return self.ledgers[rented]


def _drawer(question: Question) -> Callable[[int], Question]:
    """The question of each replication; the same for all where no input is uncertain."""
    if question.scenario.uncertain is None:
        return lambda _: question
    check_inputs(question)
    found: dict[int, Question] = {}

    def of(number: int) -> Question:
        if number not in found:
            found[number] = question_of(question, number)
        return found[number]

    return of


def _doubt(biller: _Biller, samples: Sequence[Sequence[Sample]], baseline: str) -> InputDoubt | None:
    """Luck and doubt apart, with the twins billed anew too; None where all inputs are known."""
    after = biller.after
    if after.scenario.uncertain is None:
        return None
    if "twins.parquet" not in biller.stored.manifest["files"]:
        rule = "the run was made before twins were kept in its folder: run the comparison again"
        raise InputError(Problem(rule, str(biller.stored.folder), key="uncertain"))
    twins = [biller.samples(place, twins=True) for place in range(len(samples))]
    return doubt_of(after, samples, twins, baseline, looked_at(after))


def _warm_up(stored: StoredRun) -> list[Caution]:
    """What was said of the warm-up: it stands on the waits, which no price changes."""
    told = (one for one in stored.document["warnings"] if one["kind"] == WARM_UP)
    return [Caution(one["kind"], one["strategy"], one["text"]) for one in told]


def _detail(
    stored: StoredRun, strategy: str, scenario: Scenario, ledger: Ledger, metrics: dict[str, float | None]
) -> RunResult:
    """Replication 0 as far as money goes; its jobs stay in the tables of the stored run."""
    log = RunLog(scenario.horizon_us, (), (), stored.leases(strategy), ())
    return RunResult(strategy, 0, JobSet((), ()), log, ledger, metrics)


def _refusals(stored: StoredRun) -> dict[str, tuple[Refusal, ...]]:
    return {
        strategy["name"]: tuple(
            Refusal(one["job_class"], one["reason"], one["jobs"]) for one in strategy["refused"]
        )
        for strategy in stored.document["strategies"]
    }


MONEY = (
    "committed_cost_cny",
    "cost_cny",
    "owed_after_cny",
    "cash_cny",
    "cost_per_month_cny",
    "cost_per_job_cny",
)
"""Metrics that the document shows before and after."""
