"""The headline tables that cards decide: memory, hours, and the rent of a run, by the physics."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sim.claims.bench import Bench
from sim.claims.card_inputs import METHOD_NAMES
from sim.claims.card_jobs import MEMORY_ERROR, SPEED_ERROR, CardJob, runs_of
from sim.claims.computations_runs import RUNS
from sim.claims.headline import Headline, price_ladder, span, teams, thresholds
from sim.claims.money import find_offer
from sim.claims.tables_cards import fleets_for_tasks, hours_by_card, memory_by_model, one_against_eight

__all__ = ["HEADLINES"]

_PLANS = (
    ("13B", "lora", "a100-40g-8x", 8),
    ("70B", "qlora4", "a100-40g-8x", 8),
    ("70B", "lora", "a100-40g-8x", 8),
    ("70B", "lora", "a100-80g-8x", 8),
    ("70B", "lora", "h100-80g-8x", 8),
)
"""Size, method, offer and cards of the runs on whole machines that the articles speak of."""

_DATA = (
    "100,000 samples, 3 passes, rank 16, base models of a small and a large vocabulary, the largest batch "
    "that fits both; samples average 200 tokens and are packed (assumed), or all have 2,048: not stated."
)
_SHAPE = (
    "2,048 tokens, rank 16 on all linear layers, checkpointing, base models of a small and a large "
    "vocabulary; fewest of 1, 2, 4 and 8 cards that hold both."
)
_CARD_HEADS = (
    "Model", "Card", "Method", "Batch", "Hours, 200 tokens", "Hours, 2,048 tokens", "Rent at 200 tokens, CNY",
)  # fmt: skip
_ROUND_HEADS = (
    "Cards", "Hours", "Times as fast", "Rent of the round, busy all month, CNY", "At ten rounds a month, CNY",
)  # fmt: skip
_ONE_SAMPLE = (
    "LoRA with one sample of 2,048 tokens in a step on a 16-bit base, or 4-bit QLoRA; 0: no count of the "
    "fleet's cards holds it."
)
_ROUND = (
    "20,000 samples of 400 tokens on average, 3 passes, two samples in a step (assumed: the article names no "
    "data set)."
)
_MEMORY = f"Two published peaks in three lie within {MEMORY_ERROR:.0%} of the model (docs/validation.md)."
_SPEED = f"Two published speeds in three lie within {SPEED_ERROR:.0%} of the model (docs/validation.md)."


def memory_table(bench: Bench) -> Headline:
    """Peak of one card by model, method and batch, and how many cards hold it."""
    frame = memory_by_model(bench)
    rows = [
        (
            f"{row.model} {METHOD_NAMES[row.method]}",
            str(row.batch),
            span(row.weights_low_gib, row.weights_high_gib, 1),
            span(row.peak_low_gib, row.peak_high_gib, 1),
            *(_count(row[name]) for name in frame.columns if name.startswith("cards_")),
        )
        for _, row in frame.iterrows()
    ]
    cards = [name.removeprefix("cards_") for name in frame.columns if name.startswith("cards_")]
    return Headline(
        "Memory, and how many cards hold it",
        "S0 2.1, S1 2.1 and S2 3.1 (headings without a table)",
        ("Job", "Batch", "Weights, GiB", "Peak of one card, GiB", *(f"Cards {card}" for card in cards)),
        tuple(rows),
        (
            _SHAPE,
            _MEMORY,
        ),
    )


def card_hours(bench: Bench) -> Headline:
    """Hours of the articles' data set on one card, and the rent of a run."""
    rows = []
    for _, row in hours_by_card(bench).iterrows():
        cells = (row.model, f"{row.card} ({row.offer})")
        if not isinstance(row.method, str):
            rows.append((*cells, "nothing fits", "", "", "", ""))
            continue
        rows.append(
            (
                *cells,
                METHOD_NAMES[row.method],
                str(row.batch),
                span(row.short_low_h, row.short_high_h, 1),
                span(row.full_low_h, row.full_high_h, 1),
                span(row.short_low_cny, row.short_high_cny),
            )
        )
    return Headline(
        "Hours and rent of one run on one card",
        "S1 2.2 and 2.1 (7B in 4 to 6 h), S2 3.2 (13B in 8 h)",
        _CARD_HEADS,
        tuple(rows),
        (_DATA, "LoRA where the card holds it, else 4-bit QLoRA. The card works all the month.", _SPEED),
    )


def fleets(bench: Bench) -> Headline:
    """What fleets hold at one time."""
    frame = fleets_for_tasks(bench)
    names = [name for name in frame.columns if name.startswith("jobs_")]
    rows = [
        (
            f"{row.units} x {row.offer} ({row.cards} cards)",
            span(row.month_low_cny, row.month_high_cny),
            *(str(row[name]) for name in names),
        )
        for _, row in frame.iterrows()
    ]
    heads = [f"Jobs {name.removeprefix('jobs_').replace('_', ', ')}" for name in names]
    return Headline(
        "What a fleet holds at one time",
        "S0 2.2 (a heading without a table), S0 6 question 2",
        ("Fleet", "CNY a month", *heads),
        tuple(rows),
        (_ONE_SAMPLE,),
    )


def one_or_eight(bench: Bench) -> Headline:
    """A round of LoRA on 13B on one card and on eight."""
    rows = [
        (
            f"{row.cards}: {row.units} x {row.offer}",
            f"{row.round_h:.2f}",
            f"{row.speedup:.2f}",
            span(row.round_low_cny, row.round_high_cny, 1),
            span(row.at_10_low_cny, row.at_10_high_cny),
        )
        for _, row in one_against_eight(bench).iterrows()
    ]
    return Headline(
        "One card or eight for a round of 13B",
        "S2 3.2 (a heading without a table): 7.5 CNY against 42 CNY, 6 to 7 times as fast",
        _ROUND_HEADS,
        tuple(rows),
        (_ROUND, _SPEED),
    )


def _count(cards: object) -> str:
    return str(cards) if isinstance(cards, int) else "more than 8"


def hours_table(bench: Bench) -> Headline:
    """Hours of the articles' data set and the rent of a run, by model and cards."""
    rows = [_hours_row(size, method, offer, cards, bench) for size, method, offer, cards in _PLANS]
    return Headline(
        "Hours and rent of one run on a whole machine",
        "S1 3 no. 2 and 4, S2 3.2 (70B in 12 to 16 h on four cards, 13B in 1.2 h on eight)",
        ("Job", "Cards", "Batch a card", "Hours, 200 tokens a sample", "Hours, 2,048 tokens a sample",
         "Rent at 200 tokens, CNY"),
        tuple(rows),
        (
            _DATA,
            "The cards work all the month; rents by the hour are of begun hours.",
            _SPEED,
        ),
    )  # fmt: skip


def _hours_row(size: str, method: str, offer: str, cards: int, bench: Bench) -> tuple[str, ...]:
    gpu = find_offer(bench, offer).gpu
    cells = (f"{size} {METHOD_NAMES[method]}", f"{cards} x {gpu} ({offer})")
    job = {"size": size, "method": method, "gpu": gpu, "gpus": cards, "mean_tokens": 200, "packed": True}
    for batch in (4, 2, 1):
        runs = runs_of(CardJob.model_validate({**job, "micro_batch": batch}), bench)
        if all(run.fits for run in runs):
            break
    else:
        worst = max(run.total_gib for run in runs)
        return (*cells, "1", f"does not fit: {worst:.1f} GiB of {runs[0].gpu.usable_gib:g}", "", "")
    full = runs_of(
        CardJob.model_validate({**job, "micro_batch": batch, "mean_tokens": None, "packed": False}), bench
    )
    hours = [run.hours for run in runs]
    rents = [RUNS["run_cost"]({"offer": offer, "hours": round(one, 2)}, bench) for one in hours]
    cost = span(min(rent.low or 0.0 for rent in rents), max(rent.high or 0.0 for rent in rents))
    whole = [run.hours for run in full]
    return (*cells, str(batch), _hours(hours), _hours(whole), cost)


def _hours(hours: Sequence[float]) -> str:
    return span(min(hours), max(hours), 1)


HEADLINES: tuple[Callable[[Bench], Headline], ...] = (
    price_ladder,
    thresholds,
    memory_table,
    card_hours,
    hours_table,
    one_or_eight,
    fleets,
    teams,
)
"""In the order in which they are shown."""
