"""Coverage through the engine: 95 % intervals of whole comparisons hold Erlang's mean wait (long profile)."""

import pytest

from sim.experiments.bounds import erlang_wait
from sim.experiments.compare import compare
from sim.load import load_text

EXPERIMENTS = 200
TEXT = """
name: Coverage
start: 2026-01-01
timezone: UTC
horizon: 500h
workload:
  timed: [{name: jobs, rate: 1/h, kinds: [{share: 1, runtime_s: {exponential: {mean: 3600}}}]}]
reliability: {profile: none}
strategies:
  - {name: two, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
"""


def covered(*changes: str) -> int:
    """Experiments whose interval holds the mean wait of M/M/2 at load 0.5."""
    truth, found = erlang_wait(1.0, 2, 1.0)[1], 0
    for seed in range(EXPERIMENTS):
        asked = load_text(TEXT, [f"experiment.seed={seed}", *changes])
        interval = compare(asked).result("two").metrics["wait_mean_h"]
        found += interval.low <= truth <= interval.high
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    "changes",
    [
        ("experiment.replications=20", "experiment.warm_up=100h"),
        ("experiment.steady_state={}", "horizon=10000h"),
        ("experiment.steady_state={warm_up: 100h}", "horizon=10000h"),
    ],
    ids=["replications", "one long run, MSER-5", "one long run, given warm-up"],
)
def test_intervals_cover_the_known_mean_through_the_engine(changes):
    """Of 200 with a chance of 95 % each, fewer than 182 or more than 198 come up once in a hundred times."""
    found = covered(*changes)
    print(f"{found} of {EXPERIMENTS} intervals cover")
    assert 182 <= found <= 198
