"""The catalogue: prices as the articles give them, every entry with a source, errors with a place."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path

import pytest

from sim.catalog import failure_model, load_catalog, load_offers, mean_times
from sim.errors import InputError
from sim.model.scenario import Migration, Reliability
from sim.units import HOUR, MINUTE, SECOND

MONTHLY = {
    "a100-40g-custom": (2800, 2800),
    "a100-40g-cloud": (2500, 2500),
    "rtx3090-24g-cloud": (1750, 1750),
    "v100s-32g-cloud": (1500, 1500),
    "t4-16g-cloud": (900, 900),
    "rtx2080ti-11g-cloud": (850, 850),
    "a100-40g-8x": (25000, 35000),
    "a100-80g-8x": (25000, 40000),
    "h100-80g-8x": (80000, 120000),
}
OTHERS = {
    "h100-mig": ("hour", "16.67", 25),
    "a100-public-hourly": ("hour", 20, 40),
    "own-8x-a100": ("year", 306000, 499800),
}


def test_prices_are_those_of_the_articles() -> None:
    offers = load_catalog().offers
    assert set(offers) == {*MONTHLY, *OTHERS}
    for name, (low, high) in MONTHLY.items():
        price = offers[name].price
        assert (price.unit, price.low, price.high) == ("month", low, high), name
    for name, (unit, least, most) in OTHERS.items():
        price = offers[name].price
        assert (price.unit, price.low, price.high) == (unit, Decimal(least), Decimal(most)), name


def test_discounts_are_those_of_the_articles_and_guesses_say_so() -> None:
    offers = load_catalog().offers
    for name in MONTHLY:
        plans = offers[name].plans
        annual = Decimal("0.85") if offers[name].form == "machine" else Decimal("0.8")
        assert plans["annual"].multiplier == annual
        assert plans["quarterly"].multiplier == Decimal("0.95")
    assert not offers["a100-40g-custom"].plans["annual"].assumed
    assert offers["v100s-32g-cloud"].plans["annual"].assumed
    assert set(offers["h100-mig"].plans) == {"hourly"}
    assert set(offers["own-8x-a100"].plans) == {"annual"}
    assert offers["own-8x-a100"].plans["annual"].multiplier == 1
    options = offers["a100-40g-custom"].options
    assert {name: option.per_month for name, option in options.items()} == {
        "cpu16": 400,
        "ram128": 600,
        "disk1t": 300,
    }


def test_every_entry_says_where_it_comes_from() -> None:
    catalog = load_catalog()
    for item in (*catalog.gpus.values(), *catalog.models.values(), *catalog.mig_profiles):
        assert item.source
    for offer in catalog.offers.values():
        assert "article" in offer.source
        assert offer.currency == "CNY"
        assert offer.assumptions
        assert offer.gpu in catalog.gpus
    for profile in catalog.reliability.values():
        assert all(mtbf.source for kinds in profile.classes.values() for mtbf in kinds.values())


def test_the_models_and_cards_asked_for_are_there() -> None:
    catalog = load_catalog()
    sizes = {
        "qwen-7b": 7.7e9,
        "llama-2-70b": 69e9,
        "yi-34b": 34.4e9,
        "glm-130b": 129e9,
        "llama-3.1-405b": 406e9,
    }
    for name, size in sizes.items():
        assert catalog.models[name].params == pytest.approx(size, rel=0.01)
    assert all(model.params_linear < model.params for model in catalog.models.values())
    assert all(gpu.usable_gib < gpu.memory_gib for gpu in catalog.gpus.values())
    assert catalog.gpus["H100-80G"].tflops == 989.4


def test_a_parameter_count_follows_from_the_dimensions() -> None:
    for model in load_catalog().models.values():
        queries, keys = model.heads * model.head_dim, model.kv_heads * model.head_dim
        attention = 2 * model.hidden * queries + 2 * model.hidden * keys
        layer = attention + model.ffn_matrices * model.hidden * model.intermediate
        assert model.params_linear == pytest.approx(model.layers * layer, rel=0.005), model.id


def test_the_catalogue_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(load_catalog())) == load_catalog()


OFFER = """\
offers:
  - id: mine
    name: My card
    provider: me
    gpu: T4
    gpus_per_unit: 1
    form: node
    wan_mbps: 100
    disk_read_gb_s: 1
    link: none
    network: 10gbe
    price: {unit: month, low: 500, high: 600}
    plans: {monthly: {multiplier: 1}}
    currency: CNY
    status: official
    source: a letter
    date: 2026-03-01
"""


def test_a_users_price_list_is_added(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(OFFER, encoding="utf-8")
    (offer,) = load_offers(path)
    assert (offer.id, offer.price.low, offer.date.year) == ("mine", 500, 2026)
    offers = load_catalog(path).offers
    assert offers["mine"] == offer
    assert "a100-40g-custom" in offers
    assert "mine" not in load_catalog().offers


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("low: 500", "low: 0", 12, "greater than 0"),
        ("low: 500", "low: 700", 12, "price high may not be below"),
        ("    source: a letter\n", "", 2, "source"),
        ("    date: 2026-03-01\n", "", 2, "date"),
        ("    currency: CNY\n", "", 2, "currency"),
        ("unit: month, ", "", 12, "unit"),
        ("gpu: T4", "gpu: H100-80", 5, "did you mean 'H100-80G'"),
        ("form: node", "forms: node", 7, "did you mean 'form'"),
        ("    form: node\n", "    form: node\n    form: cloud\n", 8, "duplicate"),
        ("offers:", "ofers:", 1, "did you mean 'offers'"),
        ("plans: {", "plans: [{", 14, "not valid YAML"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(OFFER.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        load_catalog(path)
    assert caught.value.problems[0].line == line
    assert "mine.yaml" in str(caught.value)


def test_a_price_list_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        load_catalog(tmp_path / "none.yaml")


def interruption_h(profile: str) -> float:
    """GPU-hours between interruptions of an eight-card A100 machine, all causes."""
    catalog = load_catalog()
    times = mean_times(Reliability(profile=profile), catalog.gpus["A100-40G"], catalog)
    rates = {kind: HOUR / time for kind, time in times.items()}
    return 1 / (rates["gpu_fatal"] + rates["gpu_reset"] + (rates["node"] + rates["network"]) / 8)


def test_profiles_meet_the_published_interruptions() -> None:
    assert interruption_h("datacentre") == pytest.approx(8760, rel=0.001)
    assert interruption_h("optimistic") == pytest.approx(24400, rel=0.005)
    assert interruption_h("consumer") == pytest.approx(3500, rel=0.01)
    assert interruption_h("used") < interruption_h("datacentre")


def test_the_failure_model_takes_the_scenarios_numbers_first() -> None:
    catalog = load_catalog()
    gpu = catalog.offers["a100-40g-custom"]
    reliability = Reliability.model_validate({"node": "100h", "migration": {"within": "10min", "kept": 0.8}})
    model = failure_model(reliability, gpu, catalog, "kept")
    assert model is not None
    assert model.mtbf_us["node"] == 100 * HOUR
    assert model.mtbf_us["gpu_fatal"] == 100_000 * HOUR
    assert model.detect_us == (5 * SECOND, 60 * SECOND)
    assert model.migration_us == (3 * MINUTE, 10 * MINUTE)
    assert model.migration_kept == 0.8
    assert (model.reset.median_us, model.migration_late.cap_us) == (8 * MINUTE, 48 * HOUR)
    assert model.disk_kept


def test_a_short_promise_is_kept_to_the_letter() -> None:
    catalog = load_catalog()
    reliability = Reliability(migration=Migration.model_validate({"within": "1min"}))
    model = failure_model(reliability, catalog.offers["t4-16g-cloud"], catalog, "lost")
    assert model is not None
    assert model.migration_us == (MINUTE, MINUTE)
    assert not model.disk_kept


def test_profile_none_never_fails_unless_told_to() -> None:
    catalog = load_catalog()
    gpu = catalog.offers["t4-16g-cloud"]
    assert failure_model(Reliability(profile="none"), gpu, catalog, "lost") is None
    own = failure_model(Reliability.model_validate({"profile": "none", "node": "50h"}), gpu, catalog, "lost")
    assert own is not None
    assert own.mtbf_us == {"node": 50 * HOUR}
    event = {"profile": "none", "events": [{"at": "1h", "offer": "t4-16g-cloud"}]}
    forced = failure_model(Reliability.model_validate(event), gpu, catalog, "lost")
    assert forced is not None
    assert forced.mtbf_us == {}


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    catalog = load_catalog()
    with pytest.raises(InputError, match="did you mean 'datacentre'"):
        failure_model(Reliability(profile="datacenter"), catalog.offers["t4-16g-cloud"], catalog, "lost")
