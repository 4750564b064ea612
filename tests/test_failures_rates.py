"""How often things fail: long-run counts against the rates asked for, each within a 99 % interval."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from sim.catalog import failure_model, load_catalog, mean_times
from sim.engine.failures import CARD_KINDS, FailureEvent, draw_events
from sim.errors import InputError
from sim.load import load_text
from sim.model.failures import FailureModel, Hangs, Infancy, Lemons, NoSpare, SharedEvents, Spares
from sim.model.fleet import LeaseSpan, LogNormal, PoolSpec
from sim.model.reliability import Reliability
from sim.replication import prepare, replicate
from sim.streams import Streams
from sim.units import DAY, HOUR, MINUTE
from tests.build import failures, pool
from tests.load_helpers import SMALL

STREAMS = Streams(3)


def assert_count(found: int, expected: float) -> None:
    """A Poisson count lies within its 99 % interval, which is narrow enough to tell."""
    low, high = stats.poisson.interval(0.99, expected)
    assert high - low < 0.5 * expected, f"{expected:.0f} events are too few"
    assert low <= found <= high, f"{found}, not within {low:.0f} to {high:.0f}"


def drawn(
    model: FailureModel, machines: int = 50, per_machine: int = 4, hours: float = 20_000
) -> list[FailureEvent]:
    spec = pool(machines, per_machine=per_machine, model=model)
    return draw_events(spec, machines, round(hours * HOUR), STREAMS)


@pytest.mark.parametrize(
    ("kind", "hours"),
    [("gpu_reset", 5000), ("gpu_fatal", 8000), ("ecc_uncorrectable", 9000), ("silent_corruption", 6000),
     ("node", 900), ("network", 1100)],
)  # fmt: skip
def test_each_kind_comes_as_often_as_asked(kind: str, hours: float) -> None:
    events = drawn(failures(hours, kind))
    units = 200 if kind in CARD_KINDS else 50
    assert_count(len(events), units * 20_000 / hours)
    where = Counter((event.machine, event.card) for event in events)
    assert len(where) > 0.8 * units
    assert all(card == 0 for _, card in where) is (units == 50)


def test_the_catalogues_rates_give_the_published_interruptions() -> None:
    # A100: 1/100 k + 1/10 k + (1/50 k + 1/75 k)/8 = 1.1417e-4 a card-hour: one in 8,760 h
    catalog, offer = load_catalog(), load_catalog().offers["a100-40g-8x"]
    model = failure_model(Reliability(), offer, catalog, "kept")
    assert model is not None
    assert 1 / model.interruptions_per_us(8, 1, 8) / HOUR * 8 == pytest.approx(8759.1, abs=0.5)
    events = drawn(model, machines=40, per_machine=8, hours=50_000)
    assert_count(len(events), 40 * 8 * 50_000 / 8759.1)


def test_a_shared_event_comes_once_a_switch_and_hits_all_its_machines() -> None:
    model = failures(shared={"switch": SharedEvents(500 * HOUR, LogNormal(HOUR, 0.7), 5)})
    events = drawn(model)
    assert_count(len(events) // 5, 10 * 20_000 / 500)
    groups = Counter((event.at_us, event.machine // 5) for event in events)
    assert set(groups.values()) == {5}
    model = failures(shared={"site": SharedEvents(100 * HOUR, LogNormal(HOUR, 0.7))})
    assert_count(len({event.at_us for event in drawn(model)}), 200)


def test_a_weibull_keeps_the_mean_and_changes_the_spread() -> None:
    for shape in (0.7, 1.0, 2.0):
        gaps = []
        for machine, events in _by_machine(drawn(failures(100, "node", weibull_shape=shape))).items():
            del machine
            gaps += np.diff([event.at_us / HOUR for event in events]).tolist()
        values = np.array(gaps)
        half = 2.58 * values.std() / math.sqrt(len(values))
        assert abs(values.mean() - 100) < half + 1  # gaps across the horizon are cut off: at most one in 200
        spread = math.sqrt(math.gamma(1 + 2 / shape) / math.gamma(1 + 1 / shape) ** 2 - 1)
        assert values.std() / values.mean() == pytest.approx(spread, rel=0.05)


def test_shape_one_is_the_exponential_to_the_byte() -> None:
    assert drawn(failures(500)) == drawn(failures(500, weibull_shape=1.0))
    assert drawn(failures(500)) != drawn(failures(500, weibull_shape=0.99))


def _by_machine(events: list[FailureEvent]) -> dict[int, list[FailureEvent]]:
    found: dict[int, list[FailureEvent]] = {}
    for event in events:
        found.setdefault(event.machine, []).append(event)
    return found


def test_lemons_fail_so_much_more_often_and_the_mean_stays() -> None:
    lemons = Lemons(0.1, 15)
    counts: Counter[int] = Counter()
    for seed in range(40):
        spec = pool(50, model=failures(500, lemons=lemons))
        for event in draw_events(spec, 50, 10_000 * HOUR, Streams(seed)):
            counts[seed * 50 + event.machine] += 1
    values = np.array([counts[i] for i in range(2000)])
    # a good machine: 20 x 1/(0.9 + 0.1 x 15) = 8.33 events, a lemon 125; they do not overlap
    bad = values > 50
    low, high = stats.binom.interval(0.99, 2000, 0.1)
    assert low <= bad.sum() <= high
    assert_count(int(values[~bad].sum()), 20 / 2.4 * (~bad).sum())
    assert_count(int(values[bad].sum()), 15 * 20 / 2.4 * bad.sum())


def test_a_machine_is_a_lemon_for_all_its_kinds_in_every_strategy() -> None:
    lemons = Lemons(0.2, 50)
    few, many = (
        draw_events(pool(n, model=failures(5000, lemons=lemons)), n, 20_000 * HOUR, STREAMS) for n in (10, 30)
    )
    assert [event for event in many if event.machine < 10] == few
    nodes = Counter(e.machine for e in drawn(failures(5000, lemons=lemons)))
    cards = Counter(e.machine for e in drawn(failures(20_000, "gpu_reset", lemons=lemons)))
    worst = {machine for machine, n in nodes.items() if n > 10}
    assert worst
    assert worst == {machine for machine, n in cards.items() if n > 10}


def test_new_machines_fail_so_much_more_often() -> None:
    # candidates on top of the usual ones: twice the usual rate, for a factor of three
    events = drawn(failures(500, infancy=Infancy(3.0, 72 * HOUR)))
    assert_count(sum(not event.infant for event in events), 50 * 40)
    assert_count(sum(event.infant for event in events), 2 * 50 * 40)
    usual = [event for event in events if not event.infant]
    assert usual == drawn(failures(500))


def test_how_failures_last_changes_nothing_of_when_they_come() -> None:
    model = failures(500, "node", detect_us=(0, HOUR), migration_kept=0.5)
    usual = drawn(model)
    more = {
        "hangs": Hangs(0.3, LogNormal(10 * MINUTE, 0), ("node",)),
        "no_spare": NoSpare(0.2, LogNormal(24 * HOUR, 0.8)),
        "spares": Spares(2, LogNormal(5 * DAY, 0.6)),
    }
    for name, value in more.items():
        events = drawn(dataclasses.replace(model, **{name: value}))
        assert [event.at_us for event in events] == [event.at_us for event in usual]
        same = sum(a.outage == b.outage for a, b in zip(usual, events, strict=True))
        share = {"hangs": 0.7, "no_spare": 0.8, "spares": 0.0}[name]
        low, high = stats.binom.interval(0.99, len(usual), share)
        assert low <= same <= high


def test_a_promise_is_kept_as_often_as_said_and_resets_have_none() -> None:
    events = drawn(failures(500, "node", migration_kept=0.9, migration_late=LogNormal(132 * MINUTE, 1.0)))
    kept = sum(event.outage.promise_kept is True for event in events)
    low, high = stats.binom.interval(0.99, len(events), 0.9)
    assert low <= kept <= high
    late = [event.outage.repair_us / HOUR for event in events if not event.outage.promise_kept]
    assert np.median(late) == pytest.approx(2.2, rel=0.25)
    assert all(event.outage.promise_kept is None for event in drawn(failures(5000, "gpu_reset")))


def test_memory_errors_are_contained_as_often_as_said() -> None:
    events = drawn(failures(2000, "ecc_uncorrectable", contained=0.92))
    alone = sum(event.alone for event in events)
    low, high = stats.binom.interval(0.99, len(events), 0.92)
    assert low <= alone <= high
    assert all(event.moves is not event.alone for event in events)
    # the promise is drawn apart from that: in all those that move it is kept here
    assert all(event.outage.promise_kept for event in events if event.moves)


# --- from the scenario ------------------------------------------------------------------------


def test_memory_errors_are_taken_out_of_what_includes_them() -> None:
    catalog = load_catalog()
    card = catalog.gpus["H100-80G"]
    usual = mean_times(Reliability(), card, catalog)
    split = mean_times(Reliability(ecc_uncorrectable="preset"), card, catalog)
    assert split["ecc_uncorrectable"] == 89_000 * HOUR
    # 92 % of them were resets, 8 % fatal: 1/(1/12000 - 0.92/89000), 1/(1/80000 - 0.08/89000)
    assert split["gpu_reset"] / HOUR == pytest.approx(13_699.3, abs=0.1)
    assert split["gpu_fatal"] / HOUR == pytest.approx(86_198.5, abs=0.1)
    rates = [sum(1 / t for kind, t in times.items() if kind in CARD_KINDS) for times in (usual, split)]
    assert rates[0] == pytest.approx(rates[1])
    own = Reliability.model_validate({"ecc_uncorrectable": "89000h"})
    assert mean_times(own, card, catalog)["gpu_reset"] == usual["gpu_reset"]
    cards = [gpu for gpu in catalog.gpus.values() if not gpu.ecc]
    assert cards
    for gpu in cards:
        asked = Reliability(ecc_uncorrectable="preset", silent_corruption="preset")
        times = mean_times(asked, gpu, catalog)
        assert "ecc_uncorrectable" not in times
        assert "silent_corruption" in times


def test_the_new_kinds_are_off_until_asked_for() -> None:
    catalog = load_catalog()
    for gpu in catalog.gpus.values():
        assert set(mean_times(Reliability(), gpu, catalog)) == {"gpu_fatal", "gpu_reset", "node", "network"}
    model = failure_model(Reliability(), catalog.offers["a100-40g-8x"], catalog, "lost")
    assert model is not None
    off = (model.shared, model.lemons, model.infancy, model.hangs, model.no_spare, model.spares)
    assert off == (None,) * 6
    assert (model.snapshots, model.maintenance, model.weibull_shape) == (None, None, 1.0)


def test_a_profile_of_a_lease_goes_before_the_scenarios_numbers() -> None:
    catalog = load_catalog()
    offer = catalog.offers["a100-40g-8x"]
    asked = Reliability.model_validate({"node": "100h", "lemons": "preset"})
    model = failure_model(asked, offer, catalog, "lost", "used")
    assert model is not None
    assert model.mtbf_us["node"] == 25_000 * HOUR
    assert model.lemons == Lemons(0.10, 15)
    with pytest.raises(InputError, match="profile"):
        failure_model(asked, offer, catalog, "lost", "usedd")


def test_machines_of_two_profiles_in_one_pool_keep_their_own_misfortune() -> None:
    calm, wild = failures(5000), failures(50)
    spans = (
        LeaseSpan(0, 5, 0, None),
        LeaseSpan(1, 5, 0, None, failures=wild),
        LeaseSpan(2, 2, 0, None, failures=None),
    )
    mixed = PoolSpec("x", 1, 40.0, "A100-40G", True, spans, calm)
    events = draw_events(mixed, 12, 5000 * HOUR, STREAMS)
    all_wild = draw_events(pool(12, model=wild), 12, 5000 * HOUR, STREAMS)
    all_calm = draw_events(pool(12, model=calm), 12, 5000 * HOUR, STREAMS)
    assert [e for e in events if 5 <= e.machine < 10] == [e for e in all_wild if 5 <= e.machine < 10]
    assert [e for e in events if e.machine < 5] == [e for e in all_calm if e.machine < 5]
    assert not [e for e in events if e.machine >= 10]


EVERYTHING = (
    "reliability.ecc_uncorrectable=preset",
    "reliability.silent_corruption=100h",
    "reliability.switch={every: 300h, machines: 2}",
    "reliability.site={every: 200h}",
    "reliability.lemons={share: 0.5, rate: 2}",
    "reliability.infant={factor: 3}",
    "reliability.shape=0.8",
    "reliability.hangs={share: 0.2}",
    "reliability.snapshots={per_day: 3, disk: data}",
    "reliability.maintenance={every: 5d, lasts: 2h, first: 1d}",
    "reliability.migration.no_spare={probability: 0.1}",
    "reliability.node=60h",
)


def test_a_scenario_switches_everything_on_and_counts_it() -> None:
    prepared = prepare(load_text(SMALL, EVERYTHING))
    result = replicate(prepared, 0, 0)
    kinds = Counter(failure.kind for failure in result.log.failures)
    assert {"node", "site", "switch", "maintenance"} <= set(kinds)
    assert result.metrics["failures"] == sum(n for kind, n in kinds.items() if kind != "maintenance")
    # two machines, from 1 d and 1 d 2 h on, every 5 d up to 30 d: twelve turns of 2 h if none was down
    assert kinds["maintenance"] <= 12
    assert result.metrics["maintenance_gpu_h"] == pytest.approx(2 * kinds["maintenance"])
    assert result.log == replicate(prepared, 0, 0).log


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("reliability.migration={no_spare: {probability: 0.1}, spares: {count: 1}}", "not both"),
        ("reliability.lemons=some", "preset, or a mapping"),
        ("reliability.silent_corruption=often", "or preset"),
        ("reliability.shape=0", "at least 0.3"),
        ("reliability.switch={every: 0s}", "above 0"),
        ("reliability.maintenance={every: 0s}", "above 0"),
        ("reliability.snapshots={per_day: 0}", "at least 1"),
        ("reliability.bad_results.found=2", "at most 1"),
    ],
)
def test_wrong_values_are_refused(change: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_text(SMALL, (change,))
