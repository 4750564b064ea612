"""Annual or monthly? The same cards under several plans: what each costs, and when one is overtaken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.billing.finance.analysis import Analysis, Pair
from sim.errors import FleetsimError
from sim.load import Question
from sim.model.lease import Lease
from sim.ui.amounts import day, money, number, share
from sim.ui.chart_series import bar_chart, headed, line_chart
from sim.ui.charts import show_chart
from sim.ui.finance_plans import ask_more, plan_name, sentence_gap
from sim.ui.finance_work import AFTER, analysis_of, plans_of, rented
from sim.ui.language import say, word
from sim.ui.names import offer_name
from sim.ui.safe import literal
from sim.ui.told import told
from sim.ui.told_rules import error_told
from sim.units import MONTH

__all__ = ["show_ways"]

MOST_MONTHS = 36
SHORT_MONTHS = 6
"""A question over less time is a study of how cards serve, not the length of a contract (assumed)."""


def show_ways(question: Question, key: str) -> None:
    """Draw the section."""
    fleets = rented(question)
    if not fleets:
        st.info(say("finance.no_lease"))
        return
    left, middle, right = st.columns(3)
    label = _fleet(question, fleets, left)
    name = _called(question, fleets[label])
    known = plans_of(question, fleets[label])
    plans = _plans(known, label, middle)
    months = _months(question, right)
    rate, refund, risk = ask_more(months)
    if len(plans) < 2:
        st.info(say("finance.two_plans") if len(known) > 1 else say("finance.one_plan", offer=name))
        return
    try:
        found = analysis_of(key, question, label, plans, refund, months, rate, risk)
    except FleetsimError as error:
        st.error(literal(error_told(error)))
        return
    _answer(found, name)
    _figures(found)
    _charts(found)
    _downside(found)
    with st.expander(word("finance.assumed")):
        st.markdown(
            "- " + say("finance.value_note", rate=share(float(rate)), start=day(question.scenario.start))
        )
        for way in found.ways:
            for line in way.assumptions:
                st.markdown(f"- {plan_name(way.name)}: {literal(told(line))}")


def _fleet(question: Question, fleets: Mapping[str, Lease], place: DeltaGenerator) -> str:
    """The cards in question, by their name among `fleets`; the first ones unasked."""
    label = place.selectbox(
        word("finance.fleet"),
        list(fleets),
        format_func=lambda one: _called(question, fleets[one]),
        key="finance_fleet",
        help=word("finance.fleet_help"),
        persist_state="session",
    )
    return label if label in fleets else next(iter(fleets))


def _plans(known: Sequence[str], label: str, place: DeltaGenerator) -> tuple[str, ...]:
    """The plans to compare, in the order of `known`; monthly and annual unasked."""
    picked = place.multiselect(
        word("finance.plans"),
        known,
        default=[plan for plan in known if plan in ("monthly", "annual")] or known[:2],
        format_func=plan_name,
        key=f"finance_plans_{label}",
        placeholder=word("form.choose"),
        persist_state="session",
    )
    return tuple(plan for plan in known if plan in picked)


def _months(question: Question, place: DeltaGenerator) -> int:
    """The time over which plans are compared."""
    whole = _whole_months(question)
    return place.slider(
        word("finance.months"),
        1,
        MOST_MONTHS,
        whole,
        key=f"finance_months_{whole}",
        help=word("finance.months_help"),
        persist_state="session",
    )


def _called(question: Question, lease: Lease) -> str:
    """A fleet of one kind of card in the page's language."""
    offer = question.catalog.offers.get(lease.offer_id)
    return f"{lease.count} × {lease.offer_id if offer is None else offer_name(offer)}"


def _whole_months(question: Question) -> int:
    """The time over which plans are compared at first: the question's, a year where that is short."""
    months = round(question.scenario.horizon_us / MONTH)
    return min(months, MOST_MONTHS) if months >= SHORT_MONTHS else 12


def _answer(found: Analysis, label: str) -> None:
    """One sentence: which is cheaper, by how much, and from which month on."""
    best = min(found.ways, key=lambda way: way.cost)
    dearest = max(found.ways, key=lambda way: way.cost)
    if best.cost == dearest.cost:
        st.success(say("finance.same", fleet=label, months=found.months), icon=":material/balance:")
        return
    saved = dearest.cost - best.cost
    values = {
        "fleet": label,
        "months": found.months,
        "best": plan_name(best.name),
        "cost": money(float(best.cost)),
        "other": plan_name(dearest.name),
        "dear": money(float(dearest.cost)),
        "saving": money(float(saved)),
        "part": share(float(saved / dearest.cost)),
    }
    text, gap = say("finance.cheaper", **values), sentence_gap()
    pair = next((one for one in found.pairs if {one.first, one.other} == {best.name, dearest.name}), None)
    if pair is not None:
        text += gap + _turning(found, pair)
    if found.downside is not None:
        least = found.downside.cheapest
        text += gap + say(
            "finance.with_risk",
            best=plan_name(least),
            cost=money(float(found.downside.risks[least].expected_cost)),
        )
    st.success(text, icon=":material/payments:")


def _turning(found: Analysis, pair: Pair) -> str:
    """From which month of an early end on the longer plan is the cheaper one."""
    names = {"first": plan_name(pair.first), "other": plan_name(pair.other)}
    if pair.cheaper_from == 1:
        return say("finance.always", **names)
    if pair.cheaper_from is not None:
        text = say("finance.turns", **names, month=pair.cheaper_from)
        if pair.term is not None:
            text += sentence_gap() + say("finance.closed_form", exact=number(float(pair.term.months), 1))
        return text
    if pair.cheaper_months:
        return say("finance.sometimes", **names)
    return say("finance.never", **names, months=found.months)


def _figures(found: Analysis) -> None:
    """The plans side by side, and what a later plan saves."""
    rows = []
    first = found.ways[0]
    pairs = {pair.other: pair for pair in found.pairs}
    for way in found.ways:
        pair = pairs.get(way.name)
        rows.append(
            {
                word("finance.plan"): plan_name(way.name),
                word("finance.cost_whole", months=found.months): money(float(way.cost), 2),
                word("finance.value_today"): money(float(way.value), 2),
                word("finance.hour"): money(
                    None if way.effective_hour is None else float(way.effective_hour), 2
                ),
                word("finance.saves", first=plan_name(first.name)): money(
                    None if pair is None else float(pair.saving), 2
                ),
                word("finance.npv"): money(None if pair is None else float(pair.value_saving), 2),
                word("finance.irr"): "–" if pair is None else _rate(pair),
                word("finance.from_month"): _from(pair),
                word("finance.ski"): "–"
                if pair is None or pair.ski is None
                else number(pair.ski.rented_months),
            }
        )
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    st.caption(say("finance.figures_note"))
    for use in found.uses:
        st.markdown(
            say(
                "finance.by_use",
                prepaid=plan_name(use.prepaid),
                hourly=plan_name(use.hourly),
                hours=number(float(use.hours), 1),
                part=share(float(use.share)),
            )
        )


def _rate(pair: Pair) -> str:
    if pair.irr.rate is None:
        return word("finance.no_irr")
    text = word("finance.irr_year", rate=share(pair.irr.rate))
    return text if pair.pays_earlier else word("finance.irr_loan", rate=text)


def _from(pair: Pair | None) -> str:
    if pair is None:
        return "–"
    return word("finance.not_reached") if pair.cheaper_from is None else number(pair.cheaper_from)


def _charts(found: Analysis) -> None:
    """What it costs by month of end; what is paid when; cash or cost by month."""
    st.subheader(say("finance.ends_title"))
    st.caption(say("finance.ends_note"))
    frame = pd.DataFrame(
        [
            {"x": one.months, "series": plan_name(way.name), "y": float(one.cost)}
            for way in found.ways
            for one in way.outcomes
        ]
    )
    headings = {"x": word("finance.axis_end"), "series": word("finance.plan"), "y": word("finance.axis_cost")}
    turn = next((pair.cheaper_from for pair in found.pairs if pair.cheaper_from), None)
    mark = (turn, word("finance.turn_mark", month=turn)) if turn is not None and turn > 1 else None
    chart = line_chart(frame, headings, kind="Q", mark=mark)
    show_chart(chart, "break-even", headed(frame, headings), word("finance.ends_title"))
    st.subheader(say("finance.paid_title"))
    _paid(found)


def _paid(found: Analysis) -> None:
    view = st.segmented_control(
        word("finance.view"),
        ("so_far", "cash", "cost"),
        default="so_far",
        required=True,
        key="finance_ways_view",
        format_func=lambda one: word(f"finance.view_{one}"),
        persist_state="session",
    )
    view = view or "so_far"
    st.caption(say(f"finance.view_{view}_note"))
    rows = []
    for way in found.ways:
        for row in way.table:
            value = {"so_far": row.cash_so_far, "cash": row.cash, "cost": row.cost}[view]
            month = word("finance.after") if row.month == AFTER else row.month
            rows.append({"x": month, "series": plan_name(way.name), "y": float(value)})
    frame = pd.DataFrame(rows)
    headings = {
        "x": word("finance.axis_month"),
        "series": word("finance.plan"),
        "y": word(f"finance.axis_{view}"),
    }
    chart = line_chart(frame, headings, step=True) if view == "so_far" else bar_chart(frame, headings)
    show_chart(chart, f"plans-{view}", headed(frame, headings), word("finance.paid_title"))


def _downside(found: Analysis) -> None:
    """What an early end costs each plan, and how often it would have been the wrong one."""
    if found.downside is None:
        return
    st.subheader(say("finance.risk_title"))
    st.caption(say("finance.risk_note"))
    rows = [
        {
            word("finance.plan"): plan_name(name),
            word("finance.expected"): money(float(risk.expected_cost), 2),
            word("finance.regret"): money(float(risk.expected_regret), 2),
            word("finance.largest_regret"): money(float(risk.largest_regret), 2),
            word("finance.wrong"): share(float(risk.wrong)),
        }
        for name, risk in found.downside.risks.items()
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    for pair in found.pairs:
        for month, chance in pair.even.items():
            if chance is not None and 0 < chance < 1:
                st.markdown(
                    say(
                        "finance.even",
                        month=month,
                        chance=share(float(chance)),
                        first=plan_name(pair.first),
                        other=plan_name(pair.other),
                    )
                )
