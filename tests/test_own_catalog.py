"""A price list of one's own: named by a scenario or a command, kept with the run, wrong entries located."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.experiments.compare import compare
from sim.experiments.rebill import rebill
from sim.experiments.store import save
from sim.experiments.stored import open_run
from sim.load import load, load_text
from tests.conftest import TWO_JOBS

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "scenarios" / "prices" / "two-sellers.yaml"
OWN = TWO_JOBS.replace("timezone: UTC", "timezone: UTC\ncatalog: prices/own.yaml").replace(
    "offer: a100-40g-custom, count: 1", "offer: north-a100, count: 1"
)


@pytest.fixture
def own(two_jobs: Path) -> Path:
    """The question of two jobs, one strategy of it at an offer of one's own."""
    (two_jobs.parent / "prices").mkdir()
    (two_jobs.parent / "prices" / "own.yaml").write_text(EXAMPLE.read_text())
    two_jobs.write_text(OWN)
    return two_jobs


@pytest.mark.usefixtures("no_charts")
def test_a_scenario_pays_the_prices_of_its_own_list(own, fleetsim, tmp_path):
    done = fleetsim("compare", own, "--out", tmp_path / "out", "--format", "json")
    assert done.code == 0
    strategies = json.loads(done.out)["strategies"]
    # By hand: 2,600 x 12 x 0.78 and 2 x 2,800, the latter as shipped.
    paid = [one["metrics"]["committed_cost_cny"]["mean"] for one in strategies]
    assert paid == pytest.approx([24_336, 5_600])


def test_the_run_keeps_the_list_and_opens_without_the_first_one(own, fleetsim, tmp_path):
    comparison = compare(load(own))
    folder = save(comparison, tmp_path / "out")
    (own.parent / "prices" / "own.yaml").unlink()
    assert (folder / "catalog.yaml").read_text() == EXAMPLE.read_text()
    stored = open_run(folder)
    assert stored.question.catalog.offers["north-a100"].provider == "North"
    # A new price of the lease bills the stored run anew, and the list goes along.
    again = rebill(stored, ["strategies.0.leases.0.price=2500"])
    assert again.comparison.strategies[0].metrics["committed_cost_cny"].mean == pytest.approx(
        2500 * 12 * 0.78
    )
    assert (
        fleetsim(
            "rebill", folder, "--set", "strategies.0.leases.0.price=2500", "--out", tmp_path / "out"
        ).code
        == 0
    )
    folders = [path.parent for path in (tmp_path / "out").glob("*/*/catalog.yaml")]
    assert len(folders) == 2


def test_another_price_is_another_run_but_no_new_simulation(own, tmp_path):
    first = save(compare(load(own)), tmp_path / "out")
    list_ = own.parent / "prices" / "own.yaml"
    list_.write_text(list_.read_text().replace("low: 2600, high: 2600", "low: 3000, high: 3000"))
    second = save(compare(load(own)), tmp_path / "out")
    assert first != second
    assert (first / "jobs.csv").read_bytes() == (second / "jobs.csv").read_bytes()


def test_a_shipped_offer_can_be_replaced(own):
    list_ = own.parent / "prices" / "own.yaml"
    list_.write_text(list_.read_text().replace("id: north-a100", "id: a100-40g-custom"))
    own.write_text(TWO_JOBS.replace("timezone: UTC", "timezone: UTC\ncatalog: prices/own.yaml"))
    assert load(own).catalog.offers["a100-40g-custom"].price.low == 2600


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("prices/own.yaml", "prices/absent.yaml"), ("two.yaml:", "catalog", "no such file", "own.yaml")),
        (("prices/own.yaml", "[1]"), ("two.yaml:", "catalog")),
        (("north-a100, count", "north-a101, count"), ("unknown offer", "north-a100")),
    ],
)
def test_a_wrong_name_is_told_with_the_known_ones(own, fleetsim, change, words):
    own.write_text(OWN.replace(*change))
    done = fleetsim("validate", own)
    assert done.code == 2
    assert all(word in done.err for word in words), done.err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("low: 2600, high: 2600", "low: 0, high: 0", ("own.yaml:", "price")),
        ("gpu: A100-40G ", "gpu: A100-41G ", ("own.yaml:", "A100-41G", "not in the catalogue")),
        ("    source: quote no. 12 of seller North (example)\n", "", ("own.yaml:", "source")),
        ("currency: CNY", "currency: YUAN", ("own.yaml:23", "ISO 4217", "did you mean CNY?", "'YUAN'")),
        ("currency: CNY", "currency: RMB", ("offers.0.currency", "did you mean CNY?")),
        ("currency: CNY", "currency: usd", ("did you mean USD?",)),
        ("currency: CNY", "currency: HK$", ("did you mean HKD?",)),
        ("currency: CNY", "currency: bottle caps", ("such as CNY, USD or EUR (found",)),
        ("offers:", "ofers:", ("own.yaml:", "ofers", "offers")),
        ("offers:", "offers: [", ("own.yaml",)),
    ],
)
def test_a_mistake_in_the_list_is_located(own, fleetsim, old, new, words):
    list_ = own.parent / "prices" / "own.yaml"
    assert old in list_.read_text()
    list_.write_text(list_.read_text().replace(old, new))
    done = fleetsim("validate", own)
    assert done.code == 2
    assert all(word in done.err for word in words), done.err


def test_an_extending_scenario_elsewhere_finds_the_list(own):
    below = own.parent / "deep"
    below.mkdir()
    (below / "child.yaml").write_text("extends: ../two.yaml\nname: child\n")
    assert "north-a100" in load(below / "child.yaml").catalog.offers


def test_a_text_without_a_folder_cannot_name_one():
    with pytest.raises(InputError, match="needs a scenario in a file"):
        load_text(OWN)


def test_commands_take_a_list_too(fleetsim):
    quote = ["quote", "--offer", "north-a100", "--plan", "annual", "--count", 3, "--start", "2026-01-01"]
    done = fleetsim(*quote, "--months", 12, "--catalog", EXAMPLE, "--format", "json")
    assert float(json.loads(done.out)["cash_cny"]) == 73_008  # 3 x 2,600 x 12 x 0.78
    assert "North" in fleetsim("catalog", "--catalog", EXAMPLE, "--find", "seller North").out
    fits = json.loads(fleetsim("fit", "--model", "llama-2-7b", "--catalog", EXAMPLE, "--format", "json").out)
    assert {"north-a100", "south-a100"} <= {row["offer"] for row in fits["offers"]}
    assert fleetsim("breakeven", "--offer", "north-a100", "--catalog", EXAMPLE).code == 0
    both = fleetsim("fit", "--scenario", ROOT / "scenarios" / "four-to-eight.yaml", "--catalog", EXAMPLE)
    assert both.code == 2
    assert "names its price list itself" in both.err


def test_a_price_a_year_and_a_price_an_hour_as_the_page_writes_them(fleetsim, tmp_path):
    page = (ROOT / "docs" / "price-lists.md").read_text()
    text = page.partition("<!-- a price a year, a price an hour -->\n```yaml\n")[2].partition("```")[0]
    own = tmp_path / "own.yaml"
    own.write_text(text)
    asked = ("quote", "--catalog", own, "--offer", "rhine-a100", "--count", 4, "--start", "2026-01-01")
    done = fleetsim(*asked, "--plan", "annual", "--months", 12)
    assert done.code == 0, done.err
    told = " ".join(done.out.split())
    assert "1,180.00 list x 5/6 annual = 47,200.00" in told  # 4 x 11,800; 11,800 / (12 x 1,180) = 5/6
    assert "annual plan at 11,800.00 EUR a year and unit (as the source states)." in told
    assert "of the list price" not in told
    listed = fleetsim("catalog", "offers", "--catalog", own, "--format", "text")
    assert "annual: 11,800.00 EUR a year" in " ".join(listed.out.split())
    done = fleetsim(*asked, "--plan", "hourly", "--months", 1, "--format", "json")
    assert json.loads(done.out)["cash_eur"] == 6_249.60  # 4 x 31 x 24 x 2.10
    # Another list price moves the year alike: 12 x 1,200 x 5/6.
    done = fleetsim(*asked, "--plan", "annual", "--months", 12, "--list-price", 1200, "--format", "json")
    assert json.loads(done.out)["cash_eur"] == 48_000
    # The price as stated is then not what is paid.
    assert "annual plan at 5/6 of the list price" in json.loads(done.out)["assumptions"].__repr__()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("annual: {multiplier: 0.78}", "annual: {price: 40000}", "at the list price, 31,200"),
        ("annual: {multiplier: 0.78}", "annual: {price: 9000, multiplier: 0.78}", "a plan has a factor"),
        ("annual: {multiplier: 0.78}", "annual: {}", "a plan has a factor"),
        ("hourly: {multiplier: 1,", "hourly: {price: 9,", "the offer's own price"),
        (
            "high: 2600}\n    plans:\n",
            "high: 2700}\n    plans:\n      6-months: {price: 9000}\n",
            "low and high",
        ),
    ],
)
def test_prices_of_plans_that_cannot_be(own, fleetsim, old, new, said):
    list_ = own.parent / "prices" / "own.yaml"
    text = EXAMPLE.read_text()
    text = text.replace(
        "    plans:                     # what is paid of the list price, by the term\n", "    plans:\n"
    )
    assert old in text
    list_.write_text(text.replace(old, new))
    done = fleetsim("validate", own)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
