"""`fleetsim catalog`: what can be rented and what is known about it, each with its source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from sim.billing.rounding import show_factor
from sim.catalog import Catalog, ReliabilityProfile, load_catalog
from sim.cli.console import bullets, print_json, print_table, say
from sim.cli.options import CatalogOption, FormatOption, OutputFormat
from sim.experiments.wording import DASH
from sim.model.base import Strict
from sim.model.contract import Offer, PlanTerms
from sim.model.hardware import Gpu, LanguageModel
from sim.model.terms import plan_months

__all__ = ["catalog"]

Row = Sequence[object]


class Part(StrEnum):
    """Parts of the catalogue."""

    OFFERS = "offers"
    GPUS = "gpus"
    MODELS = "models"
    RELIABILITY = "reliability"


@dataclass(frozen=True, slots=True)
class View:
    """How one part of the catalogue is shown."""

    items: Callable[[Catalog], Mapping[str, Strict]]
    columns: tuple[str, ...]
    rows: Callable[[Any], Iterable[Row]]
    text: tuple[int, ...]
    sources: Callable[[Any], Iterable[str]]


def catalog(
    part: Annotated[Part, typer.Argument(help="Which part to show.")] = Part.OFFERS,
    find: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="Only entries with this text in any field, such as a100 or nvlink."
        ),
    ] = "",
    own: CatalogOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Show the catalogue: offers with prices, cards, base models and failure profiles, with sources."""
    view = VIEWS[part]
    found = {
        name: item
        for name, item in view.items(load_catalog(own)).items()
        if any(find.casefold() in text.casefold() for text in _texts(item))
    }
    if format_ is OutputFormat.JSON:
        print_json({part.value: [item.model_dump(mode="json") for item in found.values()]})
        return
    if not found:
        say(f"No entry of {part.value} has the text {find!r}.")
        return
    print_table(view.columns, [row for item in found.values() for row in view.rows(item)], view.text)
    by_source: dict[str, list[str]] = {}
    for name, item in found.items():
        for source in view.sources(item):
            by_source.setdefault(source, []).append(name)
    bullets("Sources", (f"{', '.join(names)}: {source}" for source, names in by_source.items()))


def _texts(value: object) -> Iterable[str]:
    """Every value within one entry, keys of tables (plans) too; not the names of fields: `mig` is one."""
    if isinstance(value, Strict):
        for _, field in value:
            yield from _texts(field)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (str(key), *_texts(inner))
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from _texts(inner)
    else:
        yield str(value)


def _offer_row(offer: Offer) -> Iterable[Row]:
    price = offer.price
    money = f"{price.low:,f}" if price.low == price.high else f"{price.low:,f} - {price.high:,f}"
    plans = ", ".join(_plan(offer, plan, terms) for plan, terms in offer.plans.items())
    cards = f"{offer.gpus_per_unit} x {offer.gpu}"
    yield offer.id, cards, f"{money} {offer.currency}\na unit and {price.unit}", plans, offer.status


def _plan(offer: Offer, plan: str, terms: PlanTerms) -> str:
    """What a plan costs as the source states it: its factor on the list price, or the price of a period."""
    assumed = " (assumed)" if terms.assumed else ""
    if terms.price is None:
        return f"{plan} x {show_factor(terms.multiplier)}{assumed}"
    months = plan_months(plan)
    span = {1: "a month", 12: "a year"}.get(months, f"for {months} months")
    return f"{plan}: {terms.price:,.2f} {offer.currency} {span}{assumed}"


def _gpu_row(gpu: Gpu) -> Iterable[Row]:
    speed = (f"{gpu.bandwidth_gb_s:,g}", f"{gpu.tflops:,g}")
    yield gpu.id, f"{gpu.memory_gib:g}", f"{gpu.usable_gib:g}", *speed, gpu.mig or DASH, gpu.card_class


def _model_row(model: LanguageModel) -> Iterable[Row]:
    heads = f"{model.heads} ({model.kv_heads})"
    yield model.id, f"{model.params / 1e9:.2f}", model.layers, f"{model.hidden:,}", heads, f"{model.vocab:,}"


def _reliability_rows(profile: ReliabilityProfile) -> Iterable[Row]:
    if not profile.classes:
        yield profile.name, "all", *([DASH] * len(KINDS))
    for card_class, times in profile.classes.items():
        cells = (times.get(kind) for kind in KINDS)
        shown = (DASH if t is None else f"{t.hours:,.0f}{' *' if t.assumed else ''}" for t in cells)
        yield profile.name, card_class, *shown


def _reliability_sources(profile: ReliabilityProfile) -> Iterable[str]:
    yield profile.description
    yield from dict.fromkeys(time.source for times in profile.classes.values() for time in times.values())


KINDS = ("gpu_reset", "gpu_fatal", "node", "network", "ecc_uncorrectable", "silent_corruption")

VIEWS: Mapping[Part, View] = {
    Part.OFFERS: View(
        lambda catalog: catalog.offers,
        ("Offer", "A unit", "List price", "Plans", "Price is"),
        _offer_row,
        (0, 1, 3, 4),
        lambda offer: [f"{offer.source}; read {offer.date}"],
    ),
    Part.GPUS: View(
        lambda catalog: catalog.gpus,
        ("Card", "Memory\nGiB", "Usable\nGiB", "Memory\nGB/s", "16-bit\nTFLOP/s", "MIG\nslices", "Fails\nas"),
        _gpu_row,
        (0, 6),
        lambda gpu: [gpu.source],
    ),
    Part.MODELS: View(
        lambda catalog: catalog.models,
        ("Model", "Parameters\n10^9", "Layers", "Hidden", "Heads\n(KV)", "Vocabulary"),
        _model_row,
        (0,),
        lambda model: [model.source],
    ),
    Part.RELIABILITY: View(
        lambda catalog: catalog.reliability,
        (
            "Profile",
            "Cards",
            "Card reset\nh (* assumed)",
            "Card fatal\nh",
            "Machine\nh",
            "Network\nh",
            "of which\nmemory, h",
            "Silent\nh",
        ),
        _reliability_rows,
        (0, 1),
        _reliability_sources,
    ),
}
"""Mean times between failures are of a card for resets and fatal ones, of a machine for the others."""
