"""Price lists and statements of one's own: read, or refused with the place; never anything else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from sim.catalog import load_catalog
from sim.claims.bench import Bench
from sim.claims.check import check_claims
from sim.claims.read import read_claims
from sim.physics.constants import load_constants
from tests.fuzz.bounds import judged
from tests.fuzz.grammar import ODD
from tests.fuzz.pieces import mutated
from tests.fuzz.test_scenario_files import as_text

PRICES = """\
gpus:
  - {id: MY-48G, name: Mine 48 GB, memory_gib: 48, usable_gib: 46, tflops: 100,
     bandwidth_gb_s: 800, sm_count: 80, efficiency: 1.0, bf16: true, ecc: true, mig: 0, tdp_w: 300,
     pcie: pcie4, card_class: older, source: a sheet}
offers:
  - id: mine
    name: Mine
    provider: me
    gpu: A100-40G
    gpus_per_unit: 1
    form: node
    wan_mbps: 100
    disk_read_gb_s: 0.5
    link: none
    network: 10gbe
    price: {unit: month, low: 2800, high: 3000}
    plans: {monthly: {multiplier: 1}, annual: {multiplier: 0.8, assumed: true}}
    options: {ram128: {description: memory, per_month: 600}}
    repeat_purchase: {per_card_month: 100}
    currency: CNY
    status: official
    source: an offer by mail
    date: 2026-11-30
    assumptions: [The rate is assumed.]
"""

CLAIMS = """\
claims:
  - id: saving
    kind: cost
    statement: Paying by the year saves a quarter of the rent.
    value: {low: 25, unit: "%"}
    computation: saving
    inputs: {offer: a100-40g-custom, plan: annual, months: 12, per: "%"}
  - id: memory
    kind: memory
    statement: {en: A 13B model fits on an RTX 3090., zh: 一句话}
    computation: training_fits
    inputs: {size: 13B, method: qlora4, gpu: RTX3090, micro_batch: 1, seq_len: 2048}
    contradicts: [saving]
"""
"""The example of the page, with a word in two languages and a contradiction."""


def priced(file: Path) -> None:
    load_catalog(file)


def claimed(file: Path) -> None:
    check_claims(read_claims([file]), Bench())


def turned(text: str, random: Random) -> bytes:
    """One value of a file in the place of another, or bytes that are changed."""
    if random.random() < 0.5:
        return mutated(text.encode(), random, random.choice([1, 2, 6]))
    for _ in range(random.choice([1, 1, 2, 4])):
        heads = [place for place, sign in enumerate(text) if sign == ":"]
        place = random.choice(heads) + 1
        stop = min(end for end in (text.find(sign, place) for sign in ",}\n") if end != -1)
        words = text.replace(",", " ").split()
        odd = as_text(random.choice(ODD)).encode("utf-8", "replace").decode()
        value = random.choice([odd, random.choice(words), str(random.choice([0, 1, 2, 3, 12, 0.5, 26880]))])
        text = f"{text[:place]} {value}{text[stop:]}"
    return text.encode("utf-8", "replace")


CALIBRATION = """\
host: {tokens_per_core_s: {value: 30000, unit: tokens/s, source: mine}}
startup: {container_s: 20, imports_s: {value: 15}}
memory: {context_gib: {value: 0.6}}
"""


def calibrated(file: Path) -> None:
    load_constants(file)


KINDS: tuple[tuple[str, str, Callable[[Path], None]], ...] = (
    ("prices", PRICES, priced),
    ("claims", CLAIMS, claimed),
    ("calibration", CALIBRATION, calibrated),
)


def run_cases(
    folder: Path, name: str, text: str, call: Callable[[Path], None], numbers: range
) -> Counter[str]:
    found: Counter[str] = Counter()
    file = folder / f"{name}.yaml"
    for number in numbers:
        data = turned(text, Random(f"{name} {number}"))
        file.write_bytes(data)
        found[judged(lambda: call(file), f"{name} {number}:\n{data!r}")] += 1
    return found


@pytest.mark.parametrize(("name", "text", "call"), KINDS)
def test_files(tmp_path: Path, name: str, text: str, call: Callable[[Path], None]) -> None:
    file = tmp_path / "whole.yaml"
    file.write_text(text, encoding="utf-8")
    assert judged(lambda: call(file), text) == "answered"
    found = run_cases(tmp_path, name, text, call, range(60))
    assert min(found["answered"], found["refused"]) >= 2, found


@pytest.mark.long
@pytest.mark.parametrize(("name", "text", "call"), KINDS)
def test_two_thousand_files(tmp_path: Path, name: str, text: str, call: Callable[[Path], None]) -> None:
    run_cases(tmp_path, name, text, call, range(60, 2060))
