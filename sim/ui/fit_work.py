"""The answers of the page `fit`, kept so that a touched widget asks physics once."""

from __future__ import annotations

import streamlit as st

from sim.catalog import Catalog, load_catalog
from sim.model.contract import Plan
from sim.model.work import JobClass
from sim.report.fit_answers import FitAnswer, fit_answers

__all__ = ["answers_for", "shipped_catalog"]


@st.cache_resource
def shipped_catalog() -> Catalog:
    """The catalogue that comes with the program; frozen, so that sessions may share it."""
    return load_catalog()


@st.cache_data(max_entries=200, show_spinner=False, hash_funcs={JobClass: lambda job: job.model_dump_json()})
def answers_for(job: JobClass, performance: str, plan: Plan | None) -> list[FitAnswer]:
    """The job on every offer; InputError for a profile that is not known."""
    return fit_answers(job, shipped_catalog(), performance, plan=plan)
