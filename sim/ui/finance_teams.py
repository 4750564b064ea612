"""Who costs what, and how well commitments are used; `fleetsim costs` makes replication 0 again for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from sim.ui.amounts import UNKNOWN, money, number, share
from sim.ui.chart_series import level_bars
from sim.ui.charts import show_chart
from sim.ui.finance_asked import answer_of
from sim.ui.finance_books import pick_strategy
from sim.ui.finance_commit import show_commitment
from sim.ui.finance_plans import sentence_gap
from sim.ui.finance_source import Source
from sim.ui.language import say, word
from sim.ui.parts import pick
from sim.ui.safe import literal
from sim.ui.told import told

__all__ = ["show_teams"]

STATES = ("useful", "checkpoint", "startup", "reload", "lost", "idle", "down", "away", "reserved")
SHARES = frozenset(
    {
        "commitment_coverage",
        "commitment_utilisation",
        "break_even_utilisation",
        "effective_savings_rate",
        "contracted_savings_rate",
    }
)
INDICATORS = (
    "effective_hour_used",
    "effective_hour_useful",
    "commitment_coverage",
    "commitment_utilisation",
    "waste",
    "break_even_utilisation",
    "effective_savings_rate",
    "contracted_savings_rate",
)


def show_teams(source: Source) -> None:
    """Draw the section."""
    strategy = pick_strategy(source)
    left, right = st.columns(2)
    by = pick(left, "finance.by", ("team", "class", "job"), "finance_by")
    sharing = pick(right, "finance.idle", ("none", "busy", "useful"), "finance_share", helped=True)
    place: str | Path = source.folder if source.folder is not None else source.draft.file
    words = ["costs", str(place), "--strategy", strategy, "--by", by, "--share", sharing, "--format", "json"]
    document = answer_of(
        "costs", source.key, words, say("finance.ask_costs"), word("finance.title_costs", name=strategy)
    )
    if document is not None:
        _groups(document)
        _states(document)
        _indicators(document["indicators"])
    st.divider()
    show_commitment(source, strategy)


def _groups(document: Mapping[str, Any]) -> None:
    by = str(document["by"])
    st.subheader(say(f"finance.cost_by_{by}"))
    st.caption(say("finance.one_run", strategy=document["strategy"], number=number(document["replication"])))
    groups = sorted(document["groups"], key=lambda group: -group["total_cny"])
    if by != "job":
        names = [str(group["name"]) for group in groups]
        extra = [
            (word("finance.state_idle"), _unshared(document, "idle")),
            (
                word("finance.other_cost"),
                sum(_unshared(document, one) for one in ("down", "away", "reserved"))
                + document["without_cards_cny"],
            ),
        ]
        bars = [(name, group["total_cny"]) for name, group in zip(names, groups, strict=True)]
        frame = pd.DataFrame([{"who": who, "y": cost} for who, cost in [*bars, *extra] if cost])
        headings = {"who": word(f"finance.by_{by}"), "y": word("finance.axis_amount")}
        _bars(frame, headings, f"cost-by-{by}", word(f"finance.cost_by_{by}"))
    rows = [
        {
            word(f"finance.by_{by}"): group["name"],
            word("finance.jobs"): number(group["jobs"]),
            word("finance.card_hours"): number(group["card_h"], 1),
            word("finance.total"): money(group["total_cny"], 2),
            word("finance.average"): money(group["average_per_job_cny"], 2),
            word("finance.state_lost"): money(group["lost_cny"], 2),
            word("finance.state_reload"): money(group["reload_cny"], 2),
            word("finance.marginal"): money(group["marginal_cny"], 2),
            word("finance.opportunity"): money(group["opportunity_cny"], 2),
        }
        for group in groups
    ]
    table = pd.DataFrame(rows)
    if len(table) > 1_000:
        st.info(say("finance.first_rows", most="1,000"))
    st.dataframe(table.head(1_000), hide_index=True, width="stretch")
    st.caption(say("finance.groups_note"))


def _unshared(document: Mapping[str, Any], state: str) -> float:
    return float(document["states"][state]["cost_cny"])


def _states(document: Mapping[str, Any]) -> None:
    st.subheader(say("finance.states"))
    whole = float(document["accrued_cny"])
    states = document["states"]
    rows = [
        {
            word("finance.state"): word(f"finance.state_{state}"),
            word("finance.card_hours"): number(states[state]["card_h"], 1),
            word("finance.cost"): money(states[state]["cost_cny"], 2),
            word("finance.part_of_cost"): share(states[state]["cost_cny"] / whole if whole else None),
        }
        for state in STATES
        if states[state]["card_h"] or states[state]["cost_cny"]
    ]
    if document["shared_idle_cny"]:
        cost = float(document["shared_idle_cny"])
        rows.append(
            {
                word("finance.state"): word("finance.state_shared"),
                word("finance.card_hours"): UNKNOWN,
                word("finance.cost"): money(cost, 2),
                word("finance.part_of_cost"): share(cost / whole if whole else None),
            }
        )
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")


def _indicators(found: Mapping[str, Any]) -> None:
    st.subheader(say("finance.indicators"))
    coverage, use, waste = st.columns(3)
    coverage.metric(
        word("finance.commitment_coverage"),
        _value("commitment_coverage", found),
        help=word("finance.commitment_coverage_means"),
    )
    use.metric(
        word("finance.commitment_utilisation"),
        _value("commitment_utilisation", found),
        help=word("finance.commitment_utilisation_means"),
    )
    waste.metric(word("finance.waste"), _value("waste", found), help=word("finance.waste_means"))
    rows = [
        {
            word("finance.indicator"): word(f"finance.{key}"),
            word("finance.value"): _value(key, found),
            word("finance.means"): word(f"finance.{key}_means"),
        }
        for key in INDICATORS
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    stop = word("form.full_stop")
    prices = [literal(told(text)) + stop for text in found["on_demand"].split(". ")]
    st.caption(sentence_gap().join([*prices, say("finance.indicators_note")]))


def _value(key: str, found: Mapping[str, Any]) -> str:
    value = found[key]["value"]
    if key in SHARES:
        return share(value)
    return money(value, 2)


def _bars(frame: pd.DataFrame, headings: Mapping[str, str], name: str, title: str) -> None:
    """Horizontal bars, one a name."""
    show_chart(level_bars(frame, headings, 2), name, frame.rename(columns=dict(headings)), title)
