"""The page `fit`: does this job fit on our cards, how long does it take, and what does a run cost?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from sim.catalog import Catalog
from sim.errors import FleetsimError
from sim.model.work import JobClass
from sim.report.fit_answers import FitAnswer, cheapest_first
from sim.ui.amounts import hours, money, number
from sim.ui.finance_plans import sentence_gap
from sim.ui.fit_charts import memory_chart
from sim.ui.fit_form import ask_job
from sim.ui.fit_frames import both_frame, offers_frame, parts_frame, remedies_frame
from sim.ui.fit_work import answers_for, prices_in_hand
from sim.ui.language import say, word
from sim.ui.names import offer_name
from sim.ui.safe import literal
from sim.ui.told import told
from sim.ui.told_rules import error_told

__all__ = ["show"]

OFFER_WIDTH = 320
"""Pixels: the widest name of an offer, which the table would cut where it stands below the first rows."""


def show() -> None:
    """Draw the page."""
    st.title(say("fit.title"))
    st.caption(say("fit.intro"))
    prices = prices_in_hand()
    st.caption(say("fit.prices_own", name=prices.own) if prices.own else say("fit.prices_shipped"))
    try:
        asked = ask_job(prices.catalog)
        measured = answers_for(asked.job, prices.catalog, "measured", asked.plan)
        vendor = answers_for(asked.job, prices.catalog, "vendor", asked.plan)
    except FleetsimError as error:
        st.error(literal(error_told(error)))
        return
    _sentence(asked.job, measured, prices.catalog)
    memory_chart(measured)
    st.subheader(say("fit.offers"))
    st.caption(say("fit.offers_note"))
    st.dataframe(offers_frame(measured), hide_index=True)
    _remedies(measured)
    st.subheader(say("fit.both"))
    st.caption(say("fit.both_note"))
    st.dataframe(
        both_frame(measured, vendor),
        hide_index=True,
        column_config={word("fit.col_offer"): st.column_config.Column(width=OFFER_WIDTH)},
    )
    with st.expander(say("fit.parts")):
        st.caption(say("fit.parts_note"))
        st.dataframe(parts_frame(measured), hide_index=True)


def _sentence(job: JobClass, answers: Sequence[FitAnswer], catalog: Catalog) -> None:
    """The answer in one sentence, before anything else."""
    fitting = [answer for answer in answers if answer.row.fits]
    said: dict[str, Any] = {
        "model": catalog.models[job.model].name,
        "method": word(f"fit.method_{job.method}"),
    }
    if not fitting:
        st.warning(say("fit.nowhere", **said), icon=":material/block:")
        return
    best = cheapest_first(fitting)[0]
    said |= {
        "offer": offer_name(best.offer),
        "cards": number(best.row.gpus),
        "cost": money(best.cost, currency=best.offer.currency),
        "run": hours(best.row.hours),
    }
    tried_one = job.gpus == "auto" or 1 in job.counts
    text = sentence_gap().join((say("fit.somewhere", **said), *_kinds(answers, tried_one=tried_one)))
    st.success(text, icon=":material/check_circle:")


def _kinds(answers: Sequence[FitAnswer], *, tried_one: bool) -> list[str]:
    """On which kinds of card the job fits, with the fewest cards of each, and on which it does not."""
    fewest: dict[str, int] = {}
    for answer in answers:
        if answer.row.fits and answer.row.gpus is not None:
            fewest[answer.row.gpu] = min(answer.row.gpus, fewest.get(answer.row.gpu, answer.row.gpus))
    alone = sorted(gpu for gpu, cards in fewest.items() if cards == 1)
    several = [
        f"{gpu} × {number(cards)}"
        for gpu, cards in sorted(fewest.items(), key=lambda kind: (kind[1], kind[0]))
        if cards > 1
    ]
    missed = sorted({answer.row.gpu for answer in answers} - fewest.keys())
    found = []
    if alone:
        found.append(("fit.alone", alone))
    elif tried_one:
        found.append(("fit.never_alone", []))
    if several:
        found.append(("fit.also_on" if alone else "fit.fits_on", several))
    if missed:
        found.append(("fit.not_on", missed))
    return [say(key, gpus=word("fit.comma").join(gpus)) for key, gpus in found]


def _remedies(answers: Sequence[FitAnswer]) -> None:
    """What would make the job fit on one card of a kind that is too small."""
    short = {a.row.gpu: a.row for a in answers if not a.row.fits and a.row.remedies}
    if not short:
        return
    st.subheader(say("fit.remedies"))
    st.caption(say("fit.remedies_note"))
    gpu = st.selectbox(say("fit.card"), list(short))
    if gpu is not None and gpu in short:
        st.write(literal(told(short[gpu].reason)))
        st.dataframe(remedies_frame(short[gpu].remedies), hide_index=True)
