"""What `fleetsim run` says to programs: one document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.metrics import METRICS
from sim.model.ledger import Charge, Ledger
from sim.model.scenario import Scenario
from sim.replication import RunResult
from sim.units import Micros, hours

__all__ = ["as_json"]

_LocalTime = Callable[[Micros | None], str | None]
"""A moment of the run as local time in ISO 8601."""


def as_json(result: RunResult, scenario: Scenario, seed: int | None) -> dict[str, Any]:
    """The document of `--format json`: times as local time in ISO 8601, money as text in `currency`.

    `seed` None: the scenario's.
    """

    def at(moment: Micros | None) -> str | None:
        return None if moment is None else scenario.local_time(moment).isoformat()

    return {
        "scenario": scenario.name,
        "strategy": result.strategy,
        "replication": result.replication,
        "seed": scenario.experiment.seed if seed is None else seed,
        "metrics": {
            name: {"value": number, "unit": METRICS[name].unit} for name, number in result.metrics.items()
        },
        "jobs": _jobs(result, at),
        "leases": _leases(result, at),
        "failures": _failures(result, at),
        "ledger": _bill(result.ledger),
    }


def _jobs(result: RunResult, at: _LocalTime) -> list[dict[str, Any]]:
    return [
        {
            "job": record.job,
            "name": result.jobs.jobs[record.job].name,
            "state": record.state,
            "submitted": at(result.jobs.jobs[record.job].submit_us),
            "started": at(record.start_us),
            "ended": at(record.end_us),
            "wait_h": hours(record.wait_us),
            "run_h": hours(record.run_us),
            "cards": record.gpus,
            "offer": record.offer,
            "interruptions": record.interruptions,
            "progress": record.progress,
            "reason": record.reason,
        }
        for record in result.log.jobs
    ]


def _leases(result: RunResult, at: _LocalTime) -> list[dict[str, Any]]:
    return [
        {
            "lease": lease.lease,
            "offer": lease.offer,
            "machine": lease.machine,
            "cards": lease.gpus,
            "start": at(lease.start_us),
            "end": at(lease.end_us),
            "busy_card_h": hours(lease.busy_card_us),
            "down_card_h": hours(lease.down_card_us),
            "away_card_h": hours(lease.away_card_us),
            "reserved_card_h": hours(lease.reserved_card_us),
        }
        for lease in result.log.leases
    ]


def _failures(result: RunResult, at: _LocalTime) -> list[dict[str, Any]]:
    return [
        {
            "at": at(failure.at_us),
            "kind": failure.kind,
            "offer": failure.offer,
            "machine": failure.machine,
            "card": failure.card,
            "back": at(failure.back_us),
            "jobs": list(failure.jobs),
            "promise_kept": failure.promise_kept,
        }
        for failure in result.log.failures
    ]


def _bill(ledger: Ledger) -> dict[str, Any]:
    return {
        "currency": ledger.currency,
        "accrued": str(ledger.accrued),
        "committed": str(ledger.committed),
        "cash": str(ledger.cash),
        "charges": [_charge(charge) for charge in ledger.charges],
        "invoices": [
            {"provider": i.provider, "month": i.month, "charges": list(i.charges), "total": str(i.total)}
            for i in ledger.invoices
        ],
        "assumptions": list(ledger.assumptions),
    }


def _charge(charge: Charge) -> dict[str, Any]:
    return {
        "id": charge.id,
        "provider": charge.provider,
        "offer": charge.offer,
        "lease": charge.lease,
        "plan": charge.plan,
        "period": [charge.period_start.isoformat(), charge.period_end.isoformat()],
        "quantity": str(charge.quantity),
        "unit": charge.unit,
        "unit_price": str(charge.unit_price),
        "billed": str(charge.billed_cost),
        "accrued": str(charge.accrued_cost),
        "paid": charge.cash_date.isoformat(),
        "sunk": charge.sunk,
        "rule": charge.rule,
    }
