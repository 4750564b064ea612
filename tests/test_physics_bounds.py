"""Physical bounds over random jobs: what no constants and no calibration may ever break."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.physics.cases import Case, Cases, Floats, cases_of
from sim.physics.constants import load_constants
from sim.physics.memory import CardMemory, card_memory
from sim.physics.recipe import LINEARS, LOSSES, OPTIMIZERS, QUANTISATIONS, Recipe
from sim.physics.split import ONE_CARD, Layout, Split
from sim.physics.task import Task
from sim.physics.throughput import step_time
from sim.units import GIB
from tests.physics_cases import catalog, together

CONSTANTS = load_constants()
MODELS = sorted(catalog().models)
GPUS = sorted(catalog().gpus)
FORMATS = {"qlora4": ("", "nf4", "nf4dq", "gptq4"), "qlora8": ("", "int8", "gptq8")}
EVERY = settings(max_examples=80, deadline=None)


@st.composite
def tasks(draw: st.DrawFn, models: list[str] = MODELS) -> Task:
    """A job of any kind that a scenario or a row can ask for."""
    method: Any = draw(st.sampled_from(["full", "lora", "qlora4", "qlora8"]))
    recipe = Recipe(
        targets=draw(st.sampled_from([LINEARS, ("q", "v"), ("q", "k", "v"), ("gate", "up", "down")])),
        adapt_head=draw(st.booleans()),
        train_outer=draw(st.booleans()),
        attention=draw(st.sampled_from(["flash", "eager"])),
        loss=draw(st.sampled_from(sorted(LOSSES))),
        optimizer=draw(st.sampled_from(sorted(OPTIMIZERS))),
        quantisation=draw(st.sampled_from(FORMATS.get(method, ("",)))),
        kbit_prep=draw(st.booleans()),
        adapter_bytes=draw(st.sampled_from([2.0, 4.0])),
        autocast=draw(st.booleans()),
        master=(master := draw(st.booleans())),
        master_copy=master and draw(st.booleans()),
        dropout=draw(st.booleans()),
        accumulation=float(draw(st.sampled_from([1, 4, 64]))),
        stack=draw(st.sampled_from(["hf", "optimized", "litgpt", "qwen", "unheard-of"])),
    )
    return Task(
        model=catalog().models[draw(st.sampled_from(models))],
        method=method,
        rank=draw(st.sampled_from([1, 8, 64])),
        micro_batch=draw(st.integers(1, 32)),
        seq_len=draw(st.integers(1, 16_384)),
        checkpointing=draw(st.booleans()),
        recipe=recipe,
    )


def table(*rows: tuple[Task, Split], gpu: str = "A100-80G", layout: Layout | None = None) -> Cases:
    return cases_of(
        [Case(task, split, layout or together(split), catalog().gpus[gpu]) for task, split in rows]
    )


def held(*rows: tuple[Task, Split]) -> CardMemory:
    return card_memory(table(*rows), CONSTANTS.memory)


def total(*tasks_: Task, split: Split = ONE_CARD) -> Floats:
    return held(*((task, split) for task in tasks_)).total


def sharded(memory: CardMemory) -> Floats:
    """Weights, adapters and optimiser state: what dividing over cards is for."""
    own = memory.allocated
    return np.asarray(own.weights + own.adapters + own.optimizer)


def divided(memory: CardMemory) -> Floats:
    """All but the context, which several cards have more of than one: buffers of their exchange."""
    return np.asarray(memory.total - memory.context)


def falls(values: Floats) -> None:
    assert (np.diff(values) <= 1e-6 + 1e-9 * values[:-1]).all(), values


@EVERY
@given(task=tasks(), gpu=st.sampled_from(GPUS), data=st.sampled_from([1, 8]), zero=st.sampled_from([0, 3]))
def test_no_card_is_faster_than_its_peak(task: Task, gpu: str, data: int, zero: int) -> None:
    split = Split(data, zero=zero if data > 1 else 0)
    cases = table((task, split), gpu=gpu)
    tokens_per_s = float(step_time(cases, CONSTANTS.speed).tokens_per_s[0])
    # Forward 2 operations a weight and token, backward to the inputs 2, to trained weights 2.
    passes = 6 if task.method == "full" else 4
    most = catalog().gpus[gpu].tflops * 1e12 * data / (passes * task.model.active_linear)
    assert 0 < tokens_per_s <= most


@EVERY
@given(
    task=tasks(),
    split=st.sampled_from([ONE_CARD, Split(8), Split(8, zero=3), Split(1, 1, 4), Split(2, 2, 2)]),
)
def test_times_and_sizes_are_real_numbers(task: Task, split: Split) -> None:
    cases = table((task, split))
    steps, memory = step_time(cases, CONSTANTS.speed), card_memory(cases, CONSTANTS.memory)
    for part in dataclasses.fields(steps):
        column = getattr(steps, part.name)
        if column.dtype.kind == "f":
            assert np.isfinite(column).all(), part.name
            assert (column >= 0).all(), part.name
    parts = dataclasses.asdict(memory.parts(0))
    assert all(np.isfinite(value) for value in parts.values())
    assert all(value >= 0 for name, value in parts.items() if name != "fragmentation")
    assert memory.total[0] >= memory.allocated.total[0]


@EVERY
@given(task=tasks(), cards=st.sampled_from([2, 4, 8, 16]))
def test_more_cards_of_zero3_never_need_more(task: Task, cards: int) -> None:
    memory = held((task, Split(cards, zero=3)), (task, Split(2 * cards, zero=3)))
    falls(sharded(memory))
    falls(divided(memory))


@EVERY
@given(task=tasks(), tensor=st.sampled_from([1, 2, 4]), pipeline=st.sampled_from([1, 2]))
def test_more_cards_of_tensor_never_need_more(task: Task, tensor: int, pipeline: int) -> None:
    if task.model.heads % (2 * tensor) or task.method in ("qlora4", "qlora8"):
        return
    memory = held((task, Split(1, tensor, pipeline)), (task, Split(1, 2 * tensor, pipeline)))
    falls(sharded(memory))
    falls(divided(memory))


@EVERY
@given(task=tasks(), pipeline=st.sampled_from([1, 2, 4]))
def test_more_stages_never_need_more(task: Task, pipeline: int) -> None:
    if 2 * pipeline > task.model.layers or task.model.layers % (2 * pipeline):
        return  # stages that do not divide are rounded up
    memory = held((task, Split(1, 1, pipeline)), (task, Split(1, 1, 2 * pipeline)))
    # The fullest stage may be the first, with the embeddings, or the last, with the head.
    edge = 8 * task.model.vocab * task.model.hidden / GIB
    assert np.diff(sharded(memory))[0] <= edge
    assert np.diff(divided(memory))[0] <= 1e-6 + 0.02 * memory.total[0]


@EVERY
@given(task=tasks(), cards=st.sampled_from([2, 8]))
def test_cards_that_work_side_by_side_never_need_less_than_one(task: Task, cards: int) -> None:
    memory = held((task, ONE_CARD), (task, Split(cards)))
    assert memory.total[1] >= memory.total[0] - 1e-9


@EVERY
@given(
    task=tasks(),
    split=st.sampled_from([ONE_CARD, Split(8, zero=3), Split(1, 1, 2)]),
    longer=st.integers(1, 4096),
    more=st.integers(1, 8),
)
def test_longer_or_more_samples_never_need_less(task: Task, split: Split, longer: int, more: int) -> None:
    long = dataclasses.replace(task, seq_len=task.seq_len + longer)
    many = dataclasses.replace(task, micro_batch=task.micro_batch + more)
    here, at_length, at_batch = total(task, long, many, split=split)
    assert at_length >= here - 1e-9
    assert at_batch >= here - 1e-9


@EVERY
@given(
    task=tasks(),
    split=st.sampled_from([ONE_CARD, Split(8), Split(4, zero=3)]),
    rank=st.sampled_from([2, 16, 128]),
)
def test_a_larger_rank_never_needs_less(task: Task, split: Split, rank: int) -> None:
    low, high = (dataclasses.replace(task, rank=value) for value in (rank, 2 * rank))
    memory = held((low, split), (high, split))
    tensors = memory.allocated.total
    assert tensors[1] >= tensors[0] - 1e-9
    # The peak may move to a moment whose bytes the pool spreads less.
    assert memory.total[1] >= 0.95 * memory.total[0]


@EVERY
@given(task=tasks(), split=st.sampled_from([ONE_CARD, Split(8), Split(8, zero=3), Split(1, 1, 2)]))
def test_checkpointing_never_needs_more(task: Task, split: Split) -> None:
    without, with_ = (dataclasses.replace(task, checkpointing=on) for on in (False, True))
    most, least = total(without, with_, split=split)
    # Sharded 32-bit weights: the 16-bit copy of the layer computed again is counted, the first one's is not.
    slack = 0.05 * most if task.recipe.master and split.zero == 3 else 1e-9
    assert least <= most + slack


@EVERY
@given(task=tasks(), split=st.sampled_from([ONE_CARD, Split(8, zero=3), Split(1, 1, 2)]))
def test_fewer_bits_never_need_more_weights(task: Task, split: Split) -> None:
    by_bits = [
        dataclasses.replace(
            task, method=method, recipe=dataclasses.replace(task.recipe, quantisation="", master=False)
        )
        for method in ("qlora4", "qlora8", "lora")
    ]
    weights = held(*((each, split) for each in by_bits)).allocated.weights
    assert weights[0] < weights[1] < weights[2]
    # Never less than the bits themselves: half a byte, one and two, over the cards.
    linear = task.model.params_linear / split.cards / GIB
    least = np.array([0.5, 1.0, 2.0]) * linear
    assert (weights >= 0.999 * least).all()


@EVERY
@given(
    task=tasks(),
    split=st.sampled_from([Split(8), Split(8, zero=2), Split(8, zero=3), Split(1, 1, 8), Split(4, 2)]),
    apart=st.booleans(),
)
def test_a_slower_link_is_never_faster(task: Task, split: Split, apart: bool) -> None:
    # In the order of their rates on an A100 with eight cards a machine.
    links = ["nvlink", "pcie5", "pcie4", "pcie3", "slow"]
    networks = ["ib", "10gbe", "1gbe"]
    if apart:
        layouts = [Layout(8, 1, "none", network) for network in networks]
    else:
        layouts = [Layout(1, 8, link, "none") for link in links]
    card = catalog().gpus["A100-80G"]
    cases = cases_of([Case(task, split, layout, card) for layout in layouts])
    speeds = step_time(cases, CONSTANTS.speed).tokens_per_s
    assert (speeds > 0).all()
    falls(speeds)


@EVERY
@given(task=tasks(), gpu=st.sampled_from([gpu for gpu in GPUS if "/" in gpu]))
def test_a_slice_is_never_faster_than_its_card(task: Task, gpu: str) -> None:
    part = step_time(table((task, ONE_CARD), gpu=gpu), CONSTANTS.speed).tokens_per_s[0]
    whole = step_time(table((task, ONE_CARD), gpu=gpu.split("/")[0]), CONSTANTS.speed).tokens_per_s[0]
    assert part <= whole * (1 + 1e-9)


@EVERY
@given(task=tasks(), cards=st.sampled_from([2, 4, 8]))
def test_cards_together_are_never_more_than_as_many_alone(task: Task, cards: int) -> None:
    one, many = table((task, ONE_CARD)), table((task, Split(cards)))
    alone = step_time(one, CONSTANTS.speed).tokens_per_s[0]
    assert step_time(many, CONSTANTS.speed).tokens_per_s[0] <= cards * alone * (1 + 1e-9)


def test_every_format_and_loss_is_drawn() -> None:
    drawn = {name for names in FORMATS.values() for name in names if name}
    assert drawn == set(QUANTISATIONS)
