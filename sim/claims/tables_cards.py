"""The tables of cards that the articles announce under headings and do not give, from the program.

Each is a pandas table with its units in the names of the columns. A size stands for two base models, one
with a small and one with a large vocabulary: `low` and `high` are the lesser and the greater of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sim.claims.bench import Bench
from sim.claims.card_jobs import CardJob, Run, runs_of
from sim.claims.money import MONTH_HOURS, Rent, find_offer, rent_a_month

__all__ = ["fleets_for_tasks", "hours_by_card", "memory_by_model", "one_against_eight"]

_SIZES = ("7B", "13B", "70B")
_JOBS = (("full", 1), ("lora", 1), ("lora", 4), ("qlora8", 1), ("qlora4", 1), ("qlora4", 4))
"""Method and samples of a step."""
_COUNTED = ("RTX3090", "A100-40G", "A100-80G")
_COUNTS = (1, 2, 4, 8)
_BATCHES = (8, 4, 2, 1)
"""Samples of a step that are tried, the largest that fits first."""
_SINGLE = (
    "t4-16g-cloud",
    "v100s-32g-cloud",
    "rtx3090-24g-cloud",
    "a100-40g-cloud",
    "a100-40g-custom",
    "h100-mig",
)
"""Offers of one card."""
_ARTICLE: Mapping[str, Any] = {"samples": 100_000, "epochs": 3}
"""The data set of article s1, section 2.2."""
_ROUND: Mapping[str, Any] = {"samples": 20_000, "epochs": 3, "mean_tokens": 400}
"""A round of tuning 13B (assumed: article s2 names no data set)."""


def memory_by_model(bench: Bench) -> pd.DataFrame:
    """Peak of one card by model, method and batch at 2048 tokens, and how many cards hold it.

    One row a job. `peak_*_gib`: as if one card held it. `cards_CARD`: fewest of 1, 2, 4, 8 cards with
    NVLink (PCIe for the 3090) that hold both models; missing where eight do not.
    """
    rows = []
    for size in _SIZES:
        for method, batch in _JOBS:
            job = _job({"size": size, "method": method, "micro_batch": batch, "gpu": "H100-80G"})
            runs = runs_of(job, bench)
            weights, peaks = [run.parts.weights for run in runs], [run.total_gib for run in runs]
            row: dict[str, Any] = {"model": size, "method": method, "batch": batch}
            row |= {"weights_low_gib": min(weights), "weights_high_gib": max(weights)}
            row |= {"peak_low_gib": min(peaks), "peak_high_gib": max(peaks)}
            rows.append(row | {f"cards_{card}": _fewest(job, card, bench) for card in _COUNTED})
    return pd.DataFrame(rows).astype({f"cards_{card}": "Int64" for card in _COUNTED})


def _fewest(job: CardJob, card: str, bench: Bench) -> int | None:
    link = "pcie4" if card.startswith("RTX") else "nvlink"
    for count in _COUNTS:
        asked = job.model_copy(update={"gpu": card, "gpus": count, "link": link})
        if all(run.fits for run in runs_of(asked, bench)):
            return count
    return None


def hours_by_card(bench: Bench) -> pd.DataFrame:
    """Hours of the articles' data set on one card, by model and offer, and the rent of a run.

    LoRA where the card holds it, else 4-bit QLoRA; the largest batch of 8, 4, 2, 1 that fits both models.
    `full_*_h`: samples fill 2048 tokens; `short_*_h`: they average 200 and are packed. The articles do
    not say which. `short_*_cny`: rent of the short run, where the card works all month. Hours and rents
    are missing where nothing fits.
    """
    rows = []
    for size in _SIZES:
        for name in _SINGLE:
            offer = find_offer(bench, name)
            row: dict[str, Any] = {
                "model": size,
                "offer": name,
                "card": offer.gpu,
                "method": None,
                "batch": None,
            }
            found = _largest({"size": size, "gpu": offer.gpu, **_ARTICLE}, bench)
            if found is not None:
                full = runs_of(found, bench)
                short = runs_of(found.model_copy(update={"mean_tokens": 200.0, "packed": True}), bench)
                row |= {"method": found.method, "batch": found.micro_batch[0]}
                row |= {**_ends("full", full), **_ends("short", short), **_rent(name, 1, short, bench)}
            rows.append(row)
    return pd.DataFrame(rows).astype({"batch": "Int64"})


def _largest(job: Mapping[str, Any], bench: Bench) -> CardJob | None:
    """The job by LoRA, or else by QLoRA, with the largest batch that fits both models."""
    for method in ("lora", "qlora4"):
        for batch in _BATCHES:
            asked = _job({**job, "method": method, "micro_batch": batch})
            if all(run.fits for run in runs_of(asked, bench)):
                return asked
    return None


def _ends(name: str, runs: Sequence[Run]) -> dict[str, float]:
    hours = [run.hours for run in runs]
    return {f"{name}_low_h": min(hours), f"{name}_high_h": max(hours)}


def _rent(offer: str, units: int, runs: Sequence[Run], bench: Bench, name: str = "short") -> dict[str, float]:
    """Rent of a run: its hours of a month's rent, at both ends of the published price."""
    plan = "hourly" if find_offer(bench, offer).price.unit == "hour" else "monthly"
    month = rent_a_month(bench, Rent(offer=offer, count=units, plan=plan))
    hours = [run.hours / MONTH_HOURS for run in runs]
    low, high = float(month.low) * min(hours), float(month.high) * max(hours)
    return {f"{name}_low_cny": low, f"{name}_high_cny": high}


def one_against_eight(bench: Bench) -> pd.DataFrame:
    """A round of LoRA on 13B: one card, the eight-card machine, and eight single cards over 10GbE.

    The round has 20,000 samples of 400 tokens on average and three epochs (assumed), two in a step.
    `speedup`: over one card. `month_*_cny`: rent of a month. `round_*_cny`: rent of a round where the
    cards work all month; `at_10_*_cny`: where they do ten rounds a month. `rounds_a_month`: most that
    they can do. Llama 2 13B, which one card of 40 GB holds.
    """
    single = {"model": "llama-2-13b", "gpu": "A100-40G", "micro_batch": 2, **_ROUND}
    eight = {**single, "gpus": 8, "split": "data parallel"}
    ways: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
        ("one card", "a100-40g-custom", 1, single),
        ("eight-card machine", "a100-40g-8x", 1, eight),
        ("eight single cards", "a100-40g-custom", 8, {**eight, "machines": 8, "network": "10gbe"}),
        ("eight-card machine, waiting for the longest sample", "a100-40g-8x", 1,
         {**eight, "waits_for_longest": True}),
    )  # fmt: skip
    rows = []
    alone = runs_of(_job(single), bench)[0].hours
    for words, offer, units, job in ways:
        runs = runs_of(_job(job), bench)
        month = rent_a_month(bench, Rent(offer=offer, count=units))
        row = {"cards": words, "offer": offer, "units": units, "round_h": runs[0].hours}
        row |= {"speedup": alone / runs[0].hours, "rounds_a_month": MONTH_HOURS / runs[0].hours}
        row |= {"month_low_cny": float(month.low), "month_high_cny": float(month.high)}
        row |= _rent(offer, units, runs, bench, "round")
        row |= {"at_10_low_cny": float(month.low) / 10, "at_10_high_cny": float(month.high) / 10}
        rows.append(row)
    return pd.DataFrame(rows)


def fleets_for_tasks(bench: Bench) -> pd.DataFrame:
    """What fleets hold at one time: jobs on 7B, 13B and 70B, each on its fewest cards, and the month's rent.

    One row a fleet. `jobs_SIZE`: LoRA with one sample of 2048 tokens, on a 16-bit base; `jobs_70B_4bit`:
    QLoRA. 0 where no count of its cards holds the job. Single nodes talk over their network.
    """
    fleets = (("a100-40g-custom", 1), ("a100-40g-custom", 4), ("a100-40g-8x", 1), ("a100-80g-8x", 1),
              ("h100-80g-8x", 1))  # fmt: skip
    rows = []
    for name, units in fleets:
        offer = find_offer(bench, name)
        cards = units * offer.gpus_per_unit
        month = rent_a_month(bench, Rent(offer=name, count=units))
        row: dict[str, Any] = {"offer": name, "units": units, "cards": cards}
        for label, size, method in (
            ("7B", "7B", "lora"),
            ("13B", "13B", "lora"),
            ("70B", "70B", "lora"),
            ("70B_4bit", "70B", "qlora4"),
        ):
            need = _needed(size, method, name, cards, bench)
            row[f"jobs_{label}"] = 0 if need is None else cards // need
        rows.append(row | {"month_low_cny": float(month.low), "month_high_cny": float(month.high)})
    return pd.DataFrame(rows)


def _needed(size: str, method: str, name: str, cards: int, bench: Bench) -> int | None:
    """Fewest cards of a fleet that hold both models of a size."""
    offer = find_offer(bench, name)
    for count in _COUNTS:
        if count > cards:
            return None
        apart = offer.gpus_per_unit == 1 and count > 1
        place = (
            {"machines": count, "link": "none", "network": offer.network} if apart else {"link": offer.link}
        )
        asked = _job({"size": size, "method": method, "gpu": offer.gpu, "gpus": count, **place})
        if all(run.fits for run in runs_of(asked, bench)):
            return count
    return None


def _job(fields: Mapping[str, Any]) -> CardJob:
    return CardJob.model_validate(dict(fields))
