"""The page `finance`: annual or monthly, what is paid when, who costs what, and owning instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from sim.errors import FleetsimError
from sim.load import Question
from sim.replication import used_offers
from sim.ui.amounts import day
from sim.ui.compare_form import KIND
from sim.ui.finance_books import show_books
from sim.ui.finance_files import show_files
from sim.ui.finance_owning import show_owning
from sim.ui.finance_plans import sentence_gap
from sim.ui.finance_source import Source, source_of
from sim.ui.finance_teams import show_teams
from sim.ui.finance_ways import show_ways
from sim.ui.language import question_name, say
from sim.ui.parts import show_part
from sim.ui.safe import literal
from sim.ui.told_rules import error_told
from sim.ui.watch import followed, watch

__all__ = ["show"]

PARTS: Mapping[str, Callable[[Source], None]] = {
    "ways": lambda source: show_ways(source.question, source.key),
    "books": show_books,
    "teams": show_teams,
    "owning": show_owning,
    "files": show_files,
}


def show() -> None:
    """Draw the page."""
    st.title(say("finance.title"))
    try:
        source = source_of()
    except FleetsimError as error:
        st.error(literal(error_told(error)))
        return
    st.caption(
        say(
            "finance.of_run" if source.run else "finance.of_quote",
            name=question_name(source.question.scenario.name),
        )
    )
    st.caption(_currency(source.question))
    job = followed(KIND)
    if job is not None and not job.run.ended:
        watch(KIND)  # the page is drawn again with the run when it ends
    show_part("finance", PARTS, source)


def _currency(question: Question) -> str:
    """In which currency amounts are, and at which rate prices in another one were turned into it."""
    scenario = question.scenario
    foreign = {offer.currency for offer in used_offers(question).values()} - {scenario.currency}
    said = [say("finance.currency")]
    for name in sorted(foreign & scenario.exchange.keys()):
        known = scenario.exchange[name]
        said.append(say("finance.exchange", currency=name, rate=f"{known.rate:f}", date=day(known.date)))
    return sentence_gap().join(said)
