"""What the model and the catalogue refuse: file, line, key, rule, value and known names."""

from __future__ import annotations

import pytest

from sim.catalog import load_catalog
from sim.decisions.policies import POLICIES
from sim.load import load_text
from tests.load_helpers import SMALL, fault, faults

HUGE = "9" * 400
"""A number that no float holds."""


def changed(old: str, new: str) -> str:
    assert SMALL.count(old) == 1, old
    return SMALL.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "rule", "value"),
    [
        ("count: 2", "cuont: 2", 16, "strategies.0.leases.0.cuont", "unknown key", "cuont"),
        ("horizon: 30d", "horizont: 30d\nhorizon: 30d", 3, "horizont", "unknown key", "horizont"),
        ("offer: a100-40g-custom", "offer: a100", 15, "strategies.0.leases.0.offer", "unknown offer", "a100"),
        ("count: 2", "count: -2", 16, "strategies.0.leases.0.count", "at least 1", -2),
        ("count: 2", "count: 2.5", 16, "strategies.0.leases.0.count", "whole number", 2.5),
        ("count: 2", "count: many", 16, "strategies.0.leases.0.count", "whole number", "many"),
        ("count: 2", "count: 20000", 14, "strategies.0.leases", "at most 10,000", 20000),
        (
            "plan: monthly",
            "plan: monthly\n        price: -1",
            18,
            "strategies.0.leases.0.price",
            "above 0",
            -1,
        ),
        (
            "plan: monthly",
            "plan: monthly\n        price: middle",
            18,
            "strategies.0.leases.0.price",
            "low, mid or high",
            "middle",
        ),
        ("horizon: 30d", "horizon: 0d", 3, "horizon", "longer than 0", "0d"),
        ("horizon: 30d", "horizon: 2025-01-01", 3, "horizon", "longer than 0", "2025-01-01"),
        ("horizon: 30d", "horizon: 30", 3, "horizon", "duration", 30),
        ("horizon: 30d", "horizon: 30y", 3, "horizon", "end date", "30y"),
        ("horizon: 30d", "horizon: 8000d", 3, "horizon", "20 years", "8000d"),
        ("start: 2026-01-01", "start: 2026-02-30", 2, "start", "date", "2026-02-30"),
        ("start: 2026-01-01", "start: 2026-01-01T00:00:00+08:00", 2, "start", "without an offset", None),
        ("rate: 2/day", "rate: 2 a day", 10, "workload.classes.0.rate", "6/day", "2 a day"),
        ("rate: 2/day", f"rate: {HUGE}/day", 10, "workload.classes.0.rate", "too large", f"{HUGE}/day"),
        (
            "  classes:",
            f"  growth: {HUGE}%/month\n  classes:",
            5,
            "workload.growth",
            "too large",
            f"{HUGE}%/month",
        ),
        (
            "horizon: 30d",
            "horizon: 30d\nexperiment: {select: {first: 50, most: 10}}",
            4,
            "experiment.select.most",
            "at least first",
            10,
        ),
        ("model: qwen-7b", "model: qwen7", 7, "workload.classes.0.model", "unknown base model", "qwen7"),
        ("method: lora", "method: dora", 8, "workload.classes.0.method", "known names", "dora"),
        (
            "method: lora",
            "method: lora\n      rank: 4097",
            9,
            "workload.classes.0.rank",
            "hidden size, 4096",
            4097,
        ),
        ("method: lora", "method: lora\n      gpus: 0", 9, "workload.classes.0.gpus", "at least 1", 0),
        ("method: lora", "method: lora\n      gpus: [1, 0]", 9, "workload.classes.0.gpus.1", "at least 1", 0),
        (
            "method: lora",
            "method: lora\n      gpus: all",
            9,
            "workload.classes.0.gpus",
            "auto, a whole",
            "all",
        ),
        (
            "method: lora",
            "method: lora\n      gpus: []",
            9,
            "workload.classes.0.gpus",
            "at least one number",
            None,
        ),
        (
            "method: lora",
            "method: lora\n      profile: night",
            9,
            "workload.classes.0.profile",
            "office",
            "night",
        ),
        (
            "method: lora",
            "method: lora\n      batch_size: 1.5",
            9,
            "workload.classes.0.batch_size",
            "whole",
            1.5,
        ),
        ("method: lora", "method: lora\n      deadline: 3", 9, "workload.classes.0.deadline", "duration", 3),
        ("samples: 1000", "samples: -5", 9, "workload.classes.0.samples", "above 0", -5),
        ("samples: 1000", "samples: lots", 9, "workload.classes.0.samples", "or a distribution", "lots"),
        ("samples: 1000", "samples:", 9, "workload.classes.0.samples", "no value", None),
        (
            "samples: 1000",
            "samples: {lognormal: {median: 5, sigma: 1}, uniform: {low: 1, high: 2}}",
            9,
            "workload.classes.0.samples",
            "exactly one kind",
            None,
        ),
        (
            "samples: 1000",
            "samples:\n        lognormal:\n          median: 5",
            10,
            "workload.classes.0.samples.lognormal.sigma",
            "missing",
            None,
        ),
        ("policy: fifo", "policy: lifo", 13, "strategies.0.policy", "unknown queue policy", "lifo"),
        ("      method: lora\n", "", 6, "workload.classes.0.method", "missing", None),
        ("max: 2, ", "", 19, "strategies.1.burst.max", "missing", None),
        ("offer: h100-mig", "offer: t4-16g-cloud", 19, "strategies.1.burst.offer", "hourly", "t4-16g-cloud"),
        ("name: hours", "name: two", 18, "strategies.1.name", "name of its own", "two"),
        ("name: hours", 'name: "  "', 18, "strategies.1.name", "sign that can be seen", "  "),
        ("name: hours", r'name: "\u200b \ufeff"', 18, "strategies.1.name", "can be seen", "\u200b \ufeff"),
        ("plan: monthly", "plan: hourly", 17, "strategies.0.leases.0.plan", "not rented under", "hourly"),
        ("plan: monthly", "plan: weekly", 17, "strategies.0.leases.0.plan", "known names", "weekly"),
        (
            "plan: monthly",
            "plan: monthly\n        options: [cpu16, gold]",
            18,
            "strategies.0.leases.0.options.1",
            "unknown option",
            "gold",
        ),
        (
            "plan: monthly",
            "plan: monthly\n        start: 2026-02-01\n        end: 2026-01-15",
            19,
            "strategies.0.leases.0.end",
            "end after it starts",
            "2026-01-15",
        ),
        (
            "plan: monthly",
            "plan: monthly\n        end: 2025-06-01",
            18,
            "strategies.0.leases.0.end",
            "end after it starts",
            "2025-06-01",
        ),
        (
            "plan: monthly",
            "plan: monthly\n        start: 2025-12-31",
            18,
            "strategies.0.leases.0.start",
            "may not start before",
            "2025-12-31",
        ),
        (
            "name: small",
            "name: small\nreliability: {profile: ideal}",
            2,
            "reliability.profile",
            "profile",
            "ideal",
        ),
        ("name: small", "name: small\nperformance: fast", 2, "performance", "measured or vendor", "fast"),
        ("name: small", "name: small\ntimezone: Mars/Base", 2, "timezone", "IANA", "Mars/Base"),
        (
            "name: small",
            "name: small\ncheckpoint: {every: often}",
            2,
            "checkpoint.every",
            "or never",
            "often",
        ),
        ("name: small", "name: small\ntarget: {on_time: 95}", 2, "target.on_time", "at most 1", 95),
        ("name: small", "name: ''", 1, "name", "empty", ""),
        ("name: small", "name: small\nexperiment: {warm_up: 31d}", 2, "experiment.warm_up", "warm-up", "31d"),
        ("name: small", "name: small\nexperiment: 3", 2, "experiment", "mapping", 3),
        ("name: small", "name: small\ncurrency: USD", 2, "currency", "known names", "USD"),
        ("rate: 2/day", "rate: 2000000/day", 5, "workload.classes", "jobs", None),
    ],
)
def test_one_fault_is_one_message_with_its_place(old, new, line, key, rule, value):
    problem = fault(changed(old, new))
    assert (problem.file, problem.line, problem.key) == ("scenario.yaml", line, key)
    assert rule in problem.rule
    if value is not None:
        assert problem.value == value


@pytest.mark.parametrize(
    ("event", "key", "rule"),
    [
        ("{at: 1d, offer: a100-40g-custom, machine: 2}", "machine", "at most 2 units"),
        ("{at: 1d, offer: a100-40g-custom, card: 1}", "card", "1 cards"),
        ("{at: 1d, offer: a100-40g-8x}", "offer", "no strategy rents"),
        ("{at: 1d, offer: a100-40g-8y}", "offer", "unknown offer"),
        ("{at: 1d, offer: h100-mig, machine: 2}", "machine", "at most 2 units"),
    ],
)
def test_failures_at_known_times_hit_something_that_is_rented(event, key, rule):
    problem = fault(changed("name: small", f"name: small\nreliability:\n  events:\n    - {event}"))
    assert (problem.line, problem.key) == (4, f"reliability.events.0.{key}")
    assert rule in problem.rule


def test_known_names_come_from_the_tables():
    catalog = load_catalog()
    assert fault(changed("model: qwen-7b", "model: x")).known == tuple(catalog.models)
    assert fault(changed("policy: fifo", "policy: x")).known == tuple(POLICIES)
    assert fault(changed("plan: monthly", "plan: hourly")).known == ("monthly", "quarterly", "annual")
    assert "did you mean 'count'?" in str(fault(changed("count: 2", "cuont: 2")))
    assert "did you mean 'a100-40g-custom'?" in str(
        fault(changed("offer: a100-40g-custom", "offer: a100-40g-custum"))
    )


def test_everything_is_told_at_once_in_the_order_of_lines():
    text = SMALL
    for old, new in (
        ("method: lora", "method: dora"),
        ("samples: 1000", "samples: {lognormal: {median: 5, sigmma: 1}}"),
        ("policy: fifo", "policy: lifo"),
        ("count: 2", "count: -2"),
        ("offer: h100-mig", "offer: h100"),
    ):
        text = text.replace(old, new)
    found = faults(text)
    assert [(problem.line, str(problem.key).rpartition(".")[2]) for problem in found] == [
        (8, "method"),
        (9, "sigma"),
        (9, "sigmma"),
        (13, "policy"),
        (16, "count"),
        (19, "offer"),
    ]


def test_a_lease_after_the_horizon_and_dated_phases_are_fine():
    text = changed("plan: monthly", "plan: monthly\n        start: 2027-01-01")
    assert load_text(text).scenario.strategies[0].leases[0].start is not None


@pytest.mark.parametrize("start", ["0001-01-01", "9999-12-31"])
def test_a_year_that_no_calendar_can_hold_is_a_message(start):
    assert faults(changed("start: 2026-01-01", f"start: {start}"))[0].key == "start"
