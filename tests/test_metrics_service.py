"""Service metrics of hand-made runs, with values worked out on paper."""

import json

import pytest

from sim.metrics import METRICS, measure, target_lines
from sim.model.job import Job, JobSet, JobShape
from sim.model.records import Attempt, JobRecord, LeaseRecord, RunLog
from sim.model.scenario import Target
from sim.units import HOUR
from tests.billing_cases import lease, ledger, scenario

SHAPE = JobShape("one card", None, (1,))
NAMES = """
cost_cny committed_cost_cny cash_cny cost_per_month_cny cost_per_job_cny cost_per_useful_gpu_h_cny
jobs_submitted jobs_done jobs_refused jobs_unfinished wait_mean_h wait_p50_h wait_p95_h slowdown_p95
on_time_share busy_share useful_share lost_gpu_h failures interruptions burst_gpu_h target_met_share
"""


def us(hour):
    return None if hour is None else round(hour * HOUR)


def run(rows, cards=2, horizon=10, asked_h=1, **more):
    """Measure a run of one-card jobs.

    A row is (submit, start, end, state) and optionally the deadline, all in hours. Running jobs are
    half done; waiting jobs ask for `asked_h` hours.
    """
    jobs, records, stays, busy = [], [], [], 0
    for number, (submit, start, end, state, *deadline) in enumerate(rows):
        stop = horizon if end is None else end
        ran = 0 if start is None else stop - start
        wait = 0 if state == "refused" else (horizon if start is None else start) - submit
        work = ran if state == "done" else ran * 2 or asked_h
        jobs.append(
            Job(
                number, f"j{number}", 0, us(submit), us(work), deadline_us=us(*deadline) if deadline else None
            )
        )
        progress = 1.0 if state == "done" else (0.5 if ran else 0.0)
        offer = None if start is None else "x"
        records.append(
            JobRecord(number, state, us(start), us(end), us(wait), int(ran > 0), offer, 0, progress, us(ran))
        )
        if start is not None:
            how = "horizon" if state == "running" else state
            stays.append(Attempt(number, "x", False, (0,), us(start), us(stop), how, 0, 0, us(ran), 0))
            busy += us(ran)
    machines = [LeaseRecord("x", 0, k, 1, 0, None, busy if k == 0 else 0, 0) for k in range(cards)]
    log = RunLog(us(horizon), tuple(records), tuple(stays), tuple(machines), ())
    asked = scenario([lease()], horizon=f"{horizon}h", **more)
    return measure(log, ledger(asked), JobSet((SHAPE,), tuple(jobs)), asked, asked.target)


# Two cards, first come first served: C and D queue behind A and B.
FOUR = [
    (0, 0, 4, "done", 4),  # due at 4, ends at 4: on time
    (1, 1, 5, "done", 3),  # due at 4: late
    (2, 4, 6, "done"),
    (3, 5, 6, "done", 8),  # due at 11, after the end of the run: not judged
]


def test_four_jobs_on_two_cards():
    got = run(FOUR)
    expected = {
        "jobs_submitted": 4,
        "jobs_done": 4,
        "jobs_unfinished": 0,
        "jobs_refused": 0,
        "wait_mean_h": 1,
        "wait_p50_h": 1,
        "wait_p95_h": 2,
        "wait_max_h": 2,
        "waits_cut": 0,
        "slowdown_mean": 1.75,  # 1, 1, 4/2, 3/1
        "slowdown_p95": 2.85,  # at position 3 x 0.95 = 2.85 of 1, 1, 2, 3
        "on_time_share": 0.5,
        "jobs_late": 1,
        "makespan_h": 6,
        "leased_gpu_h": 20,
        "busy_gpu_h": 11,
        "busy_share": 0.55,
        "useful_share": 0.55,
        "idle_gpu_h": 9,
        "offered_load": 0.55,
        "queue_mean": 0.4,  # 2 h + 2 h of waiting in 10 h
        "queue_early": 1.4,  # from 2.5 to 5 h C waits 1.5 h and D 2 h: 3.5 h in 2.5 h
        "queue_late": 0,
        "queue_stretch_h": 3,  # from 2 to 5
        "overloaded": 0,
        "target_met_share": 1,
    }
    for name, value in expected.items():
        assert got[name] == pytest.approx(value), name


def test_every_name_that_others_rely_on_is_measured():
    got = run(FOUR)
    assert set(NAMES.split()) <= set(got)
    assert list(got) == list(METRICS)
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.unit
        assert metric.description
        assert got[name] is None or type(got[name]) is float, name


def test_quantiles_interpolate_linearly():
    # Known fault 48.
    got = run([(0, wait, wait + 1, "done") for wait in range(1, 101)], horizon=200)
    assert got["wait_p50_h"] == pytest.approx(50.5)
    assert got["wait_p95_h"] == pytest.approx(95.05)
    assert got["wait_p99_h"] == pytest.approx(99.01)
    got = run([(0, wait, 31, "done") for wait in (10, 20, 30)], horizon=40)
    assert got["wait_p99_h"] == pytest.approx(29.8)


def test_no_jobs_give_null_and_valid_json():
    # Known fault 35.
    got = run([])
    for name in ("wait_mean_h", "wait_p95_h", "wait_max_h", "slowdown_p95", "on_time_share", "makespan_h"):
        assert got[name] is None
    for name in ("cost_per_job_cny", "cost_per_useful_gpu_h_cny"):
        assert got[name] is None
    assert got["busy_share"] == got["offered_load"] == 0
    assert json.loads(json.dumps(got, allow_nan=False)) == got
    assert run([], cards=0)["busy_share"] is None
    assert run([], cards=0)["useful_share"] is None
    assert run([], cards=0)["offered_load"] is None


def test_jobs_that_end_with_the_horizon_are_running_all_alike():
    # Known fault 40: half-open end.
    got = run([(0, 0, None, "running")] * 3, cards=3, horizon=1000)
    assert (got["jobs_done"], got["jobs_running"], got["jobs_unfinished"]) == (0, 3, 3)
    assert got["jobs_done"] + got["jobs_unfinished"] == got["jobs_submitted"]


def test_every_job_is_in_one_state():
    rows = [
        (0, 0, 2, "done"),
        (0, 1, 3, "killed"),
        (1, None, 1, "refused"),
        (1, 4, None, "running"),
        (2, None, None, "waiting"),
    ]
    got = run(rows)
    states = ("jobs_done", "jobs_killed", "jobs_refused", "jobs_running", "jobs_waiting")
    assert [got[state] for state in states] == [1, 1, 1, 1, 1]
    assert got["jobs_submitted"] == 5
    # The one that waits has waited 8 h so far; the refused one has no wait: (0 + 1 + 3 + 8) / 4.
    assert got["wait_mean_h"] == pytest.approx(3)
    assert (got["waits_cut"], got["jobs_measured"]) == (1, 4)


def test_the_warm_up_cuts_service_but_neither_money_nor_counts():
    whole, cut = run(FOUR), run(FOUR, experiment={"warm_up": "2h"})
    assert (cut["wait_mean_h"], cut["jobs_measured"]) == (2, 2)  # C and D; a job at 2 h sharp is in
    assert cut["slowdown_mean"] == pytest.approx(2.5)
    assert cut["on_time_share"] is None  # A and B had the only deadlines that can be judged
    for name in ("cost_cny", "cash_cny", "jobs_submitted", "jobs_done", "jobs_late", "busy_share"):
        assert cut[name] == whole[name]


def test_late_is_late_however_it_came_about():
    rows = [
        (0, 0, 2, "done", 2),
        (0, None, 0, "refused", 3),
        (0, 1, 3, "killed", 5),
        (0, None, None, "waiting", 9),
        (0, None, None, "waiting", 10),  # due when the run ends: not judged
        (0, None, 0, "refused", 11),  # due after it
        (0, None, None, "waiting"),
    ]
    got = run(rows)
    assert got["on_time_share"] == pytest.approx(0.25)
    assert got["jobs_late"] == 3


def test_cost_per_job_counts_the_done_part_of_the_unfinished():
    # An annual card over 10 h: 26,880 x 10 / 8,760 = 30.68...; 4 jobs and one half done.
    assert run(FOUR)["cost_cny"] == pytest.approx(30.68)
    got = run([*FOUR, (4, 6, None, "running"), (9, None, None, "waiting")])
    assert got["cost_per_job_cny"] == pytest.approx(30.68 / 4.5)
    assert got["cost_per_useful_gpu_h_cny"] == pytest.approx(30.68 / 15)


@pytest.mark.parametrize(
    ("target", "met"),
    [
        ({"wait_p95": "2h"}, 1),
        ({"wait_p95": "119min"}, 0),
        ({"wait_mean": "1h"}, 1),
        ({"wait_mean": "59min"}, 0),
        ({"on_time": 0.5}, 1),
        ({"on_time": 0.51}, 0),
        ({"wait_p95": "2h", "on_time": 0.6}, 0),
        (None, 1),
    ],
)
def test_the_target_is_met_at_its_limit(target, met):
    assert run(FOUR, target=target)["target_met_share"] == met


@pytest.mark.parametrize(("allowed", "met"), [(0, 0), (1, 1)])
def test_refused_jobs_break_a_target(allowed, met):
    rows = [*FOUR, (0, None, 0, "refused")]
    assert run(rows, target={"wait_p95": "4h", "refused": allowed})["target_met_share"] == met
    assert run(rows)["target_met_share"] == 0


def test_a_line_with_nothing_to_judge_is_met():
    assert run([(0, 0, 1, "done")], target={"on_time": 1.0})["target_met_share"] == 1
    assert run([(0, None, 0, "refused")], target={"wait_p95": "1h"})["target_met_share"] == 0


def test_lines_of_a_target():
    lines = target_lines(Target(wait_p95="4h", on_time=0.95))
    assert [(line.metric, line.limit, line.better) for line in lines] == [
        ("jobs_refused", 0, "low"),
        ("wait_p95_h", 4, "low"),
        ("on_time_share", 0.95, "high"),
    ]
    assert [line.metric for line in target_lines(None)] == ["jobs_refused", "overloaded"]
    assert {line.metric for line in lines} <= set(METRICS)


def test_a_target_without_a_wait_or_share_asks_for_a_stable_queue():
    from sim.metrics.target import target_lines
    from sim.model.scenario import Target

    def names(**keys):
        return [line.metric for line in target_lines(Target.model_validate(keys))]

    assert names(refused=2) == ["jobs_refused", "overloaded"]
    assert names(late_cost=100) == ["jobs_refused", "overloaded"]
    assert names(wait_p95="4h") == ["jobs_refused", "wait_p95_h"]
