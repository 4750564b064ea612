"""Computations of use, queues and failures, against closed forms and a pencil."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sim.claims.bench import Bench
from sim.claims.card_engine import mean_of_runs, scenario
from sim.claims.card_jobs import CardJob, runs_of
from sim.claims.table import COMPUTATIONS
from sim.claims.working import Working
from sim.errors import InputError


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


def computed(key: str, bench: Bench, **inputs: Any) -> Working:
    return COMPUTATIONS[key](inputs, bench)


def test_one_job_at_a_time_uses_an_eighth_of_eight_cards(bench: Bench) -> None:
    working = computed("use_of_cards", bench, offer="a100-40g-8x", hours=5)
    assert working.low == pytest.approx(100 / 8)
    working = computed("use_of_cards", bench, offer="a100-40g-custom", units=4, hours=10)
    assert working.low == pytest.approx(100 / 4)


def test_the_queue_has_the_mean_wait_of_its_closed_form(bench: Bench) -> None:
    # one card, jobs of 5 h, 2 a day at random times: M/D/1, W = rho s / (2 (1 - rho))
    rho, hours = 2 * 5 / 24, 5.0
    kind = {"share": 1, "runtime_s": hours * 3600}
    timed = {"timed": [{"name": "job", "rate": "2/day", "profile": "flat", "kinds": [kind]}]}
    lease = {"offer": "a100-40g-custom", "count": 1, "plan": "annual"}
    prepared = scenario(bench, timed, [{"name": "one", "leases": [lease]}], "3650d")
    assert mean_of_runs(prepared, bench, "wait_mean_h") == pytest.approx(
        rho * hours / (2 * (1 - rho)), rel=0.05
    )


def test_jobs_a_day_lie_below_what_the_cards_can_do(bench: Bench) -> None:
    working = computed("jobs_a_day", bench, units=4, hours=5)
    assert working.low is not None
    assert 1 < working.low < 4 * 24 / 5
    patient = computed("jobs_a_day", bench, units=4, hours=5, wait_h=24)
    long = computed("jobs_a_day", bench, units=4, hours=10)
    assert long.low is not None
    assert patient.low is not None
    assert long.low < working.low < patient.low


def test_a_week_of_a_month(bench: Bench) -> None:
    working = computed("month_used", bench, used_days=7)
    assert working.low == pytest.approx(23 / 7)
    assert any("16.67 CNY/h" in step.value for step in working.steps)  # 2,800 / 168 h
    assert computed("month_used", bench, used_days=7, answer="used").low == pytest.approx(100 * 7 / 30)


def test_runs_a_month_are_its_hours_over_those_of_a_run(bench: Bench) -> None:
    job = {"model": "llama-2-7b", "micro_batch": 4, "mean_tokens": 200, "packed": True}
    (run,) = runs_of(CardJob.model_validate(job), bench)
    assert computed("runs_a_month", bench, **job).low == pytest.approx(720 / run.hours)


def test_a_disk_feeds_what_it_reads(bench: Bench) -> None:
    job = {"model": "llama-2-7b", "micro_batch": 4, "jobs": 4, "disk_gb_s": 0.5}
    assert computed("fed_by_disk", bench, **job).low == 100  # 4 x 3,400 tokens/s x 5 B are 0.07 MB/s
    (run,) = runs_of(CardJob(model=("llama-2-7b",), micro_batch=(4,)), bench)
    half = 0.5e9 / (4 * run.tokens_per_s) * 2
    assert computed("fed_by_disk", bench, **job, bytes_per_token=half).low == pytest.approx(50)


def test_a_link_that_is_as_long_as_the_work(bench: Bench) -> None:
    # the fitted overlap leaves 0.69 of the shorter part: both of length 1, the link is busy 1 / 1.69
    assert not computed("link_is_longest", bench, share=0.58).holds
    assert computed("link_is_longest", bench, share=0.60).holds
    busy = computed("busy_of_step", bench, model="llama-2-7b", micro_batch=4)
    assert busy.low is not None
    assert 95 < busy.low <= 100


FAILS = {"model": "llama-2-7b", "micro_batch": 4, "samples": 100_000, "fails_at_h": [9.2]}


def test_a_job_is_behind_by_move_load_and_lost_work(bench: Bench) -> None:
    kept = computed("behind_after_failure", bench, **FAILS, data_disk="kept")
    assert kept.low is not None
    away, load, lost, late = (float(step.value.split(" ")[0]) for step in kept.steps[:4])
    assert late == pytest.approx(away + load + lost, abs=1)  # rounded to 0.1, and checkpoints lie elsewhere
    assert 0 < away <= 10  # the promise is kept
    assert lost <= 20.1  # saved every 20 minutes
    assert load == pytest.approx((30 + 25 + 60 + 2 * 6738149376 / 0.5e9) / 60, abs=0.06)  # docs/models.md 6


def test_a_lost_disk_loses_all_work_since_the_start(bench: Bench) -> None:
    gone = computed("behind_after_failure", bench, **FAILS, data_disk="lost")
    assert gone.low is not None
    fetch = 2 * 6738149376 / (100e6 / 8) / 60  # 100 Mbit/s
    start = (30 + 25 + 60 + 2 * 6738149376 / 0.5e9) / 60
    lost = float(gone.steps[2].value.split(" ")[0])
    # 9.2 h since the start, less fetching, loading and the checkpoints, about 2 s each
    assert lost == pytest.approx(9.2 * 60 - fetch - start, abs=2)
    both = computed("behind_after_failure", bench, **FAILS)
    assert both.high == gone.high
    assert both.low is not None
    assert both.low < gone.low


def test_snapshots_bring_back_what_was_saved_before_them(bench: Bench) -> None:
    snapped = computed("behind_after_failure", bench, **FAILS, data_disk="lost", snapshots_a_day=3)
    lost = float(snapped.steps[2].value.split(" ")[0])
    assert 72 < lost < 72 + 20.1  # the snapshot of 8 h, and at most one interval of 20 minutes before it


def test_a_job_that_is_over_before_the_failure_is_refused(bench: Bench) -> None:
    with pytest.raises(InputError, match="over before its machine fails"):
        computed("behind_after_failure", bench, **{**FAILS, "samples": 1000})
    with pytest.raises(InputError, match="does not end"):
        computed("behind_after_failure", bench, size="70B", samples=1000)


def test_ceilings_leave_room(bench: Bench) -> None:
    assert computed("memory_ceiling", bench, gpu="A100-40G", keep_gb=35, grows={"size": "7B"}).holds
    assert not computed("memory_ceiling", bench, gpu="A100-40G", share=1.0, grows={"size": "7B"}).holds


def test_networks_from_which_cards_work_together(bench: Bench) -> None:
    job = {"gpus": 4, "split": "data parallel", "micro_batch": 2}
    assert computed("network_needed", bench, size="7B", **job).low == 10
    assert computed("network_needed", bench, size="7B", **job, keeps=0.3).low == 1
    shards = {"size": "70B", "gpus": 4, "split": "zero-3", "gpu": "A100-80G"}
    working = computed("network_needed", bench, **shards, networks=["1gbe", "10gbe"])
    assert working.holds is False
    assert working.low is None


def test_rules_and_tiers(bench: Bench) -> None:
    rule = {"factor": 1.2, "bytes_each": 4, "room_gb": [2, 4], "cases": [{"size": "7B", "micro_batch": 4}]}
    working = computed("memory_rule_of_thumb", bench, **rule)
    assert not working.holds
    # 7B: 13.5 GB x 1.2 + 4 x 2048 x 4096 x 4 bytes + 2 to 4 GB
    low = 6738149376 * 2 / 1e9 * 1.2 + 4 * 2048 * 4096 * 4 / 1e9 + 2
    assert working.steps[0].value == f"{low:.1f} to {low + 2:.1f} GB"
    assert computed("tiers_above_weights", bench, tiers=[{"params_b": 7, "from_gb": 16}]).holds
    assert not computed("tiers_above_weights", bench, tiers=[{"params_b": 70, "from_gb": 120}]).holds
    assert not computed("parts_over_weights", bench, size="7B").holds
    free = {"model": "llama-2-7b", "micro_batch": 4, "checkpointing": False}
    assert computed("parts_over_weights", bench, **free).holds
    assert math.isclose(computed("cards_memory", bench, gpu="A100-40G", gpus=4).low or 0, 160)
