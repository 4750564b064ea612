"""The answers of the page `fit`, kept so that a touched widget asks physics once."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from sim.catalog import Catalog, load_catalog
from sim.errors import FleetsimError
from sim.model.contract import Plan
from sim.model.work import JobClass
from sim.report.fit_answers import FitAnswer, fit_answers
from sim.ui.state import hand

__all__ = ["Prices", "answers_for", "prices_in_hand", "shipped_catalog"]


@st.cache_resource
def shipped_catalog() -> Catalog:
    """The catalogue that comes with the program; frozen, so that sessions may share it."""
    return load_catalog()


@dataclass(frozen=True, slots=True)
class Prices:
    """The catalogue whose offers are asked, and the question's own price list in it; empty for none."""

    catalog: Catalog
    own: str


def prices_in_hand() -> Prices:
    """Those of the question in hand; the shipped ones where it has none or cannot be read."""
    found = hand()
    if found.problems:  # whoever asks about a job of his own need not mend the question first
        return Prices(shipped_catalog(), "")
    try:
        question = found.draft().question
    except FleetsimError:
        return Prices(shipped_catalog(), "")
    own = question.catalog_source
    return Prices(shipped_catalog(), "") if own is None else Prices(question.catalog, own.name)


@st.cache_data(
    max_entries=200, show_spinner=False,
    hash_funcs={JobClass: lambda job: job.model_dump_json(), Catalog: repr},
)  # fmt: skip
def answers_for(job: JobClass, catalog: Catalog, performance: str, plan: Plan | None) -> list[FitAnswer]:
    """The job on every offer; InputError for a profile that is not known."""
    return fit_answers(job, catalog, performance, plan=plan)
