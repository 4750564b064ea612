"""Cash and cost of the strategies by month, their present value, invoices, and the ledger line by line."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import streamlit as st

from sim.billing.finance.presentvalue import CashFlow, net_present_value
from sim.experiments.files import csv_text, slug
from sim.model.ledger import Ledger
from sim.ui.amounts import money, number
from sim.ui.boxes import number_box
from sim.ui.chart_series import bar_chart, headed, line_chart
from sim.ui.charts import show_chart
from sim.ui.finance_source import Source
from sim.ui.finance_work import AFTER, ledger_of, months_of
from sim.ui.language import say, word
from sim.ui.ledger_words import line_rule
from sim.ui.told import lease_name, unit_name

__all__ = ["charges_frame", "pick_strategy", "show_books"]

MOST_SHOWN = 5_000
"""Lines of a table on the page; more are a download."""


def show_books(source: Source) -> None:
    """Draw the section."""
    _strategies(source)
    strategy = pick_strategy(source)
    ledger = ledger_of(source.key, source.question, strategy, source.folder)
    _by_month(source, strategy)
    _invoices(source, ledger)
    _lines(strategy, ledger)


def pick_strategy(source: Source) -> str:
    """The strategy that the section is about."""
    names = [strategy.name for strategy in source.question.scenario.strategies]
    picked = st.selectbox(word("finance.strategy"), names, key="finance_strategy", persist_state="session")
    strategy = picked if picked in names else names[0]
    burst = source.question.scenario.strategies[names.index(strategy)].burst
    if burst is not None and source.folder is None:
        st.info(say("finance.no_burst"))
    return strategy


def _strategies(source: Source) -> None:
    """All strategies side by side, then what they have cost so far, month by month."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    view = left.segmented_control(
        word("finance.basis"),
        ("cash", "cost"),
        default="cash",
        required=True,
        key="finance_basis",
        format_func=lambda one: word(f"finance.basis_{one}"),
        help=word("finance.basis_help"),
        persist_state="session",
    )
    rate = number_box(
        word("finance.rate"), 0, 100, 8,
        key="finance_books_rate", place=right, step=0.5, about=word("finance.rate_help"),
    )  # fmt: skip
    if rate is None:
        st.stop()  # the box has said what is wrong
    rows, points = [], []
    for strategy in source.question.scenario.strategies:
        ledger = ledger_of(source.key, source.question, strategy.name, source.folder)
        rows.append(_totals(source, strategy.name, ledger, Decimal(str(rate)) / 100))
        so_far = Decimal(0)
        for month in months_of(source.key, source.question, strategy.name, source.folder):
            value = month.cash if view == "cash" else month.accrued
            if month.period == AFTER and not value:
                continue
            so_far += value
            label = word("finance.after") if month.period == AFTER else month.period
            points.append({"x": label, "series": strategy.name, "y": float(so_far)})
    headings = {
        "x": word("finance.axis_month"),
        "series": word("finance.strategy"),
        "y": word(f"finance.axis_{view}_so_far"),
    }
    frame = pd.DataFrame(points)
    st.subheader(say(f"finance.so_far_{view}"))
    show_chart(
        line_chart(frame, headings, step=view == "cash"),
        f"so-far-{view}",
        headed(frame, headings),
        word(f"finance.so_far_{view}"),
    )
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    st.caption(say("finance.totals_note"))


def _totals(source: Source, name: str, ledger: Ledger, rate: Decimal) -> dict[str, str]:
    flows = [
        CashFlow(charge.cash_date.replace(tzinfo=None), charge.billed_cost)
        for charge in ledger.charges
        if not charge.sunk and not charge.recoverable
    ]
    value = net_present_value(flows, rate, source.question.scenario.start)
    return {
        word("finance.strategy"): name,
        word("finance.cash"): money(float(ledger.cash), 2),
        word("finance.accrued"): money(float(ledger.accrued), 2),
        word("finance.owed"): money(float(ledger.committed - ledger.accrued), 2),
        word("finance.committed"): money(float(ledger.committed), 2),
        word("finance.present"): money(float(value), 2),
    }


def _by_month(source: Source, strategy: str) -> None:
    st.subheader(say("finance.month_title"))
    months = [
        month
        for month in months_of(source.key, source.question, strategy, source.folder)
        if month.period != AFTER or month.cash or month.accrued or month.balance
    ]
    points = [
        {
            "x": word("finance.after") if month.period == AFTER else month.period,
            "series": name,
            "y": float(value),
        }
        for month in months
        for name, value in (
            (word("finance.cash"), month.cash),
            (word("finance.accrued"), month.accrued),
            (word("finance.prepaid"), month.balance),
        )
    ]
    frame = pd.DataFrame(points)
    headings = {
        "x": word("finance.axis_month"),
        "series": word("finance.what"),
        "y": word("finance.axis_amount"),
    }
    show_chart(bar_chart(frame, headings), "by-month", headed(frame, headings), word("finance.month_title"))
    rows = [
        {
            word("finance.axis_month"): word("finance.after") if month.period == AFTER else month.period,
            word("finance.cash"): money(float(month.cash), 2),
            word("finance.tax_back"): money(float(month.recoverable), 2),
            word("finance.accrued"): money(float(month.accrued), 2),
            word("finance.prepaid"): money(float(month.balance), 2),
        }
        for month in months
    ]
    table = pd.DataFrame(rows)
    if not any(month.recoverable for month in months):
        table = table.drop(columns=[word("finance.tax_back")])
    st.dataframe(table, hide_index=True, width="stretch")
    st.caption(say("finance.month_note"))


def _invoices(source: Source, ledger: Ledger) -> None:
    st.subheader(say("finance.invoices"))
    rows = [
        {
            word("finance.axis_month"): invoice.month,
            word("finance.provider"): invoice.provider,
            word("finance.lines_count"): number(len(invoice.charges)),
            word("finance.total"): money(float(invoice.total), 2),
        }
        for invoice in ledger.invoices
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    st.caption(say("finance.invoices_note", run=word("finance.first_run") if source.run else ""))


def _lines(strategy: str, ledger: Ledger) -> None:
    st.subheader(say("finance.ledger"))
    frame = charges_frame(ledger)
    left, right = st.columns(2)
    kinds = list(dict.fromkeys(frame[word("finance.category")]))
    picked = left.multiselect(
        word("finance.only"),
        kinds,
        key=f"finance_only_{strategy}",
        placeholder=word("form.choose"),
        persist_state="session",
    )
    text = right.text_input(
        word("finance.search"), key="finance_search", max_chars=100, persist_state="session"
    )
    shown = frame[frame[word("finance.category")].isin(picked)] if picked else frame
    if text:
        hit = shown.apply(lambda row: text.lower() in " ".join(map(str, row)).lower(), axis=1)
        shown = shown[hit] if len(shown) else shown
    total = float(shown[word("finance.billed")].sum())
    st.caption(
        say("finance.lines_shown", shown=number(len(shown)), lines=number(len(frame)), total=money(total, 2))
    )
    if len(shown) > MOST_SHOWN:
        st.info(say("finance.too_many", most=number(MOST_SHOWN)))
    else:
        amounts = [word(f"finance.{key}") for key in ("quantity", "unit_price", "billed", "accrued", "owed")]
        form = {name: st.column_config.NumberColumn(format="localized") for name in amounts}
        st.dataframe(shown, hide_index=True, width="stretch", column_config=form)
    name = f"ledger-{slug(strategy)}.csv"
    st.download_button(
        word("finance.ledger_csv"),
        lambda: csv_text(shown),
        name,
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
        key="finance_ledger_csv",
    )


def charges_frame(ledger: Ledger) -> pd.DataFrame:
    """The ledger line by line, with headings of the page's language; amounts in the ledger's currency."""
    rows = [
        {
            word("finance.paid_on"): f"{charge.cash_date:%Y-%m-%d}",
            word("finance.category"): word(f"finance.category_{charge.category}"),
            word("finance.offer"): charge.offer,
            word("finance.lease"): lease_name(charge.lease),
            word("finance.from"): f"{charge.period_start:%Y-%m-%d %H:%M}",
            word("finance.until"): f"{charge.period_end:%Y-%m-%d %H:%M}",
            word("finance.quantity"): float(charge.quantity),
            word("finance.unit"): unit_name(charge.unit),
            word("finance.unit_price"): float(charge.unit_price),
            word("finance.billed"): float(charge.billed_cost),
            word("finance.accrued"): float(charge.accrued_cost),
            word("finance.owed"): float(charge.owed_after),
            word("finance.rule"): line_rule(charge.rule),
        }
        for charge in ledger.charges
    ]
    return pd.DataFrame(rows)
