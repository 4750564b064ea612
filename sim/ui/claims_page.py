"""The page `claims`: what sellers say, recomputed, with the working of every verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from sim.ui.claims_charts import verdict_chart
from sim.ui.claims_frames import VERDICTS, claims_frame, kind_name, steps_frame, verdict_name
from sim.ui.claims_own import ask_own
from sim.ui.claims_work import article_verdicts, own_verdicts
from sim.ui.language import say, word
from sim.ui.safe import literal
from sim.ui.told import with_units
from sim.ui.working_words import assumed, sourced

__all__ = ["show"]

RANGE_WIDTH = 170
"""Pixels: a range with its unit, which the table would cut where it stands below the first rows."""

Claims = Sequence[Mapping[str, Any]]


def show() -> None:
    """Draw the page."""
    st.title(say("claims.title"))
    st.caption(say("claims.intro"))
    source = st.segmented_control(
        say("claims.source"),
        ("articles", "own"),
        default="articles",
        required=True,
        format_func=lambda name: word(f"claims.source_{name}"),
        key="claims_source",
    )
    document = _own() if source == "own" else article_verdicts()
    if document is None:
        return
    _counts(document)
    chosen = _filtered(document)
    if chosen:
        picked = _table(chosen, document)
        _working(picked if picked is not None else _first_wrong(chosen), document)
    else:
        st.info(say("claims.none_left"))
    st.subheader(say("claims.chart"))
    st.caption(say("claims.chart_note"))
    verdict_chart(document)


def _own() -> Mapping[str, Any] | None:
    """The verdicts on an uploaded file; None, and said why, where there are none yet."""
    file = ask_own()
    return None if file is None else own_verdicts(file)


def _counts(document: Mapping[str, Any]) -> None:
    counts = document["counts"]
    for place, name in zip(st.columns(len(VERDICTS)), VERDICTS, strict=True):
        place.metric(verdict_name(name), counts[name], help=word(f"claims.help_{VERDICTS[name]}"))


def _filtered(document: Mapping[str, Any]) -> Claims:
    """The claims that the widgets leave."""
    claims: Claims = document["claims"]
    kinds = list(dict.fromkeys(claim["kind"] for claim in claims))
    titles = {article["key"]: article["title"] for article in document["articles"]}
    left, right = st.columns(2)
    verdict = left.pills(
        say("claims.by_verdict"), list(VERDICTS), selection_mode="multi", format_func=verdict_name,
        key="claims_verdicts", wrap=True,
    )  # fmt: skip
    kind = right.pills(
        say("claims.by_kind"), kinds, selection_mode="multi", format_func=kind_name, key="claims_kinds",
        wrap=True,
    )  # fmt: skip
    article = left.selectbox(
        say("claims.by_article"),
        ["", *titles],
        format_func=lambda key: titles.get(key, word("claims.all_articles")),
        key="claims_article",
    )
    text = right.text_input(say("claims.by_text"), key="claims_text", help=say("claims.by_text_help"))
    return [
        claim
        for claim in claims
        if (not verdict or claim["verdict"] in verdict)
        and (not kind or claim["kind"] in kind)
        and (not article or claim["article"] == article)
        and text.casefold().strip() in f"{claim['id']} {claim['statement']} {claim['reason']}".casefold()
    ]


def _table(claims: Claims, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The table; the claim whose row is picked."""
    st.subheader(say("claims.statements", number=f"{len(claims):,}"))
    st.caption(say("claims.pick"))
    event = st.dataframe(
        claims_frame(claims, document["articles"]),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="claims_table",
        height=420,
        column_config={
            word(f"claims.col_{name}"): st.column_config.Column(width=RANGE_WIDTH)
            for name in ("stated", "computed")
        },
    )
    rows = event.selection.rows if hasattr(event, "selection") else []
    return claims[rows[0]] if rows and rows[0] < len(claims) else None


def _first_wrong(claims: Claims) -> Mapping[str, Any]:
    """What is explained before anybody has picked a row: a wrong one, if there is one."""
    return next((claim for claim in claims if claim["verdict"] == "wrong"), claims[0])


def _working(claim: Mapping[str, Any], document: Mapping[str, Any]) -> None:
    """The verdict on one claim, step by step."""
    st.subheader(say("claims.working", id=claim["id"]))
    st.markdown(f"> {literal(claim['statement'])}")
    verdict = verdict_name(claim["verdict"])
    condition = with_units(f" {claim['condition']}" if claim["condition"] else "")
    reason = with_units(str(claim["reason"]))
    line = f"**{literal(verdict + condition)}**" + (f" — {literal(reason)}" if reason else "")
    box = {"holds": st.success, "wrong": st.error}.get(claim["verdict"], st.warning)
    box(line)
    if claim["note"]:
        st.info(literal(claim["note"]))
    if claim["steps"]:
        st.dataframe(
            steps_frame(claim["steps"]),
            hide_index=True,
            width="content",  # stretched, the number of a step would have as much room as the step
        )
    for key, told in (("assumptions", assumed), ("sources", sourced)):
        if claim[key]:
            with st.expander(say(f"claims.{key}", number=len(claim[key]))):
                for text in claim[key]:
                    st.markdown(f"- {literal(told(text))}")
    if document["about_tolerance"] and claim["value"] and claim["value"]["states"] == "about":
        st.caption(say("claims.about", share=f"{100 * document['about_tolerance']:g} %"))
