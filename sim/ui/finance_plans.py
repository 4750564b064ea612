"""Plans by their names, and the form for rate, refund and early end."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import streamlit as st

from sim.ui.boxes import number_box
from sim.ui.finance_work import EndKind, EndRisk, RefundChoice
from sim.ui.language import language, word
from sim.ui.parts import pick

__all__ = ["ask_more", "plan_name", "sentence_gap"]


ENDS: tuple[EndKind, ...] = ("none", "months", "hazard")

REFUNDS: tuple[RefundChoice, ...] = ("contract", "none", "pro-rata", "re-rate", "deposit-less-discounts")


def plan_name(plan: str) -> str:
    """A plan as people call it."""
    if plan in ("hourly", "monthly", "quarterly", "annual"):
        return word(f"finance.plan_{plan}")
    return word("finance.plan_months", number=plan.removesuffix("-months"))


def sentence_gap() -> str:
    """What stands between two sentences."""
    return "" if language() == "zh" else " "


def ask_more(months: int) -> tuple[Decimal, RefundChoice, EndRisk]:
    """Rate, refund and early end."""
    with st.expander(word("finance.more")):
        left, right = st.columns(2)
        rate = number_box(
            word("finance.rate"), 0, 100, 8,
            key="finance_rate", place=left, step=0.5, about=word("finance.rate_help"),
        )  # fmt: skip
        if rate is None:
            st.stop()  # the box has said what is wrong
        refund = pick(right, "finance.refund", REFUNDS, "finance_refund", helped=True)
        kind = pick(left, "finance.end", ENDS, "finance_end")
        if kind == "none":
            return _percent(rate), refund, EndRisk()
        chance = number_box(
            word(f"finance.chance_{kind}"), 0, 100, 30 if kind == "months" else 5,
            key=f"finance_chance_{kind}", place=right,
        )  # fmt: skip
        if chance is None:
            st.stop()
        early: tuple[int, ...] = ()
        if kind == "months":
            picked = left.multiselect(
                word("finance.end_in"),
                range(1, months),
                default=[min(6, max(1, months - 1))] if months > 1 else [],
                key=f"finance_end_in_{months}",
                placeholder=word("form.choose"),
                persist_state="session",
            )
            early = tuple(sorted(picked))
        return _percent(rate), refund, EndRisk(kind, Fraction(_percent(chance)), early)


def _percent(value: float) -> Decimal:
    return Decimal(str(round(value, 6))) / 100
