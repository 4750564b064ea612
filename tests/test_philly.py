"""One team of the Philly cluster replayed on four fleets (Jeon et al., ATC 2019; msr-fiddle/philly-traces).

The waits are those that a plain first-come-first-served loop gives for the same jobs.
"""

from __future__ import annotations

import heapq
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sim.load import Question, load
from sim.replication import prepare, replicate

TRACE = Path(__file__).parents[2] / "shared" / "traces" / "philly" / "philly_vc_ed69ec.csv"

pytestmark = pytest.mark.skipif(not TRACE.is_file(), reason="the trace is not beside the project")


@pytest.fixture
def question(tmp_path: Path) -> Question:
    found = pd.read_csv(TRACE, parse_dates=["submit_time"])
    submit = (found["submit_time"] - found["submit_time"].min()).dt.total_seconds()
    jobs = pd.DataFrame({"submit_s": submit, "gpus": found["num_gpus"], "runtime_s": found["duration_s"]})
    jobs.to_csv(tmp_path / "jobs.csv", index=False)
    strategies = "\n".join(
        f"  - {{name: {n}, leases: [{{offer: a100-40g-custom, count: {n}, plan: monthly}}]}}"
        for n in (4, 6, 8, 32)
    )
    (tmp_path / "q.yaml").write_text(
        "name: philly\nstart: 2017-09-20T22:06:17\ntimezone: UTC\nhorizon: 150d\n"
        "workload: {trace: {file: jobs.csv}}\nreliability: {profile: none}\n"
        f"strategies:\n{strategies.replace('name: ', 'name: cards-')}\n"
    )
    return load(tmp_path / "q.yaml")


def test_waits_and_overload_on_4_6_8_and_32_cards(question: Question) -> None:
    prepared = prepare(question)
    metrics = [replicate(prepared, strategy, 0).metrics for strategy in range(4)]
    assert [m["jobs_done"] for m in metrics] == [1137] * 4
    waits = [m["wait_p95_h"] for m in metrics]
    assert waits == pytest.approx([plain_p95(prepared.question, cards) for cards in (4, 6, 8, 32)])
    assert waits == pytest.approx([940, 380, 150, 2], rel=0.08)
    assert [m["overloaded"] for m in metrics] == [1, 1, 1, 0]


def plain_p95(question: Question, cards: int) -> float:
    """95th percentile of wait, hours, by a heap of the times at which cards become free."""
    free = [0] * cards
    waits = []
    for row in question.trace:
        start = max(row.submit_us, heapq.heappop(free))
        heapq.heappush(free, start + row.runtime_us)
        waits.append((start - row.submit_us) / 3.6e9)
    return float(np.quantile(waits, 0.95))
