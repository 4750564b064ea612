"""A run opened again: the same ledger to the last digit, and nothing that was altered or leads away."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
import shutil
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.errors import InputError
from sim.experiments import files, parallel, store
from sim.experiments.billable import MONEY_METRICS, Billable, Rental, money_metrics, records_of
from sim.experiments.charge_columns import CHARGE_COLUMNS, charge_of, charge_row, local_time
from sim.experiments.compare import compare
from sim.experiments.files import csv_text
from sim.experiments.frames import ledger_frame
from sim.experiments.stored import open_run
from sim.experiments.stored_folder import csv_rows
from sim.load import load_text
from sim.model.ledger import Charge, Ledger
from sim.replication import prepare, replicate, used_offers
from tests import made_by_hand as hand

MIXED = """\
name: Mixed
start: 2026-01-30
horizon: 40d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, mean_tokens: 220, samples: 20000, rate: 30/day, deadline: 6h}
reliability: {profile: datacentre}
strategies:
  - name: windows and hours
    leases:
      - {offer: a100-40g-custom, count: 1, plan: monthly, end: 2026-02-20, available: "08:00-20:00"}
      - {offer: h100-mig, count: 1, plan: hourly, start: "2026-02-03 10:30", end: "2026-02-05 00:10"}
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 30min}
  - name: "=annual"
    leases: [{offer: a100-40g-custom, count: 3, plan: annual, repeat_purchase: true, started: 2025-07-31}]
experiment: {replications: 3, seed: 5}
"""
SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    comparison = compare(load_text(MIXED))
    return comparison, store.save(comparison, tmp_path_factory.mktemp("runs"))


def ledger_again(ledger: Ledger, zone: ZoneInfo) -> tuple[Charge, ...]:
    """Out into rows of text cells, as a CSV file has them, and back."""
    run = dataclasses.replace(hand.run(hand.scenario(), 0, 0, {}), ledger=ledger)
    rows = csv_rows(csv_text(ledger_frame(run)))
    assert [*rows[0]][2:] == [name for name, _ in CHARGE_COLUMNS]
    return tuple(charge_of(row, zone) for row in rows)


def test_a_stored_run_says_what_the_comparison_said(mixed):
    comparison, folder = mixed
    run = open_run(folder)
    assert run.strategies == ("windows and hours", "=annual")
    assert run.same_catalog
    assert run.document == json.loads(json.dumps(comparison.to_json()))
    assert run.question.scenario == comparison.question.scenario
    for name in run.strategies:
        detail = comparison.details[name]
        assert run.ledger(name) == detail.ledger
        assert run.leases(name) == detail.log.leases
        assert len(run.jobs(name)) == len(detail.log.jobs) > 0
        assert len(run.attempts(name)) == len(detail.log.attempts) > 0
        assert run.billables(name) == comparison.billables[name]
    # Windows, hours and burst were all there, or this test says little.
    first = run.leases("windows and hours")
    assert {record.lease for record in first} == {-1, 0, 1}
    assert any(record.absences for record in first)
    assert run.ledger("=annual").charges[0].sunk


def test_every_replication_can_be_billed_again(mixed):
    comparison, folder = mixed
    run, prepared = open_run(folder), prepare(comparison.question)
    scenario = comparison.question.scenario
    for position, name in enumerate(run.strategies):
        for number, billable in enumerate(run.billables(name)):
            fresh = replicate(prepared, position, number)
            assert money_metrics(billable, fresh.ledger, scenario, fresh.metrics["penalty_cny"]) == {
                metric: fresh.metrics[metric] for metric in MONEY_METRICS
            }
            again = records_of(billable, scenario.strategies[position], used_offers(comparison.question))
            assert [(r.lease, r.machine, r.start_us, r.end_us, r.gpus) for r in again] == [
                (r.lease, r.machine, r.start_us, r.end_us, r.gpus) for r in fresh.log.leases
            ]


def test_a_strategy_that_rents_nothing(tmp_path):
    annual = "[{offer: a100-40g-custom, count: 3, plan: annual, repeat_purchase: true, started: 2025-07-31}]"
    text = MIXED.replace(f"leases: {annual}", "burst: {offer: h100-mig, max: 1, rent_when_wait_over: 90d}")
    assert text != MIXED
    comparison = compare(load_text(text), replications=2)
    run = open_run(store.save(comparison, tmp_path))
    assert run.billables("=annual") == comparison.billables["=annual"]
    assert [list(one.rentals()) for one in run.billables("=annual")] == [[], []]
    assert run.ledger("=annual").charges == run.leases("=annual") == ()


def test_long_tables_are_written_in_pieces(tmp_path, monkeypatch):
    frame = pd.DataFrame(
        {"n": pd.Series(range(25), dtype="Int64"), "=t": pd.Series(["=x"] * 25, dtype="str")}
    )
    monkeypatch.setattr(files, "CSV_ROWS", 10)
    for rows in (0, 1, 10, 11, 25):
        files.write_csv(frame[:rows], tmp_path / "t.csv")
        assert (tmp_path / "t.csv").read_text() == csv_text(frame[:rows])
        assert csv_text(frame[:rows]).count("\n") == rows + 1


def test_money_metrics_are_those_in_money():
    assert {"cost_cny", "committed_cost_cny", "cash_cny", "cost_per_job_cny"} <= set(MONEY_METRICS)
    assert not {"wait_p95_h", "busy_share", "jobs_done"} & set(MONEY_METRICS)


def test_packing_keeps_every_time():
    rentals = (
        Rental(-1, 7, 0, None, 12),
        Rental(3, 0, 2**52, 2**52 + 1, None, ((1, 2), (3, 4))),
        Rental(0, 0, 0, 0, None),
    )
    assert tuple(Billable.of(rentals, 1.5, 9).rentals()) == rentals
    assert tuple(Billable.of((), 0.0, 0).rentals()) == ()


def test_a_ledger_comes_back_to_the_last_digit():
    charge = hand.run(hand.scenario(), 0, 0, {}).ledger.charges[0]
    third = Decimal(1) / Decimal(3)
    odd = dataclasses.replace(
        charge,
        id=1,
        provider='=cmd|" /C calc"!A0, "x"',
        rule="two\nlines, 'quoted'",
        unit_price=third,
        quantity=Decimal("1e-20"),
        list_unit_price=Decimal("12345678901234567890.12345678"),
        billed_cost=Decimal("-0.01"),
        cash_date=datetime(2026, 1, 31, 23, 59, 59, 999999, SHANGHAI),
        accrues_from=datetime(2025, 12, 1, tzinfo=SHANGHAI),
        machine=0,
        cards=8,
        of=0,
        recoverable=True,
    )
    ledger = Ledger("CNY", charge.period_end, (charge, odd), ())
    assert ledger_again(ledger, SHANGHAI) == (charge, odd)
    assert {field.name for field in dataclasses.fields(Charge)} <= {"id", *(n for n, _ in CHARGE_COLUMNS)}


@settings(deadline=None)
@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2050, 1, 1), timezones=st.just(BERLIN)),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8),
    st.none() | st.integers(0, 10**12),
)
def test_any_charge_comes_back(moment, amount, text, number):
    charge = dataclasses.replace(
        hand.run(hand.scenario(), 0, 0, {}).ledger.charges[0],
        period_start=moment, period_end=moment, cash_date=moment, accrues_until=moment,
        unit_price=amount, of=number, rule=text, offer=text,
    )  # fmt: skip
    ledger = Ledger("CNY", moment, (charge,), ())
    cells = [
        "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)
        for cell in charge_row(charge, ledger)
    ]
    row = dict(zip((name for name, _ in CHARGE_COLUMNS), cells, strict=True))
    again = charge_of(row, BERLIN)
    assert again == charge
    assert again.cash_date.utcoffset() == moment.utcoffset()


def test_hours_that_exist_twice_or_never_keep_wall_time_and_offset():
    for text in ("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-03-29T02:30:00+01:00"):
        assert local_time(text, BERLIN).isoformat() == text
    with pytest.raises(ValueError, match="offset"):
        local_time("2026-06-01T00:00:00+09:00", BERLIN)


# -- What is refused ---------------------------------------------------------------------------------


@pytest.fixture
def folder(mixed, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(mixed[1], copy)
    return copy


def change_manifest(folder: Path, **changes: object) -> None:
    place = folder / "manifest.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **changes}))


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as told:
        open_run(folder)
    assert told.value.exit_code == 2
    return str(told.value)


@pytest.mark.parametrize("name", ["ledger.csv", "jobs.parquet", "scenario.yaml", "comparison.json"])
def test_an_altered_file_is_named(folder, name):
    with (folder / name).open("ab") as file:
        file.write(b"\n")
    assert f"{name}: the file is not as the run left it" in refused(folder)


def test_a_missing_file_is_named(folder):
    (folder / "rentals.parquet").unlink()
    assert "rentals.parquet: the run lacks this file" in refused(folder)


def test_a_folder_of_runs_names_the_runs(folder):
    text = refused(folder.parent)
    assert "it has no manifest.json" in text
    assert text.endswith("known: run")
    assert "it has no manifest.json" in refused(folder / "nowhere")


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/hostname", "a/../../b", "..", "charts/..", "a\\b", "C:x", "", "a/b/c", "x\0y"]
)
def test_names_that_lead_away_are_refused(folder, name):
    (folder.parent / "secret").write_text("secret")
    files = json.loads((folder / "manifest.json").read_text())["files"]
    change_manifest(folder, files={**files, name: hashlib.sha256(b"secret").hexdigest()})
    assert "a run's files lie in its own folder" in refused(folder)


def test_a_link_is_not_followed(folder):
    data = (folder / "jobs.csv").read_bytes()
    (folder.parent / "elsewhere.csv").write_bytes(data)
    (folder / "jobs.csv").unlink()
    (folder / "jobs.csv").symlink_to(folder.parent / "elsewhere.csv")
    assert "jobs.csv: the run lacks this file" in refused(folder)


@pytest.mark.parametrize("key", ["extends", "workload.trace.file", "performance"])
def test_a_scenario_that_names_a_file_elsewhere_is_refused(folder, key):
    place = folder / "scenario.yaml"
    text = place.read_text()
    if key == "performance":
        text = text.replace("performance: measured", "performance: ../other.yaml")
    elif key == "extends":
        text += "extends: ../other.yaml\n"
    else:
        text = text.replace("workload:\n", "workload:\n  trace: {file: ../other.csv}\n", 1)
    place.write_text(text)
    files = json.loads((folder / "manifest.json").read_text())["files"]
    change_manifest(folder, files={**files, "scenario.yaml": hashlib.sha256(text.encode()).hexdigest()})
    told = refused(folder)
    assert f"{key}: the scenario of a run names no file but its own" in told
    assert "../other" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not a JSON document"),
        ("[1]", "must be an object"),
        ('{"a": NaN}', "NaN is no JSON"),
        ("[" * 100_000, "not a JSON document"),
        ("{}", "another version"),
        (b"\xff\xfe", "not a JSON document"),
    ],
)
def test_a_broken_manifest_is_one_message(folder, text, told):
    place = folder / "manifest.json"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert told in refused(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [("run_id", "../x"), ("price", "cheap"), ("baseline", 3), ("files", ["a"]), ("files", {"a": "b"})],
)
def test_a_manifest_of_other_kinds_is_refused(folder, key, value):
    change_manifest(folder, **{key: value})
    assert f"{key}: the manifest is damaged here" in refused(folder)


def test_another_version_or_layout_is_refused(folder):
    change_manifest(folder, fleetsim="0.0.1")
    assert "another version of fleetsim" in refused(folder)
    change_manifest(folder, fleetsim=compare.__globals__["importlib"].metadata.version("fleetsim"), format=99)
    assert "layout 99" in refused(folder)


class Bomb:
    def __reduce__(self):
        return (open, ("exploded", "w"))


def test_a_pickle_in_place_of_a_table_is_only_refused(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    data = pickle.dumps(Bomb())
    (folder / "jobs.parquet").write_bytes(data)
    files = json.loads((folder / "manifest.json").read_text())["files"]
    change_manifest(folder, files={**files, "jobs.parquet": hashlib.sha256(data).hexdigest()})
    run = open_run(folder)
    with pytest.raises(InputError, match=r"jobs\.parquet: the file of the run is damaged"):
        run.jobs("=annual")
    assert not (folder.parent / "exploded").exists()


def test_unknown_names_are_told_with_the_known_ones(mixed):
    run = open_run(mixed[1])
    with pytest.raises(InputError, match=r"no such table.*known: .*ledger"):
        run.table("../ledger")
    with pytest.raises(InputError, match=r"no strategy of this name.*known: windows and hours, =annual"):
        run.ledger("annual")
    with pytest.raises(InputError, match="no such file"):
        run.read("../../etc/passwd")


def test_workers_hand_back_the_same_rentals(mixed, tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "SERIAL_BELOW_S", -1.0)  # processes, however short the work
    again = store.save(compare(load_text(MIXED), workers=2), tmp_path)
    for name in ("rentals.csv", "rentals.parquet", "divisors.csv", "assumptions.csv", "ledger.csv"):
        assert (again / name).read_bytes() == (mixed[1] / name).read_bytes()
