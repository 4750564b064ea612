"""What a recommendation searches: the form, and the command that it makes."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.decisions.policies import POLICIES
from sim.load import Question
from sim.model.lease import Lease
from sim.ui.finance_plans import plan_name
from sim.ui.language import word
from sim.ui.names import offer_name, policy_name
from sim.ui.state import Draft

__all__ = ["ask_space", "recommend_words"]


def ask_space(draft: Draft, opened: bool) -> list[str]:
    """What is searched."""
    leases = [lease for strategy in draft.question.scenario.strategies for lease in strategy.leases]
    with st.expander(word("sensitivity.what"), expanded=opened):
        left, right = st.columns(2)
        cards = _cards(draft.question, leases, left)
        offers = _offers(draft, leases, right)
        plans = _plans(draft, leases, left)
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
        sure = right.slider(
            word("sensitivity.confidence"),
            80,
            99,
            95,
            key="recommend_confidence",
            help=word("sensitivity.confidence_help"),
            persist_state="session",
        )
    return recommend_words(str(draft.file), cards, offers, plans, policies, burst or "as-is", sure)


def _cards(question: Question, leases: Sequence[Lease], place: DeltaGenerator) -> tuple[int, int]:
    """The fewest and the most cards."""
    most = max([8, *(_each(question, lease.offer) * lease.count for lease in leases)])
    low, high = place.slider(
        word("sensitivity.cards"),
        1,
        max(64, most),
        (1, min(most, 64)),
        key="recommend_cards",
        help=word("sensitivity.cards_help"),
        persist_state="session",
    )
    return low, high


def _offers(draft: Draft, leases: Sequence[Lease], place: DeltaGenerator) -> list[str]:
    known = draft.question.catalog.offers
    return place.multiselect(
        word("sensitivity.offers"),
        list(known),
        default=list(dict.fromkeys(lease.offer for lease in leases if lease.offer in known)),
        format_func=lambda one: offer_name(known[one]),
        key=f"recommend_offers_{draft.file}",
        placeholder=word("form.choose"),
        persist_state="session",
    )


def _plans(draft: Draft, leases: Sequence[Lease], place: DeltaGenerator) -> list[str]:
    known = sorted({plan for offer in draft.question.catalog.offers.values() for plan in offer.plans})
    return place.multiselect(
        word("sensitivity.plans"),
        known,
        default=sorted({lease.plan for lease in leases if lease.plan in known}),
        format_func=plan_name,
        key=f"recommend_plans_{draft.file}",
        placeholder=word("form.choose"),
        persist_state="session",
    )


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


def _each(question: Question, offer: str) -> int:
    found = question.catalog.offers.get(offer)
    return 1 if found is None else found.gpus_per_unit
