"""Owning the cards instead of renting them, with every assumption open, as `fleetsim tco` reckons it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

import pandas as pd
import streamlit as st

from sim.billing.finance.outcomes import Way, outcome
from sim.billing.owning import (
    Figure,
    Owning,
    OwningCost,
    books,
    capital_for,
    own,
    payback_months,
    useful_hours,
)
from sim.billing.owning_presets import PRESETS
from sim.load import Question
from sim.model.contract import Offer
from sim.model.scenario import Lease, Strategy
from sim.replication import used_offers
from sim.ui.amounts import money, number, share
from sim.ui.boxes import whole_box
from sim.ui.chart_series import level_bars
from sim.ui.charts import show_chart
from sim.ui.finance_plans import plan_name, sentence_gap
from sim.ui.finance_source import Source
from sim.ui.finance_work import plans_of, rented
from sim.ui.language import say, word
from sim.ui.names import offer_name

__all__ = ["Rent", "rent_of", "show_owning"]

FORMS: Mapping[str, tuple[float, float, float]] = {
    "capital": (1.0, 1e9, 10_000.0),
    "residual": (0.0, 100.0, 1.0),
    "life_years": (0.5, 30.0, 0.5),
    "rate": (0.0, 100.0, 0.5),
    "power_kw": (0.0, 10_000.0, 0.5),
    "load": (0.0, 100.0, 5.0),
    "pue": (1.0, 5.0, 0.05),
    "power_price": (0.0, 100.0, 0.05),
    "hosting": (0.0, 1e9, 1_000.0),
    "staff": (0.0, 1e9, 1_000.0),
    "spares": (0.0, 100.0, 0.5),
    "network": (0.0, 1e9, 1_000.0),
    "downtime": (0.0, 99.0, 0.5),
    "utilisation": (1.0, 100.0, 1.0),
}
"""Input -> smallest and largest value in the form, and its step; shares in per cent."""

CARD = "A100-40G"
"""The card of the presets: article 002 speaks of eight A100, and of the rent of 40G ones (else assumed)."""

SHARES = frozenset({"residual", "rate", "load", "spares", "downtime", "utilisation"})
PARTS: Mapping[str, str] = {
    "capital recovery": "recovery",
    "power": "power",
    "hosting": "hosting",
    "staff": "staff",
    "spares": "spares",
    "network": "network",
}


@dataclass(frozen=True, slots=True)
class Rent:
    """As many cards, rented for a year."""

    units: int
    cards: int
    year: Decimal
    useful_hours: Decimal


def rent_of(question: Question, lease: Lease, plan: str, inputs: Owning) -> Rent:
    """A year's rent for at least as many cards, used as much as one's own and never down (assumed)."""
    offers = used_offers(question)
    size = offers[lease.offer_id].gpus_per_unit
    units = ceil(Fraction(inputs.cards, size))
    changed = lease.model_copy(update={"plan": plan, "count": units})
    way = Way(plan, question.scenario, Strategy(name=plan, leases=(changed,)), offers, question.price)
    hours = useful_hours(units * size, Decimal(0), inputs.utilisation.value)
    return Rent(units, units * size, outcome(way, 12).cost, hours)


def show_owning(source: Source) -> None:
    """Draw the section."""
    st.caption(say("finance.own_intro"))
    inputs, card = _form(source.question)
    cost = own(inputs)
    beside = _rent(source.question, inputs)
    if beside is not None:
        _answer(source.question, inputs, card, cost, beside)
    _year(cost)
    _assumptions(inputs)


def _form(question: Question) -> tuple[Owning, str]:
    """The inputs, and which card is owned, by its id."""
    left, middle, right = st.columns((2, 2, 1))
    preset = left.selectbox(
        word("finance.preset"),
        list(PRESETS),
        key="finance_preset",
        persist_state="session",
        format_func=lambda one: word(f"finance.preset_{one.replace('-', '_')}"),
        help=word("finance.preset_help"),
    )
    base = PRESETS[preset or "illustration"]
    cards = whole_box(
        word("finance.own_cards"), 1, 1_000, base.cards, key=f"finance_own_cards_{preset}", place=right
    )
    if cards is None:
        st.stop()  # the box has said what is wrong
    known = question.catalog.gpus
    whole = [name for name in known if "/" not in name]
    card = middle.selectbox(
        word("finance.own_card"),
        whole,
        index=whole.index(CARD),
        key="finance_own_card",
        persist_state="session",
        format_func=lambda one: known[one].name,
        help=word("finance.own_card_help"),
    )
    changed: dict[str, Figure] = {}
    columns = st.columns(4)
    for place, (name, (low, high, step)) in enumerate(FORMS.items()):
        figure: Figure = getattr(base, name)
        start = float(figure.value) * (100 if name in SHARES else 1)
        value = columns[place % 4].number_input(
            word(f"finance.own_{name}"),
            low,
            high,
            start,
            step,
            key=f"finance_own_{name}_{preset}",
            format="%.0f" if step >= 1_000 else "%.2f",
            help=word(f"finance.own_{name}_help"),
            persist_state="session",
        )
        if value != start:
            amount = Decimal(str(round(value, 6)))
            changed[name] = Figure(
                value=amount / 100 if name in SHARES else amount, source=word("finance.yours")
            )
    return base.model_copy(update={**changed, "cards": int(cards)}), card or CARD


def _rent(question: Question, inputs: Owning) -> tuple[Offer, str, Rent] | None:
    """What is rented instead: the offer, the plan, and a year of it."""
    fleets = rented(question)
    if not fleets:
        return None
    by_offer = {lease.offer_id: lease for lease in fleets.values()}
    left, right = st.columns(2)
    offer = left.selectbox(
        word("finance.rent_offer"),
        list(by_offer),
        key="finance_rent_offer",
        persist_state="session",
        format_func=lambda one: offer_name(used_offers(question)[one]),
    )
    offer = offer if offer in by_offer else next(iter(by_offer))
    plans = [plan for plan in plans_of(question, by_offer[offer]) if plan != "hourly"]
    if not plans:
        st.info(say("finance.rent_hourly"))
        return None
    plan = right.selectbox(
        word("finance.plan"),
        plans,
        index=len(plans) - 1,
        format_func=plan_name,
        key=f"finance_rent_plan_{offer}",
        persist_state="session",
    )
    plan = plan if plan in plans else plans[-1]
    return used_offers(question)[offer], plan, rent_of(question, by_offer[offer], plan, inputs)


def _differ(question: Question, inputs: Owning, card: str, offer: Offer, rent: Rent) -> str:
    """Why the two sides are not of the same work, safe as Markdown; empty where they are."""
    told = []
    if (inputs.cards, card) != (rent.cards, offer.gpu):
        told.append(say("finance.own_differs"))
    illustrated = Owning().cards, CARD
    if inputs.capital.assumed and (inputs.cards, card) != illustrated:
        whose = f"{illustrated[0]} × {question.catalog.gpus[CARD].name}"
        told.append(say("finance.own_price_of", price=money(float(inputs.capital.value)), cards=whose))
    return sentence_gap().join(told)


def _answer(
    question: Question, inputs: Owning, card: str, cost: OwningCost, beside: tuple[Offer, str, Rent]
) -> None:
    offer, plan, rent = beside
    label = word("finance.rented", units=rent.units, offer=offer_name(offer), plan=plan_name(plan))
    owning, renting = cost.useful_hour, rent.year / rent.useful_hours
    ratio = float(owning / renting) - 1
    values = {
        "own": money(float(cost.total)),
        "rent": money(float(rent.year)),
        "fleet": label,
        "own_hour": money(float(owning), 2),
        "rent_hour": money(float(renting), 2),
        "part": share(abs(ratio)),
    }
    gpus, differ = question.catalog.gpus, _differ(question, inputs, card, offer, rent)
    sides = say(
        "finance.own_sides",
        own=f"{inputs.cards} × {gpus[card].name}",
        price=money(float(inputs.capital.value) / inputs.cards),
        rent=f"{rent.cards} × {gpus[offer.gpu].name}",
    )
    text = say("finance.own_dearer" if ratio > 0 else "finance.own_cheaper", **values)
    show = st.warning if differ else st.success
    show("\n\n".join(filter(None, (text, sides, differ))), icon=":material/home_work:")
    par, months = capital_for(inputs, rent.year), payback_months(inputs, rent.year)
    one, two, three = st.columns(3)
    one.metric(word("finance.own_hour"), money(float(owning), 2), help=word("finance.own_hour_help"))
    two.metric(word("finance.par"), money(None if par is None else float(par)), help=word("finance.par_help"))
    within = months is not None and months <= 12 * inputs.life_years.value
    paid = (
        word("finance.n_months", number=number(float(months or 0), 1))
        if within
        else word("finance.never_pays")
    )
    three.metric(word("finance.payback"), paid, help=word("finance.payback_help"))


def _year(cost: OwningCost) -> None:
    st.subheader(say("finance.own_year"))
    frame = pd.DataFrame(
        [{"who": word(f"finance.part_of_{key}"), "y": float(cost.parts[name])} for name, key in PARTS.items()]
    )
    headings = {"who": word("finance.what"), "y": word("finance.axis_year")}
    show_chart(
        level_bars(frame, headings), "owning", frame.rename(columns=headings), word("finance.own_year")
    )
    st.caption(
        say(
            "finance.own_total",
            total=money(float(cost.total)),
            book=money(float(cost.book_total)),
            depreciation=money(float(cost.depreciation)),
            hours=number(float(cost.useful_hours)),
        )
    )


def _assumptions(inputs: Owning) -> None:
    with st.expander(word("finance.own_books")):
        rows = [
            {
                word("finance.year"): row.year,
                word("finance.opening"): money(float(row.opening)),
                word("finance.depreciation"): money(float(row.depreciation)),
                word("finance.closing"): money(float(row.closing)),
                word("finance.running"): money(float(row.running)),
            }
            for row in books(inputs)
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    with st.expander(word("finance.own_assumed"), expanded=True):
        st.markdown(say("finance.own_assumed_note"))
        for name in FORMS:
            figure: Figure = getattr(inputs, name)
            source = word("finance.assumed_value") if figure.assumed else figure.source
            text = share(float(figure.value)) if name in SHARES else f"{figure.value.normalize():,f}"
            what = word(f"finance.own_{name}")
            st.markdown("- " + say("finance.own_line", what=what, value=text, source=source))
