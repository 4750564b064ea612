"""The table of rates: recorded jobs by pencil, classes with all their times, and what is refused."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sim.catalog import load_catalog
from sim.errors import InputError
from sim.model.job import JobShape
from sim.model.rates import Misfit, RateTable
from sim.model.scenario import JobClass, Scenario
from sim.physics import fit_job, rate_table
from sim.physics.constants import load_constants
from sim.physics.split import ZERO3, Layout
from sim.physics.startup import side_times
from sim.physics.task import task_of
from sim.units import MINUTE, SECOND
from tests.physics_cases import job, parts, task

CATALOG = load_catalog()


def scenario(
    classes: Sequence[JobClass] = (), performance: str = "measured", restart: str = "2min"
) -> Scenario:
    return Scenario.model_validate(
        {
            "name": "rates",
            "start": "2026-01-01",
            "horizon": "30d",
            "performance": performance,
            "workload": {
                "classes": [entry.model_dump(mode="json") for entry in classes],
                "trace": {"file": "jobs.csv", "restart": restart},
            },
            "strategies": [{"name": "one", "leases": [{"offer": "t4-16g-cloud", "plan": "monthly"}]}],
        }
    )


def table(*shapes: JobShape | JobClass, offers: Sequence[str], **changes: Any) -> RateTable:
    classes = [shape for shape in shapes if isinstance(shape, JobClass)]
    rows = [
        JobShape(shape.name, shape.name, shape.counts, spans=shape.spans)
        if isinstance(shape, JobClass)
        else shape
        for shape in shapes
    ]
    return rate_table(scenario(classes, **changes), rows, [CATALOG.offers[name] for name in offers], CATALOG)


def test_a_recorded_job_runs_as_long_as_it_did() -> None:
    rates = table(JobShape("t", None, (1,)), offers=["a100-40g-custom"], restart="5min")
    (option,) = rates.options[0, "a100-40g-custom"]
    assert (option.us_per_work, option.startup_us, option.checkpoint_us, option.stage_us) == (1.0, 0, 0, 0)
    assert (option.restart_us, option.split, option.support) == (5 * MINUTE, "recorded", "recorded")
    assert any("any card" in note for note in rates.notes)


def test_where_the_cards_of_a_recorded_job_may_stand() -> None:
    names = ["a100-40g-custom", "a100-40g-8x", "h100-mig"]
    rates = table(JobShape("t", None, (2,)), JobShape("s", None, (2,), spans=False), offers=names)

    def places(shape: int, offer: str) -> list[tuple[int, bool]]:
        return [(option.gpus, option.spans) for option in rates.options[shape, offer]]

    assert places(0, "a100-40g-custom") == [(2, True)]
    assert places(0, "a100-40g-8x") == [(2, False), (2, True)]
    assert places(1, "a100-40g-8x") == [(2, False)]
    assert (1, "a100-40g-custom") in rates.misfits
    assert (0, "h100-mig") in rates.misfits
    assert not rates.options.keys() & rates.misfits.keys()


def test_a_recorded_job_asks_for_memory_and_for_a_card() -> None:
    rates = table(
        JobShape("big", None, (1,), memory_gib=40),
        JobShape("own", None, (1,), gpu="A100-40G"),
        offers=["a100-40g-custom", "rtx3090-24g-cloud"],
    )
    assert (0, "a100-40g-custom") in rates.options
    small = rates.misfits[0, "rtx3090-24g-cloud"]
    assert (small.needs_gib, small.has_gib, small.shortfall_gib) == (40, 24, 16)
    assert "A100-40G" in rates.misfits[1, "rtx3090-24g-cloud"].reason


def test_recorded_times_are_scaled_between_cards() -> None:
    shape = JobShape("t", None, (1,), runtime_gpu="A100-40G")
    rates = table(shape, offers=["a100-40g-custom", "rtx3090-24g-cloud", "h100-mig"])
    (same,) = rates.options[0, "a100-40g-custom"]
    (slow,) = rates.options[0, "rtx3090-24g-cloud"]
    (fast,) = rates.options[0, "h100-mig"]
    assert (same.us_per_work, same.support) == (1.0, "recorded")
    assert slow.us_per_work == pytest.approx(3151 / 1190, rel=0.2)
    assert 0.4 < fast.us_per_work < 0.6
    assert slow.support == "extrapolated"


def test_an_unknown_runtime_card_is_refused() -> None:
    shape = JobShape("t", None, (1,), runtime_gpu="A100-40")
    with pytest.raises(InputError, match="did you mean 'A100-40G'"):
        table(shape, offers=["a100-40g-custom"])


def test_the_times_around_a_class_by_pencil() -> None:
    rates = table(job("llama-2-7b", rank=16, gpus=1), offers=["a100-40g-custom"])
    (option,) = rates.options[0, "a100-40g-custom"]
    base = 2 * 6_738_149_376
    assert option.startup_us == pytest.approx((115 + base / 0.5e9) * SECOND, abs=1)
    assert option.restart_us == option.startup_us
    assert option.stage_us == pytest.approx(base / 12.5e6 * SECOND, abs=1)
    assert option.checkpoint_us == pytest.approx((1 + 10 * 39_976_960 / 0.5e9) * SECOND, abs=1)
    assert option.stage_key == "llama-2-7b"
    # One GPU and 7B: one to three minutes in all.
    assert MINUTE < option.startup_us < 3 * MINUTE


def test_a_full_checkpoint_is_fourteen_bytes_a_parameter() -> None:
    offer = CATALOG.offers["a100-40g-custom"]
    times = side_times(task("qwen-7b", "full"), offer, load_constants().startup)
    assert times.checkpoint_us == pytest.approx((1 + 14 * 7_720_665_088 / 0.5e9) * SECOND, abs=1)


def test_work_is_samples_and_speed_is_useful_tokens() -> None:
    rates = table(job("llama-2-7b", gpus=(1, 2), micro_batch=2), offers=["a100-40g-custom"])
    for option in rates.options[0, "a100-40g-custom"]:
        assert option.tokens_per_s is not None
        assert option.us_per_work == pytest.approx(2048 / option.tokens_per_s * SECOND)


def test_options_are_sorted_and_automatic_counts_are_tried() -> None:
    rates = table(job("llama-2-70b", split="zero"), offers=["a100-80g-8x"])
    options = rates.options[0, "a100-80g-8x"]
    places = [(option.gpus, option.spans) for option in options]
    assert places == sorted(places)
    # 128.5 GiB of weights: two cards of 79.2 GiB hold them, but not what ZeRO-3 gathers besides.
    assert places[0] == (4, False)
    assert options[0].split == "zero-3"
    assert {count for count, _ in places} == {4, 8, 16, 32}


def test_the_split_is_the_fastest_that_fits() -> None:
    rates = table(job("llama-2-70b", gpus=4), offers=["a100-80g-8x", "a100-40g-custom"])
    together, apart = rates.options[0, "a100-80g-8x"]
    assert (together.spans, apart.spans) == (False, True)
    # Within a machine links are fast; between machines a pipeline sends least.
    assert "tensor 2" in together.split
    assert "pipeline" in apart.split
    (small,) = rates.options[0, "a100-40g-custom"]
    # On 40 GB only every matrix cut in four leaves the reserve free, however slow the network.
    assert small.split == "tensor 4"
    assert together.tokens_per_s is not None
    assert apart.tokens_per_s is not None
    assert together.tokens_per_s > apart.tokens_per_s


def test_two_cards_are_faster_where_the_link_allows() -> None:
    rates = table(job("llama-2-7b", gpus=(1, 2), micro_batch=4), offers=["a100-40g-8x"])
    one, two, apart = rates.options[0, "a100-40g-8x"]
    assert (one.split, two.split) == ("one card", "data parallel")
    assert one.tokens_per_s is not None
    assert two.tokens_per_s is not None
    assert apart.tokens_per_s is not None
    assert 1.8 < two.tokens_per_s / one.tokens_per_s <= 2
    assert apart.tokens_per_s < two.tokens_per_s


def test_a_misfit_names_the_smallest_need() -> None:
    asked = job("llama-2-70b", gpus=(1, 4), split="zero or data")
    misfit = table(asked, offers=["a100-40g-custom"]).misfits[0, "a100-40g-custom"]
    least = parts("llama-2-70b", split=ZERO3(4), gpu="A100-40G", layout=Layout(4, 1, "none", "10gbe"))
    assert misfit.needs_gib == pytest.approx(least.total_gib)
    assert misfit.has_gib == 39.4
    assert "4 cards, zero-3" in misfit.reason


def test_a_count_that_can_stand_nowhere_is_a_misfit() -> None:
    rates = table(job(gpus=2), job(name="bound", gpus=16, spans=False), offers=["h100-mig", "a100-40g-8x"])
    assert rates.misfits[0, "h100-mig"].shortfall_gib is None
    assert "may not span" in rates.misfits[1, "a100-40g-8x"].reason


def test_whole_machines_talk_twice_and_scattered_cards_by_the_network_alone() -> None:
    offer = CATALOG.offers["a100-40g-8x"]
    assert Layout.on(offer, 16, spans=True) == Layout(2, 8, "nvlink", "10gbe")
    assert Layout.on(offer, 12, spans=True) == Layout(12, 1, "none", "10gbe")
    assert Layout.on(offer, 8, spans=False) == Layout(1, 8, "nvlink", "10gbe")
    assert Layout.on(offer, 9, spans=False) is None
    assert Layout.on(offer, 1, spans=True) is None
    assert Layout.on(CATALOG.offers["a100-public-hourly"], 2, spans=True) is None
    assert Layout.on(offer.model_copy(update={"network": "none"}), 16, spans=True) is None
    assert Layout.on(offer.model_copy(update={"link": "none"}), 2, spans=False) is None
    assert Layout.on(offer.model_copy(update={"link": "none"}), 1, spans=False) is not None


def test_every_pair_is_answered_once_and_soon() -> None:
    classes = [job(model, name=model, mean_tokens=200, micro_batch=4) for model in list(CATALOG.models)[:10]]
    traces = [JobShape(f"t{n}", None, (1 + n % 8,), runtime_gpu="A100-40G") for n in range(200)]
    begin = time.perf_counter()
    rates = table(*classes, *traces, offers=list(CATALOG.offers))
    assert time.perf_counter() - begin < 5
    assert len(rates.options) + len(rates.misfits) == 210 * len(CATALOG.offers)
    assert pickle.loads(pickle.dumps(rates)) == rates


def test_a_calibration_file_changes_the_numbers(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "speed: {efficiency: {value: 0.4, source: mine}}\nmemory: {context_gib: 2.6}\n",
        encoding="utf-8",
    )
    offers = [CATALOG.offers["a100-40g-custom"]]
    large = job(gpus=1, micro_batch=8)
    usual, own = fit_job(large, offers)[0], fit_job(large, offers, performance=str(path))[0]
    shipped = load_constants()
    more = 2.6 - shipped.memory.context_gib
    assert more > 1
    assert own.total_gib == pytest.approx((usual.total_gib or 0) + more)
    assert usual.hours is not None
    assert own.hours is not None
    assert 1.4 < own.hours / usual.hours < shipped.speed.efficiency / 0.4
    assert (own.support, own.memory_support) == (usual.support, usual.memory_support)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("speed: {eficiency: 1}\n", 1, "unknown key"),
        ("speeds: {}\n", 1, "did you mean 'speed'"),
        ("memory: {}\nspeed: {efficiency: 2}\n", 2, "less than or equal to 1"),
        ("memory: {stacks: {mine: {state: 1.0, working: 1.0}}}\n", 1, "fixed_gib"),
    ],
)
def test_a_wrong_calibration_file_is_refused(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        fit_job(job(gpus=1), [CATALOG.offers["a100-40g-custom"]], performance=str(path))
    assert caught.value.problems[0].line == line


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="did you mean 'measured'"):
        table(job(gpus=1), offers=["t4-16g-cloud"], performance="mesured")


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="did you mean 'qwen-7b'"):
        task_of(job("qwen-7bb"), CATALOG)


def test_fit_answers_for_each_count_of_a_list_and_the_smallest_of_auto() -> None:
    offers = [CATALOG.offers["a100-80g-8x"], CATALOG.offers["h100-mig"]]
    listed = fit_job(job("llama-2-70b", gpus=(1, 4), spans=False), offers)
    assert [(row.offer, row.gpus, row.fits) for row in listed] == [
        ("a100-80g-8x", 1, False),
        ("a100-80g-8x", 4, True),
        ("h100-mig", 1, False),
    ]
    automatic = fit_job(job("llama-2-70b", split="zero"), offers)
    assert [(row.gpus, row.fits) for row in automatic] == [(4, True), (1, False)]
    # Cut in halves it needs no more than two: 64 GiB of weights each.
    assert [row.gpus for row in fit_job(job("llama-2-70b"), offers)] == [2, 1]
    found = automatic[0]
    assert found.parts is not None
    assert found.total_gib == pytest.approx(found.parts.total_gib)
    assert found.margin_gib == pytest.approx((found.usable_gib or 0) - (found.total_gib or 0))
    assert found.hours == pytest.approx(300_000 * 2048 / (found.tokens_per_s or 0) / 3600)
    assert isinstance(rate_table(scenario(), [], offers, CATALOG), RateTable)
    assert not isinstance(listed[0].reason, Misfit)


def test_support_is_said_for_each_class_and_offer() -> None:
    rates = table(
        job("qwen-14b", rank=64, name="close"),
        job("llama-2-7b", name="far"),
        offers=["t4-16g-cloud", "a100-80g-8x"],
    )
    said = " ".join(note for note in rates.notes if note.startswith(("Speed", "Memory")))
    assert "Speed as measured in published runs of the same kind: a100-80g-8x: close" in said
    assert "Speed extrapolated, no published run is near: t4-16g-cloud: close, far" in said
    (option, *_) = rates.options[0, "a100-80g-8x"]
    assert (option.support, option.memory_support) == ("measured", "measured")


def test_a_plan_does_not_rest_on_the_last_gib_of_an_extrapolated_figure() -> None:
    # 34B in 16 bits cut over two 40 GB cards: 64 GiB of weights, 32 a card, and no published run of its kind.
    rates = table(job("yi-34b", micro_batch=4, gpus=(2, 4)), offers=["a100-40g-8x"])
    ways = rates.options[0, "a100-40g-8x"]
    assert all(way.memory_gib is not None and way.memory_gib <= 39.4 * 0.97 for way in ways)
    assert {way.memory_support for way in ways if "tensor" in way.split} <= {"extrapolated"}
