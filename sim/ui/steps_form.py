"""The sliders of the page `steps`: only points of the grid can be chosen."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.load import Question
from sim.ui.amounts import month, number
from sim.ui.finance_plans import plan_name
from sim.ui.language import word
from sim.ui.steps_grid import Choice, Spec, planned_growth, plans_alike, when

__all__ = ["ask_choice", "cards_each"]


def ask_choice(question: Question, spec: Spec) -> Choice:
    """The sliders; only computed points can be chosen."""
    one, two, three = st.columns(3)
    size = _size(question, spec, one)
    at = _month(question, spec, two)
    growth = _growth(question, spec, three)
    left, right = st.columns(2)
    return Choice(
        size,
        at,
        growth,
        _plan(question, spec, "first", left),
        _plan(question, spec, "added", right, word("steps.plan_help")),
    )


# What another question left in the session may be no point of this grid; then the first answer stands.


def _size(question: Question, spec: Spec, place: DeltaGenerator) -> int:
    """Units after the step."""
    each, sizes, usual = cards_each(question, spec), [spec.count, *spec.sizes], 2 * spec.count
    size = place.select_slider(
        word("steps.size"),
        sizes,
        value=usual,
        key=f"steps_size_{spec.base}",
        persist_state="session",
        format_func=lambda units: number(units * each),
        help=word("steps.size_help"),
    )
    return size if size in sizes else usual


def _month(question: Question, spec: Spec, place: DeltaGenerator) -> int:
    """The month of the step, from 0."""
    usual = min(5, spec.months[-1])
    at = place.select_slider(
        word("steps.month"),
        list(spec.months),
        value=usual,
        key=f"steps_month_{spec.base}",
        persist_state="session",
        format_func=lambda month_at: month(when(question, month_at)),
        help=word("steps.month_help"),
    )
    return at if at in spec.months else usual


def _growth(question: Question, spec: Spec, place: DeltaGenerator) -> str:
    """Growth of the demand a month; empty where the question has none to choose from."""
    if not spec.growths:
        return ""
    usual = planned_growth(question, spec)
    growth = place.select_slider(
        word("steps.growth"),
        list(spec.growths),
        value=usual,
        key=f"steps_growth_{spec.base}",
        format_func=growth_text,
        help=word("steps.growth_help"),
        persist_state="session",
    )
    return growth if growth in spec.growths else usual


def _plan(question: Question, spec: Spec, which: str, place: DeltaGenerator, about: str | None = None) -> str:
    """The plan of the first or of the added cards."""
    own = question.scenario.strategy(spec.base).leases[spec.lease].plan
    plans = plans_alike(question, spec)
    plan = place.segmented_control(
        word(f"steps.{which}_plan"),
        plans,
        default=own,
        required=True,
        format_func=plan_name,
        key=f"steps_{which}_{spec.base}",
        help=about,
        persist_state="session",
    )
    return plan if plan in plans else own


def growth_text(growth: str) -> str:
    """`3 % a month`."""
    return word("steps.growth_value", percent=growth.removesuffix("%/month"))


def cards_each(question: Question, spec: Spec) -> int:
    """Cards of one unit of what grows."""
    lease = question.scenario.strategy(spec.base).leases[spec.lease]
    return question.catalog.offers[lease.offer].gpus_per_unit
