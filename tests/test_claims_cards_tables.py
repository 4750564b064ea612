"""The tables of cards that the articles announce: what stands in them, by the rules of the physics."""

from __future__ import annotations

import pandas as pd
import pytest

from sim.claims.bench import Bench
from sim.claims.tables_cards import fleets_for_tasks, hours_by_card, memory_by_model, one_against_eight


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


def test_memory_by_model(bench: Bench) -> None:
    table = memory_by_model(bench).set_index(["model", "method", "batch"])
    assert len(table) == 18
    seven = table.loc[("7B", "lora", 1)]
    assert seven["weights_low_gib"] == pytest.approx(6738149376 * 2 / 2**30)
    assert (table["peak_low_gib"] > table["weights_low_gib"]).all()
    assert (table["peak_high_gib"] >= table["peak_low_gib"]).all()
    assert table.loc[("70B", "qlora4", 1), "cards_A100-80G"] == 1  # Qwen-72B ran on one
    assert table.loc[("70B", "lora", 1), "cards_A100-80G"] == 2  # 138 GB of weights
    assert pd.isna(table.loc[("70B", "full", 1), "cards_A100-80G"])  # 69e9 x 8 bytes and more: 8 x 79 GiB
    lasting = table["cards_A100-80G"].dropna() <= table["cards_A100-40G"].reindex(
        table["cards_A100-80G"].dropna().index
    ).fillna(99)
    assert lasting.all()  # more memory never takes more cards


def test_hours_by_card(bench: Bench) -> None:
    table = hours_by_card(bench).set_index(["model", "offer"])
    custom, cloud = table.loc[("7B", "a100-40g-custom")], table.loc[("7B", "a100-40g-cloud")]
    assert custom["full_low_h"] == pytest.approx(cloud["full_low_h"])  # the same card
    assert custom["short_low_cny"] == pytest.approx(2800 * custom["short_low_h"] / 720)
    assert cloud["short_low_cny"] == pytest.approx(custom["short_low_cny"] * 2500 / 2800)
    # packed samples of 200 tokens are 200/2048 of the work, less what the cut at 2048 takes away
    assert custom["short_low_h"] == pytest.approx(custom["full_low_h"] * 200 / 2048, rel=0.01)
    assert table.loc[("70B", "h100-mig"), "method"] == "qlora4"
    assert pd.isna(table.loc[("70B", "a100-40g-custom"), "full_low_h"])
    assert table.loc[("7B", "h100-mig"), "full_low_h"] < custom["full_low_h"]


def test_one_against_eight(bench: Bench) -> None:
    table = one_against_eight(bench).set_index("cards")
    one, machine = table.loc["one card"], table.loc["eight-card machine"]
    nodes, uneven = table.loc["eight single cards"], table.iloc[3]
    assert 7.9 < machine["speedup"] < 8
    assert uneven["speedup"] < machine["speedup"]
    assert 1 < nodes["speedup"] < machine["speedup"]
    assert one["month_low_cny"] == 2800
    assert nodes["month_low_cny"] == 8 * 2800
    assert (machine["month_low_cny"], machine["month_high_cny"]) == (25000, 35000)
    assert one["round_low_cny"] == pytest.approx(2800 * one["round_h"] / 720)
    assert machine["round_low_cny"] == pytest.approx(25000 / 720 * one["round_h"] / machine["speedup"])
    assert one["at_10_low_cny"] == 280


def test_fleets_for_tasks(bench: Bench) -> None:
    table = fleets_for_tasks(bench).set_index(["offer", "units"])
    four, machine = table.loc[("a100-40g-custom", 4)], table.loc[("a100-80g-8x", 1)]
    assert four["jobs_7B"] == 4
    assert four["jobs_70B"] == 0  # ZeRO-3 over 10GbE does not fit 40 GB cards
    assert machine["jobs_7B"] == 8
    assert machine["jobs_70B"] >= 2
    assert table.loc[("a100-40g-custom", 1), "jobs_70B_4bit"] == 0
    assert four["month_low_cny"] == 11200
