"""What an hour of a unit costs on average, by pencil: months of 730 h, or 720 h where a contract says so."""

import pytest

from sim.billing.hour import burst_hour, leases_hours
from sim.load import load_text
from sim.replication import prepare
from tests.billing_cases import BURST, OFFERS, lease, money, offer, planned, scenario


def hours(*leases, offers=OFFERS, price=None, **more):
    asked = scenario(list(leases), **more)
    return leases_hours(asked, asked.strategies[0], offers, price)


@pytest.mark.parametrize(
    ("asked", "hour"),
    [
        (lease(plan="monthly"), 2800 / 730),  # 3.8356
        (lease(plan="annual"), 26880 / 8760),  # 3.0685
        (lease(4, "quarterly"), 7980 / 2190),
        (lease(plan="6-months"), 15960 / 4380),
        (lease(plan="monthly", options=["cpu16"], repeat_purchase=True), 3100 / 730),
        (lease(plan="annual", terms={"discounts": {"annual": "0.7"}}), 23520 / 8760),
        (lease(plan="monthly", terms={"tax": {"rate": "0.06"}}), 2800 / 730),
    ],
)
def test_a_leased_hour(asked, hour):
    assert hours(asked) == {"a100-40g-custom": pytest.approx(hour, rel=1e-12)}


def test_leases_of_one_offer_are_averaged_over_their_units():
    found = hours(lease(3, "annual"), lease(1, "monthly"), lease(plan="hourly", offer="h100-mig", price=20))
    assert found["a100-40g-custom"] == pytest.approx((3 * 26880 / 8760 + 2800 / 730) / 4, rel=1e-12)
    assert found["h100-mig"] == 20


def test_a_burst_hour_at_the_price_asked_for_and_in_another_currency():
    for price, hour in ((None, 20.835), ("low", 16.67), (19, 19)):
        asked = scenario(burst=BURST if price is None else {**BURST, "price": price})
        assert burst_hour(asked, asked.strategies[0], OFFERS, None) == pytest.approx(hour)
    assert burst_hour(scenario([lease()]), scenario([lease()]).strategies[0], OFFERS, None) == 0
    abroad = {"h100-mig": offer("h100-mig", 3, unit="hour", plans={"hourly": 1}, currency="USD")}
    asked = scenario(burst=BURST, exchange={"USD": {"rate": "7.1", "date": "2026-11-30"}})
    assert burst_hour(asked, asked.strategies[0], abroad, None) == pytest.approx(21.3)


def test_eight_hours_of_a_card_after_its_month():
    # 2,800 / 720 x 8 = 31.11, not 7.50 as one article says; one hour is 3.89.
    for end, cost in (("2026-02-01T08:00", "31.11"), ("2026-02-01T01:00", "3.89")):
        result = planned(scenario([lease(plan="monthly", end=end, terms={"expiry": "hourly"})]))
        assert [str(amount) for _, amount in money(result)] == ["2800.00", cost]


def test_the_engine_counts_the_increments_that_the_bill_counts():
    text = """
name: counted
start: 2026-01-01
horizon: 2d
terms: {increment_s: 60, minimum_s: 0}
workload:
  classes:
    - {name: c, model: qwen-7b, method: lora, mean_tokens: 200, samples: 20000, epochs: 1, rate: 1/day}
strategies:
  - name: s
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 1min}
"""
    burst = prepare(load_text(text)).plans[0].burst
    assert burst is not None
    assert (burst.increment_us, burst.minimum_us) == (60_000_000, 0)
    plain = prepare(load_text(text.replace("terms: {increment_s: 60, minimum_s: 0}\n", ""))).plans[0].burst
    assert plain is not None
    assert (plain.increment_us, plain.minimum_us) == (3_600_000_000, 3_600_000_000)
