"""The working of claims in Chinese: steps, what comes out of them, and what they take for granted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sim.claims import computations_prices
from sim.ui.claims_work import worked_claims
from sim.ui.language import catalogue
from sim.ui.working_words import assumed, worked

NAMES = re.compile(
    r"\d+-bit|docs/\S+|`terms\.\w+`|Hugging Face transformers|\b(?:a100|h100|rtx|t4|v100s|own)[\w-]*-[\w.-]+|"
    r"\b(?:ram_gb|vcpu|wan_mbps|gpus_per_unit|link|network|price) (?=of)|在目录中的(?:[a-z_]+)|"
    r"\b(?:gate|up|down|nvlink|pcie\d|ib|\d+gbe|kW|token|batch|sqrt|arXiv|PCIe|cpu16|ram128|disk1t|"
    r"zero-\d|none|pro-rata|re-rate|deposit-less-discounts|co-term|fp8|fp32|tf32|bf16|nf4|\dg\.\d+gb)\b"
)
"""What stays in every language: names of the catalogue, layers, links, formats and contract rules."""


def _claims(code: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(worked_claims(code).read_text(encoding="utf-8"))["claims"]
    return found


def _texts(claims: list[dict[str, Any]]) -> set[str]:
    steps = [step[key] for claim in claims for step in claim["steps"] for key in ("text", "value")]
    return {*steps, *(text for claim in claims for text in claim["assumptions"])}


@pytest.mark.usefixtures("chinese")
def test_nothing_english_is_left_of_the_workings_on_the_articles() -> None:
    claims = _claims("zh")
    told = {text: assumed(text) for claim in claims for text in claim["assumptions"]}
    told |= {
        step[key]: worked(step[key]) for one in claims for step in one["steps"] for key in ("text", "value")
    }
    for text, found in told.items():
        left = re.search(r"\b[a-z]{2,}", NAMES.sub("", found))
        assert left is None, (text, found)
        # Every figure is still there, in any order.
        assert sorted(re.findall(r"\d[\d.,]*\d|\d", found)) == sorted(re.findall(r"\d[\d.,]*\d|\d", text)), (
            text
        )


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("text", "told_so"),
    [
        (
            "a100-40g-custom, annual: 4 units x 12 months x list x annual",
            "a100-40g-custom, 年付: 4 单位 x 12 个月 x 标价 x 年付",
        ),
        (
            "Peak on one card: Qwen 7B, LoRA rank 16, 1 x 2,048 tokens, 8 x A100-40G, zero-3",
            "单卡峰值: Qwen 7B, LoRA 秩 16, 1 x 2,048 token, 8 x A100-40G, zero-3",
        ),
        ("33,600.00 CNY - 26,880.00 CNY", "33,600.00 元 - 26,880.00 元"),
        ("Fails after 13.3 h, data disk lost: machine away", "13.3 小时后故障，数据盘丢失：机器离线"),
        ("1.9 x, at least", "1.9 倍, 至少"),
        ("6 of 30 days", "30 中的 6 天"),
        ("words of a seller", "words of a seller"),
    ],
)
def test_phrases_are_told_and_figures_stay(text: str, told_so: str) -> None:
    assert worked(text) == told_so


@pytest.mark.usefixtures("chinese")
def test_a_condition_of_the_files_author_stays_whole() -> None:
    assert assumed("used for 12 months, 4 cards") == "used for 12 months, 4 cards"
    assert assumed("Work is saved every 20min on the data disk.") == "工作每 20min 保存到数据盘一次。"
    assert assumed("Prepaid periods are paid on their first day (assumed).") == "预付期在第一天付款（假设）。"


def test_in_english_nothing_is_changed() -> None:
    assert worked("Step: 1 s + 0.3 x 2 s, work and traffic") == "Step: 1 s + 0.3 x 2 s, work and traffic"


def test_every_phrase_is_one_that_a_working_has() -> None:
    texts = "\n".join(_texts(_claims("en")))
    texts += Path(computations_prices.__file__).read_text(encoding="utf-8")  # said of files of one's own only
    unused = []
    for key, phrase in catalogue("en").items():
        if key.startswith("working."):
            parts = [re.escape(part) for part in re.split(r"\{\w\}", phrase)]
            if not re.search(r"(?<![\w-])" + r"[^\s]+".join(parts), texts):
                unused.append(phrase)
    assert not unused
