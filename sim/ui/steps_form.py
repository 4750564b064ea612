"""The sliders of the page `steps`: only points of the grid can be chosen."""

from __future__ import annotations

import streamlit as st

from sim.load import Question
from sim.ui.amounts import month, number
from sim.ui.finance_plans import plan_name
from sim.ui.language import word
from sim.ui.steps_grid import Choice, Spec, planned_growth, plans_alike, when

__all__ = ["ask_choice", "cards_each"]


def ask_choice(question: Question, spec: Spec) -> Choice:
    """The sliders; only computed points can be chosen."""
    each = cards_each(question, spec)
    one, two, three = st.columns(3)
    sizes = [spec.count, *spec.sizes]
    size = one.select_slider(
        word("steps.size"),
        sizes,
        value=2 * spec.count,
        key=f"steps_size_{spec.base}",
        persist_state="session",
        format_func=lambda units: number(units * each),
        help=word("steps.size_help"),
    )
    start = min(5, spec.months[-1])
    at = two.select_slider(
        word("steps.month"),
        list(spec.months),
        value=start,
        key=f"steps_month_{spec.base}",
        persist_state="session",
        format_func=lambda place: month(when(question, place)),
        help=word("steps.month_help"),
    )
    growth = ""
    if spec.growths:
        growth = three.select_slider(
            word("steps.growth"),
            list(spec.growths),
            value=planned_growth(question, spec),
            key=f"steps_growth_{spec.base}",
            format_func=growth_text,
            help=word("steps.growth_help"),
            persist_state="session",
        )
    own = question.scenario.strategy(spec.base).leases[spec.lease].plan
    plans = plans_alike(question, spec)
    left, right = st.columns(2)
    first = left.segmented_control(
        word("steps.first_plan"),
        plans,
        default=own,
        required=True,
        format_func=plan_name,
        key=f"steps_first_{spec.base}",
        persist_state="session",
    )
    added = right.segmented_control(
        word("steps.added_plan"),
        plans,
        default=own,
        required=True,
        format_func=plan_name,
        key=f"steps_added_{spec.base}",
        help=word("steps.plan_help"),
        persist_state="session",
    )
    # What another question left in the session may be no point of this grid.
    return Choice(
        size if size in sizes else 2 * spec.count,
        at if at in spec.months else start,
        growth if growth in (spec.growths or ("",)) else planned_growth(question, spec),
        first if first in plans else own,
        added if added in plans else own,
    )


def growth_text(growth: str) -> str:
    """`3 % a month`."""
    return word("steps.growth_value", percent=growth.removesuffix("%/month"))


def cards_each(question: Question, spec: Spec) -> int:
    """Cards of one unit of what grows."""
    lease = question.scenario.strategy(spec.base).leases[spec.lease]
    return question.catalog.offers[lease.offer].gpus_per_unit
