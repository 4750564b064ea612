"""The settings of a comparison, and the command that they make."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.load import Question
from sim.ui.boxes import number_box, whole_box
from sim.ui.jobs import OUT
from sim.ui.language import question_name, say, word
from sim.ui.state import Draft
from sim.ui.watch import ask, followed

__all__ = ["KIND", "MOST_REPLICATIONS", "compare_words", "settings"]

KIND = "compare"

MOST_REPLICATIONS = 2000
"""Replications that the page asks for at most; the command line takes more."""

LARGEST_SEED = 2**53 - 1
"""Beyond this a browser does not count exactly."""

PRICES = ("own", "low", "mid", "high")
"""Levels of published price ranges; `own` is what the question says (not None, which a box forgets)."""

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
    """The settings, and the button that runs the comparison.

    Keys of widgets name what their beginning follows from: another question begins with its own figures,
    while a switch of the language or a walk to another page changes nothing. In a new window the form
    begins with what the comparison of the address was asked with, as long as that is at work.
    """
    question = draft.question
    experiment = question.scenario.experiment
    own = experiment.until is not None or experiment.select is not None or experiment.steady_state is not None
    with st.container(border=True):
        asked = _asked(draft)
        rule = _rule(own, asked)
        cells = st.columns((2, 2, 3, 4))
        number = whole_box(
            word("compare.replications"),
            1,
            None,  # too large a number is told in a sentence of its own
            min(int(asked.get("--replications", experiment.replications)), MOST_REPLICATIONS),
            key=f"compare-replications-{experiment.replications}",
            place=cells[0],
            about=word("compare.replications_help"),
        )
        seed = _seed(cells[1], experiment.seed, asked)
        price, baseline = _prices(question, cells[2], asked), _baseline(question, cells[3], asked)
        with st.expander(word("compare.more")):
            width, most = _limits(own, asked)
        sent = st.button(
            word("compare.run"),
            type="primary",
            icon=":material/play_arrow:",
            key="compare-run",
            disabled=None in (number, seed, width, most),
        )
    if not sent or number is None or seed is None or width is None or most is None:
        return
    if max(number, most) > MOST_REPLICATIONS:
        st.error(say("compare.too_many", most=f"{MOST_REPLICATIONS:,}"))
        return
    words = compare_words(
        draft.file,
        replications=max(number, 2) if rule != "fixed" else number,
        seed=seed,
        price=price,
        baseline=baseline,
        rule=rule,
        width=width,
        most=max(most, number),
    )
    ask(KIND, question_name(question.scenario.name), *words)


def _asked(draft: Draft) -> Mapping[str, str]:
    """Option -> value of the comparison of this question that is at work or waits; none where none is."""
    job = followed(KIND)
    if job is None or job.run.ended or str(draft.file) not in job.run.command:
        return {}
    return {option: value for option, value in pairwise(job.run.command) if option.startswith("--")}


def _rule(own: bool, asked: Mapping[str, str]) -> str:
    """Which rule says when there are runs enough; `own` where the question has one itself."""
    if own:
        st.caption(say("compare.own_rule"))
        return "fixed"
    picked = st.segmented_control(
        word("compare.rule"),
        RULES,
        default=next((one for one in RULES if f"--{one}" in asked), "fixed"),
        required=True,
        format_func={one: word(f"compare.rule_{one}") for one in RULES}.__getitem__,
        help=word("compare.rule_help"),
        key="compare-rule",
        persist_state="session",
    )
    return picked or "fixed"


def _seed(place: DeltaGenerator, own: int, asked: Mapping[str, str]) -> int | None:
    if own > LARGEST_SEED:  # a browser would not hold its last digits
        place.text_input(word("compare.seed"), str(own), disabled=True, help=word("compare.seed_help"))
        return own
    return whole_box(
        word("compare.seed"),
        0,
        LARGEST_SEED,
        int(asked.get("--seed", own)),
        key=f"compare-seed-{own}",
        place=place,
        about=word("compare.seed_help"),
    )


def _prices(question: Question, place: DeltaGenerator, asked: Mapping[str, str]) -> str | None:
    """The level of published price ranges; None for what the question says."""
    level: str = place.selectbox(
        word("compare.price"),
        PRICES,
        PRICES.index(asked.get("--price", "own")),
        format_func={level: word(f"compare.price_{level}") for level in PRICES}.__getitem__,
        help=word("compare.price_help"),
        key=f"compare-price-{question.scenario.name}",
        persist_state="session",
    )
    return None if level == "own" else level


def _baseline(question: Question, place: DeltaGenerator, asked: Mapping[str, str]) -> str:
    names = [strategy.name for strategy in question.scenario.strategies]
    picked = place.selectbox(
        word("compare.baseline"),
        names,
        names.index(asked["--baseline"]) if asked.get("--baseline") in names else 0,
        help=word("compare.baseline_help"),
        key=f"compare-baseline-{names}",
        persist_state="session",
    )
    return picked or names[0]


def _limits(own: bool, asked: Mapping[str, str]) -> tuple[float | None, int | None]:
    """Half-width wanted, per cent, and the number of replications at which to stop."""
    left, right = st.columns(2)
    width = number_box(
        word("compare.width"), 0.5, 50.0, float(asked.get("--until", "=5%").partition("=")[2][:-1]),
        key="compare-width", place=left, step=0.5, about=word("compare.width_help"), disabled=own,
    )  # fmt: skip
    most = whole_box(
        word("compare.most"), 10, None, int(asked.get("--most", 200)),
        key="compare-most", place=right, about=word("compare.most_help"), disabled=own,
    )  # fmt: skip
    return width, most
