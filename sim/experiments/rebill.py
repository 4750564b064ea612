"""New prices or contracts on a stored run: billed again, replication by replication, not simulated again.

Only what the simulation never read may change. What it read is refused with the key, because the jobs
would have met another fleet.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sim.billing import bill
from sim.decisions.placement import PLACEMENTS
from sim.errors import InputError, Problem
from sim.experiments.billable import MONEY_METRICS, PENALTY, Billable, money_metrics, records_of
from sim.experiments.compare import clocked, conclude
from sim.experiments.comparison import Caution, Comparison, Refusal
from sim.experiments.luck import WARM_UP
from sim.experiments.sample import Sample
from sim.experiments.store import money_tables, run_id, write
from sim.experiments.stored import StoredRun
from sim.load import Question, load
from sim.model.contract import PriceChoice
from sim.model.job import JobSet
from sim.model.ledger import Ledger
from sim.model.records import RunLog
from sim.model.scenario import Scenario, Strategy
from sim.replication import RunResult, fleet_plan, used_offers

__all__ = ["Rebilled", "rebill", "save"]

FREE = ("name", "currency", "exchange", "terms", "experiment.confidence")
"""Keys of a scenario that jobs, engine and metrics of service never read; those of the strategies are
free as far as they leave the fleet plan, which is all that the engine knows of a strategy, as it was."""


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
    _refuse_priced_rules(stored)
    after = _changed(stored, changes, price)
    _refuse_new_runs(stored, after, changes)
    samples = [_billed(stored, after, strategy) for strategy in after.scenario.strategies]
    comparison = conclude(
        after,
        samples,
        str(stored.manifest["baseline"]),
        stored.document["notes"],
        clocked(started, clock, workers=1),
        _refusals(stored),
        _warm_up(stored),
    )
    if run_id(comparison) == stored.manifest["run_id"]:
        rule = "these settings change nothing: give --set KEY=VALUE or --price"
        raise InputError(Problem(rule, str(before.path), key="--set"))
    return Rebilled(stored, tuple(changes), comparison)


def save(rebilled: Rebilled, out: Path, charts: Mapping[str, bytes]) -> Path:
    """Write the run below `out`: what money does not touch as it was, `charts` drawn anew by name."""
    comparison, source = rebilled.comparison, rebilled.source
    frames = money_tables(comparison)
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


def _changed(stored: StoredRun, changes: Sequence[str], price: PriceChoice | None) -> Question:
    question = load(stored.folder / "scenario.yaml", changes, stored.question.catalog)
    return dataclasses.replace(question, price=price or stored.question.price)


# -- What the simulation read --------------------------------------------------------------------


def _refuse_priced_rules(stored: StoredRun) -> None:
    """InputError if the runs are no plain replications, or their number was chosen by the old prices."""
    experiment, key = stored.question.scenario.experiment, None
    other = [] if stored.question.scenario.uncertain is None else ["uncertain"]
    other += [] if experiment.steady_state is None else ["experiment.steady_state"]
    for name in other:
        rule = "a run of this kind is not billed again: use fleetsim compare, which reads the runs it kept"
        raise InputError(Problem(rule, str(stored.folder), key=name))
    if experiment.select is not None:
        key = "experiment.select"
    elif experiment.until is not None and set(experiment.until.half_width) & set(MONEY_METRICS):
        key = "experiment.until"
    if key is not None:
        rule = "the number of replications was chosen by what they cost: use fleetsim compare"
        raise InputError(Problem(rule, str(stored.folder), key=key))


def _refuse_new_runs(stored: StoredRun, after: Question, changes: Sequence[str]) -> None:
    before = stored.question
    keys = [*_read_by_simulation(before, after)]
    if not keys:
        return
    problems: list[Problem] = []
    for change in changes:
        name, _, value = change.partition("=")
        try:
            alone = _changed(stored, [change], after.price)
        except InputError:  # it needs the others; what they do together is said below
            continue
        if any(_read_by_simulation(before, alone)):
            problems.append(_new_run(stored, name.strip(), value.strip(), alone))
    if not problems:
        problems = [_new_run(stored, key, None, after) for key in keys]
    raise InputError(problems)


def _new_run(stored: StoredRun, key: str, value: str | None, after: Question) -> Problem:
    rule = "the simulation or its metrics of service read this: use fleetsim compare"
    by_price = [
        new.name
        for old, new in zip(stored.question.scenario.strategies, after.scenario.strategies, strict=False)
        if PLACEMENTS[new.placement].by_price and _plan(stored.question, old) != _plan(after, new)
    ]
    if by_price:
        rule = f"the placement rule of {by_price[0]!r} reads prices: use fleetsim compare"
    return Problem(rule, str(stored.folder), key=key, value=value)


def _read_by_simulation(before: Question, after: Question) -> Iterator[str]:
    """Keys that differ and that jobs, engine, physics or metrics of service read."""
    old, new = before.scenario, after.scenario
    changed = list(_differences(old.model_dump(), new.model_dump()))
    for key in changed:
        if not key.startswith("strategies") and not any(key == f or key.startswith(f"{f}.") for f in FREE):
            yield key
    names = [strategy.name for strategy in old.strategies]
    if names != [strategy.name for strategy in new.strategies]:
        yield "strategies"
        return
    offers = used_offers(before).keys() == used_offers(after).keys()
    for number, (one, other) in enumerate(zip(old.strategies, new.strategies, strict=True)):
        if _plan(before, one) != _plan(after, other) or not offers:
            here = [key for key in changed if key.startswith(f"strategies.{number}.")]
            yield from here or (["--price"] if before.price != after.price else changed)


def _plan(question: Question, strategy: Strategy) -> Any:
    return fleet_plan(question.scenario, strategy, question.catalog, question.price)


def _differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Dotted paths at which two trees of mappings, lists and values differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _differences(old.get(key), new.get(key), f"{path}.{key}".strip("."))
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, f"{path}.{number}")
    elif old != new:
        yield path


# -- Billing again ---------------------------------------------------------------------------------


def _billed(stored: StoredRun, after: Question, strategy: Strategy) -> list[Sample]:
    """The replications of a strategy: their metrics as they were, but for those of money."""
    scenario = after.scenario
    table = stored.table("replications")
    rows = table[table["strategy"] == strategy.name]
    names = [name for name in table.columns if name not in ("strategy", "replication")]
    values = {name: [None if cell != cell else cell for cell in rows[name].tolist()] for name in names}
    ledgers: dict[Any, Ledger] = {}
    samples: list[Sample] = []
    for number, billable in enumerate(stored.billables(strategy.name)):
        # Most leases come and go at the same times in all replications: they are billed once.
        rented = billable.rows, tuple(billable.absences.items())
        if rented not in ledgers:
            ledgers[rented] = _bill(after, strategy, billable)
        ledger = ledgers[rented]
        metrics = {name: values[name][number] for name in names}
        metrics |= money_metrics(billable, ledger, scenario, metrics.get(PENALTY))
        detail = _detail(stored, strategy.name, scenario, ledger, metrics) if number == 0 else None
        samples.append(Sample(strategy.name, number, metrics, (), {}, ("", ""), None, billable, detail))
    return samples


def _warm_up(stored: StoredRun) -> list[Caution]:
    """What was said of the warm-up: it stands on the waits, which no price changes."""
    told = (one for one in stored.document["warnings"] if one["kind"] == WARM_UP)
    return [Caution(one["kind"], one["strategy"], one["text"]) for one in told]


def _bill(after: Question, strategy: Strategy, billable: Billable) -> Ledger:
    offers = used_offers(after)
    return bill(records_of(billable, strategy, offers), after.scenario, strategy, offers, after.price)


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
