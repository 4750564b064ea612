"""Asking for a job: model, method, batch, sequence, cards; or a class of jobs of the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.catalog import Catalog
from sim.errors import FleetsimError
from sim.model.contract import Plan
from sim.model.work import Attention, JobClass, Loss, Method, Optimizer, SplitKind, Targets
from sim.report.fit_answers import job_of
from sim.ui.boxes import number_box, whole_box
from sim.ui.language import say, word
from sim.ui.state import hand

__all__ = ["Asked", "ask_job"]

FIRST_MODEL = "codellama-34b"
"""What a first visitor sees: large enough that the answer is not obvious."""

MOST_CARDS = 64

NUMBERS = ("micro_batch", "seq_len", "samples", "epochs", "rank")
"""What is asked for in boxes for numbers that may not be left empty."""

PLANS = ("", "hourly", "monthly", "quarterly", "annual")
"""Contracts by whose price an hour may be reckoned; the first is the list price."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The job, and the contract by whose price an hour is reckoned (None: the list price)."""

    job: JobClass
    plan: Plan | None


def ask_job(catalog: Catalog) -> Asked:
    """Let the user describe a job; InputError where the description contradicts itself."""
    own = _classes()
    source = st.segmented_control(
        say("fit.source"),
        ["own", *own],
        default="own",
        required=True,
        format_func=lambda name: word("fit.source_own") if name == "own" else own[name].name,
        key="fit_source", persist_state="session",
        help=say("fit.source_help"),
    ) if own else "own"  # fmt: skip
    if source is not None and source in own:
        plan = _plan()
        return Asked(own[source], plan)
    return _widgets(catalog)


def _classes() -> dict[str, JobClass]:
    """The classes of jobs of the question in hand, by position; none where it cannot be read."""
    found = hand()
    if found.problems:  # whoever asks about a job of his own need not mend the question first
        return {}
    try:
        classes = found.draft().question.scenario.workload.classes
    except FleetsimError:
        return {}
    return {f"class-{place}": one for place, one in enumerate(classes) if isinstance(one, JobClass)}


def _widgets(catalog: Catalog) -> Asked:
    models = list(catalog.models)
    first, second, third, fourth = st.columns(4)
    options: dict[str, Any] = {}
    options["model"] = first.selectbox(
        say("fit.model"),
        models,
        models.index(FIRST_MODEL) if FIRST_MODEL in models else 0,
        format_func=lambda name: catalog.models[name].name,
        key="fit_model",
        persist_state="session",
    )
    options["method"] = second.selectbox(
        say("fit.method"),
        get_args(Method),
        2,
        format_func=lambda name: word(f"fit.method_{name}"),
        key="fit_method",
        persist_state="session",
        help=say("fit.method_help"),
    )
    options["micro_batch"] = whole_box(
        say("fit.batch"), 1, 4096, 1, key="fit_batch", place=third, about=say("fit.batch_help")
    )
    options["seq_len"] = whole_box(
        say("fit.sequence"), 1, 1_000_000, 2048,
        key="fit_sequence", place=fourth, step=256, about=say("fit.sequence_help"),
    )  # fmt: skip
    options["gpus"] = _cards()
    with st.expander(say("fit.more")):
        options |= _more(str(options["method"]))
        plan = _plan()
    if any(options[name] is None for name in NUMBERS if name in options):
        st.stop()  # the box has said what is wrong with its number
    return Asked(job_of(options, catalog, "{}"), plan)


def _cards() -> str | list[int]:
    picked = st.pills(
        say("fit.cards"),
        [1, 2, 4, 8, 16, 32, MOST_CARDS],
        selection_mode="multi",
        key="fit_cards",
        persist_state="session",
        help=say("fit.cards_help"),
    )
    return sorted(picked) if picked else "auto"


def _more(method: str) -> dict[str, Any]:
    left, middle, right = st.columns(3)
    found = _amount(left) | _training(middle) | _spread(right)
    if method != "full":
        found["rank"] = whole_box(say("fit.rank"), 1, 1_000_000, 16, key="fit_rank", place=middle)
        found["targets"] = _choice(right, "targets", get_args(Targets))
    return found


def _amount(place: DeltaGenerator) -> dict[str, Any]:
    """How much is trained on."""
    return {
        "samples": whole_box(
            say("fit.samples"), 1, 10**12, 50_000, key="fit_samples", place=place, step=1000
        ),
        "epochs": number_box(say("fit.epochs"), 0.1, 1e6, 3.0, key="fit_epochs", place=place),
        "mean_tokens": place.number_input(
            say("fit.mean_tokens"),
            1.0,
            1e9,
            None,
            50.0,
            key="fit_mean",
            help=say("fit.mean_tokens_help"),
            persist_state="session",
        ),
        "packed": place.checkbox(
            say("fit.packed"), key="fit_packed", persist_state="session", help=say("fit.packed_help")
        ),
    }


def _training(place: DeltaGenerator) -> dict[str, Any]:
    """What costs memory or time in a step."""
    return {
        "checkpointing": place.checkbox(
            say("fit.checkpointing"),
            True,
            key="fit_checkpointing",
            persist_state="session",
            help=say("fit.checkpointing_help"),
        ),
        "attention": _choice(place, "attention", get_args(Attention)),
        "optimizer": _choice(place, "optimizer", get_args(Optimizer)),
    }


def _spread(place: DeltaGenerator) -> dict[str, Any]:
    """How the loss is computed, and how the job is split over its cards."""
    return {
        "loss": _choice(place, "loss", get_args(Loss), helped=True),
        "split": _choice(place, "split", get_args(SplitKind), helped=True),
    }


def _choice(place: DeltaGenerator, name: str, options: Sequence[str], *, helped: bool = False) -> str | None:
    """One of the field's own names, the first unasked."""
    return place.selectbox(
        say(f"fit.{name}"),
        options,
        key=f"fit_{name}",
        persist_state="session",
        help=say(f"fit.{name}_help") if helped else None,
    )


def _plan() -> Plan | None:
    picked = st.selectbox(
        say("fit.plan"),
        PLANS,
        format_func=lambda plan: word(f"fit.plan_{plan or 'list'}"),
        key="fit_plan",
        persist_state="session",
        help=say("fit.plan_help"),
    )
    return picked or None
