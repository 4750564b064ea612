"""Rows of `fit` with the price of an hour and of a run: what the command prints and the page draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from sim.catalog import Catalog
from sim.catalog.reading import Document, validated
from sim.errors import InputError, Problem
from sim.model.contract import Offer, Plan, PriceChoice
from sim.model.work import JobClass
from sim.physics import FitRow, fit_job
from sim.report.hourly import HourlyPrice, average_hour, hourly_cost

__all__ = ["FitAnswer", "fit_answers", "job_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class FitAnswer:
    """One offer, with the price of an hour and of a run."""

    offer: Offer
    row: FitRow
    price: HourlyPrice | None
    per_hour: float | None
    """Currency an hour for all units that the job takes."""
    cost: float | None
    """Currency a run."""

    def to_json(self) -> dict[str, Any]:
        """The entry of the JSON document of `fleetsim fit`."""
        return {
            **dataclasses.asdict(self.row),
            "shortfall_gib": self.row.shortfall_gib,
            "price_per_hour": self.per_hour,
            "price_working": None if self.price is None else self.price.working,
            "run_cost": self.cost,
            "currency": self.offer.currency,
        }


def fit_answers(
    job: JobClass,
    catalog: Catalog,
    performance: str = "measured",
    price: PriceChoice | None = None,
    plan: Plan | None = None,
) -> list[FitAnswer]:
    """The job on every offer of the catalogue, in its order; an offer has a row for each count asked for.

    `price` is the end of published ranges (default: the middle), `plan` the contract by whose price an
    hour is reckoned (default: the list price). Raises InputError for an unknown performance profile.
    """
    rows = fit_job(job, tuple(catalog.offers.values()), catalog, performance)
    return [_answer(catalog.offers[row.offer], row, price, plan) for row in rows]


def job_of(options: Mapping[str, Any], catalog: Catalog, key: str = "--{}") -> JobClass:
    """The job that options describe; InputError as for a scenario file.

    `key` says how an option is called in the message, with `{}` for its name.
    """
    if options["model"] not in catalog.models:
        rule = "the base model must be one of the catalogue"
        known = tuple(catalog.models)
        raise InputError(Problem(rule, key=key.format("model"), value=options["model"], known=known))
    data = {"name": "the job", "rate": "1/day", **options}
    return validated(JobClass, data, Document("options", data, {}))


def _answer(offer: Offer, row: FitRow, price: PriceChoice | None, plan: Plan | None) -> FitAnswer:
    hour = average_hour(offer, price, plan)
    if hour is None or row.gpus is None:
        return FitAnswer(offer, row, hour, None, None)
    per_hour = float(hourly_cost(offer, row.gpus, hour))
    return FitAnswer(offer, row, hour, per_hour, None if row.hours is None else per_hour * row.hours)
