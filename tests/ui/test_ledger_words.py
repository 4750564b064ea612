"""Rules of the ledger's lines, and sources of claims, in Chinese."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sim.experiments.quote import quote
from sim.load import load_text
from sim.ui.claims_work import worked_claims
from sim.ui.language import catalogue
from sim.ui.ledger_words import line_rule
from sim.ui.working_words import sourced
from tests.ui.odd_question import ODD

NAMES = re.compile(
    r"models\.yaml: \S+|(?:gpus|models)\.yaml|sim/physics\S*|docs/models\.md|\"[^\"]*\"|"
    r"QwenLM/\S+ README\.md|arXiv|"
    r"speed\.overlap|nvlink_scale|\b(?:a100|h100|rtx|t4|v100s)[\w-]*-[\w.-]+|\bm00\d\d\b|PCI Express|token|"
    r"Dao, FlashAttention-2|Loshchilov 与 Hutter|AdamW|NVIDIA|NVLink|TFLOPS|GiB|\b[A-Z][\w]*-?[\w-]*\b"
)
"""What stays in every language: names of files, cards, models, papers and people."""


def _figures(text: str) -> list[str]:
    return sorted(re.findall(r"\d[\d.,]*\d|\d", text))


@pytest.mark.usefixtures("chinese")
def test_nothing_english_is_left_of_the_rules_of_rare_contracts() -> None:
    """Every figure is still there, in any order."""
    odd = load_text(ODD, folder=Path())
    places = range(len(odd.scenario.strategies))
    rules = [charge.rule for place in places for charge in quote(odd, place).ledger.charges]
    for part in (
        "in arrears",
        "at list price",
        "refund, ",
        "fee for",
        "tax of charge",
        "machine 0",
        "disks of",
    ):
        assert any(part in rule for rule in rules), part
    for rule in rules:
        told = line_rule(rule)
        assert not re.search(r"[a-wyz]{1,}[a-z]", told), (rule, told)
        assert _figures(told) == _figures(rule), (rule, told)


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            "monthly, paid in advance for 2026-01-01 to 2026-02-01: 8 units x 1 month x 5.00 list = 40.00",
            "月付, 预付，2026-01-01 至 2026-02-01: 8 单位 x 1 个月 x 5.00 标价 = 40.00",
        ),
        (
            "machine 3: 2h 30min used, 3 x 1h begun = 3 h x 2.00 list = 6.00, on the invoice 6.00",
            (
                "机器 3：使用 2 小时 30 分钟, 3 x 1 小时（不足一个增量按一个计） = "
                "3 小时 x 2.00 标价 = 6.00, 账单金额 6.00"
            ),
        ),
        (
            "refund, the lease ends 2026-05-01 08:00, left within 30 days of 2026-04-20, all of it returns",
            "退款, 租约于 2026-05-01 08:00 结束, 在 2026-04-20 起 30 天内退出，全额退还",
        ),
        (
            (
                "6-months at list price, paid before the scenario for 2025-10-01 to 2026-04-01: "
                "1 unit x 6 months x 5.00 list = 30.00; converted from monthly; "
                "90d of 182d usable in the horizon"
            ),
            (
                "6 个月付（按标价）, 场景开始前已付，2025-10-01 至 2026-04-01: 1 单位 x 6 个月 x "
                "5.00 标价 = 30.00; 由月付转换; 182 天中有 90 天在考察期内可用"
            ),
        ),
        ("usage of bursts in this month, mean of 30 runs", "按小时费用 （本月加租，30 次运行的平均）"),
        ("another rule", "another rule"),
    ],
)
def test_rules_by_hand(rule: str, told: str) -> None:
    assert line_rule(rule) == told


@pytest.mark.usefixtures("chinese")
def test_nothing_english_is_left_of_the_sources_on_the_articles() -> None:
    claims = json.loads(worked_claims("zh").read_text(encoding="utf-8"))["claims"]
    sources = {text for claim in claims for text in claim["sources"]}
    assert len(sources) > 40
    for text in sources:
        told = sourced(text)
        assert not re.search(r"\b[a-z]{2,}", NAMES.sub("", told)), (text, told)
        assert _figures(told) == _figures(text), (text, told)
    title = 'README.md "Profiling of Memory and Speed": Qwen-14B'
    assert sourced(title) == title


def test_in_english_nothing_is_changed() -> None:
    assert line_rule("monthly, paid in advance") == "monthly, paid in advance"
    assert sourced("catalogue x (official)") == "catalogue x (official)"


def test_every_word_of_a_phrase_is_one_of_the_code() -> None:
    """A phrase whose words the rooms that write the rules no longer have is said by nobody."""
    root = Path(__file__).parents[2] / "sim"
    files = [*(root / "billing").glob("*.py"), *(root / "model").glob("*.py")]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    code += (root / "experiments" / "expected_burst.py").read_text(encoding="utf-8")
    known = set(re.findall(r"[a-z]+", code))
    phrases = [text for key, text in catalogue("en").items() if key.startswith("ledger.")]
    assert phrases
    assert [text for text in phrases if not known.issuperset(re.findall(r"[a-z]{3,}", text))] == []
