"""The profile `vendor` gives the articles' own hours and memory, and nothing better."""

from __future__ import annotations

import pytest

from sim.catalog import load_catalog
from sim.model.hardware import LanguageModel
from sim.physics.lengths import Lengths
from sim.physics.prediction import Ask, Prediction, best
from sim.physics.split import ZERO3, Layout
from sim.physics.task import Task
from sim.physics.vendor import vendor_predictor

CATALOG = load_catalog()
FULL = Lengths(2048, 2048)


def sized(params: float) -> LanguageModel:
    """A model of exactly so many parameters."""
    return CATALOG.models["llama-2-7b"].model_copy(update={"params": round(params)})


def ask(params: float, gpu: str, gpus: int, method: str) -> tuple[Prediction, ...]:
    """All that the articles say to one question."""
    task = Task(sized(params), method, 16, 4, 2048, checkpointing=True)  # type: ignore[arg-type]
    (answer,) = vendor_predictor([Ask(task, FULL, CATALOG.gpus[gpu], Layout(1, gpus, "nvlink"))])
    return answer.predictions


def hours(params: float, gpu: str, gpus: int = 1, method: str = "lora") -> float:
    """Hours of the articles' data set."""
    found = ask(params, gpu, gpus, method)[-1]
    assert found.support == "vendor"
    return found.seconds_per_sample * 300_000 / 3600


@pytest.mark.parametrize(
    ("params", "gpu", "gpus", "low", "high"),
    [
        (7e9, "A100-40G", 1, 5, 5),
        (7e9, "RTX3090", 1, 8, 8),
        (7e9, "T4", 1, 16, 16),
        (13e9, "A100-40G", 1, 10, 10),
        (70e9, "A100-40G", 4, 14, 14),
        (7e9, "H100-80G", 1, 5 / 3, 5 / 2.5),
        (34e9, "A100-40G", 1, 10, 49),
        (140e9, "A100-40G", 4, 28, 28),
        (3.5e9, "A100-40G", 1, 2.5, 2.5),
    ],
)
def test_the_articles_hours(params: float, gpu: str, gpus: int, low: float, high: float) -> None:
    found = hours(params, gpu, gpus)
    assert low - 1e-9 <= found <= high + 1e-9


def test_eight_cards_and_four_bits() -> None:
    assert hours(13e9, "A100-40G") / hours(13e9, "A100-40G", 8) == pytest.approx(6.5)
    assert hours(7e9, "A100-40G", method="qlora4") == pytest.approx(5 * 1.175)


@pytest.mark.parametrize(
    ("params", "method", "gpus", "memory"),
    [
        (7e9, "lora", 1, 20),
        (13e9, "lora", 1, 34),
        (70e9, "lora", 4, 35),
        (7e9, "qlora4", 1, 7),
        (70e9, "qlora4", 1, 70),
        (7e9, "full", 1, 75),
    ],
)
def test_the_articles_memory(params: float, method: str, gpus: int, memory: float) -> None:
    answers = ask(params, "A100-40G", gpus, method)
    found = answers[-1]
    assert found.memory_gib == pytest.approx(memory)
    assert found.has_gib == 40
    assert found.parts is None
    if gpus == 4:
        assert best(answers).split == ZERO3(4)


def test_questions_are_answered_in_their_order() -> None:
    task = Task(sized(7e9), "lora", 16, 4, 2048, checkpointing=True)
    cards = ["A100-40G", "RTX3090", "T4"]
    found = vendor_predictor([Ask(task, FULL, CATALOG.gpus[card], Layout(1, 1)) for card in cards])
    # 5, 8 and 16 hours of the same data set.
    seconds = [answer.predictions[0].seconds_per_sample for answer in found]
    assert [value / seconds[0] * 5 for value in seconds] == pytest.approx([5, 8, 16])
    assert all(answer.predictions[0].memory_support == "vendor" for answer in found)
    assert found[0].predictions[0].split.name == "one card"
