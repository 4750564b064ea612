"""Presets against the published summaries; holidays and campaigns by hand."""

from __future__ import annotations

import math
from datetime import date

import numpy as np
import pytest

from sim.catalog.workloads import preset_class, workload_presets
from sim.errors import InputError
from sim.load import load_text
from sim.model.scenario import Scenario
from sim.model.timed import TimedClass
from sim.physics.quantities import mean_of
from sim.streams import Streams
from sim.units import DAY, HOUR
from sim.workload import generate
from sim.workload.arrivals import clock_of, expected_jobs
from sim.workload.distributions import KINDS

PUBLISHED = {
    # AcmeTrace cluster_summary.csv: mean and median run time s, mean cards, shares of GPU time
    "philly": (18006.055, 874, 1.928, {"done": 0.321, "cancelled": 0.294, "failed": 0.386}),
    "helios": (6651.681, 206, 3.716, {"done": 0.513, "cancelled": 0.394, "failed": 0.093}),
    "acme": (1414.335, 122, 5.68, {"done": 0.212, "cancelled": 0.664, "failed": 0.124}),
    "pai": (4787.109, 480.667, 1, {"done": 1}),
}
COUNTS = {"philly": (0.604, 0.090, 0.305), "helios": (0.624, 0.221, 0.155), "acme": (0.497, 0.075, 0.429)}


def scenario(workload: dict, **keys: object) -> Scenario:
    fleet = [{"name": "s", "leases": [{"offer": "a100-40g-8x", "plan": "monthly"}]}]
    given = {"name": "t", "start": "2026-03-02", "horizon": "28d", "workload": workload, "strategies": fleet}
    return Scenario.model_validate({**given, **keys})


@pytest.mark.parametrize("name", PUBLISHED)
def test_means_median_and_gpu_time_are_those_published(name: str) -> None:
    mean, median, cards, spent = PUBLISHED[name]
    one = preset_class(workload_presets()[name], "20/day")
    jobs = math.fsum(kind.share for kind in one.kinds)
    means = [mean_of(kind.runtime_s) for kind in one.kinds]
    found = math.fsum(kind.share * m for kind, m in zip(one.kinds, means, strict=True)) / jobs
    assert found == pytest.approx(mean, rel=1e-3)
    assert math.fsum(kind.share * kind.gpus for kind in one.kinds) / jobs == pytest.approx(cards, rel=1e-6)
    above = 0.0
    for kind in one.kinds:
        shape = kind.runtime_s.lognormal  # type: ignore[union-attr]
        above += kind.share / jobs * float(KINDS["lognormal"].at_least(shape, np.array([median]))[0])
    assert above == pytest.approx(0.5, abs=2e-3)
    total = math.fsum(k.share * k.gpus * m for k, m in zip(one.kinds, means, strict=True))
    for state, share in spent.items():
        mine = (k.share * k.gpus * m for k, m in zip(one.kinds, means, strict=True) if k.state == state)
        assert math.fsum(mine) / total == pytest.approx(share, abs=2e-3)


@pytest.mark.parametrize("name", COUNTS)
def test_final_states_by_count_are_those_published(name: str) -> None:
    one = preset_class(workload_presets()[name], "20/day")
    jobs = math.fsum(kind.share for kind in one.kinds)
    for state, share in zip(("done", "cancelled", "failed"), COUNTS[name], strict=True):
        found = math.fsum(kind.share for kind in one.kinds if kind.state == state) / jobs
        assert found == pytest.approx(share, abs=1.5e-3)


def test_vendor_lora_has_the_hours_of_the_articles() -> None:
    one = preset_class(workload_presets()["vendor_lora"], "5/day")
    medians = [k.runtime_s.lognormal.median / 3600 for k in one.kinds if k.runtime_s.lognormal]  # type: ignore[union-attr]
    # 7B 4 to 6 h and 13B 8 to 12 h on one A100-40G, 70B 12 to 16 h on four: the middles
    assert (medians[0], medians[1], medians[3]) == (5, 10, 14)
    assert one.runtime_gpu == "A100-40G"
    assert one.kinds[3].gpus == 4
    assert math.fsum(kind.share for kind in one.kinds) == pytest.approx(1)
    # three quarters of jobs in the shares 55, 30, 5 and 10 %; a quarter short ones
    assert [kind.share / 0.75 for kind in one.kinds[:4]] == pytest.approx([0.55, 0.30, 0.05, 0.10])


def test_every_preset_names_its_source_and_says_what_it_is() -> None:
    for preset in workload_presets().values():
        assert len(preset.source) > 30
        assert len(preset.description) > 10


PRESET = """\
name: published
start: 2026-03-02
horizon: 28d
workload: {preset: philly, rate: 40/day}
strategies:
  - {name: a, leases: [{offer: a100-40g-8x, count: 8, plan: monthly}]}
"""


def test_a_class_with_the_name_of_the_preset_is_told_with_its_place() -> None:
    own = "  timed: [{name: philly, rate: 1/day, kinds: [{share: 1, runtime_s: 60}]}]\n"
    old = "workload: {preset: philly, rate: 40/day}\n"
    text = PRESET.replace(old, f"workload:\n  preset: philly\n  rate: 40/day\n{own}")
    with pytest.raises(InputError) as raised:
        load_text(text.replace("a100-40g-8x", "a100-8x"))
    places = [(one.line, one.key, one.value) for one in raised.value.problems]
    assert places == [(7, "workload.timed.0.name", "philly"), (9, "strategies.0.leases.0.offer", "a100-8x")]


def test_a_preset_is_written_out_by_the_loader() -> None:
    question = load_text(PRESET)
    (one,) = question.scenario.workload.timed
    assert (one.name, one.rate) == ("philly", "40/day")
    jobs = generate(question.scenario, (), Streams(1)).jobs
    assert len(jobs) == pytest.approx(28 * 40, rel=0.2)
    failed = [job for job in jobs if job.ends and job.ends[0].kind == "failed"]
    assert len(failed) / len(jobs) == pytest.approx(0.305, abs=0.06)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("preset: philly", "preset: phily", "unknown workload preset"),
        (", rate: 40/day", "", "preset and rate go together"),
        ("{preset: philly, rate: 40/day}", "{rate: 40/day}", "a workload has classes"),
    ],
)
def test_a_wrong_preset_is_told(old: str, new: str, rule: str) -> None:
    with pytest.raises(InputError) as raised:
        load_text(PRESET.replace(old, new))
    assert rule in raised.value.problems[0].rule


def timed(**keys: object) -> dict:
    return {"name": "a", "rate": "24/day", "kinds": [{"share": 1, "runtime_s": 60}], **keys}


def test_a_day_off_is_a_quiet_sunday() -> None:
    weekly = [2, 2, 2, 2, 2, 1, 0.5]
    profile = {"hourly": [1] * 24, "weekly": weekly}
    mean = sum(weekly) / 7

    def jobs(holidays: dict | None) -> float:
        workload = {"timed": [timed(profile=profile)]} | ({} if holidays is None else {"holidays": holidays})
        one = scenario(workload, horizon="7d")
        return expected_jobs(one.workload.timed[0], clock_of(one))

    assert jobs(None) == pytest.approx(7 * 24)
    # Tuesday, 3 March 2026: 24 x 2 / mean jobs become 24 x 0.5 / mean x 0.2
    lost = 24 * (2 - 0.5 * 0.2) / mean
    assert jobs({"dates": ["2026-03-03"]}) == pytest.approx(7 * 24 - lost)


def test_the_chinese_calendar_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "chinese_calendar", None)
    text = PRESET.replace("rate: 40/day}", "rate: 40/day, holidays: {calendar: china}}")
    with pytest.raises(InputError) as raised:
        load_text(text)
    assert "chinesecalendar" in raised.value.problems[0].rule


def test_the_chinese_calendar_moves_holidays_and_working_weekends(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    days = {date(2026, 3, 3): (True, "a festival"), date(2026, 3, 7): (False, "worked instead")}

    def detail(day: date) -> tuple[bool, str | None]:
        return days.get(day, (day.weekday() >= 5, None))

    monkeypatch.setitem(sys.modules, "chinese_calendar", SimpleNamespace(get_holiday_detail=detail))
    weekly = [2, 2, 2, 2, 2, 1, 0.5]
    workload = {
        "timed": [timed(profile={"hourly": [1] * 24, "weekly": weekly})],
        "holidays": {"calendar": "china", "factor": 0.1},
    }
    one = scenario(workload, horizon="7d")
    change = -(2 - 0.5 * 0.1) + (2 - 1)  # the festival's Tuesday, and a Saturday as a Monday
    found = expected_jobs(one.workload.timed[0], clock_of(one))
    assert found == pytest.approx(24 * (sum(weekly) + change) / (sum(weekly) / 7))


def test_a_campaign_is_a_batch_at_its_time() -> None:
    sweep = timed(name="sweep", rate=None, at=["2026-03-10T09:10", "2026-05-01"], batch_size=20, gap_s=30)
    one = scenario({"timed": [sweep]}, timezone="Asia/Shanghai")
    jobs = generate(one, (), Streams(1)).jobs
    first = 8 * DAY + 9 * HOUR + 10 * 60_000_000
    assert [job.submit_us for job in jobs] == [first + 30_000_000 * n for n in range(20)]
    assert expected_jobs(one.workload.timed[0], clock_of(one)) == 20


def test_a_campaign_of_modelled_jobs_and_daylight_time() -> None:
    job = {"name": "a", "model": "qwen-7b", "method": "lora", "samples": 1000, "batch_size": 3}
    # 29 March 2026 in Berlin has 23 hours: noon is 11 hours after midnight
    one = scenario(
        {"classes": [{**job, "at": ["2026-03-29T12:00"]}]}, start="2026-03-29", timezone="Europe/Berlin"
    )
    assert [job.submit_us for job in generate(one, (), Streams(1)).jobs] == [11 * HOUR] * 3


def test_a_class_has_either_a_rate_or_times() -> None:
    for keys in ({"rate": None}, {"at": ["2026-03-10"]}):
        with pytest.raises(ValueError, match="either a rate"):
            TimedClass.model_validate(timed(**keys))
