"""Rare sentences of the program in Chinese: a question that asks for nearly every rare thing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sim.experiments.assumptions import scenario_assumptions
from sim.experiments.decision import conditions
from sim.experiments.quote import quote
from sim.load import Question, load_text
from sim.replication import prepare, used_offers
from sim.ui import told
from tests.ui.odd_question import ODD

WORDS = re.compile(r"\b[a-z]{3,}")
KEPT = (
    "price_range",
    "demand",
    "run_time",
    "failures",
    "workload.classes.0.rate",
    "a survey",
    "/day",
    "helios",
)
"""Keys of the scenario and words of its author, which stay."""


@pytest.fixture(scope="module")
def odd() -> Question:
    return load_text(ODD, folder=Path())


def _sentences(odd: Question) -> list[str]:
    offers = list(used_offers(odd).values())
    found = list(scenario_assumptions(odd.scenario, conditions(odd.scenario.target), offers))
    for place in range(len(odd.scenario.strategies)):
        found += quote(odd, place).ledger.assumptions
    return [*found, *prepare(odd).rates.notes]


@pytest.mark.usefixtures("chinese")
def test_nothing_english_is_left_of_rare_assumptions(odd: Question) -> None:
    scenario = odd.scenario
    known = [one.name for one in (*scenario.workload.classes, *scenario.strategies)]
    known += [*used_offers(odd), "a100-40g-custom", "h100-mig", *KEPT]
    sentences = _sentences(odd)
    # One of each room: failures, sharing, uncertain inputs, a contract left early, a slice.
    starts = ("Silent corruption", "'slowed': up to 2", "Uncertain run_time", "A prepaid period left early")
    for start in (*starts, "h100-mig/3g.40gb: a slice costs 3/7"):
        assert any(text.startswith(start) for text in sentences), start
    for text in sentences:
        said = told.told(text)
        for name in sorted(known, key=len, reverse=True):
            said = said.replace(name, "")
        assert not WORDS.search(said.replace("3g.40gb", "").replace("sigma", "")), (text, said)


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("text", "told_so"),
    [
        (
            "demand grows by 3%/month: the queue has no steady state, the figures are a mean",
            "需求增长 3%/月：队列没有稳态，数字只是平均值",
        ),
        (
            (
                "neighbouring batches are alike (correlation 0.53), so the intervals of its cost are too "
                "narrow; a longer horizon or fewer batches give fairer ones"
            ),
            "相邻批次相似（相关系数 0.53），因此费用的区间偏窄；延长考察期或减少批数，区间才可靠",
        ),
        (
            "lease 0, burst and 3 more: a lease ends with its paid period (assumed).",
            "租约 0, burst 及另外 3 份：租约随已付期结束（假设）。",
        ),
        (
            "Uncertain x: one of 1/day (50 %), 3/day (50 %) (a survey).",
            "不确定的 x：取其一：1/day (50 %), 3/day (50 %)（a survey）。",
        ),
        (
            (
                "Uncertain x: normal with mean 1 and standard deviation 0.1, cut off below 0.5 and above 2, "
                "times the jobs (assumed)."
            ),
            "不确定的 x：均值 1、标准差 0.1 的正态分布，截去 0.5 以下与 2 以上，作业量的倍数（假设）。",
        ),
        ("A checkpoint every 1h 30min of work (default).", "每工作 1 小时 30 分钟存一次检查点（默认）。"),
    ],
)
def test_growth_spans_leases_and_distributions_are_told(text: str, told_so: str) -> None:
    assert told.told(text) == told_so


@pytest.mark.usefixtures("chinese")
def test_a_name_that_looks_like_a_lease_stays() -> None:
    assert told.told("'lease 1': the first 9 waiting jobs have reservations (assumed).") == (
        "'lease 1'：排在最前的 9 个作业有预留（假设）。"
    )
