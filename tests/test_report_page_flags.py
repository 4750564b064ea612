"""The articles' warning lines, against runs that a pencil can follow. An A100 40G has 39.4 GiB to use."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from sim.experiments import store
from sim.experiments.compare import compare
from sim.experiments.stored import StoredRun, open_run
from sim.load import load, load_text
from sim.physics.constants import constants_for
from sim.report.page_busy import busy_shares, jobs_at_once
from sim.report.page_flags import RULES, flags_of
from sim.report.page_links import link_shares

DAYS = 86_400


def run_of(
    tmp_path: Path, rows: list[str], strategies: str, columns: str = "id,submit_s,gpus,runtime_s"
) -> StoredRun:
    """A month of recorded jobs without failures, on these strategies."""
    (tmp_path / "t.csv").write_text("\n".join([columns, *rows]) + "\n")
    file = tmp_path / "s.yaml"
    file.write_text(
        "name: Pencil\nstart: 2026-01-01\ntimezone: UTC\nhorizon: 30d\nworkload: {trace: {file: t.csv}}\n"
        f"reliability: {{profile: none}}\nstrategies:\n{strategies}experiment: {{replications: 1, seed: 1}}\n"
    )
    return open_run(store.save(compare(load(file)), tmp_path / "out"))


def cards(count: int, name: str = "a", policy: str = "fifo", offer: str = "a100-40g-custom") -> str:
    lease = f"{{offer: {offer}, count: {count}, plan: monthly}}"
    return f"  - {{name: {name}, policy: {policy}, leases: [{lease}]}}\n"


def found(run: StoredRun) -> dict[tuple[str, str], tuple[str, str]]:
    return {(flag.strategy, flag.rule): (flag.state, flag.text) for flag in flags_of(run)}


@pytest.mark.parametrize(
    ("days", "idle", "low"),
    [
        (4, "raised", "raised"),  # 13.3 % of 30 days
        (4.5, "clear", "raised"),  # 15 % is not under 15 %
        (20, "clear", "raised"),  # 66.7 %
        (21, "clear", "clear"),  # 70 % is not under 70 %
        (24, "clear", "clear"),
    ],
)
def test_one_card_busy(tmp_path, days, idle, low):
    flags = found(run_of(tmp_path, [f"a,0,1,{round(days * DAYS)}"], cards(1)))
    assert flags["a", "idle"][0] == idle
    assert flags["a", "low"][0] == low
    if low == "raised":
        part = f"{100 * days / 30:.1f} %"
        assert flags["a", "low"][1] == f"the card of lease 0 (a100-40g-custom) is busy under 70 %: {part}"


def test_cards_are_told_one_by_one(tmp_path):
    # Jobs of 24, 12 and 3 days on four cards: 80 %, 40 %, 10 % and 0 %.
    rows = [f"a,0,1,{24 * DAYS}", f"b,0,1,{12 * DAYS}", f"c,0,1,{3 * DAYS}"]
    flags = found(run_of(tmp_path, rows, cards(4)))
    where = "lease 0 (a100-40g-custom)"
    assert flags["a", "idle"] == ("raised", f"2 of 4 cards of {where} are busy under 15 %: 0.0 % to 10.0 %")
    assert flags["a", "low"] == ("raised", f"3 of 4 cards of {where} are busy under 70 %: 0.0 % to 40.0 %")


def test_a_machine_of_eight_for_one_job(tmp_path):
    # One card works 27 of 30 days, seven do nothing: the article's case.
    flags = found(run_of(tmp_path, [f"a,0,1,{27 * DAYS}"], cards(1, offer="a100-40g-8x")))
    assert flags["a", "idle"][1] == "7 of 8 cards of lease 0 (a100-40g-8x) are busy under 15 %: 0.0 %"


def table(columns: str, *rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


LEASES = "lease offer machine gpus start_h end_h away_card_h reserved_card_h"
STAYS = "offer burst cards start_h end_h"


def test_time_that_no_job_could_use_does_not_count():
    # 100 h: 40 h outside of the window, so 60 h; one of two cards is kept out of training.
    leases = table(LEASES, ("lease 0", "x", 0, 2, 0.0, None, 40.0, 100.0))
    stays = table(STAYS, ("x", False, "0", 0.0, 30.0))
    assert busy_shares(leases, stays, 100.0) == {"lease 0 (x)": [0.5]}


def test_jobs_that_share_a_card_count_once_and_the_horizon_cuts():
    leases = table(
        LEASES,
        ("lease 0", "x", 0, 1, 0.0, 200.0, 0.0, 0.0),
        ("burst", "x", 0, 1, 50.0, 60.0, 0.0, 0.0),
        ("burst", "x", 0, 1, 70.0, 80.0, 0.0, 0.0),  # the number is used again
        ("lease 1", "x", 1, 1, 100.0, None, 0.0, 0.0),  # begins at the horizon
    )
    stays = table(
        STAYS,
        ("x", False, "0", 0.0, 20.0),
        ("x", False, "0", 10.0, 30.0),
        ("x", False, "0", 12.0, 15.0),
        ("x", False, "0", 90.0, 110.0),
        ("x", True, "0", 55.0, 60.0),
        ("x", True, "0", 70.0, 80.0),
    )
    assert busy_shares(leases, stays, 100.0) == {"lease 0 (x)": [0.4], "the burst (x)": [0.75]}


def test_busy_time_adds_up_to_the_metric(tmp_path):
    words = """\
name: Sum
start: 2026-01-01
horizon: 30d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, mean_tokens: 220, samples: 20000, rate: 40/day}
strategies:
  - name: windows
    leases:
      - {offer: a100-40g-8x, count: 1, plan: monthly, reserve: 2}
      - {offer: a100-40g-custom, count: 2, plan: monthly, available: "08:00-20:00"}
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 30min}
experiment: {replications: 1, seed: 3}
"""
    run = open_run(store.save(compare(load_text(words)), tmp_path))
    leases, stays = run.table("leases"), run.attempts("windows")
    shares = busy_shares(leases, stays, 720.0)
    assert len(shares["lease 0 (a100-40g-8x)"]) == 6
    assert len(shares["lease 1 (a100-40g-custom)"]) == 2
    standing = leases[leases["lease"] != "burst"]
    busy = standing.groupby("lease")["busy_card_h"].sum()
    usable = {"lease 0": 720.0, "lease 1": 360.0}  # half of every day
    for lease, hours in usable.items():
        cards_of = next(value for name, value in shares.items() if name.startswith(lease))
        assert sum(cards_of) * hours == pytest.approx(busy[lease], abs=1e-6)


@pytest.mark.parametrize(
    ("gib", "state"),
    [(37.4, "clear"), (37.5, "raised"), (39, "raised")],  # 94.9, 95.2 and 99.0 % of 39.4 GiB
)
def test_memory(tmp_path, gib, state):
    run = run_of(tmp_path, [f"a,0,1,3600,{gib}"], cards(1), "id,submit_s,gpus,runtime_s,memory_gib")
    told = found(run)["a", "memory"]
    assert told[0] == state
    assert f"{100 * gib / 39.4:.1f} %" in told[1]
    if state == "raised":
        assert f"{gib:.1f} of 39.4 GiB a card" in told[1]


def test_memory_that_is_not_known_is_not_judged(tmp_path):
    flags = found(run_of(tmp_path, ["a,0,1,3600"], cards(1)))
    assert flags["a", "memory"] == ("not judged", "recorded jobs state no memory")
    assert flags["a", "link"] == ("clear", "no job ran over a link")
    flags = found(run_of(tmp_path, ["a,0,2,3600"], cards(1, offer="a100-40g-8x")))
    assert flags["a", "link"] == ("not judged", "recorded jobs say nothing of their traffic")


def test_only_the_worst_are_written_out(tmp_path):
    rows = [f"j{number},0,1,3600,{38 + number / 10}" for number in range(5)]
    told = found(run_of(tmp_path, rows, cards(5), "id,submit_s,gpus,runtime_s,memory_gib"))["a", "memory"][1]
    # 38.4 of 39.4 GiB is 97.5 %.
    assert told.startswith("1 x any card, 38.4 GiB a card on 1 card of a100-40g-custom: 38.4 of 39.4")
    assert re.findall(r"\d+\.\d %", told) == ["97.5 %", "97.2 %", "97.0 %"]
    assert told.endswith("; and 2 more ways to run")


@pytest.mark.parametrize(("jobs", "state"), [(10, "clear"), (11, "raised")])
def test_jobs_at_once(tmp_path, jobs, state):
    rows = [f"j{number},7200,1,3600" for number in range(jobs)]
    run = run_of(tmp_path, rows, cards(12) + cards(12, "b", "sjf"))
    flags = found(run)
    assert flags["a", "jobs"][0] == state
    assert f"up to {jobs} jobs at once" in flags["a", "jobs"][1]
    assert flags["b", "jobs"][0] == "clear"
    if state == "raised":
        assert "first 2.0 h after the start" in flags["a", "jobs"][1]
        assert "policy sjf" in flags["b", "jobs"][1]


def test_who_leaves_goes_before_who_comes():
    stays = table("start_h end_h", (0.0, 1.0), (1.0, 2.0), (1.0, 3.0), (2.5, 4.0))
    assert jobs_at_once(stays) == (2, 1.0)
    assert jobs_at_once(stays[:0]) == (0, 0.0)


FULL = """\
name: Links
start: 2026-01-01
horizon: 10d
workload:
  classes:
    - name: tune
      model: qwen2.5-0.5b
      method: %s
      mean_tokens: 500
      samples: 500
      rate: 4/day
      gpus: 2
      split: data parallel
reliability: {profile: none}
strategies:
  - {name: network, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
  - {name: machine, leases: [{offer: a100-40g-8x, count: 1, plan: monthly}]}
experiment: {replications: 1, seed: 1}
"""


def test_a_link_that_holds_the_job_back(tmp_path):
    # Full tuning of 0.5 billion parameters over two cards: about 1 GB of 16-bit gradients a step go over
    # 10 Gbit/s (1.15 GB/s), 0.86 s, for some 1,000 tokens that the cards train in a tenth of it.
    run = open_run(store.save(compare(load_text(FULL % "full")), tmp_path))
    flags = found(run)
    assert flags["network", "link"][0] == "raised"
    assert (
        "tune on 2 cards of a100-40g-custom over several machines, data parallel"
        in flags["network", "link"][1]
    )
    assert flags["machine", "link"][0] == "clear"
    shares = link_shares(run)
    assert not isinstance(shares, str)
    assert 0.8 < shares["tune", "a100-40g-custom", 2, True] <= 1
    # A ring of two moves 2 x 1/2 of the gradients. The work of a step follows from the share on NVLink,
    # where the traffic hides behind it but for a fixed part, and gives the share on the network.
    speed = constants_for("measured").speed
    moved = 2.0 * run.question.catalog.models["qwen2.5-0.5b"].params / 1e9
    slow, fast = moved / speed.links.rate("10gbe"), moved / speed.links.rate("nvlink")
    work = fast / shares["tune", "a100-40g-8x", 2, False] - speed.overlap * fast
    assert work > fast
    expected = slow / (slow + speed.overlap * work)
    assert shares["tune", "a100-40g-custom", 2, True] == pytest.approx(expected, rel=1e-6)


def test_changed_catalogue_leaves_links_unjudged(tmp_path):
    folder = store.save(compare(load_text(FULL % "lora")), tmp_path)
    place = folder / "manifest.json"
    manifest = json.loads(place.read_text())
    run = open_run(folder)
    assert not isinstance(link_shares(run), str)
    place.write_text(json.dumps({**manifest, "run_id": "0" * 12}))
    assert "have changed since the run" in str(link_shares(open_run(folder)))


def test_every_line_has_threshold_source_and_state(tmp_path):
    run = run_of(tmp_path, ["a,0,1,3600"], cards(1) + cards(2, "b"))
    flags = flags_of(run)
    assert [(flag.strategy, flag.rule) for flag in flags] == [(s, r) for s in "ab" for r in RULES]
    for flag in flags:
        row = flag.to_json()
        assert row["state"] in ("raised", "clear", "not judged")
        assert row["source"].startswith("article 00")
        assert any(figure in row["threshold"] for figure in ("15 %", "70 %", "95 %", "80 %", "10 jobs"))
