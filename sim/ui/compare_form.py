"""The settings of a comparison, and the command that they make."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from sim.load import Question
from sim.ui.jobs import OUT
from sim.ui.language import say, word
from sim.ui.state import Draft
from sim.ui.watch import ask

__all__ = ["KIND", "compare_words", "settings"]

KIND = "compare"

MOST_REPLICATIONS = 2000
"""Replications that the page asks for at most; the command line takes more."""

PRICES = (None, "low", "mid", "high")

RULES = ("fixed", "until", "select")


def compare_words(
    file: Path,
    *,
    replications: int,
    seed: int,
    price: str | None,
    baseline: str,
    rule: str = "fixed",
    width: float = 5.0,
    most: int = 200,
) -> list[str | Path]:
    """The words of `fleetsim compare` for these settings. `width`: per cent of the mean, for `until`."""
    words: list[str | Path] = ["compare", file, "--format", "json", "--out", OUT, "--seed", str(seed)]
    words += ["--replications", str(replications), "--baseline", baseline]
    if price is not None:
        words += ["--price", price]
    if rule == "until":
        for metric in ("committed_cost_cny", "wait_p95_h"):
            words += ["--until", f"{metric}={width:g}%"]
    if rule == "select":
        words.append("--select")
    return words if rule == "fixed" else [*words, "--most", str(most)]


def settings(draft: Draft) -> None:
    """The form; runs the comparison when it is sent."""
    question = draft.question
    experiment = question.scenario.experiment
    own = experiment.until is not None or experiment.select is not None or experiment.steady_state is not None
    with st.form("compare-settings"):
        rule = "fixed"
        if own:
            st.caption(say("compare.own_rule"))
        else:
            picked = st.segmented_control(
                word("compare.rule"),
                RULES,
                default="fixed",
                required=True,
                format_func={one: word(f"compare.rule_{one}") for one in RULES}.__getitem__,
                help=word("compare.rule_help"),
                key="compare-rule",
            )
            rule = picked or "fixed"
        values = _values(question)
        with st.expander(word("compare.more")):
            left, right = st.columns(2)
            width = left.number_input(
                word("compare.width"), 0.5, 50.0, 5.0, 0.5, help=word("compare.width_help"), disabled=own
            )
            most = right.number_input(
                word("compare.most"), 10, None, 200, help=word("compare.most_help"), disabled=own
            )
        sent = st.form_submit_button(word("compare.run"), type="primary", icon=":material/play_arrow:")
    if sent:
        number, seed, price, baseline = values
        if max(number, int(most)) > MOST_REPLICATIONS:
            st.error(say("compare.too_many", most=f"{MOST_REPLICATIONS:,}"))
            return
        words = compare_words(
            draft.file,
            replications=max(number, 2) if rule != "fixed" else number,
            seed=seed,
            price=price,
            baseline=baseline,
            rule=rule,
            width=float(width),
            most=max(int(most), number),
        )
        ask(KIND, question.scenario.name, *words)


def _values(question: Question) -> tuple[int, int, str | None, str]:
    experiment = question.scenario.experiment
    names = [strategy.name for strategy in question.scenario.strategies]
    one, two, three, four = st.columns((2, 2, 3, 4))
    replications = one.number_input(
        word("compare.replications"),
        1,
        None,  # too large a number is told in a sentence, where a bound of the box is silent
        min(experiment.replications, MOST_REPLICATIONS),
        help=word("compare.replications_help"),
    )
    seed = two.number_input(
        word("compare.seed"), 0, 2**31 - 1, experiment.seed, help=word("compare.seed_help")
    )
    price = three.selectbox(
        word("compare.price"),
        PRICES,
        format_func={level: word(f"compare.price_{level or 'own'}") for level in PRICES}.__getitem__,
        help=word("compare.price_help"),
    )
    baseline = four.selectbox(word("compare.baseline"), names, help=word("compare.baseline_help"))
    return int(replications), int(seed), price, baseline or names[0]
