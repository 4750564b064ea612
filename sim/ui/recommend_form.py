"""What a recommendation searches: the form, and the command that it makes."""

from __future__ import annotations

import streamlit as st

from sim.decisions.policies import POLICIES
from sim.load import Question
from sim.ui.finance_plans import plan_name
from sim.ui.language import word
from sim.ui.names import offer_name, policy_name
from sim.ui.state import Draft

__all__ = ["ask_space", "recommend_words"]


def ask_space(draft: Draft, opened: bool) -> list[str]:
    """What is searched."""
    question = draft.question
    leases = [lease for strategy in question.scenario.strategies for lease in strategy.leases]
    offers = list(question.catalog.offers)
    own = list(dict.fromkeys(lease.offer for lease in leases if lease.offer in offers))
    plans = sorted({plan for offer in question.catalog.offers.values() for plan in offer.plans})
    most = max([8, *(_cards(question, lease.offer) * lease.count for lease in leases)])
    with st.expander(word("sensitivity.what"), expanded=opened):
        left, right = st.columns(2)
        low, high = left.slider(
            word("sensitivity.cards"),
            1,
            max(64, most),
            (1, min(most, 64)),
            key="recommend_cards",
            help=word("sensitivity.cards_help"),
            persist_state="session",
        )
        picked = right.multiselect(
            word("sensitivity.offers"),
            offers,
            default=own,
            format_func=lambda one: offer_name(question.catalog.offers[one]),
            key=f"recommend_offers_{draft.file}",
            placeholder=word("form.choose"),
            persist_state="session",
        )
        paid = left.multiselect(
            word("sensitivity.plans"),
            plans,
            default=sorted({lease.plan for lease in leases if lease.plan in plans}),
            format_func=plan_name,
            key=f"recommend_plans_{draft.file}",
            placeholder=word("form.choose"),
            persist_state="session",
        )
        burst = right.selectbox(
            word("sensitivity.burst"),
            ("as-is", "none", "only"),
            key="recommend_burst",
            format_func=lambda one: word(f"sensitivity.burst_{one.replace('-', '_')}"),
            persist_state="session",
        )
        policies = left.multiselect(
            word("sensitivity.policies"),
            list(POLICIES),
            format_func=policy_name,
            key=f"recommend_policies_{draft.file}",
            placeholder=word("form.choose"),
            help=word("sensitivity.policies_help"),
            persist_state="session",
        )
        confidence = right.slider(
            word("sensitivity.confidence"),
            80,
            99,
            95,
            key="recommend_confidence",
            help=word("sensitivity.confidence_help"),
            persist_state="session",
        )
    return recommend_words(str(draft.file), (low, high), picked, paid, policies, burst or "as-is", confidence)


def recommend_words(
    file: str,
    cards: tuple[int, int],
    offers: list[str],
    plans: list[str],
    policies: list[str],
    burst: str,
    sure: int,
) -> list[str]:
    """The command of a search."""
    words = ["recommend", file, "--cards", f"{cards[0]}..{cards[1]}", "--burst", burst]
    words += ["--confidence", f"{sure / 100:.2f}"]
    for option, values in (("--offer", offers), ("--plan", plans), ("--policy", policies)):
        for value in values:
            words += [option, value]
    return [*words, "--format", "json"]


def _cards(question: Question, offer: str) -> int:
    found = question.catalog.offers.get(offer)
    return 1 if found is None else found.gpus_per_unit
