"""Mistakes in a price list of one's own, refused by the program and told in Chinese."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.catalog.catalog import load_catalog
from sim.errors import InputError
from sim.load import load
from sim.ui.told_rules import problem_told
from tests.ui.study_cases import SMALL

LIST = (Path(__file__).parents[2] / "scenarios" / "prices" / "two-sellers.yaml").read_text(encoding="utf-8")


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        (
            "currency: CNY",
            "currency: RMB",
            "23: offers.0.currency: 货币用 ISO 4217 代码，如 CNY、USD 或 EUR；是否指 CNY？ 当前值：RMB。",
        ),
        ("low: 2600", "low: 0", "18: offers.0.price.low: 应大于 0。 当前值：0。"),
        ("low: 2600", "low: cheap", "18: offers.0.price.low: 应为数字。 当前值：cheap。"),
        ("high: 2600", "high: 260", "18: offers.0.price: 价格高端不能低于低端。"),
        (
            "unit: month",
            "unit: week",
            "18: offers.0.price.unit: 应为 'hour'、'month' 或 'year'。 当前值：week。",
        ),
        (
            "form: node",
            "form: box",
            "13: offers.0.form: 应为 'node'、'machine'、'cloud'、'mig'、'public' 或 'owned'。 当前值：box。",
        ),
        ("    provider: North\n", "", "8: offers.0.provider: 缺少这个键，必须填写。"),
        (
            "{multiplier: 0.93}",
            "{multiplier: 0.93, price: 700}",
            "21: offers.0.plans.quarterly: 付费方式要么写标价的系数（multiplier），要么写每期价格（price）。",
        ),
        (
            "{multiplier: 0.93}",
            "{price: 70000}",
            "19: offers.0.plans: quarterly：价格不能高于同样时长按标价的费用 7,800。",
        ),
        ("id: south-a100", "id: north-a100", "28: offers.1.id: 这个 id 出现两次。 当前值：north-a100。"),
        (
            "gpus_per_unit: 1",
            "gpus_per_unit: 1.5",
            "12: offers.0.gpus_per_unit: 应为整数，不能有小数。 当前值：1.5。",
        ),
        ("link: none", "link: [a", "17: 不是有效的 YAML：缺少逗号或 ']'，此处是 ':'。"),
        (
            "date: 2026-11-16",
            "date: yesterday",
            "26: offers.0.date: 应为日期，如 2026-11-30：太短。 当前值：yesterday。",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, right: str, wrong: str, told: str) -> None:
    assert right in LIST
    own = tmp_path / "mine.yaml"
    own.write_text(LIST.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load_catalog(own)
    said = [problem_told(problem).replace(f"{own}:", "") for problem in refused.value.problems]
    assert said == [told]


@pytest.mark.usefixtures("chinese")
def test_a_currency_without_a_rate_is_told(tmp_path: Path) -> None:
    dollars = LIST.replace("currency: CNY", "currency: USD")
    (tmp_path / "mine.yaml").write_text(dollars, encoding="utf-8")
    small = SMALL.replace("a100-40g-custom", "north-a100")
    (tmp_path / "small.yaml").write_text(f"catalog: mine.yaml\n{small}", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load(tmp_path / "small.yaml")
    said = problem_told(refused.value.problems[0])
    assert (
        "north-a100 以 USD 计价：场景的 exchange 须有带日期的汇率，如 {USD: {rate: 7.1, date: 2026-11-30}}。"
        in said
    )
