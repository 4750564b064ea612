"""The rule of verdicts, by pencil: what is stated against what a computation answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sim.claims.bench import Bench
from sim.claims.check import check_claims, judge
from sim.claims.model import Claim
from sim.claims.read import ClaimSet
from sim.claims.table import COMPUTATIONS, joined
from sim.claims.verdict import Judged
from sim.claims.working import Computation, Step, Working, shown
from sim.errors import InputError
from tests.claims_cases import answer, bench, claim


def verdict(stated: Mapping[str, Any], working: Working, **more: Any) -> Judged:
    table: dict[str, Computation] = {"given": lambda _inputs, _bench: working}
    one = claim(value={"unit": "CNY", **stated}, **more)
    return judge(one, bench(), computations=table)


@pytest.mark.parametrize(
    ("stated", "states", "low", "high", "holds"),
    [
        # Half a unit of the last digit: 3.9 stands for 3.85 to 3.95.
        ({"low": 3.9}, None, 3.8889, 3.8889, True),
        ({"low": 3.9}, None, 3.85, 3.85, True),
        ({"low": 3.9}, None, 3.84, 3.84, False),
        ({"low": 2800}, None, 2800.5, 2800.5, True),
        ({"low": 2800}, None, 2801, 2801, False),
        # A 0 that is written counts: 0.80 is not 0.84, though 0.8 is.
        ({"low": "0.80"}, None, 0.84, 0.84, False),
        ({"low": 0.8}, None, 0.84, 0.84, True),
        # Two point seven times ten thousand is stated to the thousand.
        ({"low": 27000, "to": 1000}, None, 26880, 26880, True),
        ({"low": 27000}, None, 26880, 26880, False),
        # One number for a range of right values holds for both ends or not at all.
        ({"low": 120}, None, 112, 168, False),
        # About: a tenth of the stated number.
        ({"low": 9}, "about", 8.93, 8.93, True),
        ({"low": 10}, "about", 9, 9, True),
        ({"low": 10}, "about", 8.99, 8.99, False),
        ({"low": 100, "high": 200}, "about", 109, 181, True),
        ({"low": 100, "high": 200}, "about", 111, 200, False),
        # Between: the whole computed range inside; bounds are bounds.
        ({"low": 1, "high": 2}, None, 1.8, 2.4, False),
        ({"low": 1, "high": 2}, None, 1.8, 2.0, True),
        ({"low": 6, "high": 8}, None, 6.5, 7, True),
        # Exactly with two numbers: both ends agree.
        ({"low": 6, "high": 8}, "exactly", 6.5, 7, False),
        ({"low": 17, "high": 25}, "exactly", 16.67, 25, True),
        # One-sided.
        ({"low": 24}, "at most", 15.6, 23.3, True),
        ({"low": 10}, "at most", 9.3, 10.4, False),
        ({"low": 2}, "at least", 2.23, 3.57, True),
        ({"low": 5}, "at least", 1.34, 1.34, False),
        ({"low": 2800}, "from", 2800, 4000, True),
        ({"low": 2800}, "from", 2500, 4000, False),
        ({"low": 40}, "up to", 20, 40, True),
        ({"low": 40}, "up to", 20, 42, False),
    ],
)
def test_tolerance(stated: Any, states: str | None, low: float, high: float, holds: bool) -> None:
    found = verdict(stated, answer(low, high), states=states)
    assert found.verdict == ("holds" if holds else "wrong")


def test_the_models_error_widens_and_arithmetic_has_none() -> None:
    # 36 GB computed with an error of 10 per cent: 36 - 3.6 = 32.4 is inside 30 to 33.
    assert verdict({"low": 30, "high": 33}, answer(36, error=0.1)).verdict == "holds"
    assert verdict({"low": 30, "high": 33}, answer(36, error=0.08)).verdict == "wrong"
    assert verdict({"low": 30, "high": 33}, answer(36)).verdict == "wrong"


def test_a_yes_or_no_goes_before_numbers() -> None:
    no = Working(None, None, "", (Step("Fits on the card", "no"),), holds=False)
    table: dict[str, Computation] = {"given": lambda _inputs, _bench: no}
    found = judge(claim(), bench(), computations=table)
    assert (found.verdict, found.reason.en) == ("wrong", "Fits on the card: no")


class TestHowFar:
    def test_one_number(self) -> None:
        found = verdict({"low": 7000}, answer(26_880), states="about")
        # 26,880 - 7,000 = 19,880; 19,880 / 26,880 = 74 %.
        assert found.reason.en == (
            "right is 26,880 CNY; the stated value is 19,880 CNY (74% of the right value) too low"
        )
        assert found.reason.zh.startswith("应为 26,880 CNY；")

    def test_a_range_names_the_end_that_is_wrong(self) -> None:
        found = verdict({"low": 1, "high": 2}, answer(1.8, 2.4))
        assert found.reason.en == (
            "right is 1.8 to 2.4 CNY; the high end is 0.4 CNY (17% of the right value) too low"
        )

    def test_one_number_against_a_range(self) -> None:
        found = verdict({"low": 8}, answer(9.6, 10.2))
        assert "1.6 to 2.2 CNY (17% to 22% of the right value) too low" in found.reason.en


class TestConditions:
    """A statement of 20; the computation answers with 10 times its input."""

    def judged(self, *only_if: Mapping[str, Any], **value: Any) -> Judged:
        def times(inputs: Mapping[str, Any], _bench: Bench) -> Working:
            return answer(10 * inputs["x"])

        stated = {"low": 20, "unit": "CNY", **value}
        one = claim(value=stated, inputs={"x": 5}, only_if=only_if, states=value.pop("states", None))
        return judge(one, bench(), computations={"given": times})

    def test_the_first_that_fits_is_named(self) -> None:
        found = self.judged(
            {"condition": "x is 3", "inputs": {"x": 3}},
            {"condition": "x is 2", "inputs": {"x": 2}},
            {"condition": "x is still 2", "inputs": {"x": 2}},
        )
        assert found.verdict == "holds only if"
        assert found.said("en") == "holds only if x is 2"
        assert found.said("zh") == "有条件成立：x is 2"
        assert (found.working and found.working.low, found.under and found.under.low) == (50, 20)

    def test_none_that_fits_is_wrong(self) -> None:
        assert self.judged({"condition": "x is 3", "inputs": {"x": 3}}).verdict == "wrong"

    def test_a_value_is_found(self) -> None:
        found = self.judged(
            {"condition": "x is {x}", "find": {"input": "x", "low": 0.1, "high": 9, "unit": "h"}}
        )
        assert found.said("en") == "holds only if x is 2 h"

    def test_a_value_is_found_from_above(self) -> None:
        def times(inputs: Mapping[str, Any], _bench: Bench) -> Working:
            return answer(10 * inputs["x"])

        one = claim(
            value={"low": 20, "unit": "CNY"},
            states="at most",
            inputs={"x": 5},
            only_if=[{"condition": "x is {x} or less", "find": {"input": "x", "low": 9, "high": 0.1}}],
        )
        found = judge(one, bench(), computations={"given": times})
        assert found.said("en") == "holds only if x is 2 or less"

    def test_outside_the_range_nothing_is_found(self) -> None:
        found = self.judged({"condition": "x is {x}", "find": {"input": "x", "low": 3, "high": 9}})
        assert found.verdict == "wrong"


class TestContradictions:
    def both(self, **second: Any) -> tuple[Judged, ...]:
        first = claim(
            id="a",
            value={"low": 19, "unit": "years"},
            computation="years_since",
            inputs={"since": 2007, "now": 2026},
        )
        data = {"id": "b", "computation": None, "cannot": "nobody knows", "contradicts": ["a"], **second}
        other = claim(**{"value": {"low": 23, "unit": "years"}, **data})
        return check_claims(ClaimSet((first, other), {}))

    def test_what_cannot_be_computed_contradicts_and_what_can_says_so(self) -> None:
        first, other = self.both()
        assert (first.verdict, first.contradicts) == ("holds", ("b",))
        assert first.reason.en == "computed 19 years; 23 years in b against 19 years here"
        assert (other.verdict, other.contradicts) == ("contradicts", ("a",))
        assert other.said("en") == "contradicts a"

    def test_the_same_numbers_differ_in_words(self) -> None:
        first, _ = self.both(value={"low": 19, "unit": "years"})
        assert first.reason.en == "computed 19 years; b says otherwise: A statement"

    def test_without_another_statement_it_cannot_be_checked(self) -> None:
        one = claim(computation=None, cannot="nobody knows")
        assert judge(one, bench()).verdict == "cannot be checked"


def test_a_computation_in_another_unit_is_refused() -> None:
    one = claim(value={"low": 1, "unit": "CNY"}, computation="years_since", inputs={"since": 1, "now": 2026})
    with pytest.raises(InputError) as caught:
        judge(one, bench())
    assert [problem.key for problem in caught.value.problems] == ["inputs.since"]
    one = claim(
        value={"low": 1, "unit": "CNY"}, computation="years_since", inputs={"since": 2000, "now": 2026}
    )
    with pytest.raises(InputError, match=r"another unit.*known: years"):
        judge(one, bench())


def test_a_number_needs_a_statement_with_a_number() -> None:
    one = claim(computation="years_since", inputs={"since": 2000, "now": 2026})
    with pytest.raises(InputError, match="the statement has no value"):
        judge(one, bench())


def test_a_claim_is_tested_or_says_why_not() -> None:
    for more in ({"computation": None}, {"cannot": "both"}):
        with pytest.raises(ValueError, match="either a computation or `cannot`"):
            claim(**more)


def test_tables_have_no_key_in_common() -> None:
    assert len(COMPUTATIONS) > 25
    with pytest.raises(ValueError, match="stand twice"):
        joined(({"bill": COMPUTATIONS["bill"]}, {"bill": COMPUTATIONS["bill"]}))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (107_520.0, "107,520"),
        (2.4, "2.4"),
        (3.88889, "3.889"),
        (41.6667, "41.67"),
        (167.97, "168"),
        (0.0933, "0.0933"),
    ],
)
def test_numbers_are_written_for_people(value: float, text: str) -> None:
    assert shown(value) == text


def test_claims_are_frozen() -> None:
    one: Claim = claim()
    with pytest.raises(ValueError, match="frozen"):
        one.id = "two"  # type: ignore[misc]


class TestSeveralNumbers:
    """A sentence with two numbers holds only if both do."""

    def judged(self, month: float) -> Judged:
        one = claim(
            value={"low": 6720, "unit": "CNY/year"},
            computation="saving",
            inputs={"offer": "a100-40g-custom", "plan": "annual", "per": "year"},
            also=[
                {
                    "value": {"low": month, "unit": "CNY/month"},
                    "computation": "bill",
                    "inputs": {"offer": "a100-40g-custom", "plan": "annual", "per": "month"},
                }
            ],
        )
        return judge(one, bench())

    def test_both_right(self) -> None:
        found = self.judged(2240)
        assert (found.verdict, found.reason.en) == (
            "holds",
            "computed 6,720 CNY/year; computed 2,240 CNY/month",
        )
        assert found.working is not None
        assert [step.value for step in found.working.steps][-1] == "2,240.00 CNY a month"

    def test_the_second_wrong(self) -> None:
        found = self.judged(2400)
        assert found.verdict == "wrong"
        assert found.reason.en.startswith("right is 2,240 CNY/month; the stated value is 160 CNY/month")
