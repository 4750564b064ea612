"""Money that the finance page works out at once, by the functions of `breakeven`, `quote` and `costs`.

Nothing here is simulated; all of it is kept, so that a touched widget bills once.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal

import streamlit as st

from sim.billing.accrual import AFTER, CashPeriod, cash_and_cost
from sim.billing.finance.analysis import Analysis, analyse
from sim.billing.finance.downside import Ends, ends_with_hazard
from sim.billing.finance.outcomes import Way
from sim.experiments.quote import quote
from sim.experiments.stored import StoredRun, open_run
from sim.load import Question
from sim.model.ledger import Ledger
from sim.model.scenario import Lease, Strategy
from sim.model.terms import ContractTerms, Refund, plan_months
from sim.replication import used_offers
from sim.ui.shown import Shown

__all__ = [
    "AFTER",
    "EndKind",
    "EndRisk",
    "RefundChoice",
    "analysis_of",
    "ledger_of",
    "months_of",
    "plans_of",
    "question_of",
    "rented",
    "ways_of",
]

EndKind = Literal["none", "months", "hazard"]
RefundChoice = Literal["contract", "none", "pro-rata", "re-rate", "deposit-less-discounts"]


@dataclass(frozen=True)
class EndRisk:
    """How the project may end early: with a chance shared by some months, or with a hazard in every month."""

    kind: EndKind = "none"
    chance: Fraction = Fraction(0)
    months: tuple[int, ...] = ()

    def ends(self, full: int) -> Ends | None:
        """The ends and their chances; None where there is nothing to weigh."""
        if self.kind == "hazard" and self.chance and full > 1:
            return ends_with_hazard(self.chance, full)
        early = [month for month in self.months if month < full]
        if self.kind == "months" and self.chance and early:
            return Ends.early({month: self.chance / len(early) for month in early}, full)
        return None


def rented(question: Question) -> dict[str, Lease]:
    """The fleets of one kind of card that the question's strategies begin with: `4 x NAME` -> lease."""
    found: dict[str, Lease] = {}
    for strategy in question.scenario.strategies:
        for lease in strategy.leases:
            if lease.converts or lease.started is not None or lease.joins is not None:
                continue
            whole = lease.model_copy(update={"start": None, "end": None})
            name = question.catalog.offers[lease.offer].name if lease.offer in question.catalog.offers else ""
            found.setdefault(f"{lease.count} × {name or lease.offer_id}", whole)
    return found


def plans_of(question: Question, lease: Lease) -> list[str]:
    """Plans under which the lease's offer is sold, the shortest first."""
    offer = used_offers(question)[lease.offer_id]
    return sorted(offer.plans, key=lambda plan: 0 if plan == "hourly" else plan_months(plan))


def ways_of(question: Question, lease: Lease, plans: tuple[str, ...], refund: RefundChoice) -> list[Way]:
    """The same lease under several plans, as `fleetsim breakeven --offer` compares them."""
    offers = used_offers(question)
    found = []
    for plan in plans:
        terms = lease.terms
        if refund != "contract":
            terms = ContractTerms(refund=Refund(rule=refund)).over(terms)
        changed = lease.model_copy(update={"plan": plan, "terms": terms})
        strategy = Strategy(name=plan, leases=(changed,))
        found.append(Way(plan, question.scenario, strategy, offers, question.price))
    return found


@st.cache_resource(max_entries=64, show_spinner=False)
def analysis_of(
    key: str,  # noqa: ARG001  # stands for the question
    _question: Question,
    label: str,
    plans: tuple[str, ...],
    refund: RefundChoice,
    months: int,
    rate: Decimal,
    risk: EndRisk,
) -> Analysis:
    """What `fleetsim breakeven` finds; `key` stands for the question. InputError as billing raises it."""
    ways = ways_of(_question, rented(_question)[label], plans, refund)
    return analyse(ways, months, rate, "months", risk.ends(months))


@st.cache_resource(max_entries=64, show_spinner=False)
def ledger_of(
    key: str,  # noqa: ARG001  # stands for the question
    _question: Question,
    strategy: str,
    folder: str | None,
) -> Ledger:
    """The ledger of a strategy: of a stored run (replication 0), else what its leases alone cost."""
    if folder is not None:
        return _opened(folder, _stamp(folder)).ledger(strategy)
    names = [one.name for one in _question.scenario.strategies]
    return quote(_question, names.index(strategy)).ledger


@st.cache_resource(max_entries=64, show_spinner=False)
def months_of(key: str, _question: Question, strategy: str, folder: str | None) -> tuple[CashPeriod, ...]:
    """Cash, cost and prepaid balance by month, as `fleetsim costs` has them."""
    return cash_and_cost(ledger_of(key, _question, strategy, folder), _question.scenario)


def question_of(shown: Shown) -> Question:
    """The question as a stored run keeps it."""
    folder = str(shown.folder)
    return _opened(folder, _stamp(folder)).question


@st.cache_resource(max_entries=8, show_spinner=False)
def _opened(folder: str, stamp: int) -> StoredRun:  # noqa: ARG001  # part of the key
    return open_run(folder)


def _stamp(folder: str) -> int:
    """What tells a folder of results from one that took its place; 0 where it has gone."""
    manifest = Path(folder, "manifest.json")
    return manifest.stat().st_mtime_ns if manifest.is_file() else 0
