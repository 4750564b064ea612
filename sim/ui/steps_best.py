"""The best month of a step by `stepup`, and the chosen step run exactly by `compare`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from sim.load import Question
from sim.ui.amounts import money, month, number
from sim.ui.finance_plans import sentence_gap
from sim.ui.language import question_name, say, word
from sim.ui.metric_words import metric_name, of_limits
from sim.ui.question_edits import Tree
from sim.ui.question_result import go_to
from sim.ui.run_question import question_parts
from sim.ui.safe import literal
from sim.ui.shown import Shown, run_of
from sim.ui.state import Draft
from sim.ui.steps_grid import Choice, Spec, exact_file, step_file, when
from sim.ui.studies import asked_with, latest, worked
from sim.ui.told import told
from sim.ui.watch import ask, watch

__all__ = ["show_best", "show_exact", "step_names"]

EXACT = (
    "committed_cost_cny",
    "cost_cny",
    "cash_cny",
    "wait_p95_h",
    "on_time_share",
    "busy_share",
    "target_met_share",
)
"""What the exact run shows; all else stands on the page Compare."""


def step_names(question: Question, spec: Spec, choice: Choice) -> tuple[str, str, str]:
    """Names of the strategies as the program writes them: before, the step, all of it from the start."""
    offer = question.scenario.strategy(spec.base).leases[spec.lease].offer_id
    more = choice.size - spec.count
    first = f"{spec.count} x {offer}, {choice.first_plan}"
    added = f"{more} more, {choice.added_plan}"
    return (
        first,
        f"{first}, {added} from {when(question, choice.month):%Y-%m-%d}",
        f"{first}, {added}, from the start",
    )


def show_best(draft: Draft, question: Question, spec: Spec, choice: Choice, tree: Tree, home: Path) -> None:
    """Which month is the best, and what a month early or late costs."""
    st.subheader(say("steps.best"))
    if choice.size == spec.count:
        st.caption(say("steps.pick_more"))
        return
    names = step_names(question, spec, choice)
    file = step_file(tree, home, spec, question, choice, (names[0], names[2]))
    found = latest(file, Draft(file.parent.name, file).question, "stepup")
    document = None if found is None else found.document
    if document is None and _is_worked_choice(question, spec, choice):
        document = worked(draft, "stepup")
    if document is not None:
        _best(document)
        return
    words = ["stepup", str(file), "--from", names[0], "--to", names[2], "--format", "json"]
    job = watch("stepup")
    if job is not None and not job.run.ended and asked_with(job.run, words):
        return
    st.caption(say("steps.best_note"))
    if st.button(word("steps.find"), key="steps_find"):
        ask("stepup", word("steps.title_best", name=question_name(question.scenario.name)), *words)
        st.rerun()


def _is_worked_choice(question: Question, spec: Spec, choice: Choice) -> bool:
    """Whether the answer to this step comes with the program: twice the cards, all else as planned."""
    from sim.ui.steps_grid import bases, planned_growth

    own = question.scenario.strategy(spec.base).leases[spec.lease].plan
    return (
        spec.base == bases(question)[0]
        and choice.size == 2 * spec.count
        and choice.growth == planned_growth(question, spec)
        and (choice.first_plan, choice.added_plan) == (own, own)
    )


def _best(document: Mapping[str, Any]) -> None:
    chosen = document["chosen"]
    if chosen is None:
        st.warning(say("steps.never_enough", name=document["to"]), icon=":material/report:")
    else:
        st.success(_sentence(document, chosen), icon=":material/event_available:")
    rows = [
        {
            word("steps.month"): _when(step),
            word("steps.committed"): money(step["committed_cost_cny"]),
            word("steps.cost"): money(step["cost_cny"]),
            word("steps.verdict"): word(f"steps.standing_{step['standing'].replace(' ', '_')}"),
            word("steps.runs"): number(step["replications"]) if step["replications"] else "–",
            word("steps.mark_column"): word("steps.chosen")
            if chosen is not None and step["month"] == chosen["month"]
            else "",
        }
        for step in reversed(document["steps"])
    ]
    with st.expander(word("steps.every_month")):
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
        st.caption(say("steps.best_assumed", runs=number(document["runs"])))


def _when(step: Mapping[str, Any]) -> str:
    return word("steps.never") if step["at"] is None else month(date.fromisoformat(step["at"][:10]))


def _sentence(document: Mapping[str, Any], chosen: Mapping[str, Any]) -> str:
    values = {
        "month": _when(chosen),
        "cost": money(chosen["cost_cny"]),
        "committed": money(chosen["committed_cost_cny"]),
        "before": document["from"],
        "after": document["to"],
    }
    if chosen["at"] is None:
        return say("steps.best_never", **values)
    parts = [say("steps.best_at_once" if chosen["month"] == 0 else "steps.best_month", **values)]
    if document["one_month_late_cny"] is not None:
        meets = _later(document, chosen) in ("meets", "taken to meet")
        key = "steps.late_meets" if meets else "steps.late_misses"
        parts.append(say(key, change=_change(document["one_month_late_cny"])))
    if document["one_month_early_cny"] is not None:
        parts.append(say("steps.early", change=_change(document["one_month_early_cny"])))
    return sentence_gap().join(parts)


def _later(document: Mapping[str, Any], chosen: Mapping[str, Any]) -> str:
    """How the next later step stands to the target; steps go from never to the earliest."""
    months = [step["month"] for step in document["steps"]]
    place = months.index(chosen["month"])
    return str(document["steps"][max(0, place - 1)]["standing"])


def _change(found: Mapping[str, float]) -> str:
    within, committed = found["accrued"], found["committed"]
    return word("steps.change", within=_signed(within), committed=_signed(committed))


def _signed(amount: float) -> str:
    if round(amount, 2) == 0:
        return word("steps.the_same")
    return word("steps.more" if amount > 0 else "steps.less", amount=money(abs(amount)))


def show_exact(question: Question, spec: Spec, choice: Choice, tree: Tree, home: Path) -> None:
    """The chosen step with as many runs as the question asks for, and all that a comparison has."""
    st.subheader(say("steps.exact"))
    names = step_names(question, spec, choice)
    file = exact_file(tree, home, spec, question, choice, names)
    found = run_of(Draft(file.parent.name, file))
    if found is not None:
        _exact(found)
        return
    words = ["compare", str(file), "--format", "json"]
    job = watch("steps-exact")
    if job is not None and not job.run.ended and asked_with(job.run, words):
        return
    st.caption(say("steps.exact_note", runs=number(question.scenario.experiment.replications)))
    if st.button(word("steps.run_exact"), key="steps_run_exact"):
        ask("steps-exact", word("steps.title_exact", name=names[1]), *words)
        st.rerun()


def _exact(found: Shown) -> None:
    document = found.document
    rows = [
        {
            word("finance.strategy"): one["name"],
            **{
                metric_name(metric): of_limits(one["metrics"][metric])
                for metric in EXACT
                if metric in one["metrics"]
            },
        }
        for one in document["strategies"]
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    st.caption(say("steps.exact_of", runs=number(document["replications"]), seed=document["seed"]))
    st.caption(literal(told(document["recommendation"]["reason"])))
    if st.button(word("steps.open_run"), key="steps_open_run", icon=":material/compare_arrows:"):
        go_to("compare", run=found.name, **question_parts(found.name))
