"""Predictions against the published runs that the program carries: seen, not seen, and fit or not."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from datetime import date
from importlib import resources

import numpy as np
import pytest

from sim.physics import support
from sim.physics.cases import Flags, Floats
from sim.physics.constants import load_constants
from sim.physics.cross_validation import LeftOut, held_out
from sim.physics.memory import card_memory
from sim.physics.shipped import (
    ShippedFit,
    fit_shipped,
    fitted_yaml,
    memory_ratio,
    memory_rows,
    speed_ratio,
    speed_rows,
)
from sim.physics.split import DATA_PARALLEL, ZERO3
from sim.physics.table import Measurements, measurements
from tests.physics_cases import case, columns, row


@functools.cache
def shipped() -> ShippedFit:
    return fit_shipped()


@functools.cache
def left_out(kind: str) -> LeftOut:
    return held_out(kind)


def off(ratios: Floats) -> tuple[float, float]:
    """Median and 90th percentile of the error."""
    errors = np.abs(ratios - 1)
    return float(np.median(errors)), float(np.quantile(errors, 0.9))


def within(ratios: Floats, median: float, p90: float) -> None:
    found = off(ratios)
    assert found <= (median, 1) and found[1] <= p90, (  # noqa: PT018 - one message with both
        f"{len(ratios)} rows: median {found[0]:.1%} (at most {median:.0%}), "
        f"90th percentile {found[1]:.1%} (at most {p90:.0%})"
    )


def on_large_cards(table: Measurements) -> Flags:
    return np.array([gpu.startswith(("A100", "H100")) for gpu in table.cases.gpu])


def leaves(tree: Mapping[str, object], path: str = "") -> Iterator[tuple[str, float]]:
    for key, value in tree.items():
        name = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            yield from leaves(value, name)
        elif isinstance(value, float):
            yield name, value


def test_the_carried_table_is_the_published_one() -> None:
    table = measurements()
    assert len(table.rows) >= 270
    assert len(memory_rows().rows) >= 130
    assert len(speed_rows().rows) >= 140
    assert all(table.column("source"))
    # Every row that counts could be read.
    lost = {position for position, _ in table.unread_rows}
    assert all(reason for _, reason in table.unread_rows)
    assert len(table.rows) + len(lost) == 324


def test_memory_of_rows_that_the_fit_has_seen() -> None:
    within(memory_ratio(memory_rows(), load_constants().memory), 0.10, 0.26)


def test_speed_of_rows_that_the_fit_has_seen() -> None:
    table = speed_rows()
    found = speed_ratio(table, load_constants().speed)
    within(found, 0.12, 0.30)
    within(found[on_large_cards(table)], 0.12, 0.30)


def test_memory_of_rows_and_sources_that_the_fit_has_not_seen() -> None:
    found = left_out("memory")
    assert np.isfinite(found.by_group).all()
    within(found.by_group, 0.10, 0.26)
    within(found.by_source, 0.20, 0.40)


def test_speed_of_rows_and_sources_that_the_fit_has_not_seen() -> None:
    found = left_out("speed")
    assert np.isfinite(found.by_group).all()
    within(found.by_group, 0.12, 0.30)
    within(found.by_group[on_large_cards(found.table)], 0.12, 0.30)
    within(found.by_source, 0.30, 0.60)


def test_fit_or_not_as_it_was() -> None:
    table = measurements()
    # A pool broken up by many lengths gives back what another job needs: it decides no fit.
    needs = card_memory(table.cases.replace(ragged=False), load_constants().memory).total
    ratio = needs / table.capacity_gib
    notes = [note.lower() for note in table.column("notes")]
    # What is no peak of training, by the table's own notes: nothing can be said of it.
    aside = np.array(
        [
            any(words in note for words in ("by a formula", "peak of loading", "not a steady"))
            for note in notes
        ]
    )
    known = np.isfinite(ratio) & ~table.traced & ~aside
    failed = np.array([note.startswith("out of memory") for note in notes])
    wrong = known & np.where(failed, ratio < 0.9, ratio > 1.1)
    counted = known & (np.abs(ratio - 1) > 0.1)
    assert counted.sum() >= 150
    assert (failed & counted).sum() >= 5
    names = [
        f"{table.rows[i]['id']} {table.rows[i]['model']} {table.rows[i]['method']}: needs {ratio[i]:.2f} of "
        f"{table.capacity_gib[i]:.1f} GiB, {'failed' if failed[i] else 'ran'}"
        for i in np.flatnonzero(wrong)
    ]
    assert wrong.sum() <= 0.05 * counted.sum(), f"{wrong.sum()} of {counted.sum()}: {'; '.join(names)}"


def test_pools_of_many_lengths_fill_the_card_and_no_more() -> None:
    table = memory_rows()
    ragged = table.cases.ragged & ~table.allocated & np.isfinite(table.capacity_gib)
    assert ragged.any()
    own = table.take(ragged)
    smooth = own.cases.replace(ragged=np.zeros(len(own.rows), dtype=bool))
    constants = load_constants().memory
    broken, whole = card_memory(own.cases, constants).total, card_memory(smooth, constants).total
    # The pool takes what there is, but a job that fits with full samples is never turned away for it.
    assert (broken >= whole - 1e-9).all()
    assert (broken <= np.maximum(whole, own.capacity_gib) + 1e-9).all()


@pytest.mark.parametrize("section", ["memory", "speed"])
def test_the_shipped_constants_are_fitted_not_typed(section: str) -> None:
    fitted = dict(leaves(getattr(shipped(), section).model_dump(by_alias=True)))
    carried = dict(leaves(getattr(load_constants(), section).model_dump(by_alias=True)))
    assert carried.keys() == fitted.keys()
    for name, value in carried.items():
        assert fitted[name] == pytest.approx(value, rel=2e-3, abs=1e-9), name


def test_the_script_writes_the_carried_file_but_for_the_date() -> None:
    carried = resources.files("sim.physics").joinpath("fitted.yaml").read_text("utf-8").splitlines()
    written = fitted_yaml(shipped(), date(2000, 1, 1)).splitlines()
    assert len(written) == len(carried)
    for ours, theirs in zip(written, carried, strict=True):
        key, _, value = ours.partition(": ")
        if key.strip() == "date":
            assert value == "2000-01-01"
            continue
        assert theirs.startswith(key)
        if value and not ours.startswith("#"):
            assert float(value) == pytest.approx(float(theirs.partition(": ")[2]), rel=5e-3, abs=5e-4), ours


def test_the_record_says_what_the_constants_were_fitted_to() -> None:
    record = load_constants().fit
    assert record is not None
    assert (record.memory_rows, record.speed_rows) == (len(memory_rows().rows), len(speed_rows().rows))
    median, p90 = off(memory_ratio(memory_rows(), load_constants().memory))
    assert (record.memory_median, record.memory_p90) == pytest.approx((median, p90), abs=2e-3)
    median, p90 = off(speed_ratio(speed_rows(), load_constants().speed))
    assert (record.speed_median, record.speed_p90) == pytest.approx((median, p90), abs=2e-3)


def test_support_near_a_row_between_rows_and_beyond_them() -> None:
    found = columns(
        case("qwen-14b", rank=64),  # published on this very chip at 256 to 8192 tokens
        case("qwen-14b", rank=64, seq_len=300),
        case("qwen-7b", rank=64),  # published for 1.8B and 14B
        case("qwen-14b", rank=64, seq_len=65_536),  # eight times the longest row
        case("llama-3.1-405b", rank=64),  # larger than any row
        case("qwen-14b", rank=64, gpu="T4"),  # no row of this chip
        case("qwen-14b", rank=64, checkpointing=False, method="qlora8"),  # no row of this kind
        case("qwen-72b", rank=64, split=ZERO3(4)),
        case("qwen-72b", rank=64, split=DATA_PARALLEL(4)),
    )
    speed = ["measured", "measured", "interpolated", *["extrapolated"] * 4, "measured", "extrapolated"]
    assert list(support.speed_support(found)) == speed
    # The card plays no part in what a job needs.
    assert list(support.memory_support(found))[:2] == ["measured", "measured"]
    assert support.memory_support(found)[5] == "measured"
    assert support.memory_support(found)[4] == "extrapolated"


def test_the_tags_are_carried_by_what_fit_answers() -> None:
    near = row("a100-80g-8x", "qwen-14b", rank=64)
    assert (near.support, near.memory_support) == ("measured", "measured")
    far = row("t4-16g-cloud", "qwen-14b", "qlora4", rank=64, gpus=1)
    assert far.support == "extrapolated"
    assert support.worse("measured", "interpolated") == "interpolated"
    assert support.worse("extrapolated", "measured") == "extrapolated"
