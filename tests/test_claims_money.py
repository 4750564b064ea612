"""Claims about money: values by pencil, prices that move verdicts, and the articles' headline figures."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import pytest

from sim.claims.bench import Bench
from sim.claims.check import check_claims, judge
from sim.claims.headline import price_ladder, teams, thresholds
from sim.claims.read import load_claims
from sim.claims.table import COMPUTATIONS
from sim.claims.verdict import Judged
from sim.claims.working import Working
from sim.errors import InputError
from tests.claims_cases import MONEY, bench, claim, everything, with_price

CUSTOM, EIGHT, MIG = "a100-40g-custom", "a100-40g-8x", "h100-mig"


def computed(key: str, **inputs: Any) -> Working:
    return COMPUTATIONS[key](inputs, bench())


def ends(working: Working, digits: int = 2) -> tuple[float, float]:
    assert working.low is not None
    assert working.high is not None
    return round(working.low, digits), round(working.high, digits)


PENCIL: tuple[tuple[str, Mapping[str, Any], float, float, str], ...] = (
    # 4 x 2,800 x 12 x 0.80, and what twelve bills of 11,200 cost more.
    ("bill", {"offer": CUSTOM, "count": 4, "plan": "annual", "per": "year"}, 107_520, 107_520, "CNY/year"),
    ("bill", {"offer": CUSTOM, "count": 4, "plan": "annual", "per": "month"}, 8960, 8960, "CNY/month"),
    ("saving", {"offer": CUSTOM, "count": 4, "plan": "annual", "per": "year"}, 26_880, 26_880, "CNY/year"),
    ("saving", {"offer": CUSTOM, "plan": "annual", "per": "months"}, 2.4, 2.4, "months"),
    ("saving", {"offer": CUSTOM, "plan": "annual", "per": "%"}, 20, 20, "%"),
    # A quarter: 1 - 3 x 2,800 x 0.95 / 8,400.
    ("saving", {"offer": CUSTOM, "plan": "quarterly", "months": 3, "per": "%"}, 5, 5, "%"),
    # Half a year saves nothing by the annual plan: 16,800 - 26,880.
    ("saving", {"offer": CUSTOM, "plan": "annual", "months": 6}, -10_080, -10_080, "CNY"),
    ("months_saved", {"offers": [CUSTOM, EIGHT]}, 1.8, 2.4, "months"),
    # 25,000 and 35,000 x 12 x 0.85; 80,000 and 120,000 x 12 x 0.85.
    ("bill", {"offer": EIGHT, "plan": "annual", "per": "year"}, 255_000, 357_000, "CNY/year"),
    ("bill", {"offer": "h100-80g-8x", "plan": "annual", "per": "year"}, 816_000, 1_224_000, "CNY/year"),
    ("bill", {"offer": EIGHT, "plan": "annual", "discount": "0.8", "price": "low"}, 240_000, 240_000, "CNY"),
    ("bill", {"offer": CUSTOM, "plan": "annual", "list_price": 3000}, 28_800, 28_800, "CNY"),
    # 4 x 2,240 - 400; (11,200 - 400) x 0.8; 8,960 - 300; (11,200 - 300) x 0.8.
    ("bill_with_repeat", {"offer": CUSTOM, "count": 4, "plan": "annual"}, 8560, 8720, "CNY/month"),
    ("list_price", {"offer": CUSTOM, "per": "hour"}, 3.89, 3.89, "CNY/h"),
    ("list_price", {"offer": CUSTOM, "count": 8}, 22_400, 22_400, "CNY/month"),
    ("list_price", {"offer": MIG, "per": "hour"}, 16.67, 25, "CNY/h"),
    # 16.67 x 720 / 7 to the hundredth of a cent: 2.3814 x 720.
    ("slice_price", {"offer": MIG, "slices": 1}, 1714.61, 2571.41, "CNY/month"),
    ("slice_price", {"offer": MIG, "slices": 7}, 12_002.40, 18_000, "CNY/month"),
    # 2,800 / 720 x 4 and x 6; at half the use twice as much; MIG in begun hours.
    ("run_cost", {"offer": CUSTOM, "hours": [4, 6]}, 15.56, 23.33, "CNY"),
    ("run_cost", {"offer": CUSTOM, "hours": 4, "utilisation": 0.5}, 31.11, 31.11, "CNY"),
    ("run_cost", {"offer": MIG, "hours": [4, 6]}, 66.68, 150, "CNY"),
    ("run_cost", {"offer": MIG, "hours": 3.2, "price": "high"}, 100, 100, "CNY"),
    # 41.67 / 31.11.
    (
        "run_cost_ratio",
        {"of": {"offer": EIGHT, "hours": 1.2, "price": "low"}, "over": {"offer": CUSTOM, "hours": 8}},
        1.34,
        1.34,
        "x",
    ),
    (
        "price_ratio",
        {"of": {"offer": CUSTOM, "count": 4}, "over": {"offer": "h100-80g-8x"}, "shown_as": "%"},
        9.33,
        14,
        "%",
    ),
    (
        "price_ratio",
        {"of": {"offer": EIGHT, "price": "low"}, "over": {"offer": CUSTOM}, "per": "card"},
        1.12,
        1.12,
        "x",
    ),
    (
        "price_difference",
        {"of": {"offer": CUSTOM}, "over": {"offer": "rtx3090-24g-cloud"}},
        1050,
        1050,
        "CNY/month",
    ),
    ("option_price", {"offer": CUSTOM, "option": "cpu16"}, 400, 400, "CNY/month"),
    ("repeat_reduction", {"offer": CUSTOM}, 100, 100, "CNY/month"),
    ("repeat_reduction", {"offer": "a100-40g-cloud"}, 0, 0, "CNY/month"),
    ("discount", {"offers": [CUSTOM], "plan": "quarterly"}, 95, 95, "% of list"),
    ("part_of_month", {"offer": "rtx3090-24g-cloud", "days": 7}, 1750, 1750, "CNY/month"),
    (
        "part_of_month",
        {"offer": "rtx3090-24g-cloud", "days": 7, "prorated": True},
        408.33,
        408.33,
        "CNY/month",
    ),
    # Six months are 181 of 365 days: 26,880 x 184 / 365, and less 6,720 x 181 / 365 of discount received.
    ("refund", {"offer": CUSTOM, "plan": "annual", "used": 6, "rules": ["none"]}, 0, 0, "CNY"),
    (
        "refund",
        {"offer": CUSTOM, "plan": "annual", "used": 6, "rules": ["pro-rata"]},
        13_550.47,
        13_550.47,
        "CNY",
    ),
    (
        "refund",
        {"offer": CUSTOM, "plan": "annual", "used": 6, "rules": ["deposit-less-discounts"]},
        10_218.08,
        10_218.08,
        "CNY",
    ),
    ("added_card", {"offer": CUSTOM, "plan": "annual", "after": 6}, 2240, 2800, "CNY/month"),
    # 26,880 / 2,800; 255,000 / 25,000; 7,980 / 2,800.
    ("months_to_break_even", {"offers": [CUSTOM, EIGHT]}, 9.6, 10.2, "months"),
    ("months_to_break_even", {"offers": [CUSTOM], "plan": "quarterly"}, 2.85, 2.85, "months"),
    # 2,800 / 25 and / 16.67; 2,240 and 2,500 by the same; 2,800 / 40 and / 20.
    ("hours_to_break_even", {"prepaid": {"offer": CUSTOM}, "hourly": MIG}, 112, 167.97, "h/month"),
    (
        "hours_to_break_even",
        {"prepaid": {"offer": CUSTOM, "plan": "annual"}, "hourly": MIG},
        89.6,
        134.37,
        "h/month",
    ),
    ("hours_to_break_even", {"prepaid": {"offer": "a100-40g-cloud"}, "hourly": MIG}, 100, 149.97, "h/month"),
    (
        "hours_to_break_even",
        {"prepaid": {"offer": CUSTOM}, "hourly": "a100-public-hourly"},
        70,
        140,
        "h/month",
    ),
    (
        "hours_to_break_even",
        {"prepaid": {"offer": CUSTOM}, "hourly": MIG, "speed": 2.5, "price": "high"},
        280,
        280,
        "h/month",
    ),
    # 112 / (6 x 52 / 12) and 167.97 / (4 x 52 / 12).
    (
        "runs_to_break_even",
        {"prepaid": {"offer": CUSTOM}, "hourly": MIG, "hours_per_run": [4, 6]},
        4.31,
        9.69,
        "runs/week",
    ),
    # 0.4 kW x 6 h x 0.75; 8 x 400 W; 4 and 6 kW x 8,760 h x 0.75.
    ("electricity_of_run", {"gpu": "A100-40G", "hours": 6}, 1.8, 1.8, "CNY"),
    ("machine_power", {"gpu": "A100-40G", "cards": 8}, 4, 6.5, "kW"),
    ("electricity_of_year", {"kw": [4, 6], "pue": 1}, 26_280, 39_420, "CNY/year"),
    # 381,880 a year over 357,000 and 255,000 (facts: billing_and_contracts.md, section 6).
    ("owning_against_rent", {"rent": {"offer": EIGHT, "plan": "annual"}}, 6.97, 49.76, "%"),
    ("years_since", {"since": 2007, "now": 2026}, 19, 19, "years"),
    ("price_ladder", {"offers": ["t4-16g-cloud", "h100-80g-8x"]}, 900, 120_000, "CNY/month"),
)


@pytest.mark.parametrize(("key", "inputs", "low", "high", "unit"), PENCIL)
def test_pencil(key: str, inputs: Mapping[str, Any], low: float, high: float, unit: str) -> None:
    found = computed(key, **inputs)
    assert found.unit == unit
    assert ends(found) == (low, high)


@pytest.mark.parametrize(
    ("key", "inputs", "holds"),
    [
        ("whole_is_dearer", {"singles": {"offer": CUSTOM, "count": 8}, "whole": {"offer": EIGHT}}, True),
        ("whole_is_dearer", {"singles": {"offer": CUSTOM, "count": 9}, "whole": {"offer": EIGHT}}, False),
        (
            "cheapest_with_card",
            {"gpu": "A100-80G", "cards": 4, "against": {"offer": CUSTOM, "count": 4}},
            False,
        ),
        (
            "cheapest_with_card",
            {"gpu": "A100-80G", "cards": 8, "against": {"offer": CUSTOM, "count": 9}},
            True,
        ),
        ("cheapest_with_card", {"gpu": "L4", "cards": 1, "against": {"offer": CUSTOM}}, False),
        ("offer_has", {"offer": CUSTOM, "vcpu": 8, "ram_gb": 64, "wan_mbps": 100}, True),
        ("offer_has", {"offer": CUSTOM, "vcpu": 16}, False),
        ("offer_has", {"offer": CUSTOM, "plans": ["monthly", "hourly"]}, False),
        ("offer_has", {"offer": CUSTOM, "price": 2800}, True),
        ("offer_has", {"offer": CUSTOM, "price": 2500}, False),
        ("offer_says", {"offer": "h100-80g-8x", "field": "site", "text": "50-80 ms"}, True),
        ("offer_says", {"offer": "h100-80g-8x", "field": "site", "text": "20 ms"}, False),
    ],
)
def test_yes_and_no(key: str, inputs: Mapping[str, Any], holds: bool) -> None:
    assert computed(key, **inputs).holds is holds


@pytest.mark.parametrize(
    ("key", "inputs", "place", "said"),
    [
        ("bill", {"offer": "a100"}, "inputs.offer", CUSTOM),
        ("bill", {"offer": CUSTOM, "plans": "annual"}, "inputs.plans", "unknown key"),
        ("bill", {}, "inputs.offer", "needs the key"),
        ("bill", {"offer": CUSTOM, "plan": "hourly"}, "inputs.plan", "hourly"),
        (
            "bill",
            {"offer": CUSTOM, "plan": "annual", "discount": 1.5},
            "inputs.discount",
            "less than or equal to 1",
        ),
        ("bill", {"offer": EIGHT, "options": ["cpu16"]}, "inputs.options", "no options"),
        ("option_price", {"offer": CUSTOM, "option": "gpu"}, "inputs.option", "cpu16"),
        ("discount", {"offers": [MIG], "plan": "annual"}, "inputs.plan", "hourly"),
        ("slice_price", {"offer": CUSTOM, "slices": 1}, "inputs.slices", "no slice"),
        (
            "hours_to_break_even",
            {"prepaid": {"offer": CUSTOM}, "hourly": CUSTOM},
            "inputs.hourly",
            "by the hour",
        ),
        ("months_to_break_even", {"offers": [CUSTOM], "than": "annual"}, "inputs.than", "different length"),
        ("refund", {"offer": CUSTOM, "plan": "annual", "used": 12}, "inputs.used", "below the 12 months"),
        (
            "added_card",
            {"offer": CUSTOM, "plan": "annual", "after": 12},
            "inputs.after",
            "below the 12 months",
        ),
        ("cheapest_with_card", {"gpu": "B300", "cards": 1, "against": {"offer": CUSTOM}}, "inputs.gpu", "T4"),
        ("electricity_of_run", {"gpu": "B300", "hours": 1}, "inputs.gpu", "T4"),
        ("offer_has", {"offer": CUSTOM}, "inputs", "at least one feature"),
    ],
)
def test_wrong_inputs_are_named(key: str, inputs: Mapping[str, Any], place: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        computed(key, **inputs)
    problem = caught.value.problems[0]
    assert problem.key == place
    assert said in str(problem)


def money_claims(bench: Bench) -> dict[str, Judged]:
    claims = load_claims()
    return {
        name.claim.id: name
        for name in (
            judge(one, bench, (), {}) for one in claims.claims if one.kind in MONEY and not one.contradicts
        )
    }


@functools.cache
def dearer() -> dict[str, Judged]:
    return money_claims(with_price(CUSTOM, "3000"))


class TestAPriceInTheCatalogue:
    """2,800 becomes 3,000 CNY a month: what rests on it moves, what does not stays."""

    @pytest.mark.parametrize(
        "name", ["S0-001", "S0-025", "S0-042", "S0-043", "S0-039", "S1-017", "S1-022", "S1-075", "S2-054"]
    )
    def test_no_longer_holds(self, name: str) -> None:
        assert everything()[name].verdict == "holds"
        assert dearer()[name].verdict == "wrong"

    def test_the_right_value_moves(self) -> None:
        # 4 x 3,000 x 12 x 0.8.
        assert dearer()["S0-043"].reason.en.startswith(
            "right is 115,200 CNY/year; the stated value is 7,680 CNY/year"
        )

    def test_a_condition_moves(self) -> None:
        # 2,800 / 120 = 23.3 and 3,000 / 120 = 25.
        assert everything()["S2-062"].said("en") == "holds only if the H100 costs 23.3 CNY/h"
        assert dearer()["S2-062"].said("en") == "holds only if the H100 costs 25 CNY/h"

    def test_what_does_not_rest_on_it_stays(self) -> None:
        for name in ("S0-076", "S1-013", "S1-038", "S0-002", "S2-033b", "S1-072"):
            assert dearer()[name].verdict == everything()[name].verdict == "holds"

    def test_a_wrong_claim_becomes_right(self) -> None:
        # 160,000 to 240,000 x 12 x 0.85 / ... : with the H100 machine at 112,000, 11,200 are a tenth.
        dear = money_claims(with_price("h100-80g-8x", "112000", "120000"))
        assert everything()["S1-033"].verdict == "holds only if"
        assert dear["S1-033"].verdict == "holds"


def test_headline_figures() -> None:
    """What the articles repeat most, with the verdicts of facts/billing_and_contracts.md, section 1a."""
    wrong = {"S0-004", "S0-026", "S0-075", "S1-055", "S1-061", "S2-019", "S2-021", "S2-024", "S2-058"}
    holds = {"S0-043", "S0-044", "S2-033b", "S1-038", "S1-017", "S2-061", "S2-020", "S2-058b", "S2-040b"}
    found = everything()
    assert {name for name in wrong if found[name].verdict == "wrong"} == wrong
    assert {name for name in holds if found[name].verdict == "holds"} == holds
    assert found["S1-033"].said("en") == "holds only if the H100 machine costs 112,000 CNY/month or more"
    assert found["S0-050"].verdict == "holds only if"


def test_headline_tables() -> None:
    ladder = {row[0]: row for row in price_ladder(bench()).rows}
    assert ladder[CUSTOM][2:] == ("2,800", "3.89", "7,980", "26,880", "6,720")
    assert ladder[EIGHT][5] == "255,000 to 357,000"
    assert [row[0] for row in price_ladder(bench()).rows][:2] == ["rtx2080ti-11g-cloud", "t4-16g-cloud"]
    evens = dict(thresholds(bench()).rows)
    assert evens[f"{CUSTOM}: annual before monthly"] == "9.6 months"
    assert evens[f"{CUSTOM}, monthly, before h100-mig"] == "112 to 168 h/month"
    assert [row[2] for row in teams(bench()).rows] == ["1,750", "2,800", "25,000 to 35,000"]


_FORMULA = re.compile(r"[\d.,]+(?: (?:x|/|-|\+) [\d.,]+)+")
_WORDS = re.compile(
    r"CNY|units?|months?|cards?|list|annual|quarterly|monthly|an? (?:month|hour|unit|year|kWh)"
    r"|a month and unit|and unit|kWh?|h\b|days|PUE|load|weeks a month|a run"
)


def calculated(text: str) -> float | None:
    """What a calculator shows for the formula of a step; None where the step is no plain formula."""
    formula = text.rpartition(": ")[2]
    if re.search(r", \d+ times$", formula):
        formula = re.sub(r", (\d+) times$", r" x \1", formula)
    bare = " ".join(_WORDS.sub(" ", formula).split())
    if not _FORMULA.fullmatch(bare):
        return None
    plain = bare.replace(",", "").replace(" x ", " * ")
    assert set(plain) <= set("0123456789.+-*/ ")
    return float(eval(plain))


def test_a_calculator_follows_the_steps() -> None:
    """Every step that is a plain formula gives its value, to the digits that are shown."""
    followed = 0
    for one in everything().values():
        if one.claim.kind not in MONEY or one.working is None:
            continue
        for step in one.working.steps:
            result, value = calculated(step.text), re.match(r"-?[\d.,]*\d", step.value)
            if result is None or value is None:
                continue
            shown = value[0].replace(",", "")
            digits = len(shown.partition(".")[2])
            percent = 100 if "%" in step.value else 1
            # The step's own inputs are rounded to the cent, its result to the digits shown.
            slack = 0.5 * 10**-digits + 1e-4 * abs(float(shown))
            assert abs(result * percent - float(shown)) <= slack, (one.claim.id, step)
            followed += 1
    assert followed > 120


def test_every_money_claim_that_is_computed_has_a_way() -> None:
    for one in everything().values():
        if one.claim.kind in MONEY and one.working is not None:
            assert one.working.steps, one.claim.id
            assert one.working.sources or one.claim.computation in {"years_since", "electricity_of_year"}


def test_only_a_stated_price_is_a_fact_of_the_seller() -> None:
    """A claim with the seller's own list price is billed with it."""
    one = claim(
        value={"low": 100_800, "unit": "CNY/year"},
        computation="bill",
        inputs={"offer": CUSTOM, "count": 4, "plan": "annual", "per": "year"},
        only_if=[
            {"condition": "the list price is {x}", "find": {"input": "list_price", "low": 2000, "high": 2800}}
        ],
    )
    # 100,800 / (4 x 12 x 0.8) = 2,625.
    assert judge(one, bench()).said("en") == "holds only if the list price is 2,625"


def test_the_same_bytes_again() -> None:
    first = [one.reason.en for one in check_claims(load_claims(), Bench()) if one.claim.kind in MONEY]
    assert first == [one.reason.en for one in everything().values() if one.claim.kind in MONEY]
