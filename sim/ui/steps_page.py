"""The page `steps`: what if more cards come in some month? The answer moves with the sliders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from sim.errors import FleetsimError
from sim.load import Question
from sim.model.ledger import Ledger
from sim.ui.amounts import hours, money, month, number, share
from sim.ui.finance_plans import plan_name, sentence_gap
from sim.ui.language import question_name, say, word
from sim.ui.safe import literal
from sim.ui.state import Draft, current_draft, hand
from sim.ui.steps_answers import Grid, Point, grid_of
from sim.ui.steps_best import show_best, show_exact
from sim.ui.steps_charts import money_chart, wait_chart
from sim.ui.steps_form import ask_choice, cards_each
from sim.ui.steps_grid import (
    REPLICATIONS,
    Choice,
    Spec,
    bases,
    grid_file,
    grid_words,
    ledger_of_choice,
    spec_of,
    when,
)
from sim.ui.studies import asked_with, identity, latest, worked
from sim.ui.told_rules import error_told
from sim.ui.watch import ask, watch
from sim.units import HOUR

__all__ = ["show"]


@dataclass(frozen=True)
class Step:
    """Everything that the page knows about the chosen step."""

    question: Question
    spec: Spec
    choice: Choice
    grid: Grid | None

    @property
    def limit_h(self) -> float | None:
        """The target's 95th percentile of wait, hours."""
        target = self.question.scenario.target
        return None if target is None or target.wait_p95 is None else target.wait_p95 / HOUR


def show() -> None:
    """Draw the page."""
    st.title(say("steps.title"))
    draft = current_draft()
    try:
        _page(draft)
    except FleetsimError as error:
        st.error(literal(error_told(error)))


def _page(draft: Draft) -> None:
    question = draft.question
    known = bases(question)
    if not known:
        st.info(say("steps.no_base"))
        return
    st.caption(say("steps.intro", name=question_name(question.scenario.name)))
    base = st.selectbox(
        word("steps.base"),
        known,
        key=f"steps_base_{draft.file}",
        help=word("steps.base_help"),
        persist_state="session",
    )
    spec = _spec(identity(draft), question, base if base in known else known[0])
    if len(spec.months) < 2:
        st.info(say("steps.too_short"))
        return
    found = hand()
    tree, home = found.tree, found.file.parent
    file = grid_file(tree, home, spec, question)
    grid = _grid(draft, spec, file, question)
    step = Step(question, spec, ask_choice(question, spec), grid)
    if grid is None:
        _compute(spec, file, question)
    _answer(step)
    _figures(step)
    if grid is not None:
        wait_chart(question, spec, step.choice, grid, step.limit_h)
    money_chart(question, spec, step.choice)
    if grid is not None:
        _months(step, grid)
    show_best(draft, step.question, spec, step.choice, tree, home)
    show_exact(step.question, spec, step.choice, tree, home)


@st.cache_resource(max_entries=32, show_spinner=False)
def _spec(key: str, _question: Question, base: str) -> Spec:  # noqa: ARG001  # part of the key
    return spec_of(_question, base)


def _grid(draft: Draft, spec: Spec, file: Path, question: Question) -> Grid | None:
    """The computed grid: a stored one, else that of the worked example."""
    found = latest(file, Draft(file.parent.name, file).question, "sweep") if _any_sweep(question) else None
    document = found.document if found is not None else None
    if document is None and spec.base == bases(question)[0]:
        document = worked(draft, "steps")
    return None if document is None else grid_of(document, spec)


def _any_sweep(question: Question) -> bool:
    """Whether it is worth reading the grid's question."""
    from sim.experiments.files import slug
    from sim.ui.jobs import OUT

    return any((OUT / slug(question.scenario.name)).glob("sweep-*"))


def _compute(spec: Spec, file: Path, question: Question) -> None:
    """A button that computes the grid, or its progress."""
    job = watch("steps-grid")
    words = grid_words(file, spec)
    if job is not None and not job.run.ended and asked_with(job.run, words):
        return
    runs = (1 + len(spec.sizes) * len(spec.months)) * max(1, len(spec.growths)) * REPLICATIONS
    st.info(say("steps.no_grid", runs=number(runs)), icon=":material/grid_on:")
    if st.button(word("steps.compute"), type="primary", key="steps_compute"):
        ask("steps-grid", word("steps.title_grid", name=question_name(question.scenario.name)), *words)
        st.rerun()


def _answer(step: Step) -> None:
    """The answer in a sentence or two."""
    question, spec, choice = step.question, step.spec, step.choice
    ledger = ledger_of_choice(question, spec, choice)
    each = cards_each(question, spec)
    values = {
        "before": number(spec.count * each),
        "after": number(choice.size * each),
        "month": month(when(question, choice.month)),
        "plan": plan_name(choice.added_plan),
        "cost": money(float(ledger.accrued)),
        "cash": money(float(ledger.cash)),
        "committed": money(float(ledger.committed)),
    }
    if choice.size == spec.count:
        text = say("steps.stay", **values)
    elif choice.month == 0:
        text = say("steps.at_once", **values)
    else:
        text = say("steps.step", **values)
    point = None if step.grid is None else step.grid.at(spec, choice.growth, choice.size, choice.month)
    if point is None:
        st.info(text + sentence_gap() + say("steps.waits_unknown"), icon=":material/stairs:")
        return
    text += sentence_gap() + _verdict(point)
    if point.status == "missed":
        st.warning(text, icon=":material/hourglass_top:")
    elif point.status == "met":
        st.success(text, icon=":material/check_circle:")
    else:
        st.info(text, icon=":material/help:")


def _verdict(point: Point) -> str:
    wait = point.mean("wait_p95_h")
    if wait is None:
        return say("steps.no_waits")
    text = say("steps.waits", wait=hours(wait))
    if point.status in ("met", "missed", "unsure"):
        met = point.mean("target_met_share")
        runs = point.runs
        values = {"met": number(round((met or 0.0) * runs)), "runs": number(runs)}
        text += sentence_gap() + say(f"steps.target_{point.status}", **values)
    return text


def _figures(step: Step) -> None:
    """Money exactly; waits with their intervals; each against staying as it is."""
    question, spec, choice = step.question, step.spec, step.choice
    ledger = ledger_of_choice(question, spec, choice)
    stay = ledger_of_choice(
        question, spec, Choice(spec.count, 0, choice.growth, choice.first_plan, choice.added_plan)
    )
    columns = [*st.columns(3), *(st.columns(3) if step.grid is not None else ())]
    for column, key, mine, other in zip(
        columns,
        ("cost", "committed", "cash"),
        (ledger.accrued, ledger.committed, ledger.cash),
        (stay.accrued, stay.committed, stay.cash),
        strict=False,
    ):
        column.metric(
            word(f"steps.{key}"),
            money(float(mine)),
            delta=None if mine == other else money(float(mine - other)),
            delta_color="inverse",
            help=word(f"steps.{key}_help"),
        )
    if step.grid is None:
        return
    point = step.grid.at(spec, choice.growth, choice.size, choice.month)
    if point is None:
        return
    low, high = point.limits("wait_p95_h")
    columns[3].metric(
        word("steps.wait"),
        hours(point.mean("wait_p95_h")),
        help=word("steps.wait_help"),
        delta=None
        if low is None or high is None
        else word("steps.interval", low=hours(low), high=hours(high)),
        delta_color="off",
        delta_arrow="off",
    )
    low, high = point.limits("target_met_share")
    columns[4].metric(
        word("steps.met"),
        share(point.mean("target_met_share"), 0),
        help=word("steps.met_help"),
        delta=None
        if low is None or high is None
        else word("steps.interval", low=share(low, 0), high=share(high, 0)),
        delta_color="off",
        delta_arrow="off",
    )
    st.caption(say("steps.no_between", runs=number(step.grid.runs), seed=step.grid.seed))


def _months(step: Step, grid: Grid) -> None:
    """Every month of the step for this number of cards."""
    question, spec, choice = step.question, step.spec, step.choice
    with st.expander(word("steps.all_months")):
        rows = []
        for place in [*spec.months, None]:
            size = spec.count if place is None else choice.size
            point = grid.at(spec, choice.growth, size, place or 0)
            if point is None or (place is not None and size == spec.count):
                continue
            ledger: Ledger = ledger_of_choice(
                question, spec, Choice(size, place or 0, choice.growth, choice.first_plan, choice.added_plan)
            )
            rows.append(
                {
                    word("steps.month"): word("steps.never")
                    if place is None
                    else month(when(question, place)),
                    word("steps.cost"): money(float(ledger.accrued)),
                    word("steps.committed"): money(float(ledger.committed)),
                    word("steps.cash"): money(float(ledger.cash)),
                    word("steps.wait"): hours(point.mean("wait_p95_h")),
                    word("steps.on_time"): share(point.mean("on_time_share")),
                    word("steps.used"): share(point.mean("busy_share")),
                    word("steps.met"): share(point.mean("target_met_share"), 0),
                    word("steps.verdict"): word(f"steps.status_{point.status.replace(' ', '_')}"),
                }
            )
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
