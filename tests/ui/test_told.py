"""Sentences of the program in the page's language: every template has one, names of users stay."""

from __future__ import annotations

import ast
import json
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sim.catalog import load_catalog
from sim.model.said import said
from sim.report.fit_answers import fit_answers, job_of
from sim.ui import names, told
from sim.ui.language import catalogue
from sim.ui.shown import WORKED

ROOT = Path(__file__).parents[2]
WORDS = re.compile(r"\b[a-z]{3,}")
"""English words in small letters; ids, names of cards and of methods are taken out before."""


def _calls() -> Iterator[tuple[Path, ast.Call]]:
    for file in sorted((ROOT / "sim").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "said":
                yield file, node


def test_every_template_of_the_code_is_in_the_catalogue_and_none_is_left_over() -> None:
    found = set()
    for file, call in _calls():
        assert len(call.args) == 1, f"{file}:{call.lineno}"
        template = ast.literal_eval(call.args[0])  # a literal, so that it can be found here
        assert {name for _, name, _, _ in string.Formatter().parse(template) if name} == {
            keyword.arg for keyword in call.keywords
        }, f"{file}:{call.lineno}"
        found.add(template)
    known = {text for key, text in catalogue("en").items() if key.startswith("said.")}
    assert found == known


EXAMPLES = {
    "name": "'6 cards; none, at 5 CNY'", "than": "'none meets the target'", "reason": "no job that waits",
    "facts": "5 CNY committed and no job that waits", "miss": "misses the target", "on": "1 card",
    "head": "the queue is overloaded", "signs": "the queue is overloaded; fits on no card",
    "metric": "wait_p95", "metrics": "wait_p95 and on_time", "what": "the mean wait", "counts": "1 or 2",
    "split": "tensor 4 x zero-3 2", "plan": "annual", "method": "lora", "model": "llama-2-13b",
    "gpu": "NVIDIA A100 40GB", "offer": "a100-40g-8x", "span": "14d", "cost": "12.50 CNY", "wait": "1.3 h",
    "part": "95.0 %", "value": "0.5", "basis": "as the terms say", "basis2": "assumed", "basis3": "assumed",
    "means": "times the jobs", "step": "1h (assumed)", "published": "1.00 to 2.00", "fee": "without a fee",
    "price": "at the same price", "back": "the cards are kept (assumed)", "spread": "uniform from 1 to 2",
    "beside": "assumed, but for 'trial'", "how": "given", "growth": "3%/month", "lower": "16/day",
    "middle": "18/day", "upper": "20/day", "deviation": "2/day", "sigma": "0.5",
    "leases": "lease 0, burst",
}  # fmt: skip


@pytest.mark.parametrize("key", [key for key in catalogue("en") if key.startswith("said.")])
def test_a_sentence_is_read_back_with_its_values(key: str) -> None:
    template = catalogue("en")[key]
    fields = {name for _, name, _, _ in string.Formatter().parse(template) if name}
    values = {name: EXAMPLES.get(name, "1,204.5") for name in fields}
    assert told.read(said(template, **values)) == (key, values)


@pytest.mark.usefixtures("chinese")
def test_amounts_lists_and_sentences_in_sentences_are_told() -> None:
    text = (
        "'a; b' is the cheapest strategy that meets the target, at 161,280 CNY committed and a 95th "
        "percentile of wait of 30 min; the cheaper 'c, at d' (99 CNY) does not: the share of jobs on time is "
        "80.0 %, at least 95.0 % is asked."
    )
    assert told.told(text) == (
        "'a; b' 是达到目标的方案中最便宜的：承诺总费用 161,280 元，等待时间 95 分位为 30 分钟；"
        "更便宜的 'c, at d'（99 元）达不到：按时完成比例为 80.0 %，要求不低于 95.0 %。"
    )
    assert told.told("wait_p95 7.0 h, limit 4.0 h; on_time 80.0 %, limit 95.0 %") == (
        "等待时间 95 分位为 7.0 小时，限值 4.0 小时；按时完成比例为 80.0 %，限值 95.0 %"
    )
    assert told.told("costs 9 CNY, 1 CNY more than six", {"six": "六张"}) == "费用 9 元，比 六张 多 1 元"
    assert (
        told.with_units("应为 1.8 至 2.4 months；4 x 2,800 CNY/month")
        == "应为 1.8 至 2.4 个月；4 x 2,800 元/月"
    )
    assert told.split_name("tensor 4 x data parallel 2") == "张量并行 4 × 数据并行 2"


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    "text",
    ["words of a user", "job: words of a user", "own_line 3 h, limit 4 h", "none; of us", "{0} {cost}", ""],
)
def test_what_no_template_gives_stays_as_it_is(text: str) -> None:
    assert told.told(text) == text


def test_in_english_nothing_is_changed() -> None:
    assert told.told("wait_p95 7.0 h, limit 4.0 h") == "wait_p95 7.0 h, limit 4.0 h"


def _stored(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((WORKED / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.usefixtures("chinese")
def test_nothing_english_is_left_of_the_worked_example() -> None:
    """Why options lost, why the ranges, the decision and the warnings, as a first visitor meets them."""
    catalog = load_catalog()
    advice, study, example = map(_stored, ("recommendation", "sensitivity", "comparison"))
    shown = {option["strategy"]: names.fleet_name(option, catalog) for option in advice["options"]}
    sentences = [(option["reason"], shown) for option in advice["options"]]
    sentences += [(one["why"], {}) for one in study["inputs"]]
    own = {one["name"]: "方案" for one in example["strategies"]}
    sentences += [(example["recommendation"][key], own) for key in ("reason", "confidence_method")]
    sentences += [(one["text"], own) for one in example["warnings"]]
    sentences += [(text, own) for text in example["assumptions"] if not text.startswith("h100-mig: billed")]
    classes = {"law-70b", "docs/validation.md", "experiment.warm_up", *catalog.offers}
    for text, called in sentences:
        said_so = told.told(text, called)
        for name in classes:
            said_so = said_so.replace(name, "")
        assert not WORDS.search(said_so.replace("7g.80gb", "")), (text, said_so)
    assert not any(WORDS.search(name.replace("7g.80gb", "")) for name in shown.values())


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("method", ["full", "lora"])
def test_why_a_job_does_not_fit_and_what_helps_is_told(method: str) -> None:
    catalog = load_catalog()
    job = job_of(
        {"model": "llama-2-70b", "method": method, "seq_len": 4096, "micro_batch": 4, "samples": 1000,
         "gpus": [1, 2], "attention": "eager"},
        catalog,
    )  # fmt: skip
    answers = fit_answers(job, catalog)
    reasons = [answer.row.reason for answer in answers if answer.row.reason]
    steps = [step for answer in answers for step in answer.row.remedies]
    assert reasons
    assert steps
    for text in {*reasons, *(step.change for step in steps), *(step.harm for step in steps)}:
        assert told.read(text) is not None, text
        assert told.told(text) != text


def test_shipped_offers_are_named_in_every_language() -> None:
    known = {f"offers.{offer.id}": offer.name for offer in load_catalog().offers.values()}
    assert {key: text for key, text in catalogue("en").items() if key.startswith("offers.")} == known


@pytest.mark.usefixtures("chinese")
def test_an_offer_of_the_users_own_keeps_its_name() -> None:
    offer = load_catalog().offers["a100-40g-8x"]
    assert names.offer_name(offer) == "8 卡 A100 40G 整机"
    assert names.offer_name(offer.model_copy(update={"name": "Our machine"})) == "Our machine"
