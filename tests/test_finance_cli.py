"""breakeven, commit and tco: what they print, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sim.billing.finance.commitment import commit as best_commitment
from sim.billing.finance.commitment import uniform
from sim.cli.commit_answer import Answer
from sim.cli.commit_inputs import Prices
from sim.cli.commit_text import as_json, print_answer
from sim.experiments.commitment import TrialCost
from tests.conftest import Outcome

Command = Callable[..., Outcome]
CUSTOM = ("--offer", "a100-40g-custom")


def document(done: Outcome) -> dict[str, Any]:
    assert (done.code, done.err) == (0, ""), done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def refused(done: Outcome, *said: str) -> None:
    assert (done.code, done.out) == (2, ""), done.err
    assert "Traceback" not in done.err
    for word in said:
        assert word in done.err


class TestBreakeven:
    def breakeven(self, fleetsim: Command, *more: object) -> dict[str, Any]:
        return document(fleetsim("breakeven", *more, "--format", "json"))

    def test_check_values(self, fleetsim: Command) -> None:
        found = self.breakeven(fleetsim, *CUSTOM, "--plans", "monthly,annual", "--rate", "8%")
        (pair,) = found["pairs"]
        assert pair["break_even_months"] == 9.6
        assert pair["break_even_share"] == 0.8
        assert pair["break_even_hours"] == 7008
        assert round(pair["break_even_months_discounted"], 3) == 9.876
        assert (pair["cheaper_from_month"], pair["cheaper_months"]) == (10, [10, 11, 12])
        assert (pair["saving"], pair["npv_saving"]) == (6720, 5563.41)
        assert round(pair["irr_monthly"], 5) == 0.04344
        assert round(pair["irr_yearly"], 3) == 0.666
        assert pair["irr_kind"] == "return"
        assert pair["ski_rental"]["rent_periods"] == 9
        assert pair["ski_rental"]["worst_ratio"] == 1.9375
        monthly, annual = found["ways"]
        assert (monthly["present_value"], annual["cost"]) == (32_443.41, 26_880)
        assert round(annual["effective_hour"], 4) == 3.0685
        assert [row["cash"] for row in annual["by_month"]] == [26_880, *[0] * 11]

    def test_four_cards_and_a_machine(self, fleetsim: Command) -> None:
        found = self.breakeven(fleetsim, *CUSTOM, "--count", 4)
        assert [way["cost"] for way in found["ways"]] == [134_400, 107_520]
        assert found["pairs"][0]["break_even_months"] == 9.6
        machine = ("--offer", "a100-40g-8x", "--price", "low")
        found = self.breakeven(fleetsim, *machine)
        assert found["ways"][1]["cost"] == 255_000
        assert found["pairs"][0]["break_even_months"] == 10.2
        assert found["pairs"][0]["break_even_hours"] == 7446
        assert round(found["pairs"][0]["irr_monthly"], 5) == 0.03103

    def test_quarterly(self, fleetsim: Command) -> None:
        found = self.breakeven(fleetsim, *CUSTOM, "--plans", "monthly,quarterly")
        assert found["pairs"][0]["break_even_months"] == 2.85
        assert found["ways"][1]["present_value"] == 31_019.12

    def test_hours_of_a_card_by_the_hour(self, fleetsim: Command) -> None:
        plans = ("--plans", "monthly,annual,h100-mig:hourly")
        found = {
            price: {
                use["prepaid"]: use["break_even_hours_a_month"]
                for use in self.breakeven(fleetsim, *CUSTOM, *plans, "--price", price)["by_use"]
            }
            for price in ("low", "high")
        }
        assert found["high"] == {"a100-40g-custom monthly": 112, "a100-40g-custom annual": 89.6}
        assert found["low"]["a100-40g-custom monthly"] == pytest.approx(168, abs=0.05)
        assert found["low"]["a100-40g-custom annual"] == pytest.approx(134.4, abs=0.05)

    def test_hours_that_are_used(self, fleetsim: Command) -> None:
        plans = ("--plans", "monthly,h100-mig:hourly", "--price", "high", "--hours", 112)
        found = self.breakeven(fleetsim, *CUSTOM, *plans)
        assert found["ways"][0]["cost"] == found["ways"][1]["cost"] == 33_600

    def test_a_refund_and_an_early_end(self, fleetsim: Command) -> None:
        more = ("--refund", "re-rate,matched=false", "--end-months", "3,6", "--end-probability", "50%")
        found = self.breakeven(fleetsim, *CUSTOM, *more)
        curve = {row["month"]: row["cost"] for row in found["ways"][1]["curve"]}
        assert (curve[3], curve[6], curve[10]) == (26_880 - 18_480, 26_880 - 10_080, 26_880)
        risk = found["downside"]["ways"]
        assert risk["annual"]["expected_cost"] == 8400 / 4 + 16_800 / 4 + 26_880 / 2
        assert risk["annual"]["wrong_probability"] == 0
        assert found["downside"]["least_expected_cost"] == "annual"

    def test_without_a_refund(self, fleetsim: Command) -> None:
        found = self.breakeven(fleetsim, *CUSTOM, "--end-months", "3:0.2,6:10%")
        assert [row["probability"] for row in found["downside"]["rows"]] == [0.2, 0.1, 0.7]
        risk = found["downside"]["ways"]
        assert risk["monthly"]["expected_cost"] == pytest.approx(0.2 * 8400 + 0.1 * 16_800 + 0.7 * 33_600)
        assert risk["annual"]["wrong_probability"] == pytest.approx(0.3)
        assert found["pairs"][0]["even_probability"] == {
            "3": pytest.approx(6720 / 25_200), "6": pytest.approx(6720 / 16_800),
        }  # fmt: skip

    def test_a_hazard_in_every_month(self, fleetsim: Command) -> None:
        """One in ten a month over twelve: 28.2 % reach the last one (0.9^11 = 0.313811)."""
        found = self.breakeven(fleetsim, *CUSTOM, "--end-hazard", "10%")["downside"]
        chances = [0.1 * 0.9**m for m in range(11)] + [0.9**11]
        assert [row["probability"] for row in found["rows"]] == pytest.approx(chances)
        assert chances[-1] == pytest.approx(0.313811, abs=1e-6)
        assert found["hazard_a_month"] == 0.1
        # The sum of 0.9^m over twelve months: (1 - 0.282430) / 0.1.
        assert found["mean_months"] == pytest.approx(7.175705, abs=1e-6)
        monthly, annual = found["ways"]["monthly"], found["ways"]["annual"]
        assert monthly["expected_cost"] == pytest.approx(2800 * 7.1757046, abs=0.01)
        assert annual["expected_cost"] == 26_880
        # Monthly was wrong if it lasts ten months or more: 0.9^9.
        assert monthly["wrong_probability"] == pytest.approx(0.387420, abs=1e-6)
        assert found["least_expected_cost"] == "monthly"
        # Equal where it lasts 9.6 months on average.
        (even,) = found["even_hazards"]["annual"]
        assert (1 - (1 - even) ** 12) / even == pytest.approx(9.6, abs=1e-9)

    def test_a_small_hazard_is_no_reason_to_pay_monthly(self, fleetsim: Command) -> None:
        found = self.breakeven(fleetsim, *CUSTOM, "--end-hazard", "0.01")["downside"]
        assert found["least_expected_cost"] == "annual"

    def test_a_hazard_as_text(self, fleetsim: Command) -> None:
        text = " ".join(fleetsim("breakeven", *CUSTOM, "--end-hazard", "5%").out.split())
        for said in (
            "ends in every month that it reaches with a probability of 5.0 %, so it lasts 9.19 months",
            "expected cost 25,739.84 26,880.00",  # 2,800 x (1 - 0.95^12) / 0.05
            "Equal expected cost of monthly and annual: at 4.",
        ):
            assert said in text
        assert "If it may end in month" not in text

    def test_dates_by_actual_365(self, fleetsim: Command) -> None:
        found = self.breakeven(fleetsim, *CUSTOM, "--convention", "actual/365")
        days = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
        expected = sum(2800 * 1.08 ** (-day / 365) for day in days)
        assert found["ways"][0]["present_value"] == round(expected, 2)

    def test_strategies_with_commas_in_their_names(self, fleetsim: Command) -> None:
        names = "8 custom cards, annual,4 custom cards, 4 more from July"
        file = Path(__file__).parents[1] / "scenarios" / "four-to-eight.yaml"
        found = self.breakeven(fleetsim, "--scenario", file, "--strategies", names)
        assert [way["name"] for way in found["ways"]] == [names[:22], names[23:]]
        assert [way["cost"] for way in found["ways"]] == [215_040, 174_720]
        assert found["pairs"][0]["irr_kind"] == "loan"

    def test_text(self, fleetsim: Command) -> None:
        done = fleetsim("breakeven", *CUSTOM, "--end-months", "3")
        assert done.code == 0
        text = " ".join(done.out.split())
        for said in (
            "9.6 months = 80.0 % of the period = 7,008 h",
            "9.876 months",
            "saves 6,720.00 CNY against monthly; present value of the saving at 8 %: 5,563.41 CNY",
            "an internal rate of return of 66.6 % a year (4.344 % a month)",
            "pay 9 periods of monthly, then take annual. At worst that costs 1.9375 times",
            "equal expected cost at a probability of 26.7 %",
            "effective annual rate of 8 %",
        ):
            assert said in text

    def test_a_rate_that_nobody_reads(self, fleetsim: Command, tmp_path: Path) -> None:
        listed = (Path(__file__).parents[1] / "scenarios" / "prices" / "two-sellers.yaml").read_text()
        own = tmp_path / "own.yaml"
        own.write_text(listed.replace("quarterly: {multiplier: 0.93}", "quarterly: {multiplier: 0.73}"))
        asked = ("breakeven", "--catalog", own, "--offer", "north-a100", "--plans", "monthly,quarterly")
        # By hand: 3 x 0.73 = 1 + 0.7 + 0.7^2, so a month discounts by 0.7: 1 / 0.7 - 1 = 42.857 % a month,
        # and 0.7^-12 - 1 = 7,125 % a year.
        done = fleetsim(*asked, "--months", 3)
        said = "an internal rate of return of more than 1,000 % a year (42.857 % a month)"
        assert said in " ".join(done.out.split())
        (pair,) = document(fleetsim(*asked, "--months", 3, "--format", "json"))["pairs"]
        assert pair["irr_yearly"] == pytest.approx(0.7**-12 - 1)

    def test_long_names_become_letters(self, fleetsim: Command) -> None:
        file = Path(__file__).parents[1] / "scenarios" / "four-to-eight.yaml"
        done = fleetsim("breakeven", "--scenario", file)
        assert done.code == 0
        assert "F: 4 custom cards, 4 more from July" in done.out
        assert "A = D = F" in done.out
        assert "Burst rentals are left out" in done.out

    @pytest.mark.parametrize(
        "plans", ["monthly,annual", "monthly,quarterly,annual,h100-mig:hourly"], ids=["two", "four"]
    )
    def test_a_chart(self, fleetsim: Command, tmp_path: Path, plans: str) -> None:
        file = tmp_path / "charts" / "a.png"
        found = self.breakeven(fleetsim, *CUSTOM, "--plans", plans, "-o", file)
        assert found["chart"] == str(file)
        assert file.read_bytes().startswith(b"\x89PNG")
        assert [one.name for one in file.parent.iterdir()] == ["a.png"]

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ((), ("--offer", "either an offer or a scenario")),
            (("--offer", "a100-41g"), ("--offer", "a100-41g", "a100-40g-custom")),
            ((*CUSTOM, "--plans", "monthly"), ("--plans", "two ways to pay")),
            ((*CUSTOM, "--plans", "monthly,monthly"), ("--plans", "named once")),
            ((*CUSTOM, "--plans", "monthly,yearly"), ("--plans", "yearly", "annual")),
            ((*CUSTOM, "--plans", "monthly,hourly"), ("--plans", "hourly")),
            ((*CUSTOM, "--plans", "monthly,h100:hourly"), ("--plans", "h100", "h100-mig")),
            ((*CUSTOM, "--plans", "monthly,h100-mig/9g.90gb:hourly"), ("--plans", "9g.90gb")),
            ((*CUSTOM, "--rate", "eight"), ("--rate", "eight", "percentage")),
            ((*CUSTOM, "--rate", "-8%"), ("--rate", "-8%")),
            ((*CUSTOM, "--rate", "8"), ("--rate", "8%", "'8'")),
            ((*CUSTOM, "--rate", "nan"), ("--rate", "nan")),
            ((*CUSTOM, "--convention", "30/360"), ("--convention", "30/360", "actual/365")),
            ((*CUSTOM, "--refund", "all"), ("--refund", "all", "pro-rata")),
            ((*CUSTOM, "--refund", "pro-rata,fees=1"), ("--refund", "fees", "grace_days")),
            ((*CUSTOM, "--refund", "pro-rata,fee"), ("--refund", "KEY=VALUE")),
            ((*CUSTOM, "--refund", "pro-rata,grace_days=many"), ("--refund", "many", "grace_days")),
            ((*CUSTOM, "--end-months", "12"), ("--end-months", "1 to 11", "12")),
            ((*CUSTOM, "--end-months", "3,3"), ("--end-months", "once")),
            ((*CUSTOM, "--end-months", "3:0.7,4:0.7"), ("--end-months", "more than 1")),
            ((*CUSTOM, "--end-months", "3:0.7", "--end-probability", "1"), ("--end-probability",)),
            ((*CUSTOM, "--end-probability", "50%"), ("--end-probability", "--end-months")),
            ((*CUSTOM, "--end-hazard", "0"), ("--end-hazard", "0 ends nothing")),
            ((*CUSTOM, "--end-hazard", "5"), ("--end-hazard", "percentage")),
            ((*CUSTOM, "--end-hazard", "5%", "--months", "1"), ("--end-hazard", "2 or more")),
            ((*CUSTOM, "--end-hazard", "5%", "--end-months", "3"), ("--end-months", "one or the other")),
            ((*CUSTOM, "--end-hazard", "5%", "--end-probability", "1%"), ("--end-probability",)),
            ((*CUSTOM, "--end-months", "3", "--end-probability", "150%"), ("--end-probability", "150%")),
            ((*CUSTOM, "--start", "2026-02-30"), ("--start", "2026-02-30")),
            ((*CUSTOM, "--hours", "0"), ("--hours", "744")),
            ((*CUSTOM, "--strategies", "a,b"), ("--strategies", "--scenario")),
            ((*CUSTOM, "--set", "a=b"), ("--set", "--scenario")),
            ((*CUSTOM, "-o", "chart.txt"), ("--out", "chart.txt", ".png")),
        ],
    )
    def test_bad_input(self, fleetsim: Command, options: tuple[str, ...], said: tuple[str, ...]) -> None:
        refused(fleetsim("breakeven", *options), *said)

    def test_bad_strategies(self, fleetsim: Command, two_jobs: Path) -> None:
        one = ("breakeven", "--scenario", two_jobs, "--strategies")
        refused(fleetsim(*one, "one card, annual"), "--strategies", "two ways to pay")
        refused(fleetsim(*one, "one card"), "--strategies", "one card, annual")
        refused(fleetsim(*one[:-1], "--hours", 5), "--hours", "strategies")


class TestBudget:
    """Four cards for a year: 107,520 CNY for 35,040 card-hours, 3.0685 an hour."""

    FOUR = ("budget", *CUSTOM, "--count", 4)

    def test_months_and_lines(self, fleetsim: Command) -> None:
        found = document(fleetsim(*self.FOUR, "--format", "json"))
        assert [row["cash"] for row in found["by_month"]] == [107_520, *[0] * 11]
        # 31 of 365 days.
        assert found["by_month"][0]["cost"] == round(107_520 * 31 / 365, 2) == 9131.84
        assert found["by_month"][-1]["cost_so_far"] == 107_520
        assert found["by_month"][-1]["prepaid"] == 0
        (line,) = found["lines"]
        assert (line["line"], line["card_hours"], line["cost"]) == (
            "a100-40g-custom annual", 35_040, 107_520,
        )  # fmt: skip

    def test_variance(self, fleetsim: Command, tmp_path: Path) -> None:
        """A tenth more hours in two rows, at 4 CNY instead of 107,520 / 35,040."""
        file = tmp_path / "actual.csv"
        file.write_text(
            "month,line,card_hours,cost\n1,a100-40g-custom annual,30000,120000\n"
            "2,a100-40g-custom annual,8544,34176\n"
        )
        found = document(fleetsim(*self.FOUR, "--actual", file, "--format", "json"))["variance"]
        assert (found["budget"], found["actual"]) == (107_520, 154_176)
        assert found["volume"] == 10_752
        assert found["mix"] == 0
        assert found["rate"] == pytest.approx(38_544 * (4 - 107_520 / 35_040), abs=0.01)
        text = " ".join(fleetsim(*self.FOUR, "--actual", file).out.split())
        assert "46,656.00 CNY above budget: volume 10,752.00, mix 0.00, rate 35,904.00" in text

    def test_a_strategy(self, fleetsim: Command, two_jobs: Path) -> None:
        more = ("--strategy", "two cards, monthly", "--months", 2, "--format", "json")
        found = document(fleetsim("budget", two_jobs, *more))
        assert [row["cash"] for row in found["by_month"]] == [5600, 5600]

    def test_an_early_end_with_a_refund(self, fleetsim: Command) -> None:
        more = ("--months", 3, "--refund", "pro-rata,part=month", "--format", "json")
        found = document(fleetsim(*self.FOUR, *more))
        assert found["by_month"][-1]["cash_so_far"] == 107_520 / 4
        assert found["by_month"][-1]["paid"]["refund"] == -80_640

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ((), ("--offer", "either an offer or a scenario")),
            ((*CUSTOM, "--plan", "monthly,annual"), ("--plan", "not several")),
            ((*CUSTOM, "--plan", "hourly"), ("--plan", "hourly")),
            ((*CUSTOM, "--strategy", "x"), ("--strategy", "scenario")),
            ((*CUSTOM, "--actual", "nothing.csv"), ("nothing.csv", "does not exist")),
        ],
    )
    def test_bad_options(self, fleetsim: Command, options: tuple[str, ...], said: tuple[str, ...]) -> None:
        refused(fleetsim("budget", *options), *said)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", ("column is missing", "line")),
            ("line,hours,cost\na,1,2\n", (":1", "card_hours")),
            ("line,card_hours,cost\n", ("no row",)),
            ("line,card_hours,cost\na,1\n", (":2", "cells")),
            ("line,card_hours,cost\na,1,2\nb,x,2\n", (":3", "card_hours", "x")),
            ("line,card_hours,cost\na,0,2\n", (":2", "card_hours", "above 0")),
            ("line,card_hours,cost\na,1,nan\n", (":2", "cost", "nan")),
            ('line,card_hours,cost\n"a,1,2\n', ("no CSV",)),
        ],
    )
    def test_bad_tables(self, fleetsim: Command, tmp_path: Path, text: str, said: tuple[str, ...]) -> None:
        file = tmp_path / "actual.csv"
        file.write_text(text)
        refused(fleetsim(*self.FOUR, "--actual", file), "actual.csv", *said)


def simulated_answer(trials: tuple[TrialCost, ...]) -> Answer:
    """An answer for 0 to 4 units, all alike likely, with these trials."""
    return Answer(
        demand=uniform(0, 4),
        found=best_commitment(uniform(0, 4), Fraction(1), Fraction(2)),
        prices=Prices(Fraction(1), Fraction(2), Fraction(1), hourly=True),
        committed="a annual", instead="b hourly", currency="CNY", trials=trials,
    )  # fmt: skip


class TestCommit:
    def test_check_value(self, fleetsim: Command) -> None:
        more = (*CUSTOM, "--fallback", "a100-40g-custom:monthly")
        for demand, k, cost in (
            ("poisson:4", 2, 10_387.70),
            ("poisson:6", 4, 15_212.41),
            ("uniform:0:8", 1, 10_951.11),
            ("uniform:1:8", 2, 11_830.00),
        ):
            found = document(fleetsim("commit", "--demand", demand, *more, "--format", "json"))
            assert (found["newsvendor"], found["enumerated"]) == (k, k)
            assert round(found["costs"][k], 2) == cost
            assert found["critical_ratio"] == pytest.approx(0.2)

    def test_a_scenario(self, fleetsim: Command, two_jobs: Path, tmp_path: Path) -> None:
        """Two jobs of an hour in a month of 720 hours: no card is worth a month.

        With one card the second job waits, and is given an hour of another one at 30 CNY.
        """
        chart = tmp_path / "commit.png"
        run = ("commit", two_jobs, "--replications", 2, "--jobs", 1, "--around", 1, "--format", "json")
        found = document(fleetsim(*run, "-o", chart))
        assert found["demand"]["periods"] == 1440
        assert found["demand"]["mean"] == pytest.approx(2 / 720)
        assert (found["newsvendor"], found["enumerated"], found["simulated"]) == (0, 0, 0)
        assert [trial["committed"] for trial in found["trials"]] == [0, 1]
        assert found["trials"][1]["cost"] == pytest.approx(2240 + 30 * 730 / 720, abs=0.01)
        assert found["committed_month"] == 2240
        assert found["fallback_month"] == 30 * 730
        assert chart.read_bytes().startswith(b"\x89PNG")

    def test_a_machine_is_held_against_its_cards(self, fleetsim: Command) -> None:
        """Eight cards by the hour, 8 x 30 x 730, against a machine at 30,000 x 0.85 a month."""
        more = ("--offer", "a100-40g-8x", "--plan", "annual", "--format", "json")
        found = document(fleetsim("commit", "--demand", "uniform:0:3", *more))
        assert found["fallback_month"] == 8 * 30 * 730
        assert found["committed_month"] == 25_500
        assert found["critical_ratio"] == pytest.approx(1 - 25_500 / 175_200)
        assert any("assumed: a100-public-hourly" in note for note in found["assumptions"])

    def test_the_simulated_optimum_serves_the_jobs(self) -> None:
        """0 refuses jobs, 1 and 2 let them wait, 3 and 4 do neither: 3 is the cheaper of these."""
        rows = (
            (0, 0.0, (), 9),
            (1, 10.0, (40.0,), 0),
            (2, 20.0, (13.0,), 0),
            (3, 30.0, (12.0,), 0),
            (4, 35.0, (1.0,), 0),
        )
        trials = tuple(TrialCost(k, (cost,), waits, lost) for k, cost, waits, lost in rows)
        answer = simulated_answer(trials)
        assert answer.simulated == trials[1]
        limited = replace(answer, wait_limit_h=12.0)
        assert limited.acceptable == trials[3:]
        assert limited.simulated == trials[3]
        # Nobody keeps half an hour: the cheapest that refuses nothing is left.
        assert replace(answer, wait_limit_h=0.5).simulated == trials[1]

    def test_a_number_that_refuses_jobs_is_no_optimum(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Two runs each: 9, 3 and 2 jobs refused are 4.5, 1.5 and 1 a run."""
        trials = tuple(
            TrialCost(k, (cost, cost), (), lost)
            for k, cost, lost in ((0, 1.0, 9), (1, 10.0, 3), (2, 20.0, 2))
        )
        answer = simulated_answer(trials)
        assert answer.simulated == trials[2]
        assert replace(answer, refused_limit=2).simulated == trials[1]
        assert replace(answer, refused_limit=5).simulated == trials[0]
        none = replace(answer, refused_limit=0)
        assert (none.acceptable, none.simulated) == ((), None)
        print_answer(none)
        said = " ".join(capsys.readouterr().out.split())
        assert "none of them is an optimum" in said
        assert "simulated optimum" not in said
        assert "4.5" in said
        assert "Jobs refused" in said
        assert "a run, mean" in said
        document = as_json(none)
        assert document["simulated"] is None
        assert [trial["jobs_refused_a_run"] for trial in document["trials"]] == [4.5, 1.5, 1.0]

    def test_the_offer_itself_by_the_hour_stands_in(self, fleetsim: Command, tmp_path: Path) -> None:
        """1.55 an hour x 730 h = 1,131.50 a month; by the year 8,100 / 12 = 675."""
        own = tmp_path / "own.yaml"
        own.write_text(
            "offers:\n  - {id: mine, name: Mine, provider: East, gpu: RTX4090, gpus_per_unit: 1,\n"
            "     form: cloud, link: none, network: 10gbe, price: {unit: month, low: 780, high: 780},\n"
            "     plans: {monthly: {multiplier: 1}, annual: {price: 8100}}, terms: {hourly_price: 1.55},\n"
            "     wan_mbps: 200, disk_read_gb_s: 1.0,\n"
            "     currency: CNY, status: quote, source: quote of East, date: 2026-11-30}\n"
        )
        more = ("--offer", "mine", "--catalog", own, "--format", "json")
        found = document(fleetsim("commit", "--demand", "uniform:0:3", *more))
        assert (found["fallback"], found["fallback_month"]) == ("mine hourly", 1131.5)
        assert found["committed_month"] == 675
        assert any("assumed: mine hourly" in note for note in found["assumptions"])

    def test_text(self, fleetsim: Command, two_jobs: Path) -> None:
        done = fleetsim("commit", two_jobs, "--replications", 1, "--jobs", 1)
        assert done.code == 0
        assert "Commit 0 units of a100-40g-custom annual" in done.out
        assert "The simulated optimum is 0 units." in " ".join(done.out.split())

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ((), ("--demand", "either a scenario or")),
            (("--demand", "poisson:4"), ("--offer",)),
            (("--demand", "normal:4", *CUSTOM), ("--demand", "normal:4", "poisson")),
            (("--demand", "poisson:x", *CUSTOM), ("--demand", "x")),
            (("--demand", "poisson:0", *CUSTOM), ("--demand", "above 0")),
            (("--demand", "uniform:4:2", *CUSTOM), ("--demand", "uniform:4:2")),
            (("--demand", "uniform:0:2.5", *CUSTOM), ("--demand", "whole")),
            (("--demand", "poisson:4", *CUSTOM, "--plan", "hourly"), ("hourly",)),
            (("--demand", "poisson:4", *CUSTOM, "--fallback", "h100-mig"), ("--fallback", "OFFER:PLAN")),
            (("--demand", "poisson:4", *CUSTOM, "--fallback", "h100-mig:annual"), ("--fallback", "annual")),
        ],
    )
    def test_bad_input(self, fleetsim: Command, options: tuple[str, ...], said: tuple[str, ...]) -> None:
        refused(fleetsim("commit", *options), *said)


def test_unlike_cards_are_named(fleetsim: Command) -> None:
    """40 GB of an A100-40G are 40 GiB, 16 GB of a T4 are 16 GiB; like cards need no word."""
    more = ("--plans", "t4-16g-cloud:monthly,a100-40g-custom:annual", "--format", "json")
    both = document(fleetsim("breakeven", "--offer", "t4-16g-cloud", *more))["assumptions"][0]
    assert "T4 (16 GiB), A100-40G (40 GiB)" in both
    assert "not the same work" in both
    like = document(fleetsim("breakeven", *CUSTOM, "--plans", "monthly,annual", "--format", "json"))
    assert not any("not the same work" in note for note in like["assumptions"])
    rents = ("--rent", "t4-16g-cloud:annual,a100-40g-custom:annual", "--format", "json")
    said = document(fleetsim("tco", *rents))["assumptions"]
    assert any("T4 (16 GiB), A100-40G (40 GiB)" in note for note in said)


def test_a_folder_is_no_budget(fleetsim: Command, tmp_path: Path) -> None:
    refused(fleetsim("budget", tmp_path), str(tmp_path), "scenario file", "fleetsim costs")


@pytest.mark.parametrize("asked", [("fit", "--method", "qlora"), ("workload", "fit", "a", "--format", "xy")])
def test_the_words_of_a_library_do_not_leak(fleetsim: Command, asked: tuple[str, ...]) -> None:
    done = fleetsim(*asked)
    assert (done.code, done.out) == (2, "")
    assert f"{asked[-1]!r} is not one of" in done.err
    assert "Value error" not in done.err


def test_near_names_of_a_model(fleetsim: Command) -> None:
    refused(fleetsim("fit", "--model", "qwen-1.5b"), "'qwen-1.8b'", "'qwen2.5-1.5b'")


class TestTco:
    def test_check_values(self, fleetsim: Command, tmp_path: Path) -> None:
        chart = tmp_path / "tco.png"
        found = document(fleetsim("tco", "--format", "json", "-o", chart))
        assert round(found["total"]) == 381_880
        assert round(found["parts"]["capital recovery"]) == 206_029
        assert round(found["parts"]["power"]) == 41_851
        assert found["rents"][0]["year"] == 306_000
        assert all(entry["assumed"] for entry in found["inputs"].values())
        assert chart.read_bytes().startswith(b"\x89PNG")
        dearer = document(fleetsim("tco", "--set", "capital=1200000", "--format", "json"))
        assert round(dearer["total"]) == 496_895

    def test_a_file_with_sources(self, fleetsim: Command, tmp_path: Path) -> None:
        file = tmp_path / "own.yaml"
        file.write_text(
            "owning:\n  name: ours\n  cards: 16\n  capital: {value: 1600000, source: quote of 3 March}\n"
            "  utilisation: 0.5\n  downtime: 0\n"
        )
        rents = ("--rent", "a100-40g-8x:annual,a100-public-hourly:hourly")
        found = document(fleetsim("tco", file, *rents, "--format", "json"))
        assert found["inputs"]["capital"] == {
            "value": 1_600_000, "unit": "CNY", "source": "quote of 3 March", "assumed": False,
        }  # fmt: skip
        assert found["useful_hours"] == 16 * 8760 / 2
        machines, public = found["rents"]
        assert (machines["units"], machines["cards"], machines["year"]) == (2, 16, 612_000)
        assert (public["hour"], public["year"]) == (30, 30 * 16 * 8760 / 2)
        assert public["utilisation_at_par"] == pytest.approx(found["total"] / (16 * 8760 * 30))

    def test_what_the_article_says(self, fleetsim: Command) -> None:
        found = document(fleetsim("tco", "--preset", "article-002", "--format", "json"))
        assert len(found["statements"]) == 3
        done = fleetsim("tco", "--preset", "article-002")
        assert "too low once cooling is counted" in " ".join(done.out.split())
        assert document(fleetsim("tco", "--format", "json"))["statements"] == []

    def test_swings_are_sorted(self, fleetsim: Command) -> None:
        found = document(fleetsim("tco", "--format", "json"))
        swings = [abs(row["more"] - row["less"]) for row in found["sensitivity"]]
        assert swings == sorted(swings, reverse=True)
        use = next(row for row in found["sensitivity"] if row["input"] == "utilisation")
        assert use["more"] == pytest.approx(found["useful_hour"] / 1.2)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("owning:\n  capitl: 1\n", (":2", "owning.capitl", "unknown key", "capital")),
            ("owning:\n  cards: 8\n  residual: 1.5\n", (":3", "residual", "share from 0 to 1", "1.5")),
            ("owning:\n  capital: many\n", (":2", "capital", "many")),
            ("owning:\n  capital: {value: 1, origin: x}\n", (":2", "origin", "unknown key")),
            ("owning:\n  capital: .nan\n", (":2", "capital")),
            ("owning: 5\n", (":1", "owning", "mapping")),
            ("own: {}\n", (":1", "own", "unknown key", "owning")),
            ("{}\n", ("owning", "required")),
            ("owning: [\n", ("not valid YAML",)),
            ("preset: cheap\nowning: {}\n", (":1", "preset", "cheap", "article-002")),
            ("owning: {currency: USD}\n", ("--exchange", "CNY", "USD")),
        ],
    )
    def test_bad_files(self, fleetsim: Command, tmp_path: Path, text: str, said: tuple[str, ...]) -> None:
        file = tmp_path / "own.yaml"
        file.write_text(text)
        refused(fleetsim("tco", file), "own.yaml" if "USD" not in text else "", *said)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("nothing.yaml",), ("nothing.yaml", "does not exist")),
            (("--preset", "cheap"), ("--preset", "cheap", "illustration")),
            (("--set", "capital"), ("--set", "KEY=VALUE")),
            (("--set", "capitl=1"), ("--set", "capitl", "capital")),
            (("--set", "capital=-5"), ("--set", "capital", "-5")),
            (("--set", "capital=[1"), ("--set", "capital")),
            (("--rent", "a100-40g-8x"), ("--rent", "OFFER:PLAN")),
            (("--rent", "a100-9x:annual"), ("--rent", "a100-9x", "a100-40g-8x")),
            (("--rent", "a100-40g-8x:hourly"), ("--rent", "hourly")),
            (("--rent-downtime", "1"), ("--rent-downtime", "below 1")),
        ],
    )
    def test_bad_options(self, fleetsim: Command, options: tuple[str, ...], said: tuple[str, ...]) -> None:
        refused(fleetsim("tco", *options), *said)
