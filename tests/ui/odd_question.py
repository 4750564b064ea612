"""A question that asks for nearly every rare thing, so that nearly every rare sentence is said."""

from __future__ import annotations

__all__ = ["ODD"]

_TERMS = {
    "postpaid": "{month: 30-days, payment: arrears, pay_shift_days: 5, begins: next-hour, expiry: end}",
    "early": "{pay_shift_days: -3, refund: {rule: pro-rata, part: exact, fee: 0.05, grace_days: 5}, "
    "expiry: renew-at-list, renewal_change: 0.1, price_locked: false}",
    "re-rated": "{refund: {rule: re-rate, part: month}, renewal_change: 0.05}",
    "less": "{refund: {rule: deposit-less-discounts, part: day}, month: mean-month, expiry: hourly, "
    "hourly_price: 4.5, options_discounted: true}",
    "taxed": "{tax: {rate: 0.06, included: false, creditable: true}, "
    "refund: {matched: false, rule: re-rate}}",
    "stopped": "{stop: {disk_per_month: 50, restart: ordered, restart_s: 5400}, "
    "increment_s: 60, pay_shift_days: 2, tax: {rate: 0.06}}",
}
"""Terms of a contract by the name of a strategy: each is told in words of its own."""

_LEASES = {
    "postpaid": "{offer: a100-40g-custom, plan: quarterly, price: 2650, repeat_purchase: true}",
    "early": "{offer: a100-40g-8x, plan: monthly, end: 2026-02-10}",
    "re-rated": "{offer: a100-40g-custom, plan: monthly, started: 2025-12-15, "
    "prices: [{from: 2026-01-20, price: 2500}]}",
    "less": "{offer: a100-40g-custom, plan: monthly, end: 2026-02-20, options: [cpu16]}",
    "taxed": "{offer: a100-40g-custom, plan: monthly, options: [disk1t], "
    "converts: [{at: 2026-02-01, plan: annual}]}",
    "stopped": "{offer: h100-mig, plan: hourly, profile: 3g.40gb, "
    "stopped: [{from: 2026-01-10, until: 2026-01-12}], available: 08:00-20:00}",
}


def _strategy(name: str, more: str = "") -> str:
    terms, lease = _TERMS.get(name), _LEASES.get(name, "{offer: a100-40g-custom, count: 2, plan: monthly}")
    if terms is not None:
        lease = f"{lease[:-1]}, terms: {terms}}}"
    return f"  - {{name: {name}, {more}leases: [{lease}]}}"


ODD = "\n".join(
    [
        """\
name: Odd
start: 2026-01-01
timezone: UTC
horizon: 60d
workload:
  growth: 3%/month
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300, team: service,
       samples: 20000, rate: 2/day, profile: office-hours, ends: helios}
    - {name: alone, model: qwen-7b, method: lora, seq_len: 1024, samples: 20000, rate: 1/day, demand: 0.5,
       ends: {cancelled: 0.1, failed: 0.1}}
reliability:
  silent_corruption: 90000h
  switch: {every: 90d}
  site: {}
  lemons: preset
  infant: {}
  shape: 0.8
  hangs: {share: 0.1}
  migration: {no_spare: {probability: 0.05}}
  snapshots: {}
checkpoint: {every: young}
uncertain:
  price_range: {uniform: {low: 0, high: 1}}
  demand: {triangular: {low: 0.8, mode: 1, high: 1.5}}
  run_time: {normal: {mean: 1, deviation: 0.1, low: 0.5}}
  failures: {lognormal: {median: 1, sigma: 0.5, high: 3}, source: a survey}
  workload.classes.0.rate: {choice: {values: [1/day, 3/day]}}
strategies:""",
        *(_strategy(name) for name in _TERMS),
        _strategy("fair", "policy: fair, "),
        _strategy("first", "policy: priority, preempt: true, "),
        _strategy("held", "policy: conservative, "),
        _strategy("slowed", "sharing: {kind: time-slicing}, "),
        _strategy("cut", "sharing: {kind: mig}, ").replace(
            "a100-40g-custom, count: 2, plan: monthly", "h100-mig, count: 1, plan: hourly"
        ),
        "experiment: {replications: 4, seed: 7}",
        "",
    ]
)
