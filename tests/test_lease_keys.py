"""Windows, reserves, slices and failure profiles of a lease, by pencil."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.engine import run
from sim.errors import InputError
from sim.load import dump, load, load_text
from sim.model.fleet import CheckpointSpec, ForcedFailure, LeaseSpan, PoolSpec
from sim.model.job import Job, JobSet, JobShape
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.model.scenario import Scenario
from sim.model.windows import open_times
from sim.replication import prepare, replicate
from sim.streams import Streams
from sim.units import DAY, HOUR, MINUTE
from tests.build import OFFER, failures, job_set, option, plan, pool, rates

STREAMS = Streams(7)
DAYTIME = ((8 * HOUR, 20 * HOUR), (32 * HOUR, 44 * HOUR), (56 * HOUR, 68 * HOUR))
"""08:00 to 20:00, from a midnight on."""


def windowed(windows=DAYTIME, count: int = 1, end_h: int | None = None, lease: int = 0, **more) -> LeaseSpan:
    return LeaseSpan(lease, count, 0, None if end_h is None else end_h * HOUR, windows=windows, **more)


def stays(log: RunLog) -> list[tuple[int, float, float, str]]:
    return [(a.job, a.start_us / HOUR, a.end_us / HOUR, a.ended) for a in log.attempts]


def card_hours(log: RunLog, machine: int = 0) -> tuple[float, ...]:
    """(busy, down, away, reserved) of a machine."""
    lease = log.leases[machine]
    parts = (lease.busy_card_us, lease.down_card_us, lease.away_card_us, lease.reserved_card_us)
    return tuple(part / HOUR for part in parts)


# --- windows, in the engine ------------------------------------------------------------------------


def test_a_job_longer_than_a_window_runs_in_pieces_and_loses_nothing() -> None:
    log = run(plan(pool(1, leases=[windowed()]), hours=48), job_set([(0, 15)]), rates(), STREAMS)
    assert stays(log) == [(0, 8, 20, "window_end"), (0, 32, 35, "done")]
    assert log.jobs[0].wait_us == 20 * HOUR
    assert log.attempts[0].work_us == 12 * HOUR
    # 48 h: busy 12 + 3, away 8 + 12 + 4, idle the other 9
    assert card_hours(log) == (15, 0, 24, 0)


def test_a_job_that_ends_with_the_window_is_done_and_none_starts_then() -> None:
    jobs = job_set([(0, 12), (0, 1)])
    log = run(plan(pool(1, leases=[windowed()]), hours=48), jobs, rates(), STREAMS)
    assert stays(log) == [(0, 8, 20, "done"), (1, 32, 33, "done")]


def test_a_window_that_is_open_when_the_lease_begins_starts_at_once() -> None:
    span = windowed(((0, 2 * HOUR), (10 * HOUR, 12 * HOUR)))
    log = run(plan(pool(1, leases=[span]), hours=24), job_set([(0, 3)]), rates(), STREAMS)
    assert stays(log) == [(0, 0, 2, "window_end"), (0, 10, 11, "done")]
    assert card_hours(log) == (3, 0, 20, 0)


def test_a_failure_out_of_hours_is_away_time_and_what_reaches_into_the_window_is_down_time() -> None:
    # the node breaks at 21:00 for 15 hours: it is away until 32 h, down until 36 h
    forced = (ForcedFailure(21 * HOUR, "node", OFFER, 0, 0, 15 * HOUR),)
    spec = plan(pool(1, leases=[windowed()]), hours=48, forced=forced)
    log = run(spec, job_set([(30, 2)]), rates(), STREAMS)
    assert stays(log) == [(0, 36, 38, "done")]
    assert card_hours(log) == (2, 4, 24, 0)


@pytest.mark.parametrize("kind", ["node", "gpu_reset"])
def test_down_time_stops_counting_when_the_window_ends(kind: str) -> None:
    forced = (ForcedFailure(18 * HOUR, kind, OFFER, 0, 0, 4 * HOUR),)
    spec = plan(pool(1, leases=[windowed()]), hours=48, forced=forced)
    log = run(spec, job_set([(30, 2)]), rates(), STREAMS)
    assert card_hours(log) == (2, 2, 24, 0)


def test_a_failure_that_nobody_has_noticed_at_the_windows_end_saves_nothing() -> None:
    model = failures(detect_us=(30 * MINUTE, 30 * MINUTE))
    forced = (ForcedFailure(19 * HOUR + 45 * MINUTE, "gpu_reset", OFFER, 0, 0, None),)
    spec = plan(
        pool(1, leases=[windowed()], model=model),
        hours=48, forced=forced, checkpoint=CheckpointSpec(5 * HOUR, 0),
    )  # fmt: skip
    log = run(spec, job_set([(0, 15)]), rates(), STREAMS)
    # 10 h are saved at 18:00; the rest of the day is lost: 5 h are left
    assert stays(log) == [(0, 8, 20, "gpu_reset"), (0, 32, 37, "done")]
    assert log.attempts[0].lost_us == 2 * HOUR
    assert card_hours(log) == (17, 0, 24, 0)


def gangs(*rows: tuple[float, float, int], spans: bool = True) -> tuple[JobSet, RateTable]:
    """Jobs (submit, hours, cards)."""
    counts = sorted({cards for _, _, cards in rows})
    jobs = tuple(
        Job(i, f"job-{i}", counts.index(cards), round(submit * HOUR), round(hours * HOUR))
        for i, (submit, hours, cards) in enumerate(rows)
    )
    ways = {
        (i, OFFER): (option(n), *([option(n, spans=True)] if spans else [])) for i, n in enumerate(counts)
    }
    return JobSet(tuple(JobShape(f"{n} cards", None, (n,)) for n in counts), jobs), RateTable(options=ways)


def test_a_gang_leaves_all_its_cards_when_the_window_of_one_ends() -> None:
    # machine 0 by day until 20:00, machine 1 always; the gang needs both, the single card passes it
    leases = [windowed(), LeaseSpan(1, 1, 0, None)]
    jobs, ways = gangs((8, 14, 2), (9, 3, 1))
    log = run(plan(pool(2, leases=leases), hours=48, policy="sjf"), jobs, ways, STREAMS)
    assert stays(log) == [(0, 8, 20, "window_end"), (1, 20, 23, "done"), (0, 32, 34, "done")]


def test_a_gang_whose_cards_are_never_there_together_is_refused() -> None:
    night = ((0, 8 * HOUR), (20 * HOUR, 32 * HOUR))
    leases = [windowed(DAYTIME[:2]), windowed(night, lease=1)]
    jobs, ways = gangs((0, 1, 2), (0, 1, 1))
    log = run(plan(pool(2, leases=leases), hours=40), jobs, ways, STREAMS)
    assert [job.state for job in log.jobs] == ["refused", "done"]
    assert log.jobs[0].reason == "needs 2 cards at a time; the strategy can give one job at most 1"


def test_who_waits_for_the_last_window_is_refused_when_it_ends() -> None:
    # the lease goes on to 30 h, but no window opens after 20:00
    leases = [windowed(DAYTIME[:1], end_h=30)]
    log = run(plan(pool(1, leases=leases), hours=48), job_set([(1, 13), (2, 1), (21, 1)]), rates(), STREAMS)
    ended = [(job.state, (job.end_us or 0) / HOUR) for job in log.jobs]
    assert ended == [("refused", 20), ("refused", 20), ("refused", 21)]
    assert stays(log) == [(0, 8, 20, "window_end")]
    assert log.jobs[1].reason == "the last lease or window that could hold it has ended"


def test_a_lease_that_ends_with_its_window_ends_as_a_lease() -> None:
    leases = [windowed(DAYTIME[:1], end_h=20), LeaseSpan(1, 1, 22 * HOUR, None)]
    log = run(plan(pool(1, leases=leases), hours=48), job_set([(0, 13)]), rates(), STREAMS)
    assert stays(log) == [(0, 8, 20, "lease_end"), (0, 22, 23, "done")]
    assert card_hours(log) == (12, 0, 8, 0)


# --- windows, from the file to the clock -----------------------------------------------------------


def scenario_of(zone: str, start: str, days: int, *windows: str) -> Scenario:
    lease = {"offer": "x", "plan": "monthly", **({"available": windows} if windows else {})}
    return Scenario.model_validate(
        {
            "name": "case", "start": start, "timezone": zone, "horizon": f"{days}d",
            "workload": {"trace": {"file": "jobs.csv"}},
            "strategies": [{"name": "s", "leases": [lease]}],
        }
    )  # fmt: skip


def opened(zone: str, start: str, days: int, *windows: str) -> list[tuple[str, str]]:
    """Open times of a lease that begins with a scenario of that many days, in local time."""
    asked = scenario_of(zone, start, days, *windows)
    available = asked.strategies[0].leases[0].available or ()
    found = open_times(available, 0, days * DAY, asked.local_time, asked.elapsed_us)
    return [(f"{asked.local_time(a):%d %H:%M}", f"{asked.local_time(b):%d %H:%M}") for a, b in found]


def test_windows_over_midnight_reach_in_from_the_day_before_and_out_of_the_end() -> None:
    found = opened("UTC", "2026-01-01", 2, "20:00-08:00")
    assert found == [("01 00:00", "01 08:00"), ("01 20:00", "02 08:00"), ("02 20:00", "03 00:00")]


def test_windows_of_some_days_open_on_those_days() -> None:
    # 1 January 2026 is a Thursday; Friday's night reaches into Saturday
    found = opened("UTC", "2026-01-01", 5, "thu-fri 22:00-06:00", "sun 12:00-24:00")
    assert found == [("01 22:00", "02 06:00"), ("02 22:00", "03 06:00"), ("04 12:00", "05 00:00")]
    assert opened("UTC", "2026-01-01", 5, "sat-mon 08:00-09:00") == [
        ("03 08:00", "03 09:00"), ("04 08:00", "04 09:00"), ("05 08:00", "05 09:00"),
    ]  # fmt: skip


def test_windows_that_touch_are_one() -> None:
    assert opened("UTC", "2026-01-01", 2, "00:00-12:00", "12:00-24:00") == [("01 00:00", "03 00:00")]


@pytest.mark.parametrize(("start", "hours"), [("2026-03-28", (12, 11, 12)), ("2026-10-24", (12, 13, 12))])
def test_edges_are_times_of_the_clock_when_it_changes(start: str, hours: tuple[int, ...]) -> None:
    asked = scenario_of("Europe/Berlin", start, 3)
    found = open_times(["00:00-12:00"], 0, 71 * HOUR, asked.local_time, asked.elapsed_us)
    assert tuple((end - begin) // HOUR for begin, end in found) == hours


# --- reserve ---------------------------------------------------------------------------------------


def eights(reserve: int, **more) -> PoolSpec:
    """Two machines of eight cards, some of them kept back."""
    return pool(2, per_machine=8, leases=[LeaseSpan(0, 2, 0, None, reserve=reserve)], **more)


def test_reserved_cards_are_the_last_of_the_last_machine_and_get_no_job() -> None:
    jobs, ways = gangs((0, 2, 8), (0, 2, 8), (0, 1, 7), spans=False)
    log = run(plan(eights(1), hours=10, policy="sjf"), jobs, ways, STREAMS)
    assert stays(log) == [(0, 0, 2, "done"), (2, 0, 1, "done"), (1, 2, 4, "done")]
    assert {card for a in log.attempts for card in a.cards} == set(range(15))
    assert [card_hours(log, machine) for machine in (0, 1)] == [(32, 0, 0, 0), (7, 0, 0, 10)]


def test_a_reserve_larger_than_a_machine_takes_whole_machines_first() -> None:
    jobs, ways = gangs((0, 1, 8), (0, 1, 7), spans=False)
    log = run(plan(eights(9), hours=10), jobs, ways, STREAMS)
    assert [job.state for job in log.jobs] == ["refused", "done"]
    assert log.jobs[0].reason == "needs 8 cards at a time; the strategy can give one job at most 7"
    assert [card_hours(log, machine) for machine in (0, 1)] == [(7, 0, 0, 10), (0, 0, 0, 80)]


def test_a_gang_over_machines_never_gets_a_reserved_card() -> None:
    jobs, ways = gangs((0, 1, 15), (0, 1, 16))
    log = run(plan(eights(1), hours=10), jobs, ways, STREAMS)
    assert [job.state for job in log.jobs] == ["done", "refused"]
    assert log.jobs[1].reason == "needs 16 cards at a time; the strategy can give one job at most 15"


def test_a_reserved_card_fails_with_its_machine_and_stays_reserved() -> None:
    # its reset hits nobody; its fatal failure takes the seven others of its machine away for an hour
    forced = (
        ForcedFailure(HOUR, "gpu_reset", OFFER, 1, 7, HOUR),
        ForcedFailure(4 * HOUR, "gpu_fatal", OFFER, 1, 7, HOUR),
    )
    jobs, ways = gangs((0, 5, 7), (0, 5, 7), spans=False)
    log = run(plan(eights(1), hours=10, forced=forced), jobs, ways, STREAMS)
    # the machine with seven free cards is the better fit for the first job; it begins anew at 5:00
    assert [failure.jobs for failure in log.failures] == [(), (0,)]
    assert card_hours(log, 1) == (7 * 9, 7, 0, 10)


def test_windows_and_a_reserve_together() -> None:
    log = run(
        plan(pool(2, leases=[windowed(count=2, reserve=1)]), hours=24),
        job_set([(0, 4)] * 2),
        rates(),
        STREAMS,
    )
    assert stays(log) == [(0, 8, 12, "done"), (1, 12, 16, "done")]
    assert [card_hours(log, machine) for machine in (0, 1)] == [(8, 0, 12, 0), (0, 0, 0, 24)]


# --- from the file ---------------------------------------------------------------------------------

TEXT = """\
name: keys
start: 2026-01-01
timezone: UTC
horizon: 10d
workload: {{trace: {{file: jobs.csv, restart: 0s}}}}
reliability: {{profile: none, data_disk: kept}}
checkpoint: {{every: never, cost: 0s}}
strategies:
  - name: one
    leases:
      - {lease}
"""


def question(folder: Path, lease: str, rows: str = "a,0,1,36000\n"):
    (folder / "jobs.csv").write_text("id,submit_s,gpus,runtime_s\n" + rows)
    (folder / "keys.yaml").write_text(TEXT.format(lease=lease))
    return load(folder / "keys.yaml")


CUSTOM = "{{offer: a100-40g-custom, plan: monthly, {}}}"


@pytest.mark.parametrize(
    ("key", "found", "rule"),
    [
        ("count: 2, reserve: 3", "reserve", "a lease keeps back at most the cards it has, 2"),
        ("available: 8-20", "available", "a window is two times of the day"),
        ("available: [08:00-20:00, mon-fr 08:00-20:00]", "available.1", "a window is two times of the day"),
        ("available: 08:00-08:00", "available", "write 00:00-24:00 for the whole day"),
        ("available: []", "available", "at least one entry"),
        ("reliability: datacenter", "reliability", "unknown reliability profile"),
        ("profile: 3g.40gb", "profile", "a100-40g-custom is not sold in parts of a card"),
        ("started: 2026-02-01", "started", "a contract that already runs began before the scenario"),
    ],
)
def test_bad_keys_are_refused_with_file_line_and_key(tmp_path: Path, key: str, found: str, rule: str) -> None:
    with pytest.raises(InputError) as refused:
        question(tmp_path, CUSTOM.format(key))
    (problem,) = refused.value.problems
    assert (problem.file, problem.line) == (str(tmp_path / "keys.yaml"), 11)
    assert problem.key == f"strategies.0.leases.0.{found}"
    assert rule in problem.rule


def test_a_scenario_with_all_keys_is_written_out_and_read_again(tmp_path: Path) -> None:
    lease = CUSTOM.format(
        "count: 2, reserve: 1, available: [mon-fri 20:00-08:00, 'sat,sun 00:00-24:00'], "
        "reliability: used, started: 2025-06-01"
    )
    asked = question(tmp_path, lease).scenario
    assert load_text(dump(asked), folder=tmp_path).scenario == asked
    usual = dump(question(tmp_path, CUSTOM.format("count: 2")).scenario)
    assert not any(key in usual for key in ("reserve", "available", "started"))


def test_shares_are_of_what_jobs_could_use(tmp_path: Path) -> None:
    # 2 cards over 10 days: 240 h reserved, 120 h away, 120 h left, of which the job takes 10
    asked = question(tmp_path, CUSTOM.format('count: 2, reserve: 1, available: "20:00-08:00"'))
    metrics = replicate(prepare(asked), 0, 0).metrics
    assert metrics["leased_gpu_h"] == 480
    assert metrics["reserved_gpu_h"] == 240
    assert metrics["away_gpu_h"] == 120
    assert metrics["busy_gpu_h"] == 10
    assert metrics["idle_gpu_h"] == 110
    assert metrics["busy_share"] == pytest.approx(10 / 120)
    assert metrics["offered_load"] == pytest.approx(10 / 120)


SLICES = """\
name: slices
start: 2026-01-01
timezone: UTC
horizon: 2d
workload: {trace: {file: jobs.csv, restart: 0s}}
reliability: {profile: none, data_disk: kept, events: [{at: 1h, offer: h100-mig/3g.40gb, down: 1h}]}
checkpoint: {every: never, cost: 0s}
strategies:
  - name: slices
    leases: [{offer: h100-mig, profile: 3g.40gb, count: 2, plan: hourly}]
  - name: the whole card
    leases: [{offer: h100-mig, plan: hourly}]
  - name: slices by the hour
    burst: {offer: h100-mig, profile: 1g.20gb, max: 2, rent_when_wait_over: 1h}
"""
ROWS = "id,submit_s,gpus,runtime_s,memory_gib\na,0,1,7200,30\nb,0,1,7200,39\nc,0,1,7200,40\n"


def test_count_counts_slices_with_the_memory_of_the_slice(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(ROWS)
    (tmp_path / "slices.yaml").write_text(SLICES)
    asked = load(tmp_path / "slices.yaml")
    prepared = prepare(asked)
    assert list(prepared.offers) == ["h100-mig/3g.40gb", "h100-mig", "h100-mig/1g.20gb"]
    assert prepared.offers["h100-mig/3g.40gb"].gpu == "H100-80G/3g.40gb"
    log = replicate(prepared, 0, 0).log
    # 39.38 GiB hold the first two, side by side; the node event hits slice 0
    assert [job.state for job in log.jobs] == ["done", "done", "refused"]
    assert [(job.end_us or 0) / HOUR for job in log.jobs] == [4, 2, 0]
    whole = replicate(prepared, 1, 0).log
    assert [(job.end_us or 0) / HOUR for job in whole.jobs] == [2, 4, 6]
    hourly = replicate(prepared, 2, 0).log
    assert [job.state for job in hourly.jobs] == ["refused"] * 3  # 19.62 GiB


def test_physics_reads_the_slice(tmp_path: Path) -> None:
    text = SLICES.replace(
        "workload: {trace: {file: jobs.csv, restart: 0s}}",
        "workload: {classes: [{name: a, model: qwen-7b, method: qlora4, micro_batch: 1, seq_len: 512,"
        " samples: 1000, rate: 1/day}]}",
    )
    (tmp_path / "slices.yaml").write_text(text)
    rates_of = prepare(load(tmp_path / "slices.yaml")).rates.options
    whole, part = (rates_of[0, offer][0] for offer in ("h100-mig", "h100-mig/3g.40gb"))
    # 60 of 132 multiprocessors and half the bandwidth: about twice as long
    assert 1.5 < part.us_per_work / whole.us_per_work < 132 / 60 * 1.05


def test_a_profile_of_a_lease_goes_before_the_scenarios(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("id,submit_s,gpus,runtime_s\na,0,1,3600\n")
    (tmp_path / "keys.yaml").write_text(
        TEXT.format(lease="{offer: a100-40g-custom, plan: monthly}")
        .replace("profile: none", "profile: datacentre, node: 100h")
        .replace("horizon: 10d", "horizon: 365d")
        + "      - {offer: a100-40g-custom, plan: monthly, reliability: none}\n"
        + "      - {offer: a100-40g-custom, plan: monthly, reliability: used}\n"
        + "      - {offer: a100-40g-custom, plan: monthly}\n"
    )
    asked = load(tmp_path / "keys.yaml")
    log = replicate(prepare(asked), 0, 0).log
    hit = [sum(failure.machine == machine for failure in log.failures) for machine in range(4)]
    assert min(hit[0], hit[3]) > 50  # 8,760 h, a node failure each 100 h or so
    assert hit[1] == 0
    assert hit[2] < 20
    plain = load(tmp_path / "keys.yaml", ("strategies.0.leases.1.reliability=datacentre",))
    others = [f for f in replicate(prepare(plain), 0, 0).log.failures if f.machine in (0, 3)]
    assert others == [failure for failure in log.failures if failure.machine in (0, 3)]
