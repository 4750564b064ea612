"""Rules of the loader in Chinese: each is one that the code has, and what it names stays."""

from __future__ import annotations

import re

import pytest

from sim.errors import InputError, Problem, RunError
from sim.load import load_text
from sim.ui.language import catalogue
from sim.ui.told_rules import error_told, problem_told, rule_sentence, rule_told
from sim.workload.imports.fields import words
from sim.workload.imports.mapping import _presets
from tests.ui.rule_texts import FILES, MORE, every_text
from tests.ui.study_cases import SMALL

HOLE = re.compile(r"\{\w*\}")


TAILS = (": {}", "; its columns: {}")
"""What the code adds to a rule: the cell that was found, the columns of the table."""

COMPOSED = {
    "{} of {} jobs, {}: {}.",
    "{} of 1 job, {}: {}.",
    "{} of {} jobs, never started: no run time: {}.",
    "{} of 1 job, never started: no run time: {}.",
    "a job of {} cards; at most {} are possible",
    "{} is no job id: {}",
    "unknown option of {}",
    "no options are sold with {}",
    "the offers are priced in {}: give a dated rate of {}, such as --exchange {}",
    "owning and rents are priced in {}: give a dated rate of {}, such as --exchange {}",
}
"""Texts that the program puts together out of parts none of which is a sentence."""


def _form(text: str) -> re.Pattern[str]:
    """What a text of the code may become, with holes filled in."""
    return re.compile(".*".join(re.escape(part) for part in text.split("{}")), re.DOTALL)


def test_every_rule_of_the_catalogue_is_one_of_the_code() -> None:
    """But for what libraries say (`lib_`), which the program hands on."""
    known = {text for file in [*FILES, *MORE] for text in every_text(file)}
    known |= {str(text) for preset in _presets().values() for text in (preset["about"], *preset["remarks"])}
    known |= set(words("states"))
    forms = [_form(text) for text in known if "{}" in text and len(re.sub(r"[^a-z]", "", text)) > 7]
    rules = [
        HOLE.sub("{}", text)
        for key, text in catalogue("en").items()
        if key.startswith(("rules.", "records.")) and ".lib_" not in key
    ]
    assert len(rules) > 450
    strange = [
        text
        for text in rules
        if text not in known | COMPOSED
        and not any(text.endswith(tail) and text.removesuffix(tail) in known for tail in TAILS)
        and not any(form.fullmatch(text) for form in forms)
        and not any(map(_form(text).fullmatch, known))
    ]
    assert strange == []


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("count: 2", "count: 0"), "应不小于 1"),
        (("count: 2", "counts: 2"), "没有这个键"),
        (("count: 2", "count: null"), "这个键没有值；应为整数"),
        (("a100-40g-custom, count: 2", "a100-40g, count: 2"), "没有这个报价"),
        (("rate: 2/day", "rate: often"), "到达率是每单位时间的数，如 6/day、3/week 或 0.5/h"),
        (("plan: annual", "plan: hourly"), "a100-40g-custom 不按这种付费方式出租"),
        (("{replications: 3, seed: 7}", "{replications: 3, warm_up: 40d}"), "预热应短于考察期"),
        (("samples: {lognormal: {median: 40000, sigma: 0.8}}", "samples: many"), (
            "应为大于 0 的数，或分布，如 {lognormal: {median: 50000, sigma: 1}}"
        )),
    ],
)  # fmt: skip
def test_what_the_loader_says_is_told(change: tuple[str, str], told: str) -> None:
    assert change[0] in SMALL
    with pytest.raises(InputError) as refused:
        load_text(SMALL.replace(*change, 1))
    assert [rule_told(problem.rule) for problem in refused.value.problems] == [told]


@pytest.mark.usefixtures("chinese")
def test_values_go_where_the_sentence_has_them_and_other_rules_stay() -> None:
    text = "half_life goes with the queue policy fair, not with fifo"
    assert rule_told(text) == "half_life 只用于排队规则 fair，不用于 fifo"
    assert rule_sentence("must be at most 99") == "应不大于 99。"
    assert rule_sentence("no such rule", "place") == "place: no such rule。"


@pytest.mark.usefixtures("chinese")
def test_a_problem_keeps_its_place_its_value_and_the_known_names() -> None:
    problem = Problem("must be at least 1", "small.yaml", 12, "strategies.0.leases.0.count", 0)
    assert problem_told(problem) == "small.yaml:12: strategies.0.leases.0.count: 应不小于 1。 当前值：0。"
    other = Problem("unknown card", key="row 3, gpu", value="A10", known=("A100-40G", "T4"))
    told = "row 3, gpu: 没有这种卡。 当前值：A10。 可选：A100-40G, T4。"
    assert error_told(InputError([problem, other])) == f"{problem_told(problem)}\n{told}"
    assert error_told(RunError("the disk is full")) == "the disk is full"


def test_in_english_nothing_is_changed() -> None:
    assert rule_sentence("must be at most 99") == "Must be at most 99."
    problem = Problem("must be at most 99", key="count", value=100)
    assert problem_told(problem) == str(problem)
