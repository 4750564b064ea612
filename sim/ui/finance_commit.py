"""How many cards are worth committing, and the rest by the hour: `fleetsim commit` counts the demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from sim.ui.amounts import money, number
from sim.ui.chart_series import Drawn
from sim.ui.charts import PALETTE, show_chart
from sim.ui.finance_asked import answer_of
from sim.ui.finance_source import Source
from sim.ui.language import say, word
from sim.ui.safe import literal
from sim.ui.studies import identity
from sim.ui.told import told

__all__ = ["show_commitment"]


def show_commitment(source: Source, strategy: str) -> None:
    """Draw the section."""
    st.subheader(say("finance.commit"))
    st.caption(say("finance.commit_intro"))
    if strategy not in [one.name for one in source.draft.question.scenario.strategies]:
        st.info(say("finance.commit_other"))
        return
    words = ["commit", str(source.draft.file), "--strategy", strategy, "--format", "json"]
    title = word("finance.title_commit", name=strategy)
    document = answer_of("commit", identity(source.draft), words, say("finance.ask_commit"), title)
    if document is None:
        return
    st.success(
        say(
            "finance.commit_answer",
            best=number(document["newsvendor"]),
            offer=document["committed"],
            instead=document["fallback"],
            simulated=number(document["simulated"]),
        ),
        icon=":material/inventory:",
    )
    _costs(document)
    _trials(document)
    with st.expander(word("finance.assumed")):
        for line in document["assumptions"]:
            st.markdown(f"- {literal(told(line))}")


def _costs(document: Mapping[str, Any]) -> None:
    """What a month costs by the number of cards committed."""
    shares = document["demand"]["shares"]
    frame = pd.DataFrame(
        [
            {"x": place, "cost": cost, "share": 100 * shares[place] if place < len(shares) else 0.0}
            for place, cost in enumerate(document["costs"])
        ]
    )
    headings = {
        "x": word("finance.axis_committed"),
        "cost": word("finance.axis_month_cost"),
        "share": word("finance.axis_needed"),
    }
    chart = _cost_line(frame, headings)
    show_chart(chart, "commitment", frame.rename(columns=headings), word("finance.commit"))


def _cost_line(frame: pd.DataFrame, headings: Mapping[str, str]) -> Drawn:
    line: Drawn = (
        alt.Chart(frame)
        .mark_line(color=PALETTE[0], point={"color": PALETTE[0], "size": 50})
        .encode(
            x=alt.X("x:Q", title=headings["x"], axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("cost:Q", title=headings["cost"], axis=alt.Axis(format=",.0f", labelOverlap=True)),
            tooltip=[
                alt.Tooltip("x:Q", title=headings["x"]),
                alt.Tooltip("cost:Q", title=headings["cost"], format=",.0f"),
                alt.Tooltip("share:Q", title=headings["share"], format=".1f"),
            ],
        )
        .properties(height=240)
    )
    return line


def _trials(document: Mapping[str, Any]) -> None:
    """What was simulated around the answer."""
    trials = [
        {
            word("finance.axis_committed"): number(trial["committed"]),
            word("finance.axis_month_cost"): money(trial["cost"]),
            word("finance.trial_wait"): f"{number(trial['wait_p95_h'], 2)} {word('finance.h')}",
            word("finance.trial_refused"): number(trial["jobs_refused"]),
        }
        for trial in document["trials"]
    ]
    if trials:
        st.caption(say("finance.trials"))
        st.dataframe(pd.DataFrame(trials), hide_index=True, width="stretch")
