"""The whole flow against a pencil: from a scenario file with a small trace to times and money."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from sim.load import load
from sim.model.records import LeaseRecord
from sim.replication import RunResult, prepare, replicate
from sim.report.explain import story
from sim.report.history import History
from sim.units import HOUR
from tests.price_lists import QUOTE

SCENARIO = """
name: pencil
start: 2026-01-01
timezone: Asia/Shanghai
horizon: {horizon}
workload: {{trace: {{file: jobs.csv, restart: 0s}}}}
reliability: {{profile: none, data_disk: kept{reliability}}}
checkpoint: {{every: {every}, cost: 0s}}
strategies:
  - name: the one
    leases:
{leases}
{burst}
"""

TWO_CARDS = "      - {offer: a100-40g-custom, count: 2, plan: monthly}"
ONE_CARD = "      - {offer: a100-40g-custom, count: 1, plan: %s}"


def simulate(
    folder: Path,
    rows: str,
    leases: str = TWO_CARDS,
    *,
    horizon: str = "10d",
    reliability: str = "",
    every: str = "never",
    burst: str = "",
) -> RunResult:
    (folder / "jobs.csv").write_text("id,submit_s,gpus,runtime_s\n" + rows)
    text = SCENARIO.format(horizon=horizon, reliability=reliability, every=every, leases=leases, burst=burst)
    (folder / "pencil.yaml").write_text(text)
    return replicate(prepare(load(folder / "pencil.yaml")), 0, 0)


def hours(result: RunResult) -> dict[str, tuple[float, float, float]]:
    """id -> (start, end, wait), hours."""
    return {
        result.jobs.jobs[job.job].name: (
            (job.start_us or 0) / HOUR,
            (job.end_us or 0) / HOUR,
            job.wait_us / HOUR,
        )
        for job in result.log.jobs
    }


def test_four_jobs_on_two_cards(tmp_path: Path) -> None:
    result = simulate(tmp_path, "a,0,1,14400\nb,3600,1,7200\nc,7200,1,10800\nd,9000,1,3600\n")
    assert hours(result) == {"a": (0, 4, 0), "b": (1, 3, 0), "c": (3, 6, 1), "d": (4, 5, 1.5)}
    # two cards at 2,800 CNY, January paid in advance; ten of its 31 days lie in the horizon
    assert result.ledger.cash == result.ledger.committed == Decimal("5600.00")
    assert result.ledger.accrued == Decimal("1806.45")
    metrics = result.metrics
    assert metrics["wait_mean_h"] == pytest.approx(2.5 / 4)
    assert metrics["cost_cny"] == 1806.45
    assert metrics["cost_per_job_cny"] == pytest.approx(1806.45 / 4)
    assert metrics["busy_share"] == pytest.approx((4 + 2 + 3 + 1) / (2 * 240))
    assert metrics["cost_per_useful_gpu_h_cny"] == pytest.approx(180.645)


def test_one_failure_at_a_known_time(tmp_path: Path) -> None:
    # ten hours of work, saved each two hours; the node is away from 5:00 to 5:30: 4 h are saved,
    # 1 h is lost, so the job ends at 5.5 + 6 = 11.5 h; rent goes on while the card is down
    events = ", events: [{at: 5h, kind: node, offer: a100-40g-custom, down: 30min}]"
    result = simulate(
        tmp_path, "a,0,1,36000\n", ONE_CARD % "monthly", reliability=events, every="2h", horizon="31d"
    )
    assert hours(result) == {"a": (0, 11.5, 0.5)}
    assert result.metrics["lost_gpu_h"] == 1
    assert result.metrics["down_gpu_h"] == 0.5
    assert result.metrics["failures"] == result.metrics["interruptions"] == 1
    assert result.ledger.accrued == Decimal("2800.00")


def test_one_burst_hour(tmp_path: Path) -> None:
    # the card is busy until 6:00; b, submitted at 1:00, gets an H100 instance at 2:00 for 30 min,
    # which is handed back at the end of its hour: one hour at 20.835 CNY, the middle of 16.67-25
    burst = (
        "    burst: {offer: h100-mig, max: 1, rent_when_wait_over: 1h, release_after_idle: 15min,\n"
        "            delay: {median: 0s, sigma: 0}, stock_out: {probability: 0}}"
    )
    result = simulate(
        tmp_path, "a,0,1,21600\nb,3600,1,1800\n", ONE_CARD % "monthly", burst=burst, horizon="31d"
    )
    assert hours(result) == {"a": (0, 6, 0), "b": (2, 2.5, 1)}
    assert result.metrics["burst_gpu_h"] == 1
    assert [c.billed_cost for c in result.ledger.charges] == [Decimal("2800.00"), Decimal("20.84")]
    assert result.ledger.cash == Decimal("2820.84")
    rented: list[LeaseRecord] = [lease for lease in result.log.leases if lease.lease == -1]
    assert [(lease.start_us, lease.end_us) for lease in rented] == [(2 * HOUR, 3 * HOUR)]


def test_one_month_boundary(tmp_path: Path) -> None:
    # 32 days from 1 January: January whole, and February (28 days) begun: one of its days is inside
    result = simulate(tmp_path, "a,0,1,3600\n", ONE_CARD % "monthly", horizon="32d")
    assert [(c.billed_cost, c.accrued_cost) for c in result.ledger.charges] == [
        (Decimal("2800.00"), Decimal("2800.00")),
        (Decimal("2800.00"), Decimal("100.00")),
    ]
    assert [invoice.month for invoice in result.ledger.invoices] == ["2026-01", "2026-02"]
    # at exactly 31 days the second month has not begun
    result = simulate(tmp_path, "a,0,1,3600\n", ONE_CARD % "monthly", horizon="31d")
    assert result.ledger.committed == Decimal("2800.00")


def test_one_annual_contract(tmp_path: Path) -> None:
    # 12 x 2,800 x 0.80 = 26,880 in advance; 90 of 365 days are inside: 6,627.95 accrued
    result = simulate(tmp_path, "a,0,1,3600\n", ONE_CARD % "annual", horizon="90d")
    assert result.metrics["cash_cny"] == result.metrics["committed_cost_cny"] == 26880
    assert result.metrics["cost_cny"] == 6627.95


def test_eight_cards_annual_and_four_more_in_july(tmp_path: Path) -> None:
    # check values: 8 cards annual 215,040; 4 annual and 4 monthly from July 107,520 + 67,200
    eight = "      - {offer: a100-40g-custom, count: 8, plan: annual}"
    assert simulate(tmp_path, "a,0,1,60\n", eight, horizon="365d").ledger.cash == 215040
    both = (
        "      - {offer: a100-40g-custom, count: 4, plan: annual}\n"
        "      - {offer: a100-40g-custom, count: 4, plan: monthly, start: 2026-07-01}"
    )
    assert simulate(tmp_path, "a,0,1,60\n", both, horizon="365d").ledger.cash == 174720


def test_the_ledger_sums_to_the_invoices(tmp_path: Path) -> None:
    result = simulate(tmp_path, "a,0,1,3600\n", horizon="200d")
    assert sum(i.total for i in result.ledger.invoices) == sum(c.billed_cost for c in result.ledger.charges)


def test_a_job_too_large_for_every_card_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "q.yaml").write_text(
        "name: q\nstart: 2026-01-01\nhorizon: 30d\n"
        "workload: {classes: [{name: big, model: llama-2-70b, method: lora, samples: 100,"
        " rate: 1/day, gpus: 1}]}\n"
        "strategies: [{name: s, leases: [{offer: a100-40g-custom, plan: monthly}]}]\n"
    )
    result = replicate(prepare(load(tmp_path / "q.yaml")), 0, 0)
    assert result.metrics["jobs_refused"] == result.metrics["jobs_submitted"] > 0
    assert "GiB" in result.log.jobs[0].reason


def test_same_arguments_same_result(tmp_path: Path) -> None:
    path = Path(__file__).parents[1] / "scenarios" / "four-to-eight.yaml"
    prepared = prepare(load(path, ["horizon=30d"]))
    assert replicate(prepared, 3, 1) == replicate(prepared, 3, 1)
    assert replicate(prepared, 3, 1).log != replicate(prepared, 3, 2).log
    # the same jobs for every strategy
    assert replicate(prepared, 0, 1).jobs == replicate(prepared, 3, 1).jobs


def test_seed_0_is_a_seed() -> None:
    path = Path(__file__).parents[1] / "scenarios" / "four-to-eight.yaml"
    prepared = prepare(load(path, ["horizon=15d", "experiment.warm_up=0s"]))
    assert replicate(prepared, 0, 0, seed=0).log != replicate(prepared, 0, 0).log
    zero = prepare(load(path, ["horizon=15d", "experiment.warm_up=0s", "experiment.seed=0"]))
    assert replicate(zero, 0, 0).log == replicate(prepared, 0, 0, seed=0).log


def beside_the_hour(
    folder: Path, rows: str, most: int, *, form: str = "cloud", horizon: str = "10d"
) -> RunResult:
    """One card of a list all the time, at 1.55 CNY an hour, and at most so many more of it after an hour of
    waiting."""
    offer = QUOTE.format(
        id="mine", unit="hour", price=1.55, currency="CNY", plans="{hourly: {multiplier: 1}}"
    )
    (folder / "prices.yaml").write_text(f"offers:\n{offer.replace('form: cloud', f'form: {form}')}")
    burst = (
        f"    burst: {{offer: mine, max: {most}, rent_when_wait_over: 1h, release_after_idle: 15min,\n"
        "            delay: {median: 0s, sigma: 0}, stock_out: {probability: 0}}\ncatalog: prices.yaml"
    )
    leases = "      - {offer: mine, count: 1, plan: hourly}"
    return simulate(folder, rows, leases, burst=burst, horizon=horizon)


@pytest.mark.parametrize(("form", "joined"), [("cloud", True), ("public", False)])
def test_a_wide_job_gets_several_units_by_the_hour_where_they_stand_together(
    tmp_path: Path, form: str, joined: bool
) -> None:
    # One card all the 744 h. b wants two for half an hour: after an hour of waiting two units come at 1:00
    # and go at the end of their hour, 2 x 1.55 CNY. Instances of a public cloud are not joined.
    result = beside_the_hour(tmp_path, "b,0,2,1800\n", 4, form=form, horizon="31d")
    (job,) = result.log.jobs
    if joined:
        assert (job.state, job.wait_us, job.end_us) == ("done", HOUR, HOUR * 3 // 2)
        assert result.metrics["burst_gpu_h"] == 2
        assert result.ledger.cash == Decimal("1156.30")
    else:
        assert (job.state, result.metrics["burst_gpu_h"]) == ("refused", 0)
        assert result.ledger.cash == Decimal("1153.20")


def test_leased_cards_and_those_by_the_hour_are_told_apart(tmp_path: Path) -> None:
    # One card all the time, one more by the hour from 1:00 on for b; c finds each of them busy at 1:15.
    result = beside_the_hour(tmp_path, "a,0,1,36000\nb,0,1,36000\nc,4500,1,3600\n", 1)
    history = History(prepare(load(tmp_path / "pencil.yaml")), result)
    found = history.cards(HOUR * 5 // 4)
    assert [(cards.beside, cards.leased, cards.busy, cards.jobs) for cards in found] == [
        ("leased", 1, 1, (0,)), ("by the hour", 1, 1, (1,)),
    ]  # fmt: skip
    told = " ".join(event.text for event in story(history, result.jobs.jobs[2]).events)
    assert "1 of 1 leased cards of mine busy with a (job 0)" in told
    assert "1 of 1 cards of mine by the hour busy with b (job 1)" in told
