"""The profile `vendor`: the hours and the memory that the source articles promise.

Rules between their figures, all stated here: hours on one A100 run through 7B, 13B and 70B (the
last is four cards, brought to one by the scaling below) as straight lines of logarithms, and in
proportion to the size outside; n cards are n^a times one, a from the eight-card figure, whatever
links them; a sample counts as `seq_len` tokens, as in the articles; a card they do not name is as
fast as its peak against an A100's. Memory runs straight through the same three sizes, is divided
over the cards when one cannot hold it, and is held against the size printed on the card.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from sim.catalog import load_catalog
from sim.catalog.reading import read_yaml
from sim.model.hardware import Gpu
from sim.physics.prediction import Answer, Ask, Prediction
from sim.physics.split import DATA_PARALLEL, ONE_CARD, ZERO3
from sim.physics.task import Task

__all__ = ["VendorTables", "vendor_predictor", "vendor_tables"]

_SIZES = (7e9, 13e9, 70e9)
"""Parameters of the base models whose hours and memory the articles give."""
_A100_TFLOPS = 312.0
"""Dense 16-bit peak of an A100, TFLOP/s. Source: NVIDIA A100 data sheet."""


@dataclass(frozen=True, slots=True)
class VendorTables:
    """Figures of the articles, by name."""

    hours: dict[str, float]
    cards: dict[str, float]
    memory: dict[str, tuple[float, ...]]

    @property
    def exponent(self) -> float:
        """n cards are n to this power as fast as one."""
        return math.log(self.hours["eight_cards"]) / math.log(8)


@functools.cache
def vendor_tables() -> VendorTables:
    """The articles' figures from `vendor.yaml`."""
    name = "vendor.yaml"
    data = read_yaml(resources.files("sim.physics").joinpath(name).read_text("utf-8"), name).data
    return VendorTables(
        hours={key: float(entry["value"]) for key, entry in data["hours"].items()},
        cards={key: float(entry["value"]) for key, entry in data["cards"].items()},
        memory={key: tuple(map(float, entry["values"])) for key, entry in data["memory"].items()},
    )


def vendor_predictor(asks: Sequence[Ask]) -> list[Answer]:
    """The articles' answer to each question: data parallel, or sharded where one card cannot hold it."""
    return [Answer(_predictions(ask)) for ask in asks]


def _predictions(ask: Ask) -> tuple[Prediction, ...]:
    tables, task, cards = vendor_tables(), ask.task, ask.layout.gpus
    whole = _memory(task, tables)
    per_sample = _hours(task, tables) * 3600 / tables.hours["samples"]
    per_sample *= task.seq_len / tables.hours["seq_len"]
    per_sample /= _card_speed(ask.gpu, tables) * cards**tables.exponent
    splits = (ONE_CARD,) if cards == 1 else (DATA_PARALLEL(cards), ZERO3(cards))
    return tuple(
        Prediction(
            split=split,
            memory_gib=whole / (cards if split.zero == 3 else 1),
            has_gib=ask.gpu.memory_gib,
            seconds_per_sample=per_sample,
            tokens_per_s=ask.lengths.useful / per_sample,
            support="vendor",
            limited_by="compute" if cards == 1 else "compute and network",
            memory_support="vendor",
        )
        for split in splits
    )


def _hours(task: Task, tables: VendorTables) -> float:
    """Hours of the articles' data set on one A100."""
    hours = tables.hours
    one_card = (hours["a100_7b"], hours["a100_13b"], hours["four_a100_70b"] * 4**tables.exponent)
    size = float(task.model.params)
    if size <= _SIZES[0]:
        value = one_card[0] * size / _SIZES[0]
    elif size >= _SIZES[2]:
        value = one_card[2] * size / _SIZES[2]
    else:
        value = math.exp(
            _between(math.log(size), [math.log(s) for s in _SIZES], [math.log(h) for h in one_card])
        )
    if task.method == "full":
        return value * hours["full_factor"]
    return value if task.method == "lora" else value * hours["qlora_factor"]


def _memory(task: Task, tables: VendorTables) -> float:
    """GB of all cards together."""
    values = tables.memory[task.method]
    size = float(task.model.params)
    if size <= _SIZES[0]:
        return values[0] * size / _SIZES[0]
    if size >= _SIZES[2]:
        return values[2] * size / _SIZES[2]
    return _between(size, list(_SIZES), list(values))


def _between(x: float, xs: list[float], ys: list[float]) -> float:
    right = next(i for i in range(1, len(xs)) if x <= xs[i])
    share = (x - xs[right - 1]) / (xs[right] - xs[right - 1])
    return ys[right - 1] + share * (ys[right] - ys[right - 1])


def _card_speed(gpu: Gpu, tables: VendorTables) -> float:
    """Speed against an A100; a slice has its share of its card's."""
    whole = load_catalog().gpus.get(gpu.id.partition("/")[0], gpu)
    share = gpu.tflops / whole.tflops
    for prefix, speed in tables.cards.items():
        if gpu.id.startswith(prefix):
            return speed * share
    return gpu.tflops / _A100_TFLOPS
