"""Records as tables: one function a kind of record, the unit in the name of every column.

Times stand twice: hours since the scenario's start (`_h`) and local time with its offset (`_local`).
Money stays `Decimal`. A value that does not exist is empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pandas as pd

from sim.experiments.charge_columns import CHARGE_COLUMNS, charge_row
from sim.experiments.columns import RUN, Columns, table_of
from sim.model.rates import RunOption
from sim.model.scenario import Scenario
from sim.replication import Prepared, RunResult
from sim.units import SECOND, Micros, hours

__all__ = [
    "attempts_frame",
    "failures_frame",
    "invoices_frame",
    "jobs_frame",
    "leases_frame",
    "ledger_frame",
    "rates_frame",
]

RATES: Columns = (
    ("shape", "text"),
    ("offer", "text"),
    ("fits", "bool"),
    ("gpus", "int"),
    ("several_machines", "bool"),
    ("split", "text"),
    ("memory_gib", "float"),
    ("memory_support", "text"),
    ("tokens_per_s", "float"),
    ("speed_support", "text"),
    ("limited_by", "text"),
    ("startup_s", "float"),
    ("checkpoint_s", "float"),
    ("reason", "text"),
)


def jobs_frame(run: RunResult, scenario: Scenario) -> pd.DataFrame:
    """One row a job submitted before the horizon."""
    columns: Columns = (
        ("job", "int"),
        ("name", "text"),
        ("job_class", "text"),
        ("team", "text"),
        ("priority", "int"),
        ("submit_h", "float"),
        ("submit_local", "text"),
        ("start_h", "float"),
        ("start_local", "text"),
        ("end_h", "float"),
        ("end_local", "text"),
        ("state", "text"),
        ("wait_h", "float"),
        ("run_h", "float"),
        ("gpus", "int"),
        ("offer", "text"),
        ("interruptions", "int"),
        ("progress", "float"),
        ("deadline_h", "float"),
        ("limit_h", "float"),
        ("reason", "text"),
    )
    clock, rows = _Clock(scenario), []
    for record in run.log.jobs:
        job = run.jobs.jobs[record.job]
        rows.append(
            (
                job.id,
                job.name,
                run.jobs.shapes[job.shape].name,
                job.team,
                job.priority,
                *clock.times(job.submit_us, record.start_us, record.end_us),
                record.state,
                hours(record.wait_us),
                hours(record.run_us),
                record.gpus,
                record.offer,
                record.interruptions,
                record.progress,
                _hours(job.deadline_us),
                _hours(job.limit_us),
                record.reason,
            )
        )
    return _frame(run, columns, rows)


def attempts_frame(run: RunResult, scenario: Scenario) -> pd.DataFrame:
    """One row a stay of a job on cards."""
    columns: Columns = (
        ("job", "int"),
        ("offer", "text"),
        ("burst", "bool"),
        ("gpus", "int"),
        ("cards", "text"),
        ("start_h", "float"),
        ("start_local", "text"),
        ("end_h", "float"),
        ("end_local", "text"),
        ("ended", "text"),
        ("startup_h", "float"),
        ("checkpoint_h", "float"),
        ("work_h", "float"),
        ("lost_h", "float"),
        ("voided_card_h", "float"),
        ("share", "float"),
    )
    clock = _Clock(scenario)
    rows = [
        (
            stay.job,
            stay.offer,
            stay.burst,
            len(stay.cards),
            " ".join(map(str, stay.cards)),
            *clock.times(stay.start_us, stay.end_us),
            stay.ended,
            hours(stay.startup_us),
            hours(stay.checkpoint_us),
            hours(stay.work_us),
            hours(stay.lost_us),
            hours(stay.voided_card_us),
            float(stay.share),
        )
        for stay in run.log.attempts
    ]
    return _frame(run, columns, rows)


def leases_frame(run: RunResult, scenario: Scenario) -> pd.DataFrame:
    """One row a machine, from usable to gone; without an end it is leased past the horizon."""
    columns: Columns = (
        ("lease", "text"),
        ("offer", "text"),
        ("machine", "int"),
        ("gpus", "int"),
        ("ordered_h", "float"),
        ("ordered_local", "text"),
        ("start_h", "float"),
        ("start_local", "text"),
        ("end_h", "float"),
        ("end_local", "text"),
        ("busy_card_h", "float"),
        ("down_card_h", "float"),
        ("away_card_h", "float"),
        ("reserved_card_h", "float"),
    )
    clock = _Clock(scenario)
    rows = [
        (
            "burst" if lease.lease < 0 else f"lease {lease.lease}",
            lease.offer,
            lease.machine,
            lease.gpus,
            *clock.times(lease.ordered_us, lease.start_us, lease.end_us),
            hours(lease.busy_card_us),
            hours(lease.down_card_us),
            hours(lease.away_card_us),
            hours(lease.reserved_card_us),
        )
        for lease in run.log.leases
    ]
    return _frame(run, columns, rows)


def failures_frame(run: RunResult, scenario: Scenario) -> pd.DataFrame:
    """One row a failure that hit a leased card or machine."""
    columns: Columns = (
        ("kind", "text"),
        ("offer", "text"),
        ("machine", "int"),
        ("card", "int"),
        ("at_h", "float"),
        ("at_local", "text"),
        ("back_h", "float"),
        ("back_local", "text"),
        ("jobs", "text"),
        ("promise_kept", "bool"),
    )
    clock = _Clock(scenario)
    rows = [
        (
            failure.kind,
            failure.offer,
            failure.machine,
            failure.card,
            *clock.times(failure.at_us, failure.back_us),
            " ".join(map(str, failure.jobs)),
            failure.promise_kept,
        )
        for failure in run.log.failures
    ]
    return _frame(run, columns, rows)


def ledger_frame(run: RunResult) -> pd.DataFrame:
    """One row a charge with all its fields, in the ledger's currency; prices before rounding are exact."""
    rows = [charge_row(charge, run.ledger) for charge in run.ledger.charges]
    return _frame(run, CHARGE_COLUMNS, rows)


def invoices_frame(run: RunResult) -> pd.DataFrame:
    """One row an invoice: a provider and a calendar month of payment."""
    columns: Columns = (
        ("provider", "text"),
        ("month", "text"),
        ("charges", "text"),
        ("total", "decimal"),
        ("currency", "text"),
    )
    rows = [
        (
            invoice.provider,
            invoice.month,
            " ".join(map(str, invoice.charges)),
            invoice.total,
            run.ledger.currency,
        )
        for invoice in run.ledger.invoices
    ]
    return _frame(run, columns, rows)


def rates_frame(prepared: Prepared) -> pd.DataFrame:
    """How every shape of job runs on every offer of the question, or why it does not: what physics said.

    Memory in GiB a card, tokens over all cards, times in seconds; the lesser of the support tags is the
    one to go by.
    """
    rows: list[tuple[Any, ...]] = []
    for index, shape in enumerate(prepared.shapes):
        for offer in prepared.offers:
            options = prepared.rates.options.get((index, offer), ())
            rows += [(shape.name, offer, True, *_rate(option)) for option in options]
            misfit = prepared.rates.misfits.get((index, offer))
            if misfit is not None:
                none = (None, None, "", misfit.needs_gib, "", None, "", "", None, None)
                rows.append((shape.name, offer, False, *none, misfit.reason))
    return table_of(RATES, rows)


def _rate(option: RunOption) -> tuple[Any, ...]:
    return (
        option.gpus,
        option.spans,
        option.split,
        option.memory_gib,
        option.memory_support,
        option.tokens_per_s,
        option.support,
        option.limited_by,
        option.startup_us / SECOND,
        option.checkpoint_us / SECOND,
        "",
    )


def _frame(run: RunResult, columns: Columns, rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    return table_of([*RUN, *columns], [(run.strategy, run.replication, *row) for row in rows])


class _Clock:
    """Turns moments into hours and local time; one a table, for there are many moments."""

    def __init__(self, scenario: Scenario) -> None:
        self._start, self._zone = scenario.start_instant, scenario.zone

    def times(self, *moments: Micros | None) -> list[float | str | None]:
        """Each moment twice: hours since the start, and local time to the second."""
        found: list[float | str | None] = []
        for moment in moments:
            if moment is None:
                found += [None, None]
            else:
                local = (self._start + timedelta(microseconds=moment)).astimezone(self._zone)
                found += [hours(moment), local.isoformat(timespec="seconds")]
        return found


def _hours(moment: Micros | None) -> float | None:
    return None if moment is None else hours(moment)
